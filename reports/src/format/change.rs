//! A change of a prompt, in `forkcast.check/1` and `forkcast.diff/1` alike.

use forkcast_sim::guard::{Finding, Unknown};
use forkcast_sim::wire::Maker;

use super::words::{cause, level, provider, volatile};
use crate::document::Marked;
use crate::record::{Shape, Value};

/// A change, with its visible parts, and how to fix it; `None` if nothing changed.
pub(super) struct Change<'a>(pub Option<Visible<'a>>);

/// The visible parts of a change.
pub(super) struct Visible<'a> {
    pub finding: &'a Finding,
    /// The change's name as it is shown.
    pub name: String,
    pub suggestion: String,
    pub requests_per_day: Option<u64>,
    /// The bytes may be shown.
    pub windows: bool,
}

impl Visible<'_> {
    fn windows(&self) -> Option<Windows> {
        let windows = self.finding.windows.clone().filter(|_| self.windows)?;
        Some(Windows(windows.map(Marked::from)))
    }
}

impl<'a> Change<'a> {
    /// A value of the finding; null if nothing changed.
    fn of<T: Into<Value>>(&self, of: impl FnOnce(&'a Finding) -> T) -> Value {
        self.0.as_ref().map(|seen| of(seen.finding)).into()
    }
}

/// When there is nothing to say.
const NOTHING: &str = "if nothing changed";

/// When a field is null.
const NO_BYTE: &str = "for parameters and breakpoints, against a lock, and if nothing changed";

/// When a field is null.
const NO_TEXT: &str = "outside of a text, for what was inserted or removed, against a lock, and if nothing changed";

/// When a field is null.
const NO_COST: &str = "if cost_unknown says why";

record! {
    Change<'_>, "change":
    field "level", level, "Its level." => |it| it.of(|found| found.level.name()), null(NOTHING);
    text "path", "JSON path in the newer body, or in the older if the newer ends before it." =>
        |it| it.of(|found| found.path.clone()), null(NOTHING);
    text "name", "The changes." => |it| it.0.as_ref().map(|seen| seen.name.clone()), null(NOTHING);
    count "offset_in_block", "First differing byte of the block's canonical bytes." =>
        |it| it.of(|found| found.offset_in_block), unit("bytes"), null(NO_BYTE);
    count "offset_in_field", "The same in the text of its field as a program holds it, without escapes." =>
        |it| it.of(|found| found.offset_in_field), unit("bytes"), null(NO_TEXT);
    count "offset_in_prefix", "The same from the start of the prompt." =>
        |it| it.of(|found| found.offset_in_prefix), unit("bytes"), null(NO_BYTE);
    field "cause", cause, "The kind of change." => |it| it.of(|found| found.cause.word()), null(NOTHING);
    field "volatile", volatile, "The kind of volatile content that it looks like." =>
        |it| it.of(|found| found.volatile.map(|volatile| volatile.word())), null("if it looks like none");
    truth "breaks_prefix",
        "Time left out and all other changes of the request undone, it reads less because of this one. Of rule \
         equality: than it would if the lock's prompt were in the cache; tokens and cost are those of a cache that has it \
         pays, once." =>
        |it| it.0.as_ref().is_some_and(|seen| seen.finding.breaks_prefix);
    field "offset_range", || Shape::Pair(Box::new(Shape::Count { least: 0 })),
        "The stretch of canonical bytes of the newer block that is not in the older, end excluded; against a lock the \
         256 bytes in which the difference begins." =>
        |it| it.of(|found| found.offset_range), unit("bytes"), null("if no byte is known");
    tokens "tokens_lost",
        "Tokens that were sent before and would have been read without the change: after it, within it (the equal ends \
         of a changed block, shared by bytes), and before it back to the end of a breakpoint. A token counts for the \
         first change of its request that loses it, so those of one rule add up. An estimate if no usage is \
         recorded." =>
        |it| it.0.as_ref().map_or(Some(0), |seen| seen.finding.tokens_lost()),
        null("if no cache of its provider is modelled");
    truth "tokens_lost_is_upper_bound",
        "Only digests of an edited block are known, and less of it may have been sent before." =>
        |it| it.0.as_ref().and_then(|seen| seen.finding.loss).is_some_and(|loss| loss.is_upper_bound);
    usd "cost_usd", "Their additional cost over reads." => |it| it.of(Finding::cost), null(NO_COST);
    usd "cost_usd_per_day", "The same for --requests-per-day such requests." =>
        |it| it.0.as_ref().and_then(|seen| seen.finding.cost_per_day(seen.requests_per_day?)),
        null("if that was not given, and against a lock");
    field "cost_unknown", || Shape::words([Unknown::NoCacheModel, Unknown::NoPrice].map(Unknown::word)),
        "Why the cost is null." =>
        |it| it.of(|found| found.unknown().map(Unknown::word)), null("if it is known");
    field "provider", provider, "The provider whose cache diagnosis uses the word `provider_reason`." =>
        |it| it.of(|found| found.provider.map(Maker::word)), null("if the request's provider has none");
    text "provider_reason", "The word of the provider's own cache diagnosis." =>
        |it| it.of(Finding::provider_reason), null("if it has none");
    text "suggestion", "What to do." => |it| it.0.as_ref().map(|seen| seen.suggestion.clone()), null(NOTHING);
    record: Windows, "window", "The bytes around the first difference, 48 on each side." =>
        |it| it.0.as_ref().and_then(Visible::windows).map_or(Value::Absent, |windows| windows.value()),
        absent("without --show-content"), no_cell();
}

/// The bytes around a difference, older and newer.
pub(super) struct Windows(pub [Marked; 2]);

record! {
    Windows, "window":
    text "older", "Those of the older request." => |windows| windows.0[0].whole();
    text "newer", "Those of the newer." => |windows| windows.0[1].whole();
}
