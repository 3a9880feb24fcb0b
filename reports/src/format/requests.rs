//! The ledger as one flat table of comma-separated values, with the same columns for a replay and for a run.
//!
//! A request that enters no sum (it has no usage, others have) has no figure here either, so that each column adds up
//! to the sum in the report. Its predicted values are in `ledger.jsonl`.

use std::io::{self, Write};

use forkcast_scenarios::capture::Recorder;
use forkcast_scenarios::run::Run;
use forkcast_sim::diagnosis::Explanation;
use forkcast_sim::ledger::CauseCost;
use forkcast_sim::pricing::Money;
use forkcast_sim::service::{Compared, NotComparable};
use forkcast_sim::wire::Usage;

use super::ledger::LedgerLine;
use super::replay::verdicts;
use super::sender::{Moment, Sender};
use super::usage::{self, NO_PRICE};
use super::words::cause;
use crate::document::csv;
use crate::record::{Shape, Value, table};
use crate::report::{Counted, Recorded, Report, Senders, Spending};

/// Writes the head.
///
/// # Errors
/// When the target cannot be written.
pub fn begin(target: &mut dyn Write) -> io::Result<()> {
    table::head::<RequestRow<'_>>(target)
}

/// Writes the row of a request.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, entry: &Recorded<'_>, target: &mut dyn Write) -> io::Result<()> {
    write_within(&Senders::from(report), Columns::of(report), entry, target)
}

/// The same before the report is complete.
///
/// # Errors
/// When the target cannot be written.
pub fn write_within(
    senders: &Senders<'_>,
    columns: Columns,
    entry: &Recorded<'_>,
    target: &mut dyn Write,
) -> io::Result<()> {
    csv::row(target, table::cells(&RequestRow::of(senders, columns, entry)))
}

/// What the columns hold, which depends on all requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Which requests are in the sums.
    pub counted: Counted,
    /// Something is predicted.
    pub are_predicted: bool,
}

impl Columns {
    /// Those of a report.
    pub const fn of(report: &Report<'_>) -> Self {
        Self { counted: report.counted, are_predicted: report.totals.predicted.is_some() }
    }
}

/// Writes the head and the requests of a run.
///
/// # Errors
/// When the target cannot be written.
pub fn write_run(run: &Run, target: &mut dyn Write) -> io::Result<()> {
    let recorder = Recorder::new(run);
    let line = |request| RequestRow::simulated(LedgerLine::simulated(&recorder, request));
    table::rows(run.requests.iter().map(line), target)
}

/// Hands on a row for each request.
pub(super) fn each(report: &Report<'_>, take: &mut dyn FnMut(Vec<String>) -> io::Result<()>) -> io::Result<()> {
    let (senders, columns) = (Senders::from(report), Columns::of(report));
    let mut taken = Ok(());
    report.each(&mut |entry| {
        if taken.is_ok() {
            taken = take(table::cells(&RequestRow::of(&senders, columns, entry)));
        }
    });
    taken
}

/// A line of the ledger as a row.
pub(super) struct RequestRow<'a> {
    line: LedgerLine<'a>,
    /// Where something is predicted, a request without a profile is predicted as it was recorded.
    is_predicted_as_recorded: bool,
}

impl<'a> RequestRow<'a> {
    fn of(senders: &Senders<'_>, columns: Columns, entry: &'a Recorded<'_>) -> Self {
        Self {
            line: LedgerLine::of(senders, columns.counted, entry),
            is_predicted_as_recorded: entry.line.predicted.is_none() && columns.are_predicted,
        }
    }

    const fn simulated(line: LedgerLine<'a>) -> Self {
        Self { line, is_predicted_as_recorded: false }
    }

    fn predicted(&self) -> Option<&'a Usage> {
        let line = self.line.counted()?;
        if self.is_predicted_as_recorded { line.recorded.as_ref() } else { line.predicted.as_ref() }
    }

    fn predicted_cost(&self) -> Option<Money> {
        let line = self.line.counted()?;
        if self.is_predicted_as_recorded {
            Some(line.charge.bill.as_ref()?.total)
        } else {
            Some(line.predicted_cost?.total)
        }
    }

    fn compared(&self) -> Option<&'a Compared> {
        self.line.comparison.ok()
    }

    fn explanation(&self) -> Option<&'a Explanation> {
        self.line.line.explanation.as_ref()
    }

    /// The causes of its misses, if known.
    fn causes(&self) -> Option<&'a [CauseCost]> {
        self.explanation().map(|_| &self.line.line.charge.causes[..])
    }
}

