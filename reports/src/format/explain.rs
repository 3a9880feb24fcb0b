//! `forkcast.explain/1`: one request compared with the contents of its cache.

use std::io::{self, Write};

use forkcast_replay::replay::inspect::{Breakpoint, HeldEntry as Held};
use forkcast_sim::ledger::CauseCost;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::model::resolve;
use forkcast_sim::wire::{Maker, Ttl, Usage};

use super::change::Windows;
use super::difference::Differing;
use super::ledger::transcript::EvidenceLine;
use super::usage::{self, NO_PRICE, TTLS};
use super::words::{cause, level, provider};
use crate::document::Marked;
use crate::explained::{Explained, LevelHeld, STATES, Stop, state_word};
use crate::record::{Record, Shape, Value, list, pretty};
use crate::report::{Recorded, Report, statement_of_one, suggestion};

/// Name and version.
pub const SCHEMA: &str = "forkcast.explain/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "One request compared with the contents of its cache when it was sent. Contains no text \
                                of prompts unless requested.";

/// Writes an explanation as one JSON object; `content` puts the bytes around the first difference in.
///
/// # Errors
/// When the target cannot be written.
pub fn write(explained: &Explained<'_>, content: bool, target: &mut dyn Write) -> io::Result<()> {
    let known = Known::Cache { explained, content };
    pretty(&Subject { report: explained.report, entry: explained.entry, known }, target)
}

/// Writes a request without a cache profile of its provider: its usage and its bill.
///
/// # Errors
/// When the target cannot be written.
pub fn write_unprofiled(report: &Report<'_>, entry: &Recorded<'_>, target: &mut dyn Write) -> io::Result<()> {
    pretty(&Subject { report, entry, known: Known::Bill }, target)
}

/// Writes the data of a request in a transcript.
///
/// # Errors
/// When the target cannot be written.
pub fn write_told(report: &Report<'_>, entry: &Recorded<'_>, target: &mut dyn Write) -> io::Result<()> {
    pretty(&Subject { report, entry, known: Known::Transcript }, target)
}

/// A request and the known facts about it.
pub(super) struct Subject<'a> {
    report: &'a Report<'a>,
    entry: &'a Recorded<'a>,
    known: Known<'a>,
}

#[derive(Clone, Copy)]
enum Known<'a> {
    /// The contents of its cache.
    Cache { explained: &'a Explained<'a>, content: bool },
    /// Data of a transcript.
    Transcript,
    /// Usage and bill.
    Bill,
}

impl<'a> Subject<'a> {
    fn explained(&self) -> Option<&'a Explained<'a>> {
        match self.known {
            Known::Cache { explained, .. } => Some(explained),
            _ => None,
        }
    }

    fn predicted(&self) -> Option<Usage> {
        match self.known {
            Known::Cache { explained, .. } => Some(explained.inspection.predicted.usage()),
            Known::Transcript => self.entry.line.predicted,
            Known::Bill => None,
        }
    }

    fn causes(&self) -> impl Iterator<Item = CauseOf<'a>> {
        let is_known = !matches!(self.known, Known::Bill);
        let entry = self.entry;
        entry.line.charge.causes.iter().filter(move |_| is_known).map(move |part| CauseOf { entry, part })
    }

    fn transcript(&self) -> Option<TranscriptPart<'a>> {
        matches!(self.known, Known::Transcript).then_some(TranscriptPart { report: self.report, entry: self.entry })
    }

    fn nearest(&self) -> Value {
        let Known::Cache { explained, content } = self.known else { return Value::Null };
        let nearest = explained.inspection.nearest.as_ref();
        nearest.map_or(Value::Null, |nearest| Nearest { explained, content, entry: &nearest.entry }.value())
    }
}

