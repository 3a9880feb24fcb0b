//! The pages of a fan-out and of a sweep.

use std::io;

use forkcast_scenarios::fanout::Trial;
use forkcast_scenarios::fanout::breakeven::Answer;
use forkcast_scenarios::sweep::{CellOutcome, Plan};

use super::Page;
use crate::document::{Document, Part};
use crate::format;
use crate::human;
use crate::human::sweep::Summary;

/// The page of cells, and of the answers to questions.
///
/// # Errors
/// When a record cannot be written as JSON.
pub fn fanout(rows: &[Trial], answers: &[Answer], price_book: &str, is_partial: bool) -> io::Result<Page> {
    let text = match answers {
        [] => human::fanout::document(rows, price_book, is_partial),
        answers => human::fanout::answers::document(answers, price_book),
    };
    let mut page = grid(if answers.is_empty() { "All cells" } else { "Answers" }, text);
    page.data("fanout", |target| format::fanout::write(rows, answers, price_book, is_partial, target))?;
    Ok(page)
}

/// The page of the cells of a sweep.
///
/// # Errors
/// When a record cannot be written as JSON.
pub fn sweep(
    plan: &Plan,
    summary: &Summary<'_>,
    rows: impl Iterator<Item = io::Result<CellOutcome>>,
) -> io::Result<Page> {
    let mut page = grid("Cells", summary.document());
    page.data("sweep", |target| format::sweep::write(plan, rows, target))?;
    Ok(page)
}

fn grid(heading: &'static str, text: Document) -> Page {
    let mut page = Page::new("fanout", title(&text));
    page.chapter("cells", "The grid", Document::default());
    page.chapter("answers", heading, text);
    page
}

/// The first line of a document.
pub(super) fn title(document: &Document) -> String {
    let titles = document.parts.iter().filter_map(|part| if let Part::Title(text) = part { Some(text) } else { None });
    titles.take(1).cloned().collect()
}
