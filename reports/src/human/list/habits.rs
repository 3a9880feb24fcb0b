//! How clients change their prompts: the habits used by the forecast for transcripts.

use forkcast_replay::rebuild::profile::{HABITS, Habit};

use crate::document::{Cell, Column, Document, Table};

/// The habits, in the order of the table.
pub fn habits() -> Document {
    let mut table = Table::new(
        "habits",
        vec![
            Column::left("Rule", "rule"),
            Column::left("Client", "client"),
            Column::left("Versions", "versions"),
            Column::left("Confidence", "confidence"),
            Column::wrap("Why", "rationale"),
            Column::wrap("Evidence", "evidence").optional(),
            Column::wrap("Where it failed", "failed").optional(),
            Column::wrap("Found in", "written_on").optional(),
        ],
    );
    table.rows = HABITS.iter().map(row).collect();
    let mut document = Document::default();
    document.title("Habits of clients, from which the forecast for a transcript derives the requests");
    document.table(table);
    document
}

fn row(habit: &Habit) -> Vec<Cell> {
    vec![
        Cell::text(habit.rule.word()),
        Cell::text(habit.client.map_or("any", |client| client.name())),
        Cell::text(habit.versions()),
        Cell::text(habit.confidence.name()),
        Cell::text(habit.rationale),
        Cell::text(habit.evidence),
        Cell::text(habit.failed),
        Cell::text(habit.written_on.join(", ")),
    ]
}
