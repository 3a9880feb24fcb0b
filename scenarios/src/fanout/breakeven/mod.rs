//! Cost questions: which of two policies is cheaper, and where the break-even point is.
//!
//! Every point of an answer is a [`Trial`], a run of the agent runtime. If a formula for the break-even point is known
//! (`economics.md` 3, own derivations), its result is given as well.
//!
//! * [`children`]: cost by children for each policy, with the lower bound.
//! * [`spawning`]: forks or named agents with their own brief, by turns and context.
//! * [`lifetime`]: five minutes or an hour, by the number of children that wait once.
//! * [`launching`]: one first or all at once: cost against makespan.
//! * [`plots`](mod@plots): answers that follow from the rows of a grid.
//! * [`quantity`]: the numbers that vary to the right in the figures of a grid.
//! * [`reach`]: the number of children at which a breakpoint at the tail no longer finds the parent's prefix.

pub mod children;
pub mod launching;
pub mod lifetime;
pub mod plots;
pub mod quantity;
pub mod reach;
pub mod spawning;

use std::rc::Rc;

use forkcast_sim::pricing::{Category, ModelKey, Money, PriceBook, Terms, thousands};

use super::cell::{Cell, Spawn};
use super::outcome::Outcome;
use super::play::Unplayed;
use super::trial::{Trial, trial};
pub use plots::plots;
pub use quantity::Quantity;

/// A question about cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What do the children cost under each policy?
    Children,
    /// Forks or named agents with their own brief?
    ForkOrSpawn,
    /// Five minutes or an hour?
    Ttl,
    /// One first or all at once?
    Prime,
    /// How many children before the look-back breaks?
    LookBack,
    /// What do the cells of a grid cost by this quantity? Only figures ask it.
    Grid(Quantity),
}

impl Question {
    /// All questions of the command line, in report order.
    pub const ALL: [Self; 5] = [Self::Children, Self::ForkOrSpawn, Self::Ttl, Self::Prime, Self::LookBack];

    /// The word on the command line and in file names.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Children => "children",
            Self::ForkOrSpawn => "fork-or-spawn",
            Self::Ttl => "ttl",
            Self::Prime => "prime",
            Self::LookBack => "look-back",
            Self::Grid(quantity) => quantity.word(),
        }
    }

    /// The question, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Children => "What do the children cost under each policy, with their parent?",
            Self::ForkOrSpawn => {
                "Forks (breakpoints both, one first) or named agents with their own brief, by turns and context?"
            }
            Self::Ttl => "Five minutes or an hour, by how many children wait once (breakpoints both, one first)?",
            Self::Prime => "Money, with the parent, against time: one child first, or all at once (breakpoints both)?",
            Self::LookBack => "How many children before a breakpoint at the tail misses the parent's prefix?",
            Self::Grid(_) => "What do the cells of the grid cost?",
        }
    }

    /// The cost that its curves show and its answer compares.
    pub const fn counts(self) -> Counted {
        match self {
            Self::Children | Self::Prime | Self::Grid(_) => Counted::WithParent,
            Self::ForkOrSpawn => Counted::Started,
            Self::Ttl | Self::LookBack => Counted::Children,
        }
    }
}

/// The requests that a cost counts. Those of `economics.md` 3 that have a formula leave the parent out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// All, as every ranking of a grid.
    WithParent,
    /// The children's, and the words that start them.
    Started,
    /// The children's.
    Children,
}

impl Counted {
    /// The cost of an outcome; `None` if the model has no price.
    pub fn of(self, outcome: &Outcome) -> Option<Money> {
        match self {
            Self::WithParent => outcome.total_cost,
            Self::Started => outcome.started_cost(),
            Self::Children => outcome.cost,
        }
    }
}

/// The inputs of a question; the question sets the rest.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// The parameters that do not vary.
    pub base: Cell,
    /// Numbers of children, if given.
    pub children: Option<Vec<u32>>,
    /// Contexts, if given.
    pub prefix: Option<Vec<u64>>,
    /// Turns, if given.
    pub turns: Option<Vec<u32>>,
    /// Growth per turn, if given.
    pub growth: Option<u64>,
    /// The named agents that forks are compared with.
    pub spawn: Spawn,
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// All runs made for it.
    pub rows: Vec<Trial>,
    /// Its panels, side by side.
    pub panels: Vec<Panel>,
}

