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
use forkcast_sim::cache::{LifetimeClock, PRESETS, Refresh, Rules, VisibleFrom};
use forkcast_sim::wire::model::Vendor;

use crate::document::{Cell, Column, Document, Table};

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
    let columns = vec![Column::left("Key", "name"), Column::wrap("Value", "value"), Column::wrap("Changes", "what")];
    let mut table = Table::new("what_ifs", columns);
    table.rows = KEYS
        .iter()
        .map(|key| vec![Cell::text(key.name), Cell::text(key.values.replace('|', ", ")), Cell::text(key.what)])
        .collect();
    let defaults: Vec<String> = WhatIf::defaults().iter().map(ToString::to_string).collect();
    let mut document = Document::default();
    document.title(format!(
        "Changes for --what-if; every replay has those of these columns that concern its models: {}",
        defaults.join(", ")
    ));
    document.table(table);
    document
}

/// The presets of cache rules, the default first.
pub fn profiles() -> Document {
    let mut table = Table::new(
        "profiles",
        vec![
            Column::left("Preset", "name"),
            Column::right("Look-back", "look_back_positions"),
            Column::left("Counts", "look_back_counts"),
            Column::left("A hit refreshes", "refresh").optional(),
            Column::left("Readable from", "visible_from").optional(),
            Column::left("Lifetime from", "lifetime_from").optional(),
            Column::right("Slack, s", "slack_seconds"),
            Column::wrap("Source", "source"),
        ],
    );
    table.rows = PRESETS.iter().map(profile).collect();
    let mut document = Document::default();
    document.title("Presets of the marked family; recordings before 2026-09-22 take the last, others the first");
    document.table(table);
    document
}

fn profile(rules: &Rules) -> Vec<Cell> {
    let refresh = match rules.refresh {
        Refresh::Chain => "all shorter ones",
        Refresh::HitOnly => "itself",
    };
    let visible = match rules.visible_from {
        VisibleFrom::FirstByte => "first byte",
        VisibleFrom::RequestStart => "request",
        VisibleFrom::ResponseEnd => "end of answer",
    };
    let clock = match rules.lifetime_clock {
        LifetimeClock::RequestStart => "request",
        LifetimeClock::ResponseEnd => "end of answer",
    };
    vec![
        Cell::text(rules.name),
        Cell::Count(u64::from(rules.look_back.reach)),
        Cell::text(rules.look_back.count.name()),
        Cell::text(refresh),
        Cell::text(visible),
        Cell::text(clock),
        Cell::Count(rules.slack.as_millis() / 1_000),
        Cell::text(rules.source),
    ]
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
    let mut table = Table::new(
        "formats",
        vec![
            Column::left("Format", "name"),
            Column::wrap("Description", "what"),
            Column::wrap("Recognised by", "detected_by"),
        ],
    );
    let row = |format: &Format| {
        let info = format.reader();
        vec![Cell::text(info.name), Cell::text(info.what), Cell::text(info.detected_by)]
    };
    table.rows = Format::ALL.iter().map(row).collect();
    let mut document = Document::default();
    document.title("Formats of recordings, detected by content; gzip, zlib and zstd are unpacked");
    document.table(table);
    document
}

/// The scenarios.
pub fn scenarios() -> Document {
    let columns = vec![Column::left("Scenario", "name"), Column::wrap("Claim", "claim")];
    let mut table = Table::new("scenarios", columns);
    table.rows =
        catalog::all().iter().map(|entry| vec![Cell::text(entry.name.as_str()), Cell::text(entry.claim())]).collect();
    let mut document = Document::default();
    document.title(format!("Built-in scenarios; the default of `forkcast run` is {}", catalog::DEFAULT));
    document.table(table);
    document
}

/// The JSON Schemas.
pub fn schemas() -> Document {
    let mut table = Table::new(
        "schemas",
        vec![
            Column::left("Format", "name"),
            Column::right("Version", "version"),
            Column::left("File", "file"),
            Column::wrap("Content", "what"),
        ],
    );
    for schema in crate::format::schemas::schemas() {
        let (name, version) = schema.name.split_once('/').unwrap_or((schema.name, ""));
        table.rows.push(vec![
            Cell::text(name),
            version.parse().map_or(Cell::Empty, Cell::Count),
            Cell::Text(schema.file_name()),
            Cell::Text(schema.description()),
        ]);
    }
    let mut document = Document::default();
    document
        .title("JSON Schemas of the output of --format json and --out; `forkcast list schemas --out DIR` writes them");
    document.table(table);
    document
}
