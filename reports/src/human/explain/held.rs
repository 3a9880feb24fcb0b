//! The content of the request, and of the cache at its breakpoints.

use forkcast_replay::replay::inspect::Breakpoint;

use super::words::{lifetime, state};
use crate::document::{Cell, Column, Document, Table, count};
use crate::explained::{Explained, found_shorter};

pub(super) fn held(explained: &Explained<'_>) -> Table {
    Table::of("levels", &explained.levels())
        .with(Column::left("Level", "level"), |held| Cell::text(held.level.name()))
        .with(Column::right("Blocks", "blocks"), |held| Cell::Count(held.blocks as u64))
        .with(Column::right("Tokens", "tokens"), |held| Cell::Count(held.tokens))
        .with(Column::right("In the prefix sent before", "blocks_sent_before"), |held| {
            Cell::Count(held.sent_before as u64)
        })
        .whole()
}

pub(super) fn breakpoints(explained: &Explained<'_>, document: &mut Document) {
    if explained.inspection.breakpoints.is_empty() {
        document.text(vec!["It has none, so the cache was neither read nor written.".to_owned()]);
        return;
    }
    document.table(breakpoint_table(explained));
}

pub(super) fn breakpoint_table(explained: &Explained<'_>) -> Table {
    Table::of("breakpoints", &explained.inspection.breakpoints)
        .with(Column::left("Breakpoint", "path"), |breakpoint| Cell::Text(explained.path(breakpoint.index)))
        .with(Column::right("Tokens", "tokens"), |breakpoint| Cell::Count(breakpoint.tokens))
        .with(Column::left("Lifetime", "ttl"), |breakpoint| Cell::text(lifetime(breakpoint.marker.ttl)))
        .with(Column::left("Its own prefix", "state"), |breakpoint| Cell::text(state(breakpoint.state)))
        .with(Column::right("Blocks checked", "looked_at"), |breakpoint| Cell::Count(breakpoint.looked_at as u64))
        .with(Column::wrap("Found to read", "found"), |breakpoint| Cell::Text(found(explained, breakpoint)))
        .whole()
}

fn found(explained: &Explained<'_>, breakpoint: &Breakpoint) -> String {
    match breakpoint.found {
        _ if !breakpoint.effective => {
            format!("too short: the minimum is {} tokens", count(explained.inspection.subject.minimum_tokens))
        }
        None => "nothing".to_owned(),
        Some(found) if found_shorter(breakpoint) => {
            format!("the prefix up to {}, {} tokens", explained.path(found), count(explained.tokens_through(found)))
        }
        Some(_) => "its own prefix".to_owned(),
    }
}
