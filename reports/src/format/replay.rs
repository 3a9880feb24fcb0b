//! `forkcast.replay/1`.

use std::io::{self, Write};

use serde::Serialize;

use super::calibration::SizesObject;
use super::inputs::{SkippedObject, UnreadableObject};
use super::json_text;
use super::own_prices::OwnPricesObject;
use crate::names::Names;
use crate::report::{By, Report, Unpriced, gates, not_billed, remarks, statement, unpriced};

mod advice;
mod bounds;
mod findings;
mod sums;

use advice::{ActionObject, UnseenObject, actions};
use bounds::{GateObject, WindowObject};
use findings::{ExceptionObject, UnexplainedObject, exceptions, unexplained};
use sums::{GroupObject, SessionObject, Sums};

/// Name and version.
pub const SCHEMA: &str = "forkcast.replay/1";

/// Writes a report as one JSON object.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, target: &mut dyn Write) -> io::Result<()> {
    json_text::pretty(target, &ReplayObject::of(report))?;
    writeln!(target)
}

#[derive(Serialize)]
pub(super) struct ReplayObject<'a> {
    schema: &'static str,
    inputs: InputsObject,
    options: OptionsObject,
    partial: bool,
    rules: &'a [&'static str],
    price_book: PriceBookObject,
    sizes: SizesObject,
    window: WindowObject,
    sessions: Vec<SessionObject>,
    by: Option<&'static str>,
    groups: Vec<GroupObject>,
    totals: Sums,
    gates: Vec<GateObject>,
    actions: Vec<ActionObject>,
    unseen: UnseenObject,
    unpriced: Vec<UnpricedObject>,
    exceptions: Vec<ExceptionObject>,
    unexplained: Vec<UnexplainedObject>,
    remarks: Vec<RemarkObject>,
}

impl<'a> ReplayObject<'a> {
    pub(super) fn of(report: &'a Report<'_>) -> Self {
        Self {
            schema: SCHEMA,
            inputs: InputsObject::of(report),
            options: OptionsObject::of(report),
            partial: report.is_partial(),
            rules: &report.rules,
            price_book: PriceBookObject::of(report),
            sizes: SizesObject::of(report),
            window: WindowObject::of(report),
            sessions: report.sessions.iter().map(|session| SessionObject::of(session, &report.what_ifs)).collect(),
            by: report.view.by.map(By::word),
            groups: report.groups.iter().map(|group| GroupObject::of(group, &report.what_ifs)).collect(),
            totals: Sums::of(&report.totals, &report.what_ifs),
            gates: gates(report).iter().map(GateObject::of).collect(),
            actions: actions(report),
            unseen: report.unseen.into(),
            unpriced: unpriced(report).into_iter().map(UnpricedObject::of).collect(),
            exceptions: exceptions(report),
            unexplained: unexplained(report),
            remarks: remarks(report).into_iter().map(|(remark, requests)| RemarkObject { remark, requests }).collect(),
        }
    }
}

#[derive(Serialize)]
struct InputsObject {
    files: usize,
    bytes: u64,
    skipped: Vec<SkippedObject>,
    repaired: Vec<RepairedObject>,
    unreadable: Vec<UnreadableObject>,
    notes: Vec<NoteObject>,
}

/// What was seen and changes no number.
#[derive(Serialize)]
struct NoteObject {
    file: String,
    note: String,
}

/// How the run was made, so that it can be made again.
#[derive(Serialize)]
struct OptionsObject {
    paths: Vec<String>,
    input_format: &'static str,
    cache: Option<&'static str>,
    prices_of: Option<String>,
    sizes: &'static str,
    calibrated: bool,
    anonymized: bool,
}

impl OptionsObject {
    fn of(report: &Report<'_>) -> Self {
        let (inputs, options) = (report.inputs, report.options);
        let named = inputs.scopes.iter().filter(|_| !inputs.is_sample);
        Self {
            paths: named.map(|scope| report.names.file(&scope.name)).collect(),
            input_format: inputs.read_as.name(),
            cache: options.rules.map(|rules| rules.name),
            prices_of: options.prices_of.map(|date| date.to_string()),
            sizes: options.sizing.source.word(),
            calibrated: options.sizing.calibration.is_some(),
            anonymized: report.names == Names::Anonymous,
        }
    }
}

#[derive(Serialize)]
struct RepairedObject {
    file: String,
    line: usize,
    what: String,
}

impl InputsObject {
    fn of(report: &Report<'_>) -> Self {
        let (inputs, names) = (report.inputs, report.names);
        let skipped = inputs.skipped.iter().map(|skipped| SkippedObject::new(&skipped.file, &skipped.reason, names));
        let repaired = inputs.repaired.iter().map(|repaired| RepairedObject {
            file: names.file(&repaired.file),
            line: repaired.line,
            what: names.message(&repaired.what),
        });
        let unreadable =
            report.unreadable().map(|damage| UnreadableObject::new(&damage.file, damage.line, &damage.reason, names));
        Self {
            files: inputs.files,
            bytes: inputs.bytes,
            skipped: skipped.collect(),
            repaired: repaired.collect(),
            unreadable: unreadable.collect(),
            notes: report
                .notes()
                .map(|(file, note)| NoteObject { file: names.file(file), note: names.message(note) })
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct PriceBookObject {
    version: &'static str,
    /// For people, such as `list prices of 2026-11-21`.
    statement: String,
    prices_of: Option<String>,
    #[serde(flatten)]
    own: OwnPricesObject,
    not_billed: Vec<NotBilledObject>,
}

#[derive(Serialize)]
struct NotBilledObject {
    vendor: &'static str,
    what: String,
}

impl PriceBookObject {
    fn of(report: &Report<'_>) -> Self {
        let book = &report.options.book;
        let not_billed =
            not_billed(report).map(|entry| NotBilledObject { vendor: entry.vendor.word(), what: entry.what.clone() });
        Self {
            version: book.version(),
            statement: statement(report.options, report.names),
            prices_of: report.options.prices_of.map(|date| date.to_string()),
            own: OwnPricesObject::of(book, report.names),
            not_billed: not_billed.collect(),
        }
    }
}

#[derive(Serialize)]
struct UnpricedObject {
    model: String,
    requests: u64,
    tokens: u64,
    reason: &'static str,
}

impl UnpricedObject {
    fn of(unpriced: Unpriced) -> Self {
        let reason = unpriced.reason();
        Self { model: unpriced.model, requests: unpriced.requests, tokens: unpriced.tokens, reason }
    }
}

#[derive(Serialize)]
struct RemarkObject {
    remark: String,
    requests: u64,
}