/// Curves over one axis.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// What its curves have in common.
    pub title: String,
    /// One curve per policy.
    pub curves: Vec<Curve>,
    /// Break-even points.
    pub crossings: Vec<Crossing>,
}

/// One policy.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Whether it is the lower bound instead of a policy.
    pub is_bound: bool,
    /// Sorted by the varied parameter.
    pub points: Vec<Point>,
}

impl Curve {
    /// The same with another cost of the rows of its points.
    fn counting(&self, counted: Counted, rows: &[Trial]) -> Result<Self, Unanswered> {
        let points =
            self.points.iter().zip(rows).map(|(point, row)| Ok(Point { cost: cost(counted, row)?, ..point.clone() }));
        Ok(Self { points: points.collect::<Result<_, Unanswered>>()?, ..self.clone() })
    }
}

fn cost(counted: Counted, row: &Trial) -> Result<Money, Unanswered> {
    counted.of(&row.outcome).ok_or_else(|| Unanswered::NoPrice(row.cell.model.to_string()))
}

/// A bound for some rows of one situation, with their parent: that of the children, and the cheapest parent among the
/// rows. The children's bound is one for all policies; the parent's requests have none. `None` without any bound.
fn bound_with_parent<'a>(rows: impl Iterator<Item = &'a Trial> + Clone) -> Option<Money> {
    let bounded = rows.filter(|row| row.outcome.bound.is_some());
    let parents = bounded.clone().filter_map(|row| Some(row.outcome.total_cost? - row.outcome.cost?));
    // A head of an hour outlives a cold parent, so its bound is lower.
    Some(bounded.filter_map(|row| row.outcome.bound).min()? + parents.min()?)
}

/// The name of the curve of such bounds.
const BOUND: &str = "bound, with the cheapest parent";

/// The cost of a policy at one position.
#[derive(Clone, Debug)]
pub struct Point {
    /// The position on the axis.
    pub at: f64,
    /// The cost.
    pub cost: Money,
    /// The point's label, if it has one.
    pub label: String,
}

/// A point where two curves cross, or one breaks.
#[derive(Clone, Debug)]
pub struct Crossing {
    /// Description.
    pub name: String,
    /// The measured position; `None` if it is outside the range.
    pub at: Option<f64>,
    /// The cost there.
    pub cost: Money,
    /// The measured position if the parent's other requests count too; `None` where it is not asked, or outside the
    /// range.
    pub with_parent: Option<f64>,
    /// The position by the formula, if one is known.
    pub formula: Option<f64>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// A run failed, or its cell is invalid.
    #[error(transparent)]
    Unplayed(#[from] Unplayed),
    /// The model has no price.
    #[error("{0}: this model has no price, so there is no answer in money")]
    NoPrice(String),
    /// Fan-outs with unanswered requests cost less and are not comparable.
    #[error(
        "under these limits {unanswered} requests of {children} children were never answered, so costs cannot be compared; raise --itpm and --rpm, or leave them out"
    )]
    Lacking {
        /// Requests without an answer.
        unanswered: u64,
        /// Children of that cell.
        children: u32,
    },
}

/// Answers a question by running all cells it needs.
///
/// # Errors
/// If a cell cannot be run or the model has no price.
pub fn answer(question: Question, asked: &Inquiry, book: &Rc<PriceBook>) -> Result<Answer, Unanswered> {
    let mut runs = Runs { book, counted: question.counts(), rows: Vec::new() };
    let panels = match question {
        Question::Children | Question::Grid(_) => children::panels(asked, &mut runs),
        Question::ForkOrSpawn => spawning::panels(asked, &mut runs),
        Question::Ttl => lifetime::panels(asked, &mut runs),
        Question::Prime => launching::panels(asked, &mut runs),
        Question::LookBack => reach::panels(asked, &mut runs),
    }?;
    Ok(Answer { question, rows: runs.rows, panels })
}

/// The runs of an answer.
pub struct Runs<'a> {
    book: &'a Rc<PriceBook>,
    counted: Counted,
    rows: Vec<Trial>,
}

