//! The grid as a file, `forkcast.plan/1`: what to run, the values of its fields, and every cell with its hash.

use std::collections::BTreeSet;

use forkcast_sim::outside::{self, complaint};
use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::hash;
use super::prices::Prices;
use super::subject::Subject;

/// Schema name and version.
pub const SCHEMA: &str = "forkcast.plan/1";

/// Maximum number of cells in a plan, which then takes 20 MB.
pub const CELLS_MAX: usize = 100_000;

/// Default number of parts: enough for many cores, few enough that writing them is cheap.
pub const PARTS: usize = 256;

/// Maximum number of scenario combinations that are all checked before anything runs. For larger plans, each value is
/// checked once, with the first value of all other fields.
const READ_MAX: usize = 500;

/// A grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of the program that made it: another version may compute other figures.
    pub version: String,
    /// Hash of everything below; identifies the plan of a part.
    pub plan: String,
    /// What to run.
    pub subject: Subject,
    /// The prices.
    pub prices: Prices,
    /// The values of its fields; the last field varies fastest.
    pub axes: Vec<Axis>,
    /// Number of files into which the cells are split.
    pub parts: usize,
    /// The cells, in order.
    pub cells: Vec<Cell>,
}

/// One combination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Hash of subject, prices, settings, and program version.
    pub cell: String,
    /// The settings, as for `--set`.
    pub set: Vec<String>,
}

/// Why a plan is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPlan {
    /// It has too many cells.
    #[error("{axes} = {cells} cells; the limit is {CELLS_MAX}: use fewer values, or several plans")]
    TooMany {
        /// The number of values of each field.
        axes: String,
        /// The number of cells.
        cells: u128,
    },
    /// A field is given twice.
    #[error("`{0}` is given twice; write its values in one list")]
    Twice(String),
    /// The number of parts is zero.
    #[error("a plan has at least one part")]
    NoParts,
    /// Cells that cannot be run, one line per error.
    #[error("{}", .0.join("\n"))]
    Cells(Vec<String>),
    /// The file is not a plan.
    #[error("this is not a valid plan ({SCHEMA}): {0}")]
    Unreadable(String),
    /// The file was changed.
    #[error("this plan was changed by hand: {0}; make it with `forkcast sweep plan`")]
    Changed(String),
    /// Another version of the program made it.
    #[error(
        "this plan was made by forkcast {0}, but this is {own}: figures of two versions cannot be combined; make the plan again",
        own = env!("CARGO_PKG_VERSION")
    )]
    Version(String),
}

impl Plan {
    /// Makes a plan at list prices, in at most `parts` parts.
    ///
    /// # Errors
    /// The error in it. Everything that can be known before the first cell runs is checked here.
    pub fn new(subject: Subject, axes: Vec<Axis>, parts: usize) -> Result<Self, BadPlan> {
        Self::at_prices(subject, Prices::default(), axes, parts)
    }

