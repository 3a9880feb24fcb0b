//! How clients change their prompts: the habits used by the forecast for transcripts.

use forkcast_replay::rebuild::profile::HABITS;

use crate::document::{Cell, Column, Document, Table};

/// The habits, in the order of the table.
pub fn habits() -> Document {
    let table = Table::of("habits", &HABITS)
        .with(Column::left("Rule", "rule"), |habit| Cell::text(habit.rule.word()))
        .with(Column::left("Client", "client"), |habit| Cell::text(habit.client.map_or("any", |client| client.name())))
        .with(Column::left("Versions", "versions"), |habit| Cell::text(habit.versions()))
        .with(Column::left("Confidence", "confidence"), |habit| Cell::text(habit.confidence.name()))
        .with(Column::wrap("Why", "rationale"), |habit| Cell::text(habit.rationale))
        .with(Column::wrap("Evidence", "evidence").optional(), |habit| Cell::text(habit.evidence))
        .with(Column::wrap("Where it failed", "failed").optional(), |habit| Cell::text(habit.failed))
        .with(Column::wrap("Found in", "written_on").optional(), |habit| Cell::text(habit.written_on.join(", ")));
    let mut document = Document::default();
    document.title("Habits of clients, from which the forecast for a transcript derives the requests");
    document.table(table.whole());
    document
}
