//! The file formats: one reader each, all giving the same [`Reading`].
//!
//! A new format is one file here, a row in [`FORMATS`], an arm in `input/detect.rs` and one in [`read`].

pub mod bodies;
pub mod claude_code;
pub mod claude_trace;
pub mod codex;
pub mod copilot_cli;
pub mod exchange_log;
pub mod gemini_cli;
pub mod har;
pub mod litellm;
pub mod lmcache;
pub mod managed_agents;
pub mod mooncake;
pub mod opencode;
pub mod otel;
pub mod pi;
pub mod swe_agent;
pub mod tracelab;
pub mod vcr;
pub mod weka;
pub mod wire_capture;

mod block_ids;
pub(crate) mod body;
pub(crate) mod dialect;
pub(crate) mod json;
mod logged;
pub(crate) mod text;
mod thread;
pub(crate) mod value;
pub(crate) mod when;
mod yaml;

use crate::error::{Error, Fault};
use crate::exchange::{Exchange, Origin};
use crate::response::Answer;
use crate::trace::Trace;
use crate::transcript::{Measuring, Thread};
use serde::Deserialize;
use text::Text;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Cassettes of vcrpy.
    Vcr,
    /// Cassettes of ruby VCR.
    RubyVcr,
    /// HTTP archives.
    Har,
    /// Logs of claude-trace.
    ClaudeTrace,
    /// Logs of LiteLLM.
    LiteLlm,
    /// OpenTelemetry traces.
    Otel,
    /// Captures of a proxy between a client and the provider.
    WireCapture,
    /// Request bodies alone.
    Bodies,
    /// Our own log of exchanges.
    ExchangeLog,
    /// Sessions of Claude Code.
    ClaudeCode,
    /// WEKA's traces of Claude Code.
    Weka,
    /// Mooncake's traces of a cluster.
    Mooncake,
    /// LMCache's traces of agents.
    LmCache,
    /// Rollouts of Codex CLI.
    Codex,
    /// Sessions of pi.
    Pi,
    /// Chats of Gemini CLI.
    GeminiCli,
    /// Events of Copilot CLI.
    CopilotCli,
    /// Exports of OpenCode.
    OpenCode,
    /// Event streams of managed agents.
    ManagedAgents,
    /// Trajectories of SWE-agent.
    SweAgent,
    /// Normalised rounds of TraceLab.
    TraceLab,
}

/// One row of the table of formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// The format.
    pub format: Format,
    /// Its name for `--input-format`.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// How a file of it is recognised; names of files never matter.
    pub detected_by: &'static str,
}

