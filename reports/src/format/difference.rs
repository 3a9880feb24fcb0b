//! Where two requests differ: names and places, never the text.

use forkcast_sim::diagnosis::Difference;

use super::words::{cause, level, volatile};
use crate::names::Names;
use crate::record::Value;

/// A difference with its names as they are shown.
pub(super) struct Differing<'a> {
    pub found: &'a Difference,
    pub names: Names,
}

/// When a field is null.
const UNKNOWN: &str = "if no byte is known";

record! {
    Differing<'_>, "difference":
    field "cause", cause, "The kind of change." => |it| it.found.cause.word();
    field "level", level, "Its level." => |it| it.found.level.name();
    text "path", "Path of the block." => |it| Value::text(&it.found.path);
    text "name", "Name of the changed thing." => |it| it.names.thing(&it.found.name);
    count "offset_in_block", "First differing byte, in canonical bytes of the block." =>
        |it| it.found.offset_in_block, unit("bytes"), null(UNKNOWN);
    count "offset_in_prefix", "The same, from the start of the prompt." =>
        |it| it.found.offset_in_prefix, unit("bytes"), null(UNKNOWN);
    field "volatile", volatile, "The kind of volatile content that it looks like." =>
        |it| it.found.volatile.map(|volatile| volatile.word()), null("if it looks like none");
}
