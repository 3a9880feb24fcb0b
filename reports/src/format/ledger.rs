//! `forkcast.ledger/1`: a line of JSON for each request, with everything that is known of it but its text.
//!
//! A request that enters no sum (it has no usage, others have) has no bill here either, so that `cost_usd` adds up to the sum in
//! the report.

use std::io::{self, Write};

use forkcast_sim::diagnosis::{Explanation, Missed};
use forkcast_sim::ledger::{CauseCost, Line};
use forkcast_sim::pricing::{Bill, BillLine, FeeLine};
use forkcast_sim::service::{Compared, NotComparable, Origin};
use forkcast_sim::wire::Usage;

pub mod exchange;
pub mod simulated;
pub(super) mod transcript;

use exchange::Stored;
use transcript::TranscriptPart;

use super::difference::Differing;
use super::replay::verdicts;
use super::sender::{Moment, Sender};
use super::usage::{self, NO_PRICE};
use super::words::{categories, cause, notes};
use crate::document::json_text;
use crate::names::Names;
use crate::record::{Record, Shape, Value, list};
use crate::report::{Counted, Recorded, Report, Senders, Spending};

/// Name and version.
pub const SCHEMA: &str = "forkcast.ledger/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "One request of a replay, a line of JSON each. Contains no text of prompts, only names \
                                of tools and paths.";

/// Writes the lines of all requests.
///
/// # Errors
/// When the target cannot be written.
pub fn write_all(report: &Report<'_>, target: &mut dyn Write) -> io::Result<()> {
    let mut written = Ok(());
    report.each(&mut |entry| {
        if written.is_ok() {
            written = write(report, entry, target);
        }
    });
    written
}

/// Writes the line of a request.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, entry: &Recorded<'_>, target: &mut dyn Write) -> io::Result<()> {
    write_within(&Senders::from(report), report.counted, entry, target)
}

/// The same before the report is complete.
///
/// # Errors
/// When the target cannot be written.
pub fn write_within(
    senders: &Senders<'_>,
    counted: Counted,
    entry: &Recorded<'_>,
    target: &mut dyn Write,
) -> io::Result<()> {
    let line = LedgerLine::with_transcript(senders, counted, entry);
    LedgerLine { exchange: stored(senders, entry), ..line }.write(target)
}

fn stored(senders: &Senders<'_>, entry: &Recorded<'_>) -> Option<Stored> {
    let exchange = entry.exchange?;
    let scopes = senders.inputs.scopes.iter().enumerate();
    let mut files = scopes.flat_map(|(scope, input)| input.files.iter().map(move |file| (scope, input, file)));
    let (scope, input, file) = files.nth(entry.line.session)?;
    let standing =
        exchange::Standing { scope, path: &input.name, session: entry.line.session, format: file.format.name() };
    Some(Stored::of(exchange, standing, senders.names))
}

/// A line as it is written.
pub(super) struct LedgerLine<'a> {
    pub(super) line: &'a Line,
    pub(super) sender: Sender,
    pub(super) origin: Origin,
    pub(super) comparison: Result<&'a Compared, NotComparable>,
    /// It is in the sums.
    is_counted: bool,
    exchange: Option<Stored>,
    transcript: Option<TranscriptPart>,
    pub(super) names: Names,
}

impl<'a> LedgerLine<'a> {
    /// A request of a report, without its recording.
    pub fn of(senders: &Senders<'_>, counted: Counted, entry: &'a Recorded<'_>) -> Self {
        Self {
            line: &entry.line,
            sender: Sender::of(senders, entry),
            origin: Origin { file: senders.names.file(&entry.origin.file), ..entry.origin },
            comparison: entry.comparison.as_deref().map_err(|why| *why),
            is_counted: counted.counts(entry),
            exchange: None,
            transcript: None,
            names: senders.names,
        }
    }

