//! The page of two results side by side.

use std::io;

use super::Page;
use super::fanout::title;
use crate::document::Document;
use crate::format;
use crate::human;
use crate::movement::Movement;

/// The page of a comparison.
///
/// # Errors
/// When a record cannot be written as JSON.
pub fn movement(movement: &Movement) -> io::Result<Page> {
    let text = human::movement::document(movement);
    let mut page = Page::new("compare", title(&text));
    page.chapter("moved", "What moved", Document::default());
    page.chapter("sums", "In numbers", text);
    page.data("compare", |target| format::movement::write(movement, target))?;
    Ok(page)
}
