//! Files of viewers.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args as ClapArgs, ValueEnum};
use forkcast_reports::export::stacks;

/// Files of viewers.
#[derive(Debug, ClapArgs)]
pub struct ExportArgs {
    /// Write Chrome trace events, for Perfetto, Firefox Profiler and speedscope
    #[arg(long, value_name = "FILE", help_heading = "Viewers")]
    pub trace: Option<PathBuf>,

    /// Write collapsed stacks, for flame graphs
    #[arg(long, value_name = "FILE", help_heading = "Viewers")]
    pub stacks: Option<PathBuf>,

    /// Weigh the stacks by this
    #[arg(long, value_name = "WEIGHT", value_enum, default_value_t, requires = "stacks", help_heading = "Viewers")]
    pub stacks_by: Weight,

    /// Write OpenTelemetry spans (OTLP in JSON, `gen_ai` conventions)
    #[arg(long, value_name = "FILE", help_heading = "Viewers")]
    pub otlp: Option<PathBuf>,

    /// Write the table of requests as a Parquet file (where it is built in)
    #[arg(long, value_name = "FILE", help_heading = "Viewers")]
    pub parquet: Option<PathBuf>,
}

impl ExportArgs {
    /// Whether a file is requested.
    pub const fn is_asked(&self) -> bool {
        self.trace.is_some() || self.stacks.is_some() || self.otlp.is_some() || self.parquet.is_some()
    }
}

/// What the width of a frame means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Weight {
    /// Millionths of a dollar
    #[default]
    Usd,
    /// Tokens
    Tokens,
}

impl From<Weight> for stacks::Weight {
    fn from(weight: Weight) -> Self {
        match weight {
            Weight::Usd => Self::Usd,
            Weight::Tokens => Self::Tokens,
        }
    }
}

/// Options that want a file or a folder, with an example.
const EXAMPLES: [&str; 6] = [
    "--html page.html",
    "--trace trace.json",
    "--stacks stacks.txt",
    "--otlp spans.json",
    "--parquet requests.parquet",
    "--out result",
];

/// The error with an example of what such an option wants, if nothing follows it.
pub fn with_example(mut error: clap::Error) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let is_empty = error.kind() == ErrorKind::InvalidValue
        && text(ContextKind::InvalidValue).is_some_and(|value| value.is_empty());
    let option = text(ContextKind::InvalidArg).filter(|_| is_empty);
    let is_of =
        |example: &&&str| option.as_deref().is_some_and(|option| option.split(' ').next() == example.split(' ').next());
    if let Some(example) = EXAMPLES.iter().find(is_of) {
        let tip = format!("name what is written, such as {example}").into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}
