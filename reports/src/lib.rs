//! The record of a replay as tables, pictures and machine formats.
//!
//! Modules in reading order:
//!
//! * [`report`]: the basis of every format: sessions, agents, sums, exceptions. Nothing is computed after it.
//! * [`rerun`]: the requests of a run as a replay, so that both have the same reports.
//! * [`comparison`]: the same for two requests side by side.
//! * [`movement`]: two results side by side, such as two runs or two weeks.
//! * [`check`]: the findings of the prefix guard.
//! * [`explained`]: one request compared with the contents of its cache.
//! * [`forks`]: the shared prefixes of forks and their parents.
//! * [`names`]: names of files and tools as they are, or replaced by stable ids.
//! * [`export`](mod@export): files of other programs' viewers.
//! * [`price_tables`]: public price tables of other projects, beside the price book.
//! * [`document`]: headings, sentences and tables, independent of the output format.
//! * [`record`]: one list of fields for each record, from which all forms of output are made.
//! * [`human`]: the documents: of a replay, of a comparison of two requests.
//! * [`format`](mod@format): the versioned machine formats, each with a JSON Schema in `schema/`.
//! * [`figures`](mod@figures): pictures.
//! * [`folder`](mod@folder): all of it on disk.
//! * [`page`](mod@page): one file for a browser.

#[macro_use]
pub mod record;

mod answers;
pub mod check;
pub mod comparison;
pub mod document;
pub mod explained;
pub mod export;
pub mod figures;
pub mod folder;
pub mod forks;
pub mod format;
pub mod human;
pub mod movement;
pub mod names;
pub mod page;
pub mod price_tables;
pub mod report;
pub mod rerun;
