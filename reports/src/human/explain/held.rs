//! The content of the request, and of the cache at its breakpoints.

use forkcast_replay::replay::inspect::Breakpoint;

use super::words::{lifetime, state};
use crate::document::{Cell, Column, Document, Table, count};
use crate::explained::{Explained, LevelHeld, found_shorter};

pub(super) fn held(explained: &Explained<'_>) -> Table {
    let mut table = Table::new(
        "levels",
        vec![
            Column::left("Level", "level"),
            Column::right("Blocks", "blocks"),
            Column::right("Tokens", "tokens"),
            Column::right("In the prefix sent before", "blocks_sent_before"),
        ],
    );
    let row = |held: LevelHeld| {
        vec![
            Cell::text(held.level.name()),
            Cell::Count(held.blocks as u64),
            Cell::Count(held.tokens),
            Cell::Count(held.sent_before as u64),
        ]
    };
    table.rows = explained.levels().into_iter().map(row).collect();
    table
}

pub(super) fn breakpoints(explained: &Explained<'_>, document: &mut Document) {
    if explained.inspection.breakpoints.is_empty() {
        document.text(vec!["It has none, so the cache was neither read nor written.".to_owned()]);
        return;
    }
    document.table(breakpoint_table(explained));
}

pub(super) fn breakpoint_table(explained: &Explained<'_>) -> Table {
    let mut table = Table::new(
        "breakpoints",
        vec![
            Column::left("Breakpoint", "path"),
            Column::right("Tokens", "tokens"),
            Column::left("Lifetime", "ttl"),
            Column::left("Its own prefix", "state"),
            Column::right("Blocks checked", "looked_at"),
            Column::wrap("Found to read", "found"),
        ],
    );
    table.rows = explained.inspection.breakpoints.iter().map(|breakpoint| row(explained, breakpoint)).collect();
    table
}

fn row(explained: &Explained<'_>, breakpoint: &Breakpoint) -> Vec<Cell> {
    let found = match breakpoint.found {
        _ if !breakpoint.effective => {
            format!("too short: the minimum is {} tokens", count(explained.inspection.subject.minimum_tokens))
        }
        None => "nothing".to_owned(),
        Some(found) if found_shorter(breakpoint) => {
            format!("the prefix up to {}, {} tokens", explained.path(found), count(explained.tokens_through(found)))
        }
        Some(_) => "its own prefix".to_owned(),
    };
    vec![
        Cell::Text(explained.path(breakpoint.index)),
        Cell::Count(breakpoint.tokens),
        Cell::text(lifetime(breakpoint.marker.ttl)),
        Cell::text(state(breakpoint.state)),
        Cell::Count(breakpoint.looked_at as u64),
        Cell::Text(found),
    ]
}
