//! Built-in data: causes, models, prices, cache rules, habits of clients, policies of fan-outs, formats, what-ifs.
//!
//! Models and prices are one table for machines ([`Layout::Flat`]); people get one for each vendor.

mod causes;
mod habits;
mod models;
mod prices;

use forkcast_replay::formats::Format;
use forkcast_replay::what_if::{KEYS, WhatIf};
use forkcast_scenarios::catalog;
use forkcast_scenarios::fanout::policy::{LAUNCHES, PLACEMENTS};
use forkcast_sim::cache::{LifetimeClock, PRESETS, Refresh, VisibleFrom};
use forkcast_sim::wire::model::Vendor;

use crate::document::{Cell, Column, Document, Table};
use crate::format::schemas::{Schema, schemas as known};

pub use causes::{cause, causes, hint, more, notes};
pub use habits::habits;
pub use models::models;
pub use prices::{compared, prices};

/// The readers of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// People: a table for each vendor.
    Grouped,
    /// Machines: one table with columns for the vendor and its data.
    Flat,
    /// Spreadsheets: only that table.
    Single,
}

/// A maker's name for people.
const fn title(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Anthropic => "Anthropic",
        Vendor::OpenAi => "OpenAI",
        Vendor::Google => "Google",
        Vendor::DeepSeek => "DeepSeek",
        Vendor::Moonshot => "Moonshot",
        Vendor::Xai => "xAI",
        Vendor::Zhipu => "Zhipu",
        Vendor::Mistral => "Mistral",
        Vendor::Cohere => "Cohere",
    }
}

/// The choices of a replay, in the canonical order.
pub fn what_ifs() -> Document {
    let table = Table::of("what_ifs", &KEYS)
        .with(Column::left("Key", "name"), |key| Cell::text(key.name))
        .with(Column::wrap("Value", "value"), |key| Cell::text(key.values.replace('|', ", ")))
        .with(Column::wrap("Changes", "what"), |key| Cell::text(key.what));
    let defaults: Vec<String> = WhatIf::defaults().iter().map(ToString::to_string).collect();
    let mut document = Document::default();
    document.title(format!(
        "Changes for --what-if; every replay has those of these columns that concern its models: {}",
        defaults.join(", ")
    ));
    document.table(table.whole());
    document
}

/// The presets of cache rules, the default first.
pub fn profiles() -> Document {
    let clock = |clock: LifetimeClock| match clock {
        LifetimeClock::RequestStart => "request",
        LifetimeClock::ResponseEnd => "end of answer",
    };
    let table = Table::of("profiles", &PRESETS)
        .with(Column::left("Preset", "name"), |rules| Cell::text(rules.name))
        .with(Column::right("Look-back", "look_back_positions"), |rules| Cell::Count(rules.look_back.reach.into()))
        .with(Column::left("Counts", "look_back_counts"), |rules| Cell::text(rules.look_back.count.name()))
        .with(Column::left("A hit refreshes", "refresh").optional(), |rules| Cell::text(refreshed(rules.refresh)))
        .with(Column::left("Readable from", "visible_from").optional(), |rules| Cell::text(seen(rules.visible_from)))
        .with(Column::left("Lifetime from", "lifetime_from").optional(), |rules| {
            Cell::text(clock(rules.lifetime_clock))
        })
        .with(Column::right("Slack, s", "slack_seconds"), |rules| Cell::Count(rules.slack.as_millis() / 1_000))
        .with(Column::wrap("Source", "source"), |rules| Cell::text(rules.source));
    let mut document = Document::default();
    document.title("Presets of the marked family; recordings before 2026-09-22 take the last, others the first");
    document.table(table.whole());
    document
}

const fn refreshed(refresh: Refresh) -> &'static str {
    match refresh {
        Refresh::Chain => "all shorter ones",
        Refresh::HitOnly => "itself",
    }
}

const fn seen(from: VisibleFrom) -> &'static str {
    match from {
        VisibleFrom::FirstByte => "first byte",
        VisibleFrom::RequestStart => "request",
        VisibleFrom::ResponseEnd => "end of answer",
    }
}

/// When children of a fan-out start, and breakpoints.
pub fn policies() -> Document {
    let columns = vec![Column::left("Kind", "kind"), Column::left("Policy", "name"), Column::wrap("Effect", "what")];
    let mut table = Table::new("policies", columns);
    let row = |kind: &str, name: &str, what: &str| vec![Cell::text(kind), Cell::text(name), Cell::text(what)];
    table.rows.extend(LAUNCHES.map(|(form, about)| row("launch", form, about)));
    table.rows.extend(PLACEMENTS.map(|(placement, about)| {
        let marks = format!("marks {about}");
        row("breakpoints", placement.name(), &marks)
    }));
    let mut document = Document::default();
    document.title("Launch policies and placements of breakpoints, for --launch and --breakpoints");
    document.table(table);
    document
}

/// The formats of recordings.
pub fn formats() -> Document {
    let table = Table::of("formats", Format::ALL)
        .with(Column::left("Format", "name"), |format| Cell::text(format.reader().name))
        .with(Column::wrap("Description", "what"), |format| Cell::text(format.reader().what))
        .with(Column::wrap("Recognised by", "detected_by"), |format| Cell::text(format.reader().detected_by));
    let mut document = Document::default();
    document.title("Formats of recordings, detected by content; gzip, zlib and zstd are unpacked");
    document.table(table.whole());
    document
}

/// The scenarios.
pub fn scenarios() -> Document {
    let table = Table::of("scenarios", catalog::all())
        .with(Column::left("Scenario", "name"), |entry| Cell::text(entry.name.as_str()))
        .with(Column::wrap("Claim", "claim"), |entry| Cell::text(entry.claim()));
    let mut document = Document::default();
    document.title(format!("Built-in scenarios; the default of `forkcast run` is {}", catalog::DEFAULT));
    document.table(table.whole());
    document
}

/// The JSON Schemas.
pub fn schemas() -> Document {
    let schemas: Vec<Schema> = known().collect();
    let parts = |schema: &Schema| schema.name.split_once('/').unwrap_or((schema.name, ""));
    let table = Table::of("schemas", &schemas)
        .with(Column::left("Format", "name"), |schema| Cell::text(parts(schema).0))
        .with(Column::right("Version", "version"), |schema| parts(schema).1.parse().map_or(Cell::Empty, Cell::Count))
        .with(Column::left("File", "file"), |schema| Cell::Text(schema.file_name()))
        .with(Column::wrap("Content", "what"), |schema| Cell::Text(schema.description()));
    let mut document = Document::default();
    document
        .title("JSON Schemas of the output of --format json and --out; `forkcast list schemas --out DIR` writes them");
    document.table(table.whole());
    document
}
