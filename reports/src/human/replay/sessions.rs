//! A row for each recording, if there are several, and for each group.

use super::{account, is_told};
use crate::document::{Column, Document};
use crate::report::{By, Report, Session, rank};

/// Models that people see.
const MODELS_SHOWN: usize = 12;

/// Groups that people see: a month of days.
const GROUPS_SHOWN: usize = 31;

/// The name of the row with the sums over all.
const ALL: &str = "all";

pub(super) fn add(report: &Report<'_>, document: &mut Document, shown_max: usize) {
    if report.sessions.len() < 2 {
        return;
    }
    let mut sessions: Vec<&Session> = report.sessions.iter().collect();
    sessions.sort_by_key(|session| (rank(&session.account), session.index));
    let mut table =
        account::table("sessions", Column::name(if is_told(report) { "Session" } else { "Recording" }, "session"));
    table.make(shown_max, &sessions, |session| account::row(&report.brief(session), &session.account));
    table.sum = Some(account::row(ALL, &report.totals));
    table.rows_are = if is_told(report) {
        "sessions (--table sessions lists all)"
    } else {
        "recordings (--table sessions lists all)"
    };
    document.heading(format!("{}, the dearest first", kind(report)));
    document.table(table);
}

/// Sessions of transcripts, recordings of requests, or both.
fn kind(report: &Report<'_>) -> &'static str {
    match is_told(report) {
        true => "Sessions",
        false if report.is_told() => "Sessions and recordings",
        false => "Recordings",
    }
}

pub(super) fn add_groups(report: &Report<'_>, document: &mut Document) {
    let Some(by) = report.view.by else { return };
    let mut table = account::table("groups", Column::name(title(by), "key"));
    table.make(GROUPS_SHOWN, &report.groups, |group| account::row(&group.key, &group.account));
    table.sum = (report.groups.len() > 1).then(|| account::row(ALL, &report.totals));
    table.rows_are = "groups (--table groups lists all)";
    document.heading(format!("By {}", by.word()));
    document.table(table);
}

/// A row for each model, if there are several and they were not requested as groups.
pub(super) fn add_models(report: &Report<'_>, document: &mut Document) {
    if report.models.len() < 2 || report.view.by == Some(By::Model) {
        return;
    }
    let mut table = account::table("models", Column::name("Model", "model"));
    table.make(MODELS_SHOWN, &report.models, |group| account::row(&group.key, &group.account));
    table.rows_are = "models (--by model shows all)";
    document.heading("Models, the dearest first");
    document.table(table);
}

const fn title(by: By) -> &'static str {
    match by {
        By::Day => "Day (UTC)",
        By::Week => "Week (ISO, UTC)",
        By::Month => "Month (UTC)",
        By::Project => "Project",
        By::Model => "Model",
        By::Agent => "Agent",
        By::Version => "Client",
    }
}
