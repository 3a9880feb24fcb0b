//! Arguments of `list`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use forkcast_sim::pricing::Date;

use super::{Format, TalkArgs, date, whole};

const LIST_EXAMPLES: &str = "\
Examples:
  forkcast list causes                why a cache misses, and what to do
  forkcast list models                known models, with window and minimum
  forkcast list prices --format csv   the price book as a table
  forkcast list prices --out .        the same as prices.toml, for --price-book
  forkcast list prices --check data.json
                                      against genai-prices or models.dev
  forkcast list scenarios --out scenarios
                                      the YAML of every scenario, as examples
  forkcast list schemas --out schemas
                                      JSON Schemas of all JSON output";

/// Arguments of `list`.
#[derive(Debug, ClapArgs)]
#[command(after_help = LIST_EXAMPLES, arg_required_else_help = true)]
pub struct ListArgs {
    /// What to show
    #[arg(value_enum)]
    pub what: Listed,

    /// Also write the list into this folder as files (scenarios, schemas, prices); files that differ are not replaced
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Compare the price book with a public table (genai-prices, models.dev, LiteLLM)
    ///
    /// FILE is genai-prices' data.json, models.dev's api.json or LiteLLM's model_prices_and_context_window.json. Only the
    /// makers' own offers are compared, at standard speed, for prompts of ordinary length. Exit code 1 if a price differs.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub check: Option<PathBuf>,

    /// Day of the compared prices [default: today]
    #[arg(long = "prices", value_name = "DATE", value_parser = date, requires = "check")]
    pub day: Option<Date>,

    /// Form of the output
    #[arg(long, default_value = "human", value_parser = whole(), help_heading = "Output")]
    pub format: Format,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Causes of misses: meaning, origin, what to do, the providers' names
    Causes,
    /// Harmless differences between requests
    Notes,
    /// Models with their context windows and shortest cached prefixes
    Models,
    /// The price book
    Prices,
    /// Presets of cache rules
    Profiles,
    /// How clients change their prompts, by version: the rules of the forecast for transcripts
    Habits,
    /// Start times of the children of a fan-out, and breakpoints
    Policies,
    /// Formats of recordings
    Formats,
    /// Built-in scenarios
    Scenarios,
    /// Changes for `--what-if`
    WhatIfs,
    /// JSON Schemas of the machine formats
    Schemas,
}
