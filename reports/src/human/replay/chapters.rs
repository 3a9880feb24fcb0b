//! The whole report in chapters, for pages.

use super::{actions, agreement, bill, damage, gates, head, misses, sessions, totals, unseen, what_if};
use crate::document::Document;
use crate::report::Report;

/// Parts of a report.
#[derive(Clone, Debug, Default)]
pub struct Chapters {
    /// The first line of the report.
    pub title: String,
    /// The input.
    pub head: Document,
    /// The bill and its parts.
    pub bill: Document,
    /// What to change.
    pub changes: Document,
    /// Why tokens were not read.
    pub misses: Document,
    /// Models, requested groups and sessions.
    pub sessions: Document,
    /// Other settings.
    pub what_if: Document,
    /// What is in no sum, and how sure the numbers are.
    pub limits: Document,
}

/// Writes into a document.
type Add = fn(&Report<'_>, &mut Document);

/// A report in chapters.
pub fn chapters(report: &Report<'_>) -> Chapters {
    let chapter = |parts: &[Add]| {
        let mut document = Document::default();
        parts.iter().for_each(|add| add(report, &mut document));
        document
    };
    Chapters {
        title: bill::title(report),
        head: chapter(&[head::add]),
        bill: chapter(&[gates::add, bill::add]),
        changes: chapter(&[actions::add]),
        misses: chapter(&[misses::add]),
        sessions: chapter(&[sessions::add_groups, sessions::add_models, |report, document| {
            sessions::add(report, document, super::SESSIONS_ALL);
        }]),
        what_if: chapter(&[what_if::add]),
        limits: chapter(&[
            unseen::add,
            head::rules,
            totals::add,
            agreement::add,
            crate::human::calibration::add,
            damage::add,
        ]),
    }
}
