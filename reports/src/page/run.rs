//! The page of a run: that of its requests, as if they had been recorded, and what only a run knows.

use std::io;

use forkcast_scenarios::run::Run;

use super::fanout::title;
use super::{Page, replay};
use crate::document::{Document, Part, money};
use crate::format;
use crate::human;
use crate::report::Report;

/// The page of a run; `failures` are the expectations that failed, `report` is about its requests.
///
/// # Errors
/// When a record cannot be written as JSON.
pub fn run(run: &Run, failures: &[String], report: &Report<'_>) -> io::Result<Page> {
    let mut text = human::run::document(run, failures);
    let found = human::replay::chapters(report);
    let cost = run.totals().cost.map_or_else(|| "No price".to_owned(), money);
    let said = title(&text).replacen(&format!(" {cost},"), "", 1);
    let mut page = Page::new("run", format!("{cost} · {said}"));
    page.chapter("bill", "The bill", found.bill);
    page.chapter("session", "Over time", Document::default());
    // Lanes are drawn above.
    text.parts.retain(|part| !matches!(part, Part::Verbatim(_)));
    page.chapter("run", "The run", text);
    page.chapter("changes", "What to change", found.changes);
    page.chapter("misses", "Misses", found.misses);
    page.chapter("request", "One request", Document::default());
    page.chapter("what-if", "What if", found.what_if);
    page.data("run", |target| format::run::write_with(run, failures, Some(report), target))?;
    replay::add_data(report, &mut page)?;
    Ok(page)
}
