//! The only row: a request with everything known about it, from any sender and any recording.

use std::sync::Arc;

use super::agreement::{Compared, NotComparable};
use super::composition::Composition;
use super::layout::Layout;
use super::size::CountedSize;
use crate::diagnosis::Cause;
use crate::ledger::Line;
use crate::pricing::Money;
use crate::time::Instant;
use crate::wire::Usage;

/// See the module.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its line of the ledger.
    pub line: Line,
    /// Where it was recorded; `None` for a request of a run.
    pub origin: Origin,
    /// The agent that sent it, in a run.
    pub agent: Option<Arc<str>>,
    /// When its answer ended, complete or not, in a run; `None` if the run ended earlier.
    pub ended_at: Option<Instant>,
    /// How its prompt is laid out, in a run that explains its requests.
    pub layout: Layout,
    /// The cache that served it and the chain within it, numbered over all streams; `None` without a profile for it.
    pub chain: Option<usize>,
    /// Position of its answer in a transcript; `None` if the request was recorded as sent.
    pub answer: Option<AnswerPlace>,
    /// Prediction and recording compared.
    pub comparison: Result<Box<Compared>, NotComparable>,
    /// The line of a transcript that shows why it missed. Requests recorded as sent have the differences in their
    /// explanation.
    pub evidence: Option<Evidence>,
    /// Its whole prompt as counted, if this was requested and the body is a request.
    pub size: Option<CountedSize>,
    /// What misses without a sign add to the forecast's cost on average, never included in predicted tokens. `None` without a
    /// forecast or a price.
    pub unforeseen: Option<Money>,
    /// What a request that is in no transcript must have cost since the request before: an estimate without its output, in
    /// no sum. `None` if nothing shows one, or without a price.
    pub hidden: Option<Money>,
    /// Its outcome under each requested what-if, in order; empty without what-ifs or without a profile.
    pub hypotheticals: Vec<Hypothetical>,
    /// What its prompt is made of, if requested and known.
    pub composition: Composition,
    /// Its share of the clairvoyant lower bound; `None` if that is unknown.
    pub lower_bound: Option<Money>,
}

impl Entry {
    /// A request about which nothing else is known.
    pub fn new(line: Line, origin: Origin, comparison: Result<Compared, NotComparable>) -> Self {
        Self {
            line,
            origin,
            agent: None,
            ended_at: None,
            layout: Layout::default(),
            chain: None,
            answer: None,
            comparison: comparison.map(Box::new),
            evidence: None,
            size: None,
            unforeseen: None,
            hidden: None,
            hypotheticals: Vec::new(),
            composition: Composition::default(),
            lower_bound: None,
        }
    }

    /// A request of `agent` in a run.
    pub fn of_run(line: Line, agent: Arc<str>, layout: Layout) -> Self {
        let run = Self::new(line, Origin::default(), Err(NotComparable::NoUsage));
        Self { agent: Some(agent), layout, ..run }
    }
}

/// Where a request was found; every message about it includes this.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The file as the user named it or as the folder walk found it.
    pub file: String,
    /// Position inside the recording, counted from zero in reading order: the file, or all bodies of a folder.
    pub index: usize,
    /// Line in the file where it begins, counted from one; zero if the format has no lines.
    pub line: usize,
}

/// Position of a request's answer in the transcripts that were read.
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

impl Evidence {
    /// Whether it shows for a miss of this `cause` what the provider did, so that no client can avoid it: a write that could not be
    /// read yet, or thinking that the model does not keep.
    pub fn is_of_provider(&self, cause: Cause) -> bool {
        match cause {
            Cause::InFlight => self.shows.contains("could not be read yet"),
            Cause::ThinkingStripped => self.shows.contains("model drops thinking"),
            _ => false,
        }
    }
}

/// Outcome of one request under a what-if.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hypothetical {
    /// Its usage, including pings that kept its prefix alive until the next request.
    pub usage: Usage,
    /// Its cost; `None` for a model without a price.
    pub cost: Option<Money>,
    /// How it was found.
    pub basis: Basis,
}

/// How the outcome of a request under a what-if was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The request was sent to a cache of the what-if.
    #[default]
    Cache,
    /// Its tokens are those that were billed, at other prices: no cache of these models is modelled.
    SameTokens,
    /// The what-if does not concern it, or cannot be tried on it: it counts as it was billed.
    Billed,
}
