//! `forkcast.cast/1`: a recorded session beside its simulation.

use std::io::{self, Write};

use forkcast_scenarios::cast::comparison::{Comparison, Departure, Errors, Forecasts, LATE_SECS, Side, Variant};
use forkcast_scenarios::cast::{Cast, Gap};

use crate::human::cast::PairOf;
use crate::human::cast::what_if::{self, Row};
use crate::record::{Shape, Value, list, pretty};

/// Name and version.
pub const SCHEMA: &str = "forkcast.cast/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "A recorded session beside its simulation, request by request: when, how many tokens, \
                                the sums, the first departure. Contains no text of prompts.";

/// Writes both sides as one JSON object.
///
/// # Errors
/// When the target cannot be written.
pub fn write(cast: &Cast, comparison: &Comparison<'_>, variants: &[Variant], target: &mut dyn Write) -> io::Result<()> {
    pretty(&Played { cast, comparison, variants }, target)
}

/// A cast and its comparison.
pub(super) struct Played<'a> {
    cast: &'a Cast,
    comparison: &'a Comparison<'a>,
    variants: &'a [Variant],
}

record! {
    Played<'_>, "cast":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    text "session", "The recorded session." => |played| Value::text(&played.cast.name);
    record: Side, "recorded", "Sums of the recorded requests that have a usage and are billed here." =>
        |played| played.comparison.recorded().value();
    record: Side, "simulated", "Sums of the same requests as simulated, with those of the main agent that are not recorded." =>
        |played| played.comparison.simulated().value();
    record: Errors, "errors", "How far the simulation is from the recording, request by request." =>
        |played| played.comparison.errors().value();
    record: Forecasts, "forecasts", "How far the runtime and `replay` are from the recording, over the requests that both \
                                     foresee." =>
        |played| played.comparison.forecasts().value();
    text "departure", "Why the simulation leaves the recording first, by more than 20 s or a request: `unrecorded`, \
                       `not_asked` or `late`." =>
        |played| played.comparison.departure(LATE_SECS).map(|(why, _)| Value::text(word(why))),
        null("if it never does");
    records: PairOf<'_>, "requests", "Requests in order of time." =>
        |played| list(PairOf::all(played.comparison));
    records: Row<'_>, "what_if", "The session with agents that are built otherwise, compared with `simulated`." =>
        |played| what_if::value(played.variants, played.comparison.simulated());
    records: Gap, "gaps", "What the recording does not show, and what of it is not played." =>
        |played| list(played.cast.gaps.iter().cloned());
}

record! {
    Gap, "cast_gap":
    text "file", "The file." => |gap| Value::text(&gap.file);
    ordinal "line", "Its line; zero if it concerns the whole file." => |gap| gap.line, unit("line");
    text "says", "What is missing, and what is played instead." => |gap| Value::text(&gap.says);
}

const fn word(why: Departure) -> &'static str {
    match why {
        Departure::Unrecorded => "unrecorded",
        Departure::NotAsked => "not_asked",
        Departure::Late => "late",
    }
}
