//! The page of a replay.

use std::io;

use super::Page;
use crate::document::{Document, json, json_text};
use crate::format;
use crate::human;
use crate::human::list::Layout;
use crate::record::{Record, list};
use crate::report::Report;

/// The page of a report.
///
/// # Errors
/// When a record cannot be written as JSON.
pub fn replay(report: &Report<'_>) -> io::Result<Page> {
    let found = human::replay::chapters(report);
    let mut page = Page::new("replay", found.title);
    let bill = Document { parts: [found.head.parts, found.bill.parts].concat() };
    page.chapter("bill", "The bill", bill);
    page.chapter("days", "By day", Document::default());
    page.chapter("changes", "What to change", found.changes);
    page.chapter("misses", "Misses", found.misses);
    page.chapter("sessions", "Sessions", found.sessions);
    page.chapter("session", "One session", Document::default());
    page.chapter("request", "One request", Document::default());
    page.chapter("what-if", "What if", found.what_if);
    page.chapter("limits", "Limits", found.limits);
    add_data(report, &mut page)?;
    Ok(page)
}

/// The records of a report.
pub(super) fn add_data(report: &Report<'_>, page: &mut Page) -> io::Result<()> {
    page.data("report", |target| json_text::compact(target, &report.value()))?;
    page.data("causes", |target| json::write(&human::list::causes(Layout::Flat), target))?;
    let data = format::by_column::of(report)?;
    page.data("contents", |target| json_text::compact(target, &list(data.contents.rows(report))))?;
    page.data("requests", |target| json_text::compact(target, &data.requests))
}
