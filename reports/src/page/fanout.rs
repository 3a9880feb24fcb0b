//! The page of a fan-out.

use std::io;

use forkcast_scenarios::fanout::Trial;
use forkcast_scenarios::fanout::breakeven::Answer;

use super::Page;
use crate::document::{Document, Part};
use crate::format;
use crate::human;

/// The page of cells, and of the answers to questions.
///
/// # Errors
/// When a record cannot be written as JSON.
pub fn fanout(rows: &[Trial], answers: &[Answer], price_book: &str, is_partial: bool) -> io::Result<Page> {
    let text = match answers {
        [] => human::fanout::document(rows, price_book, is_partial),
        answers => human::fanout::answers::document(answers, price_book),
    };
    let mut page = Page::new("fanout", title(&text));
    page.chapter("cells", "The grid", Document::default());
    page.chapter("answers", if answers.is_empty() { "All cells" } else { "Answers" }, text);
    page.data("fanout", |target| format::fanout::write(rows, answers, price_book, is_partial, target))?;
    Ok(page)
}

/// The first line of a document.
pub(super) fn title(document: &Document) -> String {
    let titles = document.parts.iter().filter_map(|part| if let Part::Title(text) = part { Some(text) } else { None });
    titles.take(1).cloned().collect()
}