/// All formats that are read.
pub const FORMATS: &[FormatInfo] = &[
    FormatInfo {
        format: Format::Vcr,
        name: "vcr",
        what: "HTTP exchanges recorded by vcrpy, as YAML or JSON: Messages API, Bedrock and OpenRouter are billed, others counted",
        detected_by: "a top-level key `interactions`",
    },
    FormatInfo {
        format: Format::RubyVcr,
        name: "ruby-vcr",
        what: "HTTP exchanges recorded by ruby VCR, as YAML or JSON",
        detected_by: "a top-level key `http_interactions`",
    },
    FormatInfo {
        format: Format::Har,
        name: "har",
        what: "HTTP archives (HAR 1.2) with contents, of a browser, Charles, Proxyman or mitmproxy (`save.har`, `hardump`)",
        detected_by: "a top-level key `log` with `entries` in it",
    },
    FormatInfo {
        format: Format::ClaudeTrace,
        name: "claude-trace",
        what: "requests and answers of Claude Code as claude-trace logs them",
        detected_by: "lines with keys `request`, `response` and `logged_at`",
    },
    FormatInfo {
        format: Format::LiteLlm,
        name: "litellm",
        what: "calls as LiteLLM's callbacks log them (`StandardLoggingPayload`), and rows of its table of spends",
        detected_by: "objects with `call_type` and `startTime`, or with `standard_logging_object`",
    },
    FormatInfo {
        format: Format::Otel,
        name: "otel",
        what: "OpenTelemetry traces of generative AI (OTLP in JSON, `gen_ai.*`, OpenLLMetry, OpenInference): usage, and prompts where spans hold them",
        detected_by: "objects with `resourceSpans`",
    },
    FormatInfo {
        format: Format::WireCapture,
        name: "wire-capture",
        what: "requests of a real client seen by a proxy, joined with the outcomes it logged",
        detected_by: "top-level keys `header` and `records`, or lines with `ts` and `body`",
    },
    FormatInfo {
        format: Format::Bodies,
        name: "bodies",
        what: "one request body per file, in order of file names; or `{request, response}` in one file",
        detected_by: "top-level keys `model` and `messages` (or `input`, `prompt`), or `contents`, or `request` and `response`",
    },
    FormatInfo {
        format: Format::ExchangeLog,
        name: "exchange-log",
        what: "forkcast.exchanges/1, one exchange per line with instants, bodies and answers",
        detected_by: "lines with keys `v` and `request`",
    },
    FormatInfo {
        format: Format::ClaudeCode,
        name: "claude-code",
        what: "sessions of Claude Code (`~/.claude/projects`), sub-agents' files too",
        detected_by: "lines with keys `sessionId` and `type`, `uuid` or `operation`",
    },
    FormatInfo {
        format: Format::Weka,
        name: "weka",
        what: "WEKA's traces of Claude Code: conversations with their sub-agents, prompts as ids of blocks of 64 tokens",
        detected_by: "top-level keys `hash_id_scope` and `requests`",
    },
    FormatInfo {
        format: Format::Mooncake,
        name: "mooncake",
        what: "Mooncake's traces of a cluster: prompts as global ids of blocks of 512 tokens, no models",
        detected_by: "lines with keys `hash_ids` and `input_length`",
    },
    FormatInfo {
        format: Format::LmCache,
        name: "lmcache",
        what: "LMCache's traces of agents: the texts of prompts and answers, no models",
        detected_by: "lines with keys `input`, `session_id` and `timestamp`",
    },
    FormatInfo {
        format: Format::Codex,
        name: "codex",
        what: "rollouts of Codex CLI (`~/.codex/sessions`), sub-agents' files too",
        detected_by: "lines with keys `timestamp`, `type` and `payload`",
    },
    FormatInfo {
        format: Format::Pi,
        name: "pi",
        what: "sessions of pi (`~/.pi/agent/sessions`)",
        detected_by: "lines with keys `type`, `timestamp` and `cwd`, or a `message` with a `role`",
    },
    FormatInfo {
        format: Format::GeminiCli,
        name: "gemini-cli",
        what: "chats of Gemini CLI (`~/.gemini/tmp/*/chats`), as documents and as lines",
        detected_by: "keys `sessionId` and `projectHash`",
    },
    FormatInfo {
        format: Format::CopilotCli,
        name: "copilot-cli",
        what: "events of Copilot CLI (`~/.copilot/session-state`): sums of a session by model, no single request has usage",
        detected_by: "lines with keys `type`, `data`, `timestamp` and `parentId`",
    },
    FormatInfo {
        format: Format::OpenCode,
        name: "opencode",
        what: "sessions of OpenCode as `opencode export` writes them",
        detected_by: "top-level keys `info`, with an `id`, and `messages`",
    },
    FormatInfo {
        format: Format::ManagedAgents,
        name: "managed-agents",
        what: "event streams of Claude's managed agents, as listed by the API or stored line by line",
        detected_by: "objects with `type` and `processed_at`, or with `role`, `kind`, `time` and `raw`",
    },
    FormatInfo {
        format: Format::SweAgent,
        name: "swe-agent",
        what: "trajectories of SWE-agent (`.traj`): sums of a run, nothing of the cache",
        detected_by: "top-level key `history` with `trajectory`, or with messages that name an `agent`",
    },
    FormatInfo {
        format: Format::TraceLab,
        name: "tracelab",
        what: "normalised rounds of TraceLab, sizes without texts",
        detected_by: "lines with keys `provider`, `round_index` and `prefix_tokens`",
    },
];

impl Format {
    /// The name for `--input-format` and reports.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|row| row.format == self).map_or("", |row| row.name)
    }

    /// Its records may also stand in one JSON list.
    pub(crate) const fn reads_lists(self) -> bool {
        matches!(self, Self::LiteLlm | Self::Otel | Self::ManagedAgents)
    }
}

/// Which format the files have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputFormat {
    /// Found out file by file, by content.
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
        let row = FORMATS.iter().find(|row| row.name == name);
        row.map(|row| Self::As(row.format)).ok_or_else(|| Error::UnknownFormat {
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
        std::iter::once("auto").chain(FORMATS.iter().map(|row| row.name))
    }
}

/// What a reader found in one file.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The exchanges, in the file's order.
    pub exchanges: Vec<Exchange>,
    /// What a transcript tells of each agent.
    pub threads: Vec<Thread>,
    /// What a serving trace tells.
    pub traces: Vec<Trace>,
    /// Parts of the file that are no model requests (file uploads, token counting, telemetry): one reason each.
    pub skipped: Vec<String>,
    /// Damage that could be mended without guessing.
    pub repaired: Vec<Fault>,
    /// Damage that cost something: an exchange, or the usage of one.
    pub unreadable: Vec<Fault>,
    /// Damaged places beyond those listed: a file of gigabytes may have as many of them as bytes.
    pub unreadable_beyond: usize,
    /// Things seen that change nothing.
    pub notes: Vec<String>,
}

