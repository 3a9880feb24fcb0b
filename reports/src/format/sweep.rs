//! `forkcast.sweep/1`: cells of a grid, in the order of its plan.

use std::io::{self, Write};

use forkcast_scenarios::fanout::Outcome;
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::sweep::outline;
use forkcast_scenarios::sweep::{Axis, Cell, CellOutcome, Plan};

use crate::document::csv;
use crate::record::{Record, Shape, Value, pretty_with, table};

/// Name and version.
pub const SCHEMA: &str = "forkcast.sweep/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "All cells of a grid, in the order of its plan.";

/// A hash, as it is written.
const HASH: Shape = Shape::Pattern(outline::HASH);

/// Writes outcomes of all cells of a plan as one JSON object, row by row as they are read.
///
/// # Errors
/// When the target cannot be written, or a row cannot be read.
pub fn write(
    plan: &Plan,
    rows: impl Iterator<Item = io::Result<CellOutcome>>,
    target: &mut dyn Write,
) -> io::Result<()> {
    let mut values = (0..).zip(rows).map(|(index, row)| row.map(|outcome| Row::of(plan, index, outcome).value()));
    pretty_with(&Sweep { plan }, ROWS, &mut values, target)
}

/// Writes outcomes as comma-separated values, row by row: a column for each axis, then the figures.
///
/// # Errors
/// When the target cannot be written, or a row cannot be read.
pub fn table(
    plan: &Plan,
    rows: impl Iterator<Item = io::Result<CellOutcome>>,
    target: &mut dyn Write,
) -> io::Result<()> {
    let axes = plan.axes.iter().map(|axis| axis.path.clone());
    csv::row(target, axes.chain(table::words::<Row<'_>>()))?;
    (0..).zip(rows).try_for_each(|(index, outcome)| {
        let row = Row::of(plan, index, outcome?);
        let set = values(&row.cell).map(|(_, value)| value.to_owned());
        csv::row(target, set.chain(table::cells(&row)))
    })
}

/// Fields and values of a cell, in the order of the axes.
pub fn values(cell: &Cell) -> impl Iterator<Item = (&str, &str)> {
    cell.set.iter().filter_map(|set| set.split_once('='))
}

/// All of it.
pub(super) struct Sweep<'a> {
    plan: &'a Plan,
}

/// The field that holds the rows.
const ROWS: &str = "rows";

record! {
    Sweep<'_>, "sweep":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    field "plan", || HASH, "Hash of the plan." => |sweep| Value::text(&sweep.plan.plan);
    text "subject", "`fanout`, or the scenario's name." => |sweep| sweep.plan.subject.name();
    records: Axis, "axes", "The values of each field; those of the last field change fastest." =>
        |sweep| Value::List(sweep.plan.axes.iter().map(Record::value).collect());
    records: Row<'_>, ROWS, "The cells." => |_| Value::List(Vec::new());
}

record! {
    Axis, "axis":
    text "path", "The field." => |axis| Value::text(&axis.path);
    texts "values", "Its values, in order." => |axis| Value::texts(&axis.values);
}

/// A cell of the grid and its result.
pub(crate) struct Row<'a> {
    /// The axes on which cells differ, for people.
    axes: &'a [Axis],
    pub cell: Cell,
    pub outcome: CellOutcome,
}

impl<'a> Row<'a> {
    /// The row of a plan with this index.
    pub fn of(plan: &'a Plan, index: usize, outcome: CellOutcome) -> Self {
        Self { axes: &plan.axes, cell: plan.cell(index), outcome }
    }

    /// The parameters that distinguish a cell from the others: `children 5, launch primed`.
    pub fn setting(&self) -> String {
        let varying = values(&self.cell).zip(self.axes).filter(|(_, axis)| axis.values.len() > 1);
        let set: Vec<String> = varying.map(|((path, value), _)| format!("{path} {value}")).collect();
        if set.is_empty() { "as it is".to_owned() } else { set.join(", ") }
    }
}

/// How a run ends, and that it could not begin.
fn ends() -> Shape {
    let all = [Ends::Finished, Ends::Stalled, Ends::Limit, Ends::Unscripted, Ends::LawBroken];
    Shape::words(all.map(Ends::word).into_iter().chain(["refused"]))
}

record! {
    Row<'_>, "row":
    field "set", || Shape::Map(Box::new(Shape::Text)), "The value of each field." =>
        |row| Value::map(values(&row.cell).map(|(path, value)| (path.to_owned(), value.to_owned()))), no_cell();
    field "ends", ends, "How the run ended." => |row| Value::text(&row.outcome.ends);
    flat: Outcome, => |row| row.outcome.figures.value();
    texts "failures", "Expectations of the scenario about its own values that failed with these." =>
        |row| Value::texts(&row.outcome.failures);
    texts "unpriced", "Models without a price, in order: their cost is not in the bill." =>
        |row| Value::texts(&row.outcome.unpriced);
    text "message", "Why it did not finish." => |row| row.outcome.message.clone(), null("if it did");
    text "digest", "Digest over (instant, event) of a scenario's run." =>
        |row| row.outcome.digest.clone(), null("for a fan-out, and if it could not begin");
    field "cell", || HASH, "Hash of the cell." => |row| Value::text(&row.outcome.cell);
}
