//! Questions with an answer in money: which of two policies is cheaper, and from where on the other one is.
//!
//! Every point of an answer is a [`Trial`], a run of the agent runtime; where a formula for the turning point is known
//! (`economics.md` 3, own derivations), it stands beside what was measured.
//!
//! * [`children`]: cost by children for each policy, with the bound.
//! * [`spawning`]: forks, or agents with a brief of their own, by turns and context.
//! * [`lifetime`]: five minutes or an hour, by how many children wait once.
//! * [`launching`]: one first or all at once: money against time.
//! * [`plots`](mod@plots): answers that the rows of a grid hold already.
//! * [`reach`]: how many children until a breakpoint at the tail no longer finds the parent's prefix.

pub mod children;
pub mod launching;
pub mod lifetime;
pub mod plots;
pub mod reach;
pub mod spawning;

use std::rc::Rc;

use forkcast_sim::pricing::{Category, ModelKey, Money, PriceBook, Terms};

use super::cell::{Cell, Spawn};
use super::play::Unplayed;
use super::trial::{Trial, trial};
pub use plots::plots;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What do so many children cost under each policy?
    Children,
    /// Forks, or agents with a brief of their own?
    ForkOrSpawn,
    /// Five minutes or an hour?
    Ttl,
    /// One first or all at once?
    Prime,
    /// How many children before the look-back breaks?
    LookBack,
}

impl Question {
    /// All, in the order of the report.
    pub const ALL: [Self; 5] = [Self::Children, Self::ForkOrSpawn, Self::Ttl, Self::Prime, Self::LookBack];

    /// The word on the command line and in names of files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Children => "children",
            Self::ForkOrSpawn => "fork-or-spawn",
            Self::Ttl => "ttl",
            Self::Prime => "prime",
            Self::LookBack => "look-back",
        }
    }

    /// What is asked, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Children => "What do so many children cost under each policy?",
            Self::ForkOrSpawn => "Forks, or agents with a brief of their own, by turns and context?",
            Self::Ttl => "Five minutes or an hour, by how many children wait once?",
            Self::Prime => "Money against time: one child first, or all at once?",
            Self::LookBack => "How many children before a breakpoint at the tail misses the parent's prefix?",
        }
    }
}

/// What is asked about: the rest is the question's own.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// Everything that does not vary.
    pub base: Cell,
    /// Children, where the user names them.
    pub children: Option<Vec<u32>>,
    /// Contexts, where the user names them.
    pub prefix: Option<Vec<u64>>,
    /// Turns, where the user names them.
    pub turns: Option<Vec<u32>>,
    /// What a turn adds, where the user names it.
    pub growth: Option<u64>,
    /// What forks are held against.
    pub spawn: Spawn,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Answer {
    /// To what.
    pub question: Question,
    /// All runs that were made for it.
    pub rows: Vec<Trial>,
    /// Its parts, side by side.
    pub panels: Vec<Panel>,
}

/// Curves over one axis.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// What is the same in all of it.
    pub title: String,
    /// Policies.
    pub curves: Vec<Curve>,
    /// Where one gets cheaper than another.
    pub crossings: Vec<Crossing>,
}

/// One policy.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// No policy, but what none goes below.
    pub is_bound: bool,
    /// By what varies, ascending.
    pub points: Vec<Point>,
}

/// What a policy costs at one place.
#[derive(Clone, Debug)]
pub struct Point {
    /// The place on the axis.
    pub at: f64,
    /// What is paid.
    pub cost: Money,
    /// What the point is called, where points have names.
    pub label: String,
}

/// Where two curves cross, or one breaks.
#[derive(Clone, Debug)]
pub struct Crossing {
    /// What happens there.
    pub name: String,
    /// The measured place; nothing where it does not happen within what was asked.
    pub at: Option<f64>,
    /// The cost there.
    pub cost: Money,
    /// The same place by the formula, where one is known.
    pub formula: Option<f64>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// A run that did not come to its end, or makes no sense.
    #[error(transparent)]
    Unplayed(#[from] Unplayed),
    /// Answers are in money.
    #[error("{0}: an answer is in money, and this model has no price")]
    NoPrice(String),
    /// Fan-outs that lack requests cost less, and say nothing.
    #[error(
        "under these limits {unanswered} requests of {children} children were never answered, and an answer is about whole fan-outs; raise --itpm and --rpm, or leave them out"
    )]
    Lacking {
        /// Requests without an answer.
        unanswered: u64,
        /// Children of that cell.
        children: u32,
    },
}

/// Answers a question by running what it needs.
///
/// # Errors
/// When a cell cannot be run or the model has no price.
pub fn answer(question: Question, asked: &Inquiry, book: &Rc<PriceBook>) -> Result<Answer, Unanswered> {
    let mut runs = Runs { book, rows: Vec::new() };
    let panels = match question {
        Question::Children => children::panels(asked, &mut runs),
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
    rows: Vec<Trial>,
}

impl Runs<'_> {
    /// Plays a cell. Gives its row and its bill.
    fn row(&mut self, cell: &Cell) -> Result<(&Trial, Money), Unanswered> {
        let row = trial(cell, self.book)?;
        if !row.is_answered() {
            return Err(Unanswered::Lacking { unanswered: row.outcome.unanswered, children: cell.children });
        }
        let cost = row.outcome.cost.ok_or_else(|| Unanswered::NoPrice(cell.model.to_string()))?;
        self.rows.push(row);
        let last = self.rows.len() - 1;
        Ok((&self.rows[last], cost))
    }

    /// A curve of cells by the places that they stand at; the bill of each.
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

/// Prices over that of plain input: r, w and o of `economics.md` 3.
#[derive(Clone, Copy, Debug)]
struct Relative {
    read: f64,
    write_5m: f64,
    write_1h: f64,
    output: f64,
}

/// Where the first curve, cheaper so far, meets the second, on the straight lines between their common points. Before the
/// first point the lines go on: a turning point at 0.9 turns says that it was passed before the first one.
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
    Some((between(first.points[from].at, first.points[to].at), Money::from_picousd(cost.round() as i128)))
}

/// `80k`, or all digits where it is no whole number of thousands.
fn thousands(tokens: u64) -> String {
    if tokens.is_multiple_of(1_000) { format!("{}k", tokens / 1_000) } else { tokens.to_string() }
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
    fn lines_cross_between_points_before_them_or_not_at_all() {
        let flat = line(&[10, 10, 10]);
        assert_eq!(crossing(&line(&[0, 8, 16]), &flat), Some((2.25, Money::from_picousd(10))));
        assert_eq!(crossing(&line(&[12, 16, 20]), &flat).map(|(at, _)| at), Some(0.5));
        assert_eq!(crossing(&line(&[1, 2, 3]), &flat), None);
        assert_eq!(crossing(&line(&[]), &flat), None);
    }
}
