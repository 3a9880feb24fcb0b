//! The ledger as one flat table of comma-separated values.
//!
//! A request that enters no sum (it has no usage, others have) has no figure here either, so that each column adds up
//! to the sum in the report. Its predicted values are in `ledger.jsonl`.

use std::io::{self, Write};

use forkcast_sim::diagnosis::Explanation;
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::Bill;
use forkcast_sim::service::{Compared, NotComparable};
use forkcast_sim::wire::Usage;

use super::replay::verdicts;
use super::usage::{self, NO_PRICE};
use super::words::cause;
use crate::document::csv;
use crate::record::{Shape, table};
use crate::report::{Recorded, Report, Spending, Zone};

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
    csv::row(target, table::cells(&RequestRow { report, entry }))
}

/// Hands on a row for each request.
pub(super) fn each(report: &Report<'_>, take: &mut dyn FnMut(Vec<String>) -> io::Result<()>) -> io::Result<()> {
    let mut taken = Ok(());
    report.each(&mut |entry| {
        if taken.is_ok() {
            taken = take(table::cells(&RequestRow { report, entry }));
        }
    });
    taken
}

/// A request of a report.
pub(super) struct RequestRow<'a> {
    report: &'a Report<'a>,
    entry: &'a Recorded<'a>,
}

impl<'a> RequestRow<'a> {
    /// Its line, if it is in the sums.
    fn counted(&self) -> Option<&'a Line> {
        Some(&self.entry.line).filter(|_| self.report.counted.counts(self.entry))
    }

    fn bill(&self) -> Option<&'a Bill> {
        self.counted()?.charge.bill.as_ref()
    }

    /// Where something is predicted, a request without a profile is predicted as it was recorded.
    fn is_predicted_as_recorded(&self) -> bool {
        self.entry.line.predicted.is_none() && self.report.totals.predicted.is_some()
    }

    fn predicted(&self) -> Option<&'a Usage> {
        let line = self.counted()?;
        if self.is_predicted_as_recorded() { line.recorded.as_ref() } else { line.predicted.as_ref() }
    }

    fn predicted_bill(&self) -> Option<&'a Bill> {
        let line = self.counted()?;
        if self.is_predicted_as_recorded() { line.charge.bill.as_ref() } else { line.predicted_bill.as_ref() }
    }

    /// Name and version.
    fn client(&self) -> Option<(String, Option<String>)> {
        let client = self.report.names.client(self.entry.client()?);
        match client.split_once('/') {
            Some((name, version)) => Some((name.to_owned(), Some(version.to_owned()))),
            None => Some((client, None)),
        }
    }

    fn compared(&self) -> Option<&'a Compared> {
        self.entry.comparison.as_ref().ok()
    }

    fn explanation(&self) -> Option<&'a Explanation> {
        self.entry.line.explanation.as_ref()
    }

    /// The causes of its misses, if known.
    fn causes(&self) -> Option<&'a [forkcast_sim::ledger::CauseCost]> {
        self.explanation().map(|_| &self.entry.line.charge.causes[..])
    }
}

/// When a field is null.
const NO_CLIENT: &str = "where the recording has none";

const RFC_3339: &str = "%Y-%m-%dT%H:%M:%S%.fZ";

/// When a field is null.
const NOT_EXPLAINED: &str = "where it is not explained";

/// When a field is null.
const NO_DIFFERENCE: &str = "where no content differs";