record! {
    Subject<'_>, "explain":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    ordinal "request", "Number in the ledger." => |it| it.entry.line.index;
    text "file", "The file." => |it| it.report.names.file(&it.entry.origin.file);
    ordinal "index_in_file", "Position in the recording, from 0." => |it| it.entry.origin.index;
    text "chain", "The agent." =>
        |it| it.report.agent_of(it.entry).map(str::to_owned), null("if no profile could read the request");
    text "model", "Its model." => |it| it.report.names.model(&it.entry.line.model).into_owned();
    millis "at_ms", "When it was sent, since 1970." =>
        |it| it.entry.line.at, null("if the recording has no instants");
    text "rules", "Preset of cache rules." =>
        |it| it.explained().map(|explained| explained.inspection.rules.name), null(NO_CACHE);
    record: Usage, "recorded", "What the provider reported." =>
        |it| usage::value(it.entry.line.recorded.as_ref()), null("if nothing was");
    record: Usage, "predicted", "What the rules predict." =>
        |it| usage::value(it.predicted().as_ref()), null("if no cache profile exists");
    tokens "total_tokens", "The whole input." =>
        |it| {
            let recorded = || it.entry.line.recorded.map(|usage| usage.total_input_tokens());
            it.explained().map(|explained| explained.inspection.total_tokens).or_else(recorded)
        }, null("if it is unknown");
    tokens "minimum_tokens", "Shortest prefix that is cached." =>
        |it| it.explained().map(|explained| explained.inspection.subject.minimum_tokens), null(NO_CACHE);
    records: LevelHeld, "levels", "Its levels." => |it| list(it.explained().into_iter().flat_map(Explained::levels));
    records: Marker<'_>, "breakpoints", "Its breakpoints." =>
        |it| list(it.explained().into_iter().flat_map(markers));
    record: Match<'_>, "matched", "How much of the prompt the cache had, and why not more." =>
        |it| it.explained().map(|explained| Match(explained).value()), null(NO_CACHE);
    records: EntryHeld<'_>, "entries",
        "All entries of this model and scope, in order of first writing." =>
        |it| list(it.explained().into_iter().flat_map(entries));
    record: Nearest<'_>, "nearest", "The entry that shares most blocks with the request." =>
        |it| it.nearest(), null("if there is none");
    usd "cost_usd", "The bill." => |it| it.entry.line.charge.bill.as_ref().map(|bill| bill.total), null(NO_PRICE);
    usd "perfect_cost_usd", "The bill with every missed token read." =>
        |it| it.entry.line.charge.perfect, null(NO_PRICE);
    text "prices", "Which prices these are, for people, such as `list prices of 2026-11-21`." =>
        |it| statement_of_one(it.report, it.entry.line.at);
    records: CauseOf<'_>, "causes", "The causes of its misses." => |it| list(it.causes());
    texts "remarks", "Remarks." =>
        |it| Value::texts(it.entry.line.remarks.iter().map(|remark| it.report.names.message(remark)));
    record: TranscriptPart<'_>, "transcript", "Its data in a transcript or a trace." =>
        |it| it.transcript().as_ref().map(Record::value), null("if its body is recorded");
}

/// When a cache is unknown.
const NO_CACHE: &str = "if no body is recorded, or no cache of its provider is modelled";

/// The data of a request in a transcript.
struct TranscriptPart<'a> {
    report: &'a Report<'a>,
    entry: &'a Recorded<'a>,
}

/// When a field is null.
const NOT: &str = "if it is not explained";

record! {
    TranscriptPart<'_>, "transcript":
    text "session", "Id of its session." =>
        |it| it.report.session_of(it.entry).map(|session| session.id.clone()), null("if it has none");
    text "client", "The client and its version." =>
        |it| it.entry.client().map(|client| it.report.names.client(client)), null("if it is not named");
    ordinal "line", "Line in the file, from 1; 0 if it has none." => |it| it.entry.origin.line;
    tokens "read_tokens", "Read." => |it| it.entry.line.explanation.as_ref().map(|why| why.read_tokens), null(NOT);
    tokens "missed_tokens", "Sent before and not read." =>
        |it| it.entry.line.explanation.as_ref().map(|why| why.missed_tokens()), null(NOT);
    tokens "new_tokens", "Not sent before." =>
        |it| it.entry.line.explanation.as_ref().map(|why| why.new_tokens), null(NOT);
    record: EvidenceLine, "shown", "The line of the transcript that shows why it missed." =>
        |it| it.entry.evidence.as_ref().map(|shown| EvidenceLine::of(shown, it.report.names).value()),
        null("if none does");
}

record! {
    LevelHeld, "level_held":
    field "level", level, "The level." => |held| held.level.name();
    count "blocks", "Its blocks." => |held| held.blocks, unit("blocks");
    tokens "tokens", "Its tokens." => |held| held.tokens;
    count "blocks_sent_before", "Blocks within a prefix that an earlier request of this model and scope had." =>
        |held| held.sent_before, unit("blocks");
}

fn markers<'a>(explained: &'a Explained<'a>) -> impl Iterator<Item = Marker<'a>> {
    explained.inspection.breakpoints.iter().map(move |found| Marker { explained, found })
}

fn entries<'a>(explained: &'a Explained<'a>) -> impl Iterator<Item = EntryHeld<'a>> {
    explained.inspection.entries.iter().map(move |held| EntryHeld { explained, held })
}

/// The possible states of a prefix in a cache.
fn states() -> Shape {
    Shape::named("state", STATES.map(state_word))
}

/// A breakpoint, and the contents of the cache there.
struct Marker<'a> {
    explained: &'a Explained<'a>,
    found: &'a Breakpoint,
}

/// When a field is null.
const NOTHING: &str = "if nothing was";

record! {
    Marker<'_>, "breakpoint":
    text "path", "Its level." => |it| it.explained.path(it.found.index);
    tokens "tokens", "The prefix that it ends." => |it| it.found.tokens;
    field "ttl", || Shape::words(TTLS), "Its lifetime." => |it| it.found.marker.ttl.name();
    truth "effective", "Long enough to be cached." => |it| it.found.effective;
    field "state", states, "State of its own prefix in the cache." => |it| state_word(it.found.state);
    count "blocks_looked_at", "Length of its look-back." => |it| it.found.looked_at, unit("blocks");
    text "found_path", "End of the longest readable prefix." =>
        |it| it.found.found.map(|at| it.explained.path(at)), null(NOTHING);
    tokens "found_tokens", "Tokens of that prefix." =>
        |it| it.found.found.map(|at| it.explained.tokens_through(at)), null(NOTHING);
}

