//! `forkcast.replay/1`.

use std::io::{self, Write};

use forkcast_replay::replay::SizeSource;
use forkcast_sim::diagnosis::Cause;

use super::inputs::Account;
use super::own_prices::OwnPrices;
use super::sizes::Counts;
use crate::names::Names;
use crate::record::{Shape, Value, list, pretty};
use crate::report::{By, Exception, Gate, Group, LeftOut, Miss, Report, Session, Unpriced, Unseen, Window};
use crate::report::{actions, gates, not_billed, remarks, statement, unpriced};

mod findings;
mod limits;
mod sums;

pub(super) use findings::{InReport, MissRow, Remark, verdicts};
pub(super) use sums::{CauseTotal, Fee, Sums};

/// Name and version.
pub const SCHEMA: &str = "forkcast.replay/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "A replay of recorded requests: their cost, the prediction of the rules, the causes of \
                                misses. Contains no text of prompts.";

/// Writes a report as one JSON object.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, target: &mut dyn Write) -> io::Result<()> {
    pretty(report, target)
}

record! {
    Report<'_>, "replay":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    record: Account<'_>, "inputs", "The input." =>
        |report| {
            let Report { inputs, unreplayed, names, .. } = report;
            Account { inputs, unreplayed, names: *names }.value()
        };
    record: Options<'_>, "options", "The options of the replay, so that it can be repeated." =>
        |report| Options(report).value();
    truth "partial", "It was interrupted: the rest of the input is missing from every sum." =>
        |report| report.is_partial();
    texts "rules", "Presets of cache rules, in order of first use." => |report| report.rules.clone();
    record: Prices<'_>, "price_book", "The prices." => |report| Prices(report).value();
    record: Counts<'_>, "sizes", "Counted sizes of prompts compared with the bill." => |report| Counts(report).value();
    record: InReport<'_, (Window, LeftOut)>, "window",
        "Which requests are in the sums: those sent at since_ms or later and before until_ms. Others are replayed and \
         count nowhere." =>
        |report| InReport { report, of: &(report.view.window, report.left_out) }.value();
    records: InReport<'_, Session>, "sessions", "One for each file with requests." =>
        |report| list(report.sessions.iter().map(|of| InReport { report, of }));
    field "by", || Shape::words(By::ALL.map(By::word)), "The key of the groups." =>
        |report| report.view.by.map(By::word), null("if no groups were asked for");
    field "then_by", || Shape::words(By::ALL.map(By::word)), "The second key of the groups." =>
        |report| report.view.then_by.map(By::word), null("if groups have one key");
    text "time_zone", "The zone of days, weeks, months and blocks in groups." =>
        |report| report.view.zone.name().to_owned();
    records: InReport<'_, Group>, "groups",
        "Every request of the totals is in exactly one: times ascending, else the dearest first. Requests without a \
         key form the group `unknown`, the last." =>
        |report| list(report.groups.iter().map(|of| InReport { report, of }));
    record: Sums<'_>, "totals", "Sums over everything." => |report| Sums { report, account: &report.totals }.value();
    records: Gate, "gates", "The limits that were set." => |report| list(gates(report));
    records: InReport<'_, crate::report::Action>, "actions",
        "What to do, at most five: first what keeps the answers, the largest saving first, then another model, last \
         what only hindsight could choose. None saves less than one hundredth of the bill. Savings may overlap." =>
        |report| list(actions(report).iter().map(|of| InReport { report, of }));
    record: Unseen, "unseen", "Limits of the numbers, if the input shows them." =>
        |report| report.unseen.value();
    records: Unpriced, "unpriced", "Models whose tokens count and whose money is unknown." =>
        |report| list(unpriced(report));
    records: InReport<'_, Exception>, "exceptions", "Comparable requests whose verdict or read is not as predicted." =>
        |report| list(report.exceptions.iter().map(|of| InReport { report, of }));
    records: InReport<'_, Miss>, "unexplained", "Missed tokens without an explanation in the input." =>
        |report| {
            let found = report.misses.iter().filter(|miss| miss.cause == Cause::Unexplained);
            list(found.map(|of| InReport { report, of }))
        };
    records: Remark, "remarks", "Remarks on requests, the most frequent first." =>
        |report| list(remarks(report).into_iter().map(Remark));
}

/// How the replay was made.
struct Options<'a>(&'a Report<'a>);

/// Where sizes of prefixes come from.
pub(super) fn sources() -> Shape {
    Shape::words(SizeSource::ALL.map(SizeSource::name))
}

record! {
    Options<'_>, "options":
    texts "paths", "As the user named them; empty for the embedded sample." =>
        |options| {
            let (inputs, names) = (options.0.inputs, options.0.names);
            let named = inputs.scopes.iter().filter(|_| !inputs.is_sample);
            Value::texts(named.map(|scope| names.file(&scope.name)))
        };
    text "input_format", "The requested format of the input." => |options| options.0.inputs.read_as.name();
    text "cache", "Preset of cache rules." =>
        |options| options.0.options.rules.map(|rules| rules.name), null("if each request has those of its day");
    text "prices_of", "The day of the prices." =>
        |options| options.0.options.prices_of.map(|date| date.to_string()),
        null("if each request has those of its day");
    field "sizes", sources, "Source of the sizes of prefixes." => |options| options.0.options.sizing.source.name();
    truth "calibrated", "Factors of counts were fitted to these recordings." =>
        |options| options.0.options.sizing.calibration.is_some();
    truth "anonymized", "Names are replaced by ids." => |options| options.0.names == Names::Anonymous;
}

/// The prices.
struct Prices<'a>(&'a Report<'a>);

record! {
    Prices<'_>, "price_book":
    text "version", "The day of the newest list prices." => |prices| prices.0.options.book.version();
    text "statement", "For people, such as `list prices of 2026-11-21`." =>
        |prices| statement(prices.0);
    text "prices_of", "The day of the prices." =>
        |prices| prices.0.options.prices_of.map(|date| date.to_string()),
        null("if each request has those of its day");
    flat: OwnPrices<'_>, => |prices| OwnPrices(&prices.0.options.book, prices.0.names).value();
    records: NotBilled, "not_billed", "Charges by the makers of these models that are in no recording." =>
        |prices| list(not_billed(prices.0).map(|found| NotBilled(found.vendor.word(), found.what.clone())));
}

/// A vendor and its charges.
struct NotBilled(&'static str, String);

record! {
    NotBilled, "not_billed":
    text "vendor", "The vendor that charges it." => |found| found.0;
    text "what", "The charge." => |found| found.1.clone();
}
