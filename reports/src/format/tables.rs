//! The tables of a replay as comma-separated values, complete and without texts for people: a single one, as
//! spreadsheets and data frames read it, or all, one after the other.

use std::io::{self, Write};

use forkcast_replay::calibrate::ClassFit;

use super::inputs::DamagedPlace;
use super::replay::{CauseTotal, Fee, InReport, MissRow, Remark, Sums};
use super::requests::{self, RequestRow};
use crate::document::csv;
use crate::record::table::{cells, words};
use crate::record::{Record, Shape, Value};
use crate::report::{Damage, Fate};
use crate::report::{Exception, Gate, Group, Report, Session, SizeRow, Unpriced, gates, remarks, unpriced};

/// The rows of a table.
type Rows = Vec<Vec<String>>;

/// A table: its name, the meaning of a row, its columns, its rows.
struct Plan {
    name: &'static str,
    what: &'static str,
    columns: fn() -> Vec<String>,
    rows: Source,
}

/// Where rows come from.
enum Source {
    /// They are made at once.
    Held(fn(&Report<'_>) -> Rows),
    /// One for each request, while these are gone through.
    Requests,
}

impl Plan {
    const fn held<R: Record>(name: &'static str, what: &'static str, rows: fn(&Report<'_>) -> Rows) -> Self {
        Self { name, what, columns: words::<R>, rows: Source::Held(rows) }
    }

    fn each(&self, report: &Report<'_>, take: &mut dyn FnMut(Vec<String>) -> io::Result<()>) -> io::Result<()> {
        match self.rows {
            Source::Held(rows) => rows(report).into_iter().try_for_each(take),
            Source::Requests => requests::each(report, take),
        }
    }
}

/// Records as rows.
fn rows<R: Record>(records: impl IntoIterator<Item = R>) -> Rows {
    records.into_iter().map(|record| cells(&record)).collect()
}

/// In the order in which they are written.
const PLANS: [Plan; 15] = [
    Plan::held::<Sums<'_>>("totals", "one row of sums over everything", |report| {
        rows([Sums { report, account: &report.totals }])
    }),
    Plan::held::<InReport<'_, Group>>("groups", "sums of each group of --by", |report| {
        rows(report.groups.iter().map(|of| InReport { report, of }))
    }),
    Plan::held::<Model<'_>>("models", "sums of each model", |report| {
        rows(report.models.iter().map(|group| Model { report, group }))
    }),
    Plan::held::<InReport<'_, Session>>("sessions", "sums of each recording", |report| {
        rows(report.sessions.iter().map(|of| InReport { report, of }))
    }),
    Plan::held::<CauseTotal>("causes", "why tokens were missed, over everything", |report| {
        rows(CauseTotal::all(&report.totals))
    }),
    Plan::held::<MissRow<'_>>("misses", "each request and cause", |report| {
        rows(report.misses.iter().map(|of| MissRow(InReport { report, of })))
    }),
    Plan::held::<InReport<'_, Exception>>("exceptions", "requests not as predicted", |report| {
        rows(report.exceptions.iter().map(|of| InReport { report, of }))
    }),
    Plan::held::<Unpriced>("unpriced", "models without a price", |report| rows(unpriced(report))),
    Plan::held::<Gate>("gates", "limits that were set", |report| rows(gates(report))),
    Plan::held::<DamageRow>("damage", "unread and repaired parts", |report| rows(DamageRow::all(report))),
    Plan::held::<Remark>("remarks", "remarks on requests", |report| rows(remarks(report).into_iter().map(Remark))),
    Plan::held::<Fee>("fees", "charges that are not tokens", |report| rows(Fee::all(&report.totals))),
    Plan::held::<SizeRow>("sizes", "counted sizes of each tokenizer", |report| {
        report.sizes.rows.iter().map(cells).collect()
    }),
    Plan::held::<ClassFit>("factors", "fitted factors of --calibrate", |report| {
        let fit = report.options.sizing.calibration.as_ref();
        fit.map(|fit| fit.classes.iter().map(cells).collect()).unwrap_or_default()
    }),
    Plan {
        name: "requests",
        what: "each request, as in requests.csv",
        columns: words::<RequestRow<'_>>,
        rows: Source::Requests,
    },
];

/// Names of the tables, each with the meaning of a row.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    PLANS.iter().map(|plan| (plan.name, plan.what))
}

/// Writes one table: its head and its rows. Nothing for a name that is none of [`names`].
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, name: &str, target: &mut dyn Write) -> io::Result<()> {
    let Some(plan) = PLANS.iter().find(|plan| plan.name == name) else { return Ok(()) };
    csv::row(target, (plan.columns)())?;
    plan.each(report, &mut |row| csv::row(target, row))
}

/// Writes all tables, an empty line between them; the first column names the table.
///
/// # Errors
/// When the target cannot be written.
pub fn write_all(report: &Report<'_>, target: &mut dyn Write) -> io::Result<()> {
    for (at, plan) in PLANS.iter().enumerate() {
        if at > 0 {
            writeln!(target)?;
        }
        csv::row(target, std::iter::once("table".to_owned()).chain((plan.columns)()))?;
        plan.each(report, &mut |row| csv::row(target, std::iter::once(plan.name.to_owned()).chain(row)))?;
    }
    Ok(())
}

/// The requests of a model.
struct Model<'a> {
    report: &'a Report<'a>,
    group: &'a Group,
}

record! {
    Model<'_>, "model":
    text "model", "The model." => |model| Value::text(&model.group.key);
    flat: Sums<'_>, => |model| Sums { report: model.report, account: &model.group.account }.value();
}

/// A place that was not read, or was repaired.
struct DamageRow(DamagedPlace);

impl DamageRow {
    fn all(report: &Report<'_>) -> impl Iterator<Item = Self> {
        let damage = Damage::all(report.inputs, &report.unreplayed).filter(|damage| damage.fate != Fate::Noted);
        damage.map(|damage| Self(DamagedPlace::of(damage, report.names)))
    }
}

record! {
    DamageRow, "damage":
    field "what", || Shape::words([Fate::Unreadable, Fate::Repaired, Fate::PassedOver].map(Fate::word)), "Its kind." =>
        |it| it.0.fate.word();
    text "file", "The file." => |it| it.0.file.clone();
    ordinal "line", "Its line, from 1." => |it| Some(it.0.line).filter(|line| *line > 0), null("for a whole file");
    text "reason", "The reason, or the repair." => |it| it.0.reason.clone();
}