impl Runs<'_> {
    /// Plays a cell; returns its row and the cost that the question compares.
    fn row(&mut self, cell: &Cell) -> Result<(&Trial, Money), Unanswered> {
        let row = trial(cell, self.book)?;
        if !row.is_answered() {
            return Err(Unanswered::Lacking { unanswered: row.outcome.unanswered, children: cell.children });
        }
        let cost = cost(self.counted, &row)?;
        self.rows.push(row);
        let last = self.rows.len() - 1;
        Ok((&self.rows[last], cost))
    }

    /// A curve of the costs of cells, by position.
    fn curve(
        &mut self,
        name: impl Into<String>,
        cells: impl IntoIterator<Item = (f64, Cell)>,
    ) -> Result<Curve, Unanswered> {
        let points = cells.into_iter().map(|(at, cell)| {
            let (_, cost) = self.row(&cell)?;
            Ok(Point { at, cost, label: String::new() })
        });
        Ok(Curve { name: name.into(), is_bound: false, points: points.collect::<Result<_, Unanswered>>()? })
    }

    fn prices(&self, cell: &Cell) -> Result<Relative, Unanswered> {
        let rates = self.book.rates(&ModelKey::from(&*cell.model), &Terms::default());
        let rates = rates.map_err(|_| Unanswered::NoPrice(cell.model.to_string()))?;
        let picousd = |category| {
            let rate = rates.per_token(category);
            rate.numerator as f64 / rate.denominator as f64
        };
        let input = picousd(Category::Input);
        let of = |category| picousd(category) / input;
        Ok(Relative {
            read: of(Category::Read),
            write_5m: of(Category::Write5m),
            write_1h: of(Category::Write1h),
            output: of(Category::Output),
        })
    }
}

/// Prices relative to plain input: r, w and o of `economics.md` 3.
#[derive(Clone, Copy, Debug)]
struct Relative {
    read: f64,
    write_5m: f64,
    write_1h: f64,
    output: f64,
}

/// Where the first curve, so far cheaper, crosses the second, on straight lines between their common points. The lines
/// are extended before the first point: a break-even point of 0.9 turns means that it precedes the first point.
fn crossing(first: &Curve, second: &Curve) -> Option<(f64, Money)> {
    let difference = |at: usize| (first.points[at].cost - second.points[at].cost).picousd() as f64;
    let count = first.points.len().min(second.points.len());
    let passed = (0..count).find(|at| difference(*at) > 0.0)?;
    let (from, to) = match passed {
        0 if count < 2 => return None,
        0 => (0, 1),
        passed => (passed - 1, passed),
    };
    let low = difference(from);
    let high = difference(to);
    let part = if high == low { 0.0 } else { -low / (high - low) };
    let between = |from: f64, to: f64| part.mul_add(to - from, from);
    let cost = between(first.points[from].cost.picousd() as f64, first.points[to].cost.picousd() as f64);
    // There is nothing before zero, however the lines go on.
    let at = between(first.points[from].at, first.points[to].at).max(0.0);
    Some((at, Money::from_picousd(cost.max(0.0).round() as i128)))
}

#[cfg(test)]
mod tests {
    use super::{Curve, Point, crossing};
    use forkcast_sim::pricing::Money;

    fn line(costs: &[i128]) -> Curve {
        let point = |(at, cost): (usize, &i128)| Point {
            at: (at + 1) as f64,
            cost: Money::from_picousd(*cost),
            label: String::new(),
        };
        Curve { name: String::new(), is_bound: false, points: costs.iter().enumerate().map(point).collect() }
    }

    #[test]
    fn lines_cross_between_or_before_points_or_not_at_all() {
        let flat = line(&[10, 10, 10]);
        assert_eq!(crossing(&line(&[0, 8, 16]), &flat), Some((2.25, Money::from_picousd(10))));
        assert_eq!(crossing(&line(&[12, 16, 20]), &flat).map(|(at, _)| at), Some(0.5));
        assert_eq!(crossing(&line(&[22, 26]), &flat), Some((0.0, Money::from_picousd(10))), "not before zero");
        assert_eq!(crossing(&line(&[1, 2, 3]), &flat), None);
        assert_eq!(crossing(&line(&[]), &flat), None);
    }
}
