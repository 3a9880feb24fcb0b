//! The grid as a file, `forkcast.plan/2`: what to run and the values of its fields. Cells are computed from these, so
//! that a plan of a million cells is as small as one of ten.

use std::collections::BTreeSet;
use std::ops::Range;

use forkcast_sim::outside::{self, complaint};
use forkcast_sim::pricing::{ModelKey, PriceBook, Terms};
use forkcast_sim::wire::model;
use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::hash;
use super::parameter;
use super::prices::Prices;
use super::subject::Subject;

/// Schema name and version.
pub const SCHEMA: &str = "forkcast.plan/2";

/// The schema of earlier plans, which listed their cells.
const EARLIER: &str = "forkcast.plan/1";

/// Default number of parts, of plans that are not too large for it: enough for many cores, few enough that writing them
/// is cheap.
pub const PARTS: usize = 256;

/// Default maximum of cells in a part, which then takes 4 MB of memory while it is made or merged.
pub const PART_CELLS: usize = 4_096;

/// Maximum number of scenario combinations, and of fan-outs, that are checked before anything runs. Of larger plans, each
/// value is checked once, with the first value of all other fields, and so many cells at equal distances.
const SCENARIOS_CHECKED_MAX: usize = 500;
const FANOUTS_CHECKED_MAX: usize = 100_000;

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
    /// Number of combinations.
    #[serde(skip)]
    count: usize,
    /// Hash of what all cells have in common.
    #[serde(skip)]
    common: String,
}

/// One combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Hash of subject, prices, settings, and program version.
    pub cell: String,
    /// The settings, as for `--set`.
    pub set: Vec<String>,
}