    /// The same with its data in a transcript.
    pub fn with_transcript(senders: &Senders<'_>, counted: Counted, entry: &'a Recorded<'_>) -> Self {
        Self { transcript: TranscriptPart::of(entry, senders.names), ..Self::of(senders, counted, entry) }
    }

    /// Its figures, if it is in the sums.
    pub(super) fn counted(&self) -> Option<&'a Line> {
        Some(self.line).filter(|_| self.is_counted)
    }

    /// Its bill, if it is in the sums.
    pub(super) fn bill(&self) -> Option<&'a Bill> {
        self.counted()?.charge.bill.as_ref()
    }

    fn write(&self, target: &mut dyn Write) -> io::Result<()> {
        json_text::compact(target, &self.value())?;
        writeln!(target)
    }
}

/// When a figure of a bill is null.
const NO_BILL: &str = "if nothing has a price, and if it is in no sum";

record! {
    LedgerLine<'_>, "ledger":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    flat: Sender, => |it| it.sender.value();
    record: Origin, "origin", "Its place in the input." => |it| it.origin.value();
    flat: Moment, => |it| Moment(it.line.at).value();
    millis "first_byte_ms", "When its answer began, on the same clock." =>
        |it| it.line.first_byte_at, null("if that is unknown");
    text "first_byte_at", "The same in RFC 3339, UTC." =>
        |it| Moment(it.line.first_byte_at).text(), null("if that is unknown, and for a run");
    text "model", "Its model." => |it| it.names.model(&it.line.model).into_owned();
    record: Usage, "recorded", "What the provider reported." =>
        |it| usage::value(it.line.recorded.as_ref()), null("if nothing was");
    record: Usage, "predicted", "What the rules predict." =>
        |it| usage::value(it.line.predicted.as_ref()), null("if no cache profile exists");
    records: BillLine, "bill", "Of the recorded usage, or of the predicted if nothing was recorded." =>
        |it| it.bill().map(|bill| bill.lines.iter().map(Record::value).collect::<Vec<_>>()), null(NO_BILL);
    records: FeeLine, "fees", "Charges besides tokens of its own model; part of cost_usd." =>
        |it| Value::List(it.bill().iter().flat_map(|bill| &bill.fees).map(Record::value).collect());
    usd "cost_usd", "The bill; of the predicted usage if no request has a recorded one." =>
        |it| it.bill().map(|bill| bill.total), null(NO_BILL);
    flat: Spending, => |it| it.bill().map(|bill| Spending::of(bill).value()), null(NO_BILL);
    usd "predicted_cost_usd", "The bill of the predicted usage." =>
        |it| it.line.predicted_cost.map(|cost| cost.total), null(NO_PRICE);
    usd "perfect_cost_usd", "The bill with every missed token read." =>
        |it| it.counted().and_then(|line| line.charge.perfect), null(NO_BILL);
    usd "unread_writes_usd", "Premium of writes that were never read." =>
        |it| it.counted().and_then(|line| line.unread_writes), null(NO_BILL);
    record: Comparison<'_>, "comparison", "Prediction and recording compared." =>
        |it| Comparison(it.comparison).value();
    record: Explanation, "explanation", "Where its input went." =>
        |it| it.line.explanation.as_ref().map(Record::value), null("if that is unknown");
    records: CauseCost, "causes", "Costs add up to cost_usd - perfect_cost_usd." =>
        |it| Value::List(it.line.charge.causes.iter().map(Record::value).collect());
    records: Differing<'_>, "differences",
        "Differences of content to the chain's previous request, in prompt order." =>
        |it| {
            let found = it.line.explanation.iter().flat_map(|why| &why.differences);
            list(found.map(|found| Differing { found, names: it.names }))
        };
    field "notes", || Shape::list(notes()), "Harmless differences." =>
        |it| {
            let notes = it.line.explanation.iter().flat_map(|why| &why.notes);
            Value::List(notes.map(|note| note.word().into()).collect())
        };
    texts "remarks", "Remarks." =>
        |it| Value::texts(it.line.remarks.iter().map(|remark| it.names.message(remark)));
    record: Stored, "exchange",
        "The recording without its body; together with bodies/NNNNN.json the request can be replayed again." =>
        |it| it.exchange.as_ref().map(Record::value), null("for requests of transcripts and traces");
    record: TranscriptPart, "transcript", "Its data in a transcript." =>
        |it| it.transcript.as_ref().map(Record::value),
        null("for recorded exchanges, which are under exchange");
}

