//! Findings: changes with place, cause and price.

use std::ops::Deref;

use super::rules::Rules;
use super::strip::Stretch;
use crate::diagnosis::{Cause, ChangeSite, Note, Window};
use crate::outside::words;
use crate::pricing::{Category, Money};
use crate::wire::Maker;

words! {
    /// The rule that a finding breaks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Rule: word {
        /// A request keeps the whole prefix of the previous one in its chain.
        Stability = "stability",
        /// Forks share everything up to their directive, siblings everything that earlier siblings shared.
        Sharing = "sharing",
        /// Agents of one kind have the same tools, system prompt and settings from their first requests on.
        Siblings = "siblings_differ",
        /// Breakpoints cover the history that the next request repeats.
        Breakpoints = "breakpoints",
        /// Hit rate, cost per turn, number of breakpoints.
        Budget = "budget",
        /// The prompt equals the one in the lock.
        Equality = "equality",
        /// Thinking is sent again after the content that it was made after.
        Thinking = "thinking",
    }
}

/// A change, its effect on the cache, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that it breaks.
    pub rule: Rule,
    /// Name of the request's chain.
    pub chain: String,
    /// The request: its position among all requests, from 0.
    pub request: usize,
    /// The request that it is compared with; `None` for a request of a lock.
    pub older: Option<usize>,
    /// That request is a sibling's, of another agent of the same kind. What sharing with it would save is no damage of a change
    /// (`design.md` 6), and in no sum.
    pub with_sibling: bool,
    /// The change.
    pub site: ChangeSite,
    /// The provider whose cache diagnosis has a word for it; `None` if the request's provider has no diagnosis.
    pub provider: Option<Maker>,
    /// The request reads less because of it, ignoring time and with all other changes undone. For equality: less than
    /// if the lock's prompt were in the cache.
    pub breaks_prefix: bool,
    /// The amount that the request overpays because of it; `None` if no cache of its provider is modelled.
    pub loss: Option<Loss>,
    /// The bytes around the first difference, older and newer.
    pub windows: Option<[Window; 2]>,
    /// The blocks of the request; empty for a change that is in none of them.
    pub strip: Vec<Stretch>,
}

/// The amount that a request overpays because of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Tokens that were sent before and would have been read without the change: after it, within it (`design.md` 3),
    /// and before it back to the end of a breakpoint. A token counts for the first change of its request that loses it.
    pub tokens: u64,
    /// An upper bound: only digests of an edited block are known, and less of it may have been sent before.
    pub is_upper_bound: bool,
    /// How most of these are billed instead of reads.
    pub billed_as: Category,
    /// The additional cost; `None` for a model without a price.
    pub cost: Option<Money>,
    /// How many requests lose and pay it together: one, except for a chain without breakpoints.
    pub requests: u64,
}

words! {
    /// Why the cost of a change is unknown.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Unknown: word {
        /// No cache of the request's provider is modelled.
        NoCacheModel = "no_cache_model",
        /// The model has no price.
        NoPrice = "no_price",
    }
}

impl Deref for Finding {
    type Target = ChangeSite;

    fn deref(&self) -> &ChangeSite {
        &self.site
    }
}

impl Finding {
    /// Tokens lost; `None` if no cache is modelled.
    pub fn tokens_lost(&self) -> Option<u64> {
        self.loss.map(|loss| loss.tokens)
    }

    /// Their additional cost; `None` if no cache is modelled or the model has no price.
    pub fn cost(&self) -> Option<Money> {
        self.loss.and_then(|loss| loss.cost)
    }

    /// Its request was given up, and nothing of it was billed.
    pub(super) fn cost_nothing(&mut self) {
        let nothing = |loss: &Loss| Loss { tokens: 0, cost: loss.cost.map(|_| Money::ZERO), ..*loss };
        self.loss = self.loss.as_ref().map(nothing);
    }

    /// Why its cost is not known; `None` if it is.
    pub fn unknown(&self) -> Option<Unknown> {
        match self.loss {
            None => Some(Unknown::NoCacheModel),
            Some(Loss { cost: None, .. }) => Some(Unknown::NoPrice),
            Some(_) => None,
        }
    }

