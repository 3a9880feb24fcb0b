//! The file formats: one reader each, all returning a [`Reading`].
//!
//! A new format is one file here with a [`Reader`], and a row in the table below.

pub mod batch;
pub mod bodies;
pub mod braintrust;
pub mod claude_code;
pub mod claude_trace;
pub mod codex;
pub mod copilot_cli;
pub mod curl_log;
pub mod datadog;
pub mod exchange_log;
pub mod gemini_cli;
pub mod har;
pub mod httpmock;
pub mod litellm;
pub mod lmcache;
pub mod managed_agents;
pub mod mooncake;
pub mod opencode;
pub mod otel;
pub mod pi;
pub mod req_llm;
pub mod swe_agent;
pub mod tracelab;
pub mod vcr;
pub mod weka;
pub mod wire_capture;
pub mod wiremock;

mod beside;
mod block_ids;
pub(crate) mod body;
mod calls;
pub(crate) mod dialect;
pub(crate) mod json;
mod logged;
mod reader;
mod reading;
pub(crate) mod spelled;
pub(crate) mod text;
mod thread;
pub(crate) mod value;
pub(crate) mod when;
mod yaml;

use crate::error::Error;
pub use reader::Reader;
pub(crate) use reader::{File, Object, Probe};
pub(crate) use reading::Passed;
pub use reading::Reading;

/// Makes [`Format`] from the table of readers.
macro_rules! readers {
    ($($format:ident: $module:ident::$reader:ident,)*) => {
        /// The format of a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Format {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $format,)*
        }

        impl Format {
            /// All formats, in the order in which they are listed.
            pub const ALL: &[Self] = &[$(Self::$format),*];

            /// Its reader.
            pub const fn reader(self) -> &'static Reader {
                match self {
                    $(Self::$format => &$module::$reader,)*
                }
            }
        }
    };
}

readers! {
    Vcr: vcr::READER_PYTHON,
    RubyVcr: vcr::READER_RUBY,
    Har: har::READER,
    Braintrust: braintrust::READER,
    Datadog: datadog::READER,
    HttpMock: httpmock::READER,
    ReqLlm: req_llm::READER,
    WireMock: wiremock::READER,
    CurlLog: curl_log::READER,
    ClaudeTrace: claude_trace::READER,
    LiteLlm: litellm::READER,
    Otel: otel::READER,
    WireCapture: wire_capture::READER,
    Batch: batch::READER,
    Bodies: bodies::READER,
    ExchangeLog: exchange_log::READER,
    ClaudeCode: claude_code::READER,
    Weka: weka::READER,
    Mooncake: mooncake::READER,
    LmCache: lmcache::READER,
    Codex: codex::READER,
    Pi: pi::READER,
    GeminiCli: gemini_cli::READER,
    CopilotCli: copilot_cli::READER,
    OpenCode: opencode::READER,
    ManagedAgents: managed_agents::READER,
    SweAgent: swe_agent::READER,
    TraceLab: tracelab::READER,
}

impl Format {
    /// The name for `--input-format` and reports.
    pub const fn name(self) -> &'static str {
        self.reader().name
    }

    /// Whether its records may also be in one JSON list.
    pub(crate) const fn reads_lists(self) -> bool {
        self.reader().reads_lists
    }

    /// The format of a JSON object: the first one that is sure, else the first possible one.
    pub(crate) fn of(object: &Object<'_>) -> Option<Self> {
        let found = |wanted| Self::ALL.iter().copied().find(|format| (format.reader().probe)(object) == wanted);
        found(Probe::Yes).or_else(|| found(Probe::Perhaps))
    }

    /// See [`Reader::owner_of_bodies`].
    pub(crate) fn owner_of_bodies(folder: &str) -> Option<&str> {
        Self::ALL.iter().find_map(|format| (format.reader().owner_of_bodies)(folder))
    }

    /// The format of YAML with these top-level keys.
    pub(crate) fn of_yaml(has: &dyn Fn(&str) -> bool) -> Option<Self> {
        let keys = |format: &Self| format.reader().yaml_keys;
        let found = |format: &Self| !keys(format).is_empty() && keys(format).iter().all(|key| has(key));
        Self::ALL.iter().copied().find(found)
    }
}

/// The format of the input files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputFormat {
    /// Detected for each file by its content.
    #[default]
    Auto,
    /// All files are read as this.
    As(Format),
}

impl std::str::FromStr for InputFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        if name == "auto" {
            return Ok(Self::Auto);
        }
        let found = Format::ALL.iter().find(|format| format.name() == name);
        found.map(|format| Self::As(*format)).ok_or_else(|| Error::UnknownFormat {
            found: name.to_owned(),
            expected: Self::names().collect::<Vec<_>>().join(", "),
        })
    }
}

impl InputFormat {
    /// The name that [`str::parse`] accepts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::As(format) => format.name(),
        }
    }

    /// All names that [`str::parse`] accepts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once("auto").chain(Format::ALL.iter().map(|format| format.name()))
    }
}

/// Reads `bytes` (already decompressed) as `format`. `name` is the origin of the exchanges.
pub fn read(format: Format, name: &str, bytes: &[u8]) -> Reading {
    read_file(format, &File { name, bytes, folder: None, measuring: None, keeps_answers: false })
}

/// Reads a file.
pub(crate) fn read_file(format: Format, file: &File<'_>) -> Reading {
    (format.reader().read)(file)
}