record! {
    Origin, "origin":
    text "file", "The file." => |origin| Value::text(&origin.file);
    ordinal "index", "Position in the recording, from 0." => |origin| origin.index;
    ordinal "line", "Line in the file, from 1; 0 if it has none." => |origin| origin.line;
}

record! {
    BillLine, "bill_line":
    field "category", categories, "How the tokens are billed." => |line| line.category.word();
    tokens "tokens", "How many." => |line| line.tokens;
    usd "cost_usd", "Their cost." => |line| line.cost;
}

record! {
    FeeLine, "fee_line":
    text "name", "Its name." => |fee| Value::text(&fee.name);
    text "unit", "The counted unit." => |fee| Value::text(&fee.unit);
    count "count", "How many." => |fee| fee.count, unit("as the field `unit` says");
    usd "cost_usd", "Their cost." => |fee| fee.cost;
}

/// A prediction compared with the recording.
struct Comparison<'a>(Result<&'a Compared, NotComparable>);

/// When a field is null.
const NOT: &str = "if it cannot be compared";

record! {
    Comparison<'_>, "comparison":
    truth "comparable", "It can be compared." => |it| it.0.is_ok();
    field "reason", || Shape::words(NotComparable::ALL.map(NotComparable::word)), "Why not." =>
        |it| it.0.err().map(NotComparable::word), null("if it can");
    field "recorded_verdict", verdicts, "How much of the expected read was read, as recorded." =>
        |it| it.0.ok().map(|compared| compared.recorded.word()), null(NOT);
    field "predicted_verdict", verdicts, "The same as predicted." =>
        |it| it.0.ok().map(|compared| compared.predicted.word()), null(NOT);
    tokens "predicted_read_tokens", "The read predicted by the rules, even if `predicted` has the recorded usage." =>
        |it| it.0.ok().map(|compared| compared.predicted_usage.cache_read_input_tokens), null(NOT);
    truth "size_known", "An earlier request had shown the size of the predicted read." =>
        |it| it.0.ok().map(|compared| compared.size_known), null(NOT);
    field "between", || Shape::Pair(Box::new(Shape::Count { least: 0 })),
        "The nearest known prefixes around the predicted read." =>
        |it| it.0.ok().map(|compared| <[u64; 2]>::from(compared.between)), unit("tokens"), null(NOT);
    truth "read_agrees", "The read is as predicted, as far as sizes are known." =>
        |it| it.0.ok().map(|compared| compared.read_agrees()), null(NOT);
}

record! {
    Explanation, "explanation":
    tokens "read_tokens", "Read." => |why| why.read_tokens;
    tokens "new_tokens", "Not sent before." => |why| why.new_tokens;
    tokens "missed_tokens", "Sent before and not read." => |why| why.missed_tokens();
    records: Missed, "missed", "These by cause." => |why| Value::List(why.missed.iter().map(Record::value).collect());
}

record! {
    Missed, "missed":
    field "cause", cause, "Why they were not read." => |part| part.cause.word();
    field "billed_as", categories, "How they were billed." => |part| part.billed_as.word();
    tokens "tokens", "How many." => |part| part.tokens;
}

record! {
    CauseCost, "cause_cost":
    field "cause", cause, "Why tokens were not read." => |part| part.cause.word();
    tokens "tokens", "How many." => |part| part.tokens;
    usd "cost_usd", "Their cost over the read price." => |part| part.cost, null(NO_PRICE);
}
