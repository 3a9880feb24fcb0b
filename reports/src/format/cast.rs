//! `forkcast.cast/1`: a recorded session beside its simulation.

use std::io::{self, Write};

use forkcast_scenarios::cast::comparison::{Comparison, Departure, LATE_SECS, Pair, Side};
use forkcast_scenarios::cast::{Cast, Gap};

use super::usage::{HIT_RATE, NO_INPUT, NO_PRICE};
use crate::record::{Shape, Value, list, pretty};

/// Name and version.
pub const SCHEMA: &str = "forkcast.cast/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "A recorded session beside its simulation, request by request: when, how many tokens, \
                                the sums, the first departure. Contains no text of prompts.";

/// When there is no recorded side.
const NOT_RECORDED: &str = "if the recording has no such request";

/// When there is no simulated side.
const NOT_SIMULATED: &str = "if the simulation sent no such request";

/// Writes both sides as one JSON object.
///
/// # Errors
/// When the target cannot be written.
pub fn write(cast: &Cast, comparison: &Comparison<'_>, target: &mut dyn Write) -> io::Result<()> {
    pretty(&Played { cast, comparison }, target)
}

/// A cast and its comparison.
pub(super) struct Played<'a> {
    cast: &'a Cast,
    comparison: &'a Comparison<'a>,
}

/// A pair of a comparison.
struct PairOf<'a> {
    pair: &'a Pair<'a>,
    comparison: &'a Comparison<'a>,
}

impl PairOf<'_> {
    fn agent(&self) -> Option<String> {
        let simulated = || self.comparison.request(self.pair).map(|request| &self.comparison.run.agents[request.agent]);
        self.pair.take.map(|take| take.agent.clone()).or_else(|| Some(simulated()?.id.to_string()))
    }
}

record! {
    Played<'_>, "cast":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    text "session", "The recorded session." => |played| Value::text(&played.cast.name);
    record: Side, "recorded", "Sums of the recorded requests that have a usage and are billed here." =>
        |played| played.comparison.recorded().value();
    record: Side, "simulated", "Sums of the same requests as simulated, with those of the main agent that are not recorded." =>
        |played| played.comparison.simulated().value();
    text "departure", "Why the simulation leaves the recording first, by more than 20 s or a request: `unrecorded`, \
                       `not_asked` or `late`." =>
        |played| played.comparison.departure(LATE_SECS).map(|(why, _)| Value::text(word(why))),
        null("if it never does");
    records: PairOf<'_>, "requests", "Requests in order of time." =>
        |played| list(played.comparison.pairs.iter().map(|pair| PairOf { pair, comparison: played.comparison }));
    records: Gap, "gaps", "What the recording does not show, and what of it is not played." =>
        |played| list(played.cast.gaps.iter().cloned());
}

record! {
    Side, "cast_side":
    count "requests", "Requests." => |side| side.requests, unit("requests");
    tokens "total_input_tokens", "All input." => |side| side.usage.total_input_tokens();
    tokens "cache_read_input_tokens", "Input that was read from the cache." => |side| side.usage.cache_read_input_tokens;
    share "hit_rate", HIT_RATE => |side| side.usage.hit_rate(), null(NO_INPUT);
    usd "input_cost_usd", "The cost of the input." => |side| side.input_cost, null(NO_PRICE);
}

record! {
    PairOf<'_>, "cast_request":
    text "agent", "`main`, or the call that started the agent; the agent's id if it is not recorded." =>
        |of| of.agent().map(|agent| Value::text(&agent)), null("if neither side has it");
    millis "recorded_at_ms", "When it was sent, from the start of the session." =>
        |of| of.pair.take.map(|take| take.sent_at.since(forkcast_sim::time::Instant(0)).as_millis()), null(NOT_RECORDED);
    millis "simulated_at_ms", "When the simulated one was sent." =>
        |of| of.comparison.request(of.pair).and_then(|request| request.line.at)
            .map(|at| at.since(forkcast_sim::time::Instant(0)).as_millis()), null(NOT_SIMULATED);
    tokens "recorded_input_tokens", "All input of the recorded request." =>
        |of| of.pair.take.and_then(|take| take.usage).map(|usage| usage.total_input_tokens()), null(NOT_RECORDED);
    tokens "simulated_input_tokens", "All input of the simulated request." =>
        |of| of.comparison.request(of.pair).map(|request| request.usage().total_input_tokens()), null(NOT_SIMULATED);
    tokens "recorded_read_tokens", "What the recorded request read from the cache." =>
        |of| of.pair.take.and_then(|take| take.usage).map(|usage| usage.cache_read_input_tokens), null(NOT_RECORDED);
    tokens "simulated_read_tokens", "What the simulated request read from the cache." =>
        |of| of.comparison.request(of.pair).map(|request| request.usage().cache_read_input_tokens), null(NOT_SIMULATED);
    truth "is_copied", "It was billed in another session, which this one continues." =>
        |of| of.pair.take.is_some_and(|take| take.copied);
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
