//! The page of one request and its cache, or of two requests.

use std::io::{self, Write};

use super::Page;
use super::fanout::title;
use crate::document::Document;

/// The page of a text; `kind` is the verb, and says which pictures its script draws from the record that `write` writes.
///
/// # Errors
/// When the record cannot be written as JSON.
pub fn request(
    kind: &'static str,
    text: Document,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<Page> {
    let mut page = Page::new(kind, title(&text));
    page.chapter("shown", "At a glance", Document::default());
    page.chapter("words", "In words", text);
    page.data(kind, write)?;
    Ok(page)
}