/// How many damaged places of one file are listed; further ones are counted.
const FAULTS_LISTED: usize = 10_000;

impl Reading {
    /// Lists a damaged place.
    fn damage(&mut self, fault: Fault) {
        match self.unreadable.len() < FAULTS_LISTED {
            true => self.unreadable.push(fault),
            false => self.unreadable_beyond += 1,
        }
    }

    /// Lists a damaged place in a text of records. What else is wrong with a line that is listed already follows from that.
    fn damage_record(&mut self, fault: Fault) {
        if self.unreadable.last().is_none_or(|last| last.line != fault.line) {
            self.damage(fault);
        }
    }

    /// Hands each record of `text` to `take`, with its index and its line, and lists what is none, and what `take` does not
    /// accept.
    fn records<'a, T: Deserialize<'a>>(
        &mut self,
        text: &Text<'a>,
        mut take: impl FnMut(usize, usize, T) -> Result<(), String>,
    ) {
        let mut index = 0;
        for record in text.records() {
            let range = match record {
                Ok(range) => range,
                Err(damaged) => {
                    self.damage_record(damaged.fault);
                    continue;
                }
            };
            let start = range.start;
            match serde_json::from_slice(text.bytes.get(range).unwrap_or_default()) {
                Ok(row) => {
                    if let Err(what) = take(index, text.line_of(start), row) {
                        self.damage_record(text.fault(start, what));
                    }
                }
                Err(error) => self.damage_record(text.json_fault(start, &error)),
            }
            index += 1;
        }
    }

    /// Adds what an answer said besides its usage.
    fn add(&mut self, origin: &Origin, line: usize, answer: Answer) {
        let place = |what: String| Fault::in_line(line, format!("exchange {}: {what}", origin.index));
        answer.faults.into_iter().map(place).for_each(|fault| self.damage(fault));
        self.repaired.extend(answer.repairs.into_iter().map(place));
        self.notes.extend(answer.notes.into_iter().map(|note| format!("exchange {}: {note}", origin.index)));
    }
}

/// How many parts of one file that are no model requests are named.
const PASSED_NAMED: usize = 5;

/// Parts of a file that are no model requests: the first ones are named, the others counted, since a browser's archive
/// has hundreds of them.
#[derive(Debug, Default)]
struct Passed {
    beyond: usize,
    named: usize,
}

impl Passed {
    fn add(&mut self, reading: &mut Reading, reason: &str) {
        match self.named < PASSED_NAMED {
            true => reading.skipped.push(reason.to_owned()),
            false => self.beyond += 1,
        }
        self.named += 1;
    }

    fn finish(&self, reading: &mut Reading) {
        if self.beyond > 0 {
            reading.skipped.push(format!("{} more entries that are no model requests", self.beyond));
        }
    }
}

/// Reads `bytes` (already decompressed) as `format`. `file` is the name that exchanges carry in their origin.
pub fn read(format: Format, file: &str, bytes: &[u8]) -> Reading {
    read_measured(format, file, bytes, None)
}

/// The same; blocks of transcripts are counted where `measuring` is given.
pub fn read_measured(format: Format, file: &str, bytes: &[u8], measuring: Option<&Measuring>) -> Reading {
    if format == Format::ClaudeCode {
        return claude_code::read(bytes, measuring);
    }
    let text = Text::new(bytes);
    match format {
        Format::Vcr => vcr::python(file, &text),
        Format::RubyVcr => vcr::ruby(file, &text),
        Format::Har => har::read(file, &text),
        Format::ClaudeTrace => claude_trace::read(file, &text),
        Format::LiteLlm => litellm::read(file, &text),
        Format::Otel => otel::read(file, &text),
        Format::WireCapture => wire_capture::read(file, &text),
        Format::Bodies => bodies::read(file, &text),
        Format::ExchangeLog => exchange_log::read(file, &text),
        Format::ClaudeCode => claude_code::read(bytes, measuring),
        Format::Weka => weka::read(&text),
        Format::Mooncake => mooncake::read(&text),
        Format::LmCache => lmcache::read(&text),
        Format::Codex => codex::read(&text),
        Format::Pi => pi::read(&text),
        Format::GeminiCli => gemini_cli::read(file, &text),
        Format::CopilotCli => copilot_cli::read(&text),
        Format::OpenCode => opencode::read(file, &text),
        Format::ManagedAgents => managed_agents::read(&text),
        Format::SweAgent => swe_agent::read(file, &text),
        Format::TraceLab => tracelab::read(&text),
    }
}