/// When a field is null.
const NOT_EXPLAINED: &str = "if it is not explained";

/// When a field is null.
const NO_DIFFERENCE: &str = "if no content differs";

record! {
    RequestRow<'_>, "request":
    flat: Sender, => |it| it.line.sender.value();
    text "file", "Its file." => |it| Value::text(&it.line.origin.file);
    ordinal "file_index", "Position in the recording, from 0." => |it| it.line.origin.index;
    flat: Moment, => |it| Moment(it.line.line.at).value();
    text "model", "Its model." => |it| it.line.names.model(&it.line.line.model).into_owned();
    record: Usage, "recorded", "What the provider reported." =>
        |it| usage::value(it.line.line.recorded.as_ref()), null("if nothing was");
    record: Usage, "predicted", "What the rules predict." => |it| usage::value(it.predicted()), null(IN_NO_SUM);
    usd "cost_usd", "The bill." => |it| it.line.bill().map(|bill| bill.total), null(NO_PRICE);
    flat: Spending, => |it| it.line.bill().map(|bill| Spending::of(bill).value()), null(NO_PRICE);
    usd "predicted_cost_usd", "The bill of the predicted usage." =>
        |it| it.predicted_cost(), null(NO_PRICE);
    usd "perfect_cost_usd", "The bill with every missed token read." =>
        |it| it.line.counted().and_then(|line| line.charge.perfect), null(NO_PRICE);
    usd "unread_writes_usd", "Premium of writes that were never read." =>
        |it| it.line.counted().and_then(|line| line.unread_writes), null(NO_PRICE);
    truth "comparable", "Its prediction can be compared." => |it| it.compared().is_some();
    field "not_comparable_reason", || Shape::words(NotComparable::ALL.map(NotComparable::word)), "Why not." =>
        |it| it.line.comparison.err().map(NotComparable::word), null("if it can");
    field "recorded_verdict", verdicts, "How much of the expected read was read, as recorded." =>
        |it| it.compared().map(|compared| compared.recorded.word()), null(NOT_EXPLAINED);
    field "predicted_verdict", verdicts, "The same as predicted." =>
        |it| it.compared().map(|compared| compared.predicted.word()), null(NOT_EXPLAINED);
    tokens "read_tokens", "Read." =>
        |it| it.line.counted().and(it.explanation()).map(|why| why.read_tokens), null(IN_NO_SUM);
    tokens "new_tokens", "Not sent before." =>
        |it| it.line.counted().and(it.explanation()).map(|why| why.new_tokens), null(IN_NO_SUM);
    tokens "missed_tokens", "Sent before and not read." =>
        |it| it.line.counted().and(it.explanation()).map(Explanation::missed_tokens), null(IN_NO_SUM);
    field "cause", cause, "Why the most tokens were missed." =>
        |it| {
            let largest = it.causes().and_then(|causes| causes.iter().max_by_key(|part| part.tokens));
            largest.map(|part| part.cause.word())
        }, null("if nothing was missed");
    field "causes", || Shape::list(cause()), "Why tokens were missed." =>
        |it| it.causes().map(|causes| causes.iter().map(|part| part.cause.word()).collect::<Vec<_>>()),
        null(NOT_EXPLAINED);
    text "first_difference_path", "Where the content first differs." =>
        |it| it.explanation().and_then(|why| why.differences.first()).map(|found| found.path.clone()),
        null(NO_DIFFERENCE);
    text "first_difference_name", "What differs there." =>
        |it| {
            let first = it.explanation().and_then(|why| why.differences.first());
            first.map(|found| it.line.names.thing(&found.name))
        }, null(NO_DIFFERENCE);
}

/// When a figure is in no sum.
const IN_NO_SUM: &str = "if it is in no sum";