/// How far the cache had the prompt, and why no further.
struct Match<'a>(&'a Explained<'a>);

record! {
    Match<'_>, "match":
    count "blocks", "Blocks that were read." => |it| it.0.read_blocks(), unit("blocks");
    tokens "tokens", "Tokens that were read." => |it| it.0.inspection.predicted.read_tokens;
    field "stopped_by", || Shape::words(Stop::ALL.map(Stop::word)), "Why not more." => |it| it.0.stop().word();
    count "sent_before_blocks", "Blocks of the longest prefix that was sent before." =>
        |it| it.0.inspection.sent_before(), unit("blocks");
    text "first_new_path", "The first block that was not." =>
        |it| it.0.first_new().map(|at| it.0.path(at)), null("if all were");
}

/// An entry of the cache.
struct EntryHeld<'a> {
    explained: &'a Explained<'a>,
    held: &'a Held,
}

record! {
    EntryHeld<'_>, "entry":
    count "blocks", "Its blocks." => |it| it.held.blocks, unit("blocks");
    tokens "tokens", "Tokens by the sizes of its first writer." => |it| it.held.tokens;
    count "shared_blocks", "Leading blocks shared with the request." => |it| it.held.shared_blocks, unit("blocks");
    field "state", states, "Its state." => |it| state_word(it.held.state);
    field "ttl", || Shape::words(TTLS), "How long it lives." =>
        |it| it.held.life.map(|life| Ttl::name(life.ttl)), null("if it is no longer alive");
    millis "last_use_ms_ago", "How long ago it was last used." =>
        |it| {
            let life = it.held.life.filter(|_| it.explained.entry.line.at.is_some());
            let idle: Option<Duration> = life.map(|life| it.explained.inspection.at.since(life.last_use));
            idle
        }, null("if it is no longer alive, or without instants");
    ordinal "first_marked_by", "Number of the first request that marked its end." => |it| it.held.marked_by.0;
    ordinal "last_marked_by", "Number of the last one." => |it| it.held.marked_by.1;
}

/// The entry that shares most blocks with the request.
struct Nearest<'a> {
    explained: &'a Explained<'a>,
    content: bool,
    entry: &'a Held,
}

impl Nearest<'_> {
    fn difference(&self) -> Value {
        let Some(sides) = self.explained.sides() else { return Value::Null };
        let Some(found) = sides.comparison.differences.first() else { return Value::Null };
        let windows = sides.judged().findings.into_iter().next().and_then(|found| found.windows);
        let windows = windows.filter(|_| self.content).map(|windows| Windows(windows.map(Marked::from)));
        DifferenceShown { differing: Differing { found, names: self.explained.report.names }, windows }.value()
    }
}

record! {
    Nearest<'_>, "nearest":
    record: EntryHeld<'_>, "entry", "The entry." => |it| EntryHeld { explained: it.explained, held: it.entry }.value();
    record: DifferenceShown<'_>, "difference", "The first difference to it." =>
        |it| it.difference(), null("if they do not differ");
}

/// A difference, with the bytes around it if requested.
struct DifferenceShown<'a> {
    differing: Differing<'a>,
    windows: Option<Windows>,
}

record! {
    DifferenceShown<'_>, "difference_shown":
    flat: Differing<'_>, => |it| it.differing.value();
    record: Windows, "window", "The bytes around it." =>
        |it| it.windows.as_ref().map_or(Value::Absent, Record::value), absent("without --show-content");
}

/// A cause of a request.
struct CauseOf<'a> {
    entry: &'a Recorded<'a>,
    part: &'a CauseCost,
}

impl CauseOf<'_> {
    fn provider(&self) -> Option<Maker> {
        Maker::diagnosing_model(resolve(&self.entry.line.model))
    }

    fn reason(&self) -> Option<&'static str> {
        let differences = self.entry.line.explanation.as_ref().map_or(&[][..], |why| &why.differences);
        let found = differences.iter().find(|found| found.cause == self.part.cause);
        self.provider()?.reason(self.part.cause, found.map_or("", |found| &found.path))
    }
}

record! {
    CauseOf<'_>, "caused":
    field "cause", cause, "Why tokens were not read." => |it| it.part.cause.word();
    tokens "tokens", "How many." => |it| it.part.tokens;
    usd "cost_usd", "Their cost over the read price." => |it| it.part.cost, null(NO_PRICE);
    field "provider", provider, "The provider whose cache diagnosis uses the word `provider_reason`." =>
        |it| it.provider().map(Maker::word), null("if the request's provider has none");
    text "provider_reason", "The word of the provider's own diagnosis." => |it| it.reason(), null("if it has none");
    text "suggestion", "What to do." => |it| suggestion(it.entry, it.part);
}
