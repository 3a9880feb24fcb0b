//! The only row: a request with all that is known of it, whoever sent it and whatever recorded it.

use std::sync::Arc;

use super::agreement::{Compared, NotComparable};
use super::layout::Layout;
use super::size::CountedSize;
use crate::ledger::Line;
use crate::pricing::Money;
use crate::time::Instant;
use crate::wire::Usage;

/// See the module.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its line of the ledger.
    pub line: Line,
    /// Where it was recorded; nowhere for a request of a run.
    pub origin: Origin,
    /// Who asked, in a run.
    pub agent: Option<Arc<str>>,
    /// When its answer was over, whole or not, in a run; `None` where the run ended before.
    pub ended_at: Option<Instant>,
    /// How its prompt is laid out, in a run that explains its requests.
    pub layout: Layout,
    /// The cache that served it and the chain within it, numbered over all streams; `None` where no profile reads it.
    pub chain: Option<usize>,
    /// Where its answer stands in a transcript; `None` for what was recorded as sent.
    pub answer: Option<AnswerPlace>,
    /// Prediction beside recording.
    pub comparison: Result<Compared, NotComparable>,
    /// The line of a transcript that shows why it missed. What was recorded as sent has the differences in its explanation.
    pub evidence: Option<Evidence>,
    /// Its whole prompt as counted, where that was asked for and the body is a request.
    pub size: Option<CountedSize>,
    /// What misses that no rule foresees may add to the forecast's cost, never inside predicted tokens. `None` where nothing was
    /// forecast or nothing has a price.
    pub unforeseen: Option<CostRange>,
    /// What it would have been under each what-if that was asked for, in their order; empty where nothing was asked or no
    /// profile exists.
    pub hypotheticals: Vec<Hypothetical>,
    /// Its share of the clairvoyant lower bound; `None` where none is known.
    pub lower_bound: Option<Money>,
}

impl Entry {
    /// A request of which nothing else is known.
    pub fn new(line: Line, origin: Origin, comparison: Result<Compared, NotComparable>) -> Self {
        Self {
            line,
            origin,
            agent: None,
            ended_at: None,
            layout: Layout::default(),
            chain: None,
            answer: None,
            comparison,
            evidence: None,
            size: None,
            unforeseen: None,
            hypotheticals: Vec::new(),
            lower_bound: None,
        }
    }

    /// A request of `agent` in a run.
    pub fn of_run(line: Line, agent: Arc<str>, layout: Layout) -> Self {
        let run = Self::new(line, Origin::default(), Err(NotComparable::NoUsage));
        Self { agent: Some(agent), layout, ..run }
    }
}

/// Where a request was found; every message about it names this.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The file as the user named it or as the folder walk found it.
    pub file: String,
    /// Position inside the file, counted from zero in reading order.
    pub index: usize,
    /// Line in the file where it begins, counted from one; zero where the format has no lines.
    pub line: usize,
}

/// Where the answer of a request stands among the transcripts that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnswerPlace {
    /// Index among all sessions.
    pub session: usize,
    /// Index among the session's agents.
    pub agent: usize,
    /// Index among the items of the agent's thread.
    pub item: usize,
}

/// The line of a transcript that shows why a request missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The file.
    pub file: Arc<str>,
    /// The line, counted from one.
    pub line: u32,
    /// What it shows, for people.
    pub shows: &'static str,
}

/// What one request would have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hypothetical {
    /// Its usage, with that of the pings that kept its prefix alive until the next request.
    pub usage: Usage,
    /// What it would have cost; `None` for a model without a price.
    pub cost: Option<Money>,
}

/// A 90 % interval of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostRange {
    /// Its lower end.
    pub low: Money,
    /// Its upper end.
    pub high: Money,
}
