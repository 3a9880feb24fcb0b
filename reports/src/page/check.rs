//! The page of a check.

use std::io;

use forkcast_sim::guard::Stretch;
use serde_json::{Value, json};

use super::Page;
use super::fanout::title;
use crate::check::Check;
use crate::document::Document;
use crate::format;
use crate::human;

/// The page of a check.
///
/// # Errors
/// When a record cannot be written as JSON.
pub fn check(check: &Check<'_>) -> io::Result<Page> {
    let text = human::check::document(check, check.content);
    let mut page = Page::new("check", capital(&title(&text)));
    page.chapter("strip", "Requests", Document::default());
    page.chapter("findings", "In words", text);
    page.data("check", |target| format::check::write(check, target))?;
    page.data("strips", |target| Ok(serde_json::to_writer(target, &strips(check))?))?;
    Ok(page)
}

/// The blocks of the request of each finding.
fn strips(check: &Check<'_>) -> Value {
    let stretch = |part: &Stretch| {
        let Stretch { level, blocks, tokens, is_changed } = *part;
        json!({ "level": level.name(), "blocks": blocks, "tokens": tokens, "is_changed": is_changed })
    };
    check.report.findings.iter().map(|finding| finding.strip.iter().map(stretch).collect::<Value>()).collect()
}

/// The text with a capital at its beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
