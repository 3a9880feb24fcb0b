//! A row for each recording, if there are several, and for each group.

use forkcast_sim::pricing::Money;
use forkcast_sim::time::Duration;

use super::{account, is_of_transcripts};
use crate::document::{Cell, Column, Document, money, span};
use crate::report::{Account, BLOCK, BLOCK_FORM, By, Group, Report, Session, rank};

/// Most models shown to people.
const MODELS_SHOWN: usize = 12;

/// Most groups shown to people: a month of days.
const GROUPS_SHOWN: usize = 31;

/// The name of the row with the sums over all.
const ALL: &str = "all";

pub(super) fn add(report: &Report<'_>, document: &mut Document, shown_max: usize) {
    if report.sessions.len() < 2 {
        return;
    }
    let mut sessions: Vec<&Session> = report.sessions.iter().collect();
    sessions.sort_by_key(|session| (rank(&session.account), session.index));
    let mut table = account::table(
        "sessions",
        Column::name(if is_of_transcripts(report) { "Session" } else { "Recording" }, "session"),
    );
    table.make(report.view.top.unwrap_or(shown_max), &sessions, |session| {
        account::row(&report.brief(session), &session.account)
    });
    table.sum = Some(account::row(ALL, &report.totals));
    table.rows_are = if is_of_transcripts(report) {
        "sessions (--table sessions lists all)"
    } else {
        "recordings (--table sessions lists all)"
    };
    document.heading(format!("{}, the dearest first", kind(report)));
    document.table(table);
}

/// Sessions of transcripts, recordings of requests, or both.
fn kind(report: &Report<'_>) -> &'static str {
    match is_of_transcripts(report) {
        true => "Sessions",
        false if report.has_transcripts() => "Sessions and recordings",
        false => "Recordings",
    }
}

pub(super) fn add_groups(report: &Report<'_>, document: &mut Document) {
    let view = &report.view;
    let Some(by) = view.by else { return };
    let mut table = account::table("groups", Column::name(title(by), "key"));
    if let Some(then_by) = view.then_by {
        table.columns.insert(1, Column::name(title(then_by), "then_key"));
    }
    let row = |key: &str, then_key: Option<&str>, sums: &Account| {
        let mut row = account::row(key, sums);
        if view.then_by.is_some() {
            row.insert(1, Cell::text(then_key.unwrap_or_default()));
        }
        row
    };
    let shown_max = view.top.unwrap_or(GROUPS_SHOWN);
    // Of times the newest are shown, in their order.
    let is_long = by.is_time() && report.groups.len() > shown_max + 1;
    let earlier = if is_long { report.groups.len() - shown_max } else { 0 };
    let shown = report.groups.get(earlier..).unwrap_or_default();
    table.make(shown_max, shown, |group| row(&group.key, group.then_key.as_deref(), &group.account));
    table.unmade += earlier;
    table.sum = (report.groups.len() > 1).then(|| row(ALL, None, &report.totals));
    table.rows_are =
        if is_long { "earlier groups (--table groups lists all)" } else { "groups (--table groups lists all)" };
    let then_by = view.then_by.map_or_else(String::new, |by| format!(" and {}", by.word()));
    let zone = if by.is_time() { format!(" ({})", view.zone.name()) } else { String::new() };
    document.heading(format!("By {}{then_by}{zone}", by.word()));
    document.table(table);
    document.text(open_block(report).into_iter().collect());
}

/// How much of a block must have passed before it has a pace.
const PACE_MIN: Duration = Duration::from_secs(30 * 60);

/// The rest of the current block of five hours: time, and what the whole block will cost if it goes on like this.
fn open_block(report: &Report<'_>) -> Option<String> {
    let (now, block) = (report.view.now?, *report.blocks.last()?);
    let passed = now.since(block);
    let left = BLOCK.0.checked_sub(passed.0).filter(|left| *left > 0 && now >= block)?;
    let zone = &report.view.zone;
    let (key, begun) = (zone.text(block, BLOCK_FORM)?, zone.text(block, "%H:%M")?);
    let of_block = |group: &&Group| [Some(&group.key), group.then_key.as_ref()].contains(&Some(&key));
    let costs = report.groups.iter().filter(of_block).filter_map(|group| group.account.billed.cost);
    let cost = costs.reduce(|sum, cost| sum + cost);
    let pace = |cost: Money| match passed < PACE_MIN {
        true => String::new(),
        false => format!(", {} at its end at this pace", money(Money::of(BLOCK.0, cost.picousd(), passed.0.into()))),
    };
    let spent = cost.map_or_else(String::new, |cost| format!(": {} so far{}", money(cost), pace(cost)));
    Some(format!("The block of {begun} has {} left{spent}.", span(left / 1_000_000)))
}

/// A row for each model, if there are several and they are not the requested groups.
pub(super) fn add_models(report: &Report<'_>, document: &mut Document) {
    if report.models.len() < 2 || report.view.by == Some(By::Model) {
        return;
    }
    let mut table = account::table("models", Column::name("Model", "model"));
    table.make(report.view.top.unwrap_or(MODELS_SHOWN), &report.models, |group| {
        account::row(&group.key, &group.account)
    });
    table.rows_are = "models (--by model shows all)";
    document.heading("Models, the dearest first");
    document.table(table);
}

const fn title(by: By) -> &'static str {
    match by {
        By::Day => "Day",
        By::Week => "Week",
        By::Month => "Month",
        By::Block => "Five hours from",
        By::Project => "Project",
        By::Model => "Model",
        By::Agent => "Agent",
        By::Kind => "Kind of agent",
        By::Version => "Client",
    }
}