    /// The same at other prices.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn at_prices(subject: Subject, prices: Prices, axes: Vec<Axis>, parts: usize) -> Result<Self, BadPlan> {
        let mut seen = BTreeSet::new();
        if let Some(axis) = axes.iter().find(|axis| !seen.insert(axis.path.as_str())) {
            return Err(BadPlan::Twice(axis.path.clone()));
        }
        let axes = axes.into_iter().map(|axis| subject.axis(axis)).collect::<Result<Vec<_>, String>>();
        let axes = axes.map_err(|why| BadPlan::Cells(vec![why]))?;
        let plan = Self::of(subject, prices, axes, parts)?;
        plan.check()?;
        Ok(plan)
    }

    fn of(subject: Subject, prices: Prices, axes: Vec<Axis>, parts: usize) -> Result<Self, BadPlan> {
        prices.book().map_err(|why| BadPlan::Cells(vec![why]))?;
        let count = count(&axes)?;
        if parts == 0 {
            return Err(BadPlan::NoParts);
        }
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let parts = parts.min(count);
        let of_subject = hash(&(SCHEMA, &version, &subject, &prices));
        let cells: Vec<Cell> = (0..count)
            .map(|at| {
                let set = combination(&axes, at);
                Cell { cell: hash(&(&of_subject, &set)), set }
            })
            .collect();
        let plan = hash(&(&of_subject, &axes, parts, &cells));
        Ok(Self { schema: SCHEMA.to_owned(), version, plan, subject, prices, axes, parts, cells })
    }

    /// Reads a plan and checks its hashes.
    ///
    /// # Errors
    /// If it is not a plan, was changed, or was made by another version of the program.
    pub fn read(text: &str) -> Result<Self, BadPlan> {
        let found: Self = serde_json::from_str(text)
            .map_err(|error| BadPlan::Unreadable(format!("line {}: {}", error.line(), complaint::json(&error))))?;
        if found.schema != SCHEMA {
            return Err(BadPlan::Unreadable(format!("its `schema` is {}", outside::found(&found.schema))));
        }
        if found.version != env!("CARGO_PKG_VERSION") {
            return Err(BadPlan::Version(found.version));
        }
        let made = Self::of(found.subject.clone(), found.prices.clone(), found.axes.clone(), found.parts)?;
        let differing = found.cells.iter().zip(&made.cells).position(|(found, made)| found != made);
        match differing {
            Some(at) => Err(BadPlan::Changed(format!("cell {at} does not match its hash"))),
            None if found.cells.len() != made.cells.len() => Err(BadPlan::Changed(format!(
                "it has {} cells, but its axes give {}",
                found.cells.len(),
                made.cells.len()
            ))),
            None if found != made => Err(BadPlan::Changed("its hash belongs to another plan".to_owned())),
            None => Ok(found),
        }
    }

    /// The plan as a file.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        let mut text = text.unwrap_or_else(|error| unreachable!("texts and numbers are JSON: {error}"));
        text.push('\n');
        text
    }

    /// The cells of a part; part sizes differ by at most one.
    pub fn part(&self, part: usize) -> &[Cell] {
        let bound = |part: usize| self.cells.len() * part.min(self.parts) / self.parts;
        &self.cells[bound(part)..bound(part + 1)]
    }

    /// Checks for cells that cannot be run.
    fn check(&self) -> Result<(), BadPlan> {
        const COMPLAINTS_MAX: usize = 10;
        let is_fanout = matches!(self.subject, Subject::Fanout { .. });
        let all: Vec<Vec<String>> = if is_fanout || self.cells.len() <= READ_MAX {
            self.cells.iter().map(|cell| cell.set.clone()).collect()
        } else {
            singles(&self.axes)
        };
        let mut complaints: Vec<String> = Vec::new();
        for set in all {
            let Err(why) = self.subject.check(&set) else { continue };
            complaints
                .extend(why.lines().map(str::to_owned).filter(|line| !complaints.contains(line)).collect::<Vec<_>>());
            if complaints.len() >= COMPLAINTS_MAX {
                break;
            }
        }
        if complaints.is_empty() { Ok(()) } else { Err(BadPlan::Cells(complaints)) }
    }
}

/// The number of cells for these axes.
fn count(axes: &[Axis]) -> Result<usize, BadPlan> {
    let cells = axes.iter().fold(1_u128, |product, axis| product.saturating_mul(axis.values.len() as u128));
    match usize::try_from(cells).ok().filter(|cells| (1..=CELLS_MAX).contains(cells)) {
        Some(cells) => Ok(cells),
        None => {
            let each: Vec<String> = axes.iter().map(|axis| format!("{} ({})", axis.path, axis.values.len())).collect();
            Err(BadPlan::TooMany { axes: each.join(" × "), cells })
        }
    }
}

/// The settings of the cell with this index.
fn combination(axes: &[Axis], index: usize) -> Vec<String> {
    let mut rest = index;
    let mut set: Vec<String> = axes
        .iter()
        .rev()
        .map(|axis| {
            let value = rest % axis.values.len();
            rest /= axis.values.len();
            axis.set(value)
        })
        .collect();
    set.reverse();
    set
}

/// Each value once, with the first value of all other fields.
fn singles(axes: &[Axis]) -> Vec<Vec<String>> {
    let with = |varied: usize, value: usize| {
        axes.iter().enumerate().map(|(at, axis)| axis.set(if at == varied { value } else { 0 })).collect()
    };
    axes.iter().enumerate().flat_map(|(at, axis)| (0..axis.values.len()).map(move |value| with(at, value))).collect()
}
