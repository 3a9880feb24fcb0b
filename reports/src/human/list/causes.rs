//! The meanings of causes and harmless notes.

use forkcast_sim::diagnosis::{CAUSES, Cause, DIAGNOSING, Note};
use forkcast_sim::wire::Maker;

use super::Layout;
use crate::document::{Cell, Column, Document, Table};
use crate::report::{CAUSES_HINT, in_clients};

/// Adds a reference to the explanation of causes.
pub fn hint(document: &mut Document) {
    document.aside(vec![CAUSES_HINT.to_owned()]);
}

/// Where one cause is explained.
pub fn more(cause: Cause) -> String {
    format!("forkcast explain {}: what this cause means", cause.word())
}

/// All causes, in order of precedence.
pub fn causes(layout: Layout) -> Document {
    let mut document = Document::default();
    document.title("Why tokens that were sent before were not read; if several causes hold, the first is reported");
    match layout {
        Layout::Grouped => CAUSES.into_iter().for_each(|cause| describe(cause, &mut document)),
        Layout::Flat | Layout::Single => document.table(table(&CAUSES)),
    }
    document
}

/// One cause.
pub fn cause(cause: Cause, layout: Layout) -> Document {
    let mut document = Document::default();
    match layout {
        Layout::Grouped => describe(cause, &mut document),
        Layout::Flat | Layout::Single => document.table(table(&[cause])),
    }
    document
}

fn describe(cause: Cause, document: &mut Document) {
    document.heading(cause.word());
    let mut lines = vec![
        cause.meaning().to_owned(),
        format!("Common reason: {}", cause.origin()),
        format!("What to do: {}", cause.suggestion()),
    ];
    lines.extend(in_clients(cause));
    let called: Vec<String> = DIAGNOSING.iter().filter_map(|provider| called_by(*provider, cause)).collect();
    if !called.is_empty() {
        lines.push(format!("In cache diagnoses: {}", called.join("; ")));
    }
    document.text(lines);
}

/// `tools_changed (Anthropic)`.
fn called_by(provider: Maker, cause: Cause) -> Option<String> {
    let words = words(provider, cause);
    let one_of = if words.contains(", ") { "one of " } else { "" };
    (!words.is_empty()).then(|| format!("{one_of}{words} ({})", provider.name()))
}

fn words(provider: Maker, cause: Cause) -> String {
    provider.reasons(cause).join(", ")
}

fn table(causes: &[Cause]) -> Table {
    let [anthropic, openai] = DIAGNOSING;
    Table::of("causes", causes)
        .with(Column::left("Cause", "name"), |cause| Cell::text(cause.word()))
        .with(Column::wrap("Meaning", "meaning"), |cause| Cell::text(cause.meaning()))
        .with(Column::wrap("Common reason", "origin"), |cause| Cell::text(cause.origin()))
        .with(Column::wrap("What to do", "suggestion"), |cause| Cell::text(cause.suggestion()))
        .with(Column::wrap("In clients", "in_clients"), |cause| Cell::Text(in_clients(*cause).join(" ")))
        .with(Column::left("Anthropic", "anthropic"), |cause| Cell::Text(words(anthropic, *cause)))
        .with(Column::left("OpenAI", "openai"), |cause| Cell::Text(words(openai, *cause)))
        .whole()
}

/// Differences that cost nothing.
pub fn notes() -> Document {
    let table = Table::of("notes", &Note::ALL)
        .with(Column::left("Note", "name"), |note| Cell::text(note.word()))
        .with(Column::wrap("Meaning", "meaning"), |note| Cell::text(note.meaning()));
    let mut document = Document::default();
    document.title("Differences between two requests that cost nothing");
    document.table(table.whole());
    document
}