record! {
    RequestRow<'_>, "request":
    count "index", "Position among all requests, from 0." => |it| it.entry.line.index;
    text "session", "Id of its session." =>
        |it| it.report.session_of(it.entry).map(|session| session.id.clone()), null("where it has none");
    text "chain", "Its agent." =>
        |it| it.report.agent_of(it.entry).map(str::to_owned), null("where no profile could read the request");
    text "project", "Working directory, else the path as named; worktrees count as their repository." =>
        |it| it.report.session_of(it.entry).and_then(|session| session.project.as_deref().map(str::to_owned)),
        null("where none is known");
    text "agent_kind", "What kind of agent: main, fork, or the type that was asked for, such as Explore." =>
        |it| it.report.kind_of(it.entry), null("where that is unknown");
    text "client", "The program that sent it." => |it| it.client().map(|client| client.0), null(NO_CLIENT);
    text "client_version", "Its version." => |it| it.client().and_then(|client| client.1), null(NO_CLIENT);
    text "file", "Its file." => |it| it.report.names.file(&it.entry.origin.file);
    count "file_index", "Position in the file, from 0." => |it| it.entry.origin.index;
    millis "at_ms", "When it was sent, since 1970." =>
        |it| it.entry.line.at, null("where the recording has no instants");
    text "at", "The same in RFC 3339, UTC." =>
        |it| it.entry.line.at.and_then(|at| Zone::default().text(at, RFC_3339)),
        null("where the recording has no instants");
    text "model", "Its model." => |it| it.report.names.model(&it.entry.line.model).into_owned();
    record: Usage, "recorded", "What the provider reported." =>
        |it| usage::value(it.entry.line.recorded.as_ref()), null("where nothing was");
    record: Usage, "predicted", "What the rules predict." => |it| usage::value(it.predicted()), null(IN_NO_SUM);
    usd "cost_usd", "The bill." => |it| it.bill().map(|bill| bill.total), null(NO_PRICE);
    flat: Spending, => |it| it.bill().map(|bill| Spending::of(bill).value()), null(NO_PRICE);
    usd "predicted_cost_usd", "The bill of what is predicted." =>
        |it| it.predicted_bill().map(|bill| bill.total), null(NO_PRICE);
    usd "perfect_cost_usd", "The bill with every missed token read." =>
        |it| it.counted().and_then(|line| line.charge.perfect), null(NO_PRICE);
    usd "unread_writes_usd", "Premium of writes that nothing read." =>
        |it| it.counted().and_then(|line| line.unread_writes), null(NO_PRICE);
    truth "comparable", "Its prediction can be compared." => |it| it.compared().is_some();
    field "not_comparable_reason", || Shape::words(NotComparable::ALL.map(NotComparable::word)), "Why not." =>
        |it| it.entry.comparison.as_ref().err().map(|why| why.word()), null("where it can");
    field "recorded_verdict", verdicts, "What was read of what could be, as recorded." =>
        |it| it.compared().map(|compared| compared.recorded.word()), null(NOT_EXPLAINED);
    field "predicted_verdict", verdicts, "The same as predicted." =>
        |it| it.compared().map(|compared| compared.predicted.word()), null(NOT_EXPLAINED);
    tokens "read_tokens", "Read." =>
        |it| it.counted().and(it.explanation()).map(|why| why.read_tokens), null(IN_NO_SUM);
    tokens "new_tokens", "Not sent before." =>
        |it| it.counted().and(it.explanation()).map(|why| why.new_tokens), null(IN_NO_SUM);
    tokens "missed_tokens", "Sent before and not read." =>
        |it| it.counted().and(it.explanation()).map(Explanation::missed_tokens), null(IN_NO_SUM);
    field "cause", cause, "Why the most tokens were missed." =>
        |it| {
            let largest = it.causes().and_then(|causes| causes.iter().max_by_key(|part| part.tokens));
            largest.map(|part| part.cause.word())
        }, null("where nothing was missed");
    field "causes", || Shape::list(cause()), "Why tokens were missed." =>
        |it| it.causes().map(|causes| causes.iter().map(|part| part.cause.word()).collect::<Vec<_>>()),
        null(NOT_EXPLAINED);
    text "first_difference_path", "Where the content first differs." =>
        |it| it.explanation().and_then(|why| why.differences.first()).map(|found| found.path.clone()),
        null(NO_DIFFERENCE);
    text "first_difference_name", "What differs there." =>
        |it| {
            let first = it.explanation().and_then(|why| why.differences.first());
            first.map(|found| it.report.names.thing(&found.name))
        }, null(NO_DIFFERENCE);
}

/// When a figure is in no sum.
const IN_NO_SUM: &str = "where it is in no sum";