    /// The word of the provider's own diagnosis; `None` without one.
    pub fn provider_reason(&self) -> Option<&'static str> {
        self.provider.and_then(|provider| provider.reason(self.cause, &self.path))
    }

    /// Its cost per day with this many such requests; also `None` for differences from the lock, which cost only once.
    pub fn cost_per_day(&self, requests_per_day: u64) -> Option<Money> {
        let loss = self.loss.filter(|_| self.rule != Rule::Equality)?;
        let each = i128::from(loss.requests.max(1));
        loss.cost.map(|cost| Money::of(requests_per_day, cost.picousd(), each))
    }

    /// Whether the rules explicitly allow it.
    pub fn is_allowed(&self, rules: &Rules) -> bool {
        let starts = |prefix: &String| self.path.starts_with(prefix.as_str());
        rules.allow.iter().any(|allowed| allowed.cause == self.cause && allowed.path.as_ref().is_none_or(starts))
    }
}

/// A harmless observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Name of the request's chain.
    pub chain: String,
    /// The request: its position among all requests, from 0.
    pub request: usize,
    /// Its kind.
    pub note: NoteKind,
    /// JSON path; empty if it concerns the whole request.
    pub path: String,
    /// The provider's error, for a note about a refusal.
    pub answer: Option<String>,
}

impl Noted {
    pub(super) fn new(chain: &str, request: usize, note: NoteKind, path: String) -> Self {
        Self { chain: chain.to_owned(), request, note, path, answer: None }
    }
}

/// Kind of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// A difference that costs nothing.
    Harmless(Note),
    /// Less was read than possible, because of time.
    Time(Cause),
    /// The provider's rules refuse the request, but a recorded usage shows that it was accepted, or the rules of the
    /// check allow it.
    Refused,
    /// Thinking is sent again after other content than it was made after: the provider drops it, or the documents do
    /// not say what follows.
    ThinkingUnbound,
    /// Thinking in it is dropped: the model does not read that of the model that made it, or the answer says so.
    ThinkingDropped,
    /// The text of thinking was altered, and its signature kept.
    ThinkingAltered,
    /// It has no name and began a chain, although there is one with the same tools and system prompt: another agent of
    /// that kind, or the same one with a completely replaced history. Bytes do not show which.
    NewChain,
    /// It continues the request before a chain's last one in another way, or somebody went back to an earlier message of the
    /// chain and said something else. Without a name: a fork, a retry for another answer, or the same agent one step
    /// back. With a name: a fork of the parent's earlier state, or one that lost the
    /// parent's last exchange. Bytes do not show which.
    Branch,
}

impl NoteKind {
    /// Stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Harmless(note) => note.word(),
            Self::Time(cause) => cause.word(),
            Self::Refused => "refused",
            Self::ThinkingUnbound => "thinking_unbound",
            Self::ThinkingDropped => "thinking_dropped",
            Self::ThinkingAltered => "thinking_altered",
            Self::NewChain => "new_chain",
            Self::Branch => "branch",
        }
    }
}

/// A figure outside its budget, or a request that the provider refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule that it breaks.
    pub rule: Rule,
    /// Name of the chain; `None` for all chains together.
    pub chain: Option<String>,
    /// The first request that shows it; `None` if all of the chain do.
    pub shown_by: Option<ShownBy>,
    /// JSON path in that request; empty if it concerns the whole request.
    pub path: String,
    /// Name of the figure.
    pub what: String,
    /// The value found.
    pub found: String,
    /// The value expected.
    pub expected: String,
}

/// A request that shows a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownBy {
    /// A request that was taken: its position among all requests, from 0.
    Request(usize),
    /// A recorded error: its position among all that were taken, from 0. Its request is not checked.
    RecordedError(usize),
}

impl Violation {
    /// A violation of a whole chain.
    pub(super) fn new(
        rule: Rule,
        chain: &str,
        what: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let chain = Some(chain.to_owned());
        let (what, found, expected) = (what.into(), found.into(), expected.into());
        Self { rule, chain, shown_by: None, path: String::new(), what, found, expected }
    }

    /// The same of one request.
    pub(super) fn of_request(self, request: usize) -> Self {
        Self { shown_by: Some(ShownBy::Request(request)), ..self }
    }
}

/// Thousandths as percent.
pub(super) fn percent(per_mille: u64) -> String {
    format!("{}.{} %", per_mille / 10, per_mille % 10)
}