/// What every version of a plan has.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// Why a plan is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPlan {
    /// It has more cells than can be counted.
    #[error("{axes} = {cells} cells; the limit is {}: use fewer values, or several plans", usize::MAX)]
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
    /// The file is a plan of an earlier version.
    #[error(
        "this plan is {EARLIER}, which listed its cells; expected {SCHEMA}: make it again with `forkcast sweep plan`"
    )]
    Earlier,
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
    /// Makes a plan at list prices, in at most `parts` parts, or in as many as its size suggests.
    ///
    /// # Errors
    /// The error in it. Everything that can be known before the first cell runs is checked here.
    pub fn new(subject: Subject, axes: Vec<Axis>, parts: impl Into<Option<usize>>) -> Result<Self, BadPlan> {
        Self::at_prices(subject, Prices::default(), axes, parts)
    }

    /// The same at other prices.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn at_prices(
        subject: Subject,
        prices: Prices,
        axes: Vec<Axis>,
        parts: impl Into<Option<usize>>,
    ) -> Result<Self, BadPlan> {
        let mut seen = BTreeSet::new();
        if let Some(axis) = axes.iter().find(|axis| !seen.insert(axis.path.as_str())) {
            return Err(BadPlan::Twice(axis.path.clone()));
        }
        let axes = axes.into_iter().map(|axis| subject.axis(axis)).collect::<Result<Vec<_>, String>>();
        let axes = axes.map_err(|why| BadPlan::Cells(vec![why]))?;
        let book = prices.book().map_err(|why| BadPlan::Cells(vec![why]))?;
        let count = count(&axes)?;
        let parts = parts.into().unwrap_or_else(|| PARTS.max(count.div_ceil(PART_CELLS)));
        let plan = Self::of(subject, prices, axes, parts)?;
        plan.check(&book)?;
        Ok(plan)
    }

    fn of(subject: Subject, prices: Prices, axes: Vec<Axis>, parts: usize) -> Result<Self, BadPlan> {
        let count = count(&axes)?;
        if parts == 0 {
            return Err(BadPlan::NoParts);
        }
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let parts = parts.min(count);
        let common = hash(&(SCHEMA, &version, &subject, &prices));
        let plan = hash(&(&common, &axes, parts));
        Ok(Self { schema: SCHEMA.to_owned(), version, plan, subject, prices, axes, parts, count, common })
    }

    /// Reads a plan and checks its hash.
    ///
    /// # Errors
    /// If it is not a plan, was changed, or was made by another version of the program.
    pub fn read(text: &str) -> Result<Self, BadPlan> {
        let bad = |error: serde_json::Error| {
            BadPlan::Unreadable(format!("line {}: {}", error.line(), complaint::json(&error)))
        };
        let Head { schema } = serde_json::from_str(text).map_err(bad)?;
        if schema == EARLIER {
            return Err(BadPlan::Earlier);
        }
        if schema != SCHEMA {
            return Err(BadPlan::Unreadable(format!("its `schema` is {}", outside::found(&schema))));
        }
        let found: Self = serde_json::from_str(text).map_err(bad)?;
        if found.version != env!("CARGO_PKG_VERSION") {
            return Err(BadPlan::Version(found.version));
        }
        found.prices.book().map_err(|why| BadPlan::Cells(vec![why]))?;
        if let Some(axis) = found.axes.iter().find(|axis| axis.values.is_empty()) {
            return Err(BadPlan::Changed(format!("`{}` has no values", axis.path)));
        }
        let made = Self::of(found.subject, found.prices, found.axes, found.parts)?;
        if made.plan == found.plan && made.parts == found.parts {
            Ok(made)
        } else {
            Err(BadPlan::Changed("its hash belongs to another plan".to_owned()))
        }
    }

    /// The plan as a file.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        let mut text = text.unwrap_or_else(|error| unreachable!("texts and numbers are JSON: {error}"));
        text.push('\n');
        text
    }

    /// The number of cells.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether it has no cells; no plan that was made has none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The cell with this index.
    pub fn cell(&self, index: usize) -> Cell {
        let set = combination(&self.axes, index);
        Cell { cell: hash(&(&self.common, &set)), set }
    }

    /// All cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        (0..self.count).map(|index| self.cell(index))
    }

    /// The cells of a part; part sizes differ by at most one.
    pub fn part(&self, part: usize) -> Range<usize> {
        // Products of two sizes may exceed their integers.
        let bound = |part: usize| (self.count as u128 * part.min(self.parts) as u128 / self.parts as u128) as usize;
        bound(part)..bound(part + 1)
    }

    /// Checks for cells that cannot be run.
    fn check(&self, book: &PriceBook) -> Result<(), BadPlan> {
        const COMPLAINTS_MAX: usize = 10;
        let mut complaints = self.unknown_models(book);
        for set in self.checked() {
            if complaints.len() >= COMPLAINTS_MAX {
                break;
            }
            let Err(why) = self.subject.check(&set) else { continue };
            complaints
                .extend(why.lines().map(str::to_owned).filter(|line| !complaints.contains(line)).collect::<Vec<_>>());
        }
        if complaints.is_empty() { Ok(()) } else { Err(BadPlan::Cells(complaints)) }
    }

    /// All cells; of a large plan each value once, and cells at equal distances.
    fn checked(&self) -> Box<dyn Iterator<Item = Vec<String>> + '_> {
        let most = match self.subject {
            Subject::Fanout { .. } => FANOUTS_CHECKED_MAX,
            Subject::Scenario { .. } => SCENARIOS_CHECKED_MAX,
        };
        if self.count <= most {
            return Box::new((0..self.count).map(|index| combination(&self.axes, index)));
        }
        let spread = (0..most).map(move |at| (at as u128 * (self.count - 1) as u128 / (most - 1) as u128) as usize);
        Box::new(singles(&self.axes).into_iter().chain(spread.map(|index| combination(&self.axes, index))))
    }

    /// Complaints about models of a fan-out that have neither a row nor a price: typing errors.
    fn unknown_models(&self, book: &PriceBook) -> Vec<String> {
        let models = self
            .axes
            .iter()
            .filter(|axis| matches!(self.subject, Subject::Fanout { .. }) && axis.path == parameter::MODEL);
        let unknown = |name: &&String| {
            model::resolve(name).is_none() && book.rates(&ModelKey::from(name.as_str()), &Terms::default()).is_err()
        };
        let complaint = |name: &String| {
            format!(
                "`model`: found {}, expected one of `forkcast list models`, or a model with a price by --price-book or --price",
                outside::found(name)
            )
        };
        models.flat_map(|axis| axis.values.iter().filter(unknown).map(complaint)).collect()
    }
}

/// The number of cells for these axes.
fn count(axes: &[Axis]) -> Result<usize, BadPlan> {
    let cells = axes.iter().fold(1_u128, |product, axis| product.saturating_mul(axis.values.len() as u128));
    usize::try_from(cells).map_err(|_| {
        let each: Vec<String> = axes.iter().map(|axis| format!("{} ({})", axis.path, axis.values.len())).collect();
        BadPlan::TooMany { axes: each.join(" × "), cells }
    })
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
