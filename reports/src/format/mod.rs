//! The machine formats, with a name and a version each: lists of fields of the report. Their JSON Schemas are in
//! `schema/`, made from these lists.
//!
//! * [`replay`]: `forkcast.replay/1`, one object.
//! * [`ledger`]: `forkcast.ledger/1`, a line for each request.
//! * [`requests`]: the ledger as a flat table of comma-separated values.
//!   With the feature `parquet` also as a Parquet file.
//! * [`by_column`]: the ledger by column, for pages.
//! * [`contents`]: what prompts were made of, for pages.
//! * [`tables`]: every table of a replay as comma-separated values.
//! * [`movement`]: `forkcast.compare/1`, two results side by side.
//! * [`diff`]: `forkcast.diff/1`, two requests compared.
//! * [`check`]: `forkcast.check/1`, the findings of the prefix guard, also as JUnit XML, SARIF and annotations.
//! * [`explain`]: `forkcast.explain/1`, one request compared with its cache.
//! * [`run`]: `forkcast.run/1`, one run of a scenario, and its requests as comma-separated values.
//! * [`sweep`]: `forkcast.sweep/1`, cells of a grid, and the same as comma-separated values.
//! * [`manifest`]: `forkcast.manifest/1`, the files of a folder.
//! * [`schemas`]: the JSON Schemas of these, of `forkcast.list/1` and of the formats that are read, as files.

pub mod by_column;
pub mod cast;
mod change;
pub mod check;
pub mod contents;
pub mod diff;
mod difference;
pub mod explain;
pub mod fanout;
mod inputs;
pub mod ledger;
mod list;
pub mod manifest;
pub mod movement;
pub mod number;
mod outcome;
mod own_prices;
pub mod parquet;
pub mod replay;
pub mod requests;
pub mod run;
pub mod schemas;
mod sender;
mod sizes;
pub mod sweep;
pub mod tables;
pub mod usage;
mod words;

pub use schemas::SCHEMAS;

/// The format that scenarios are written in, for editors.
pub const SCENARIO: &str = "forkcast.scenario/1";
