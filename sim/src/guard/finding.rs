//! Findings: changes with place, cause and price.

use super::rules::Rules;
use crate::diagnosis::{Cause, Note, Provider, Volatile, Window};
use crate::pricing::{Category, Money};
use crate::wire::Level;

/// The rule that a finding breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A request keeps the whole prefix of the previous one in its chain.
    Stability,
    /// Forks share everything up to their directive, siblings everything that earlier siblings shared.
    Sharing,
    /// Hit rate, cost per turn, number of breakpoints.
    Budget,
    /// The prompt equals the one in the lock.
    Equality,
}

impl Rule {
    /// All rules, in the order of a score card.
    pub const ALL: [Self; 4] = [Self::Stability, Self::Sharing, Self::Budget, Self::Equality];

    /// Stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stability => "stability",
            Self::Sharing => "sharing",
            Self::Budget => "budget",
            Self::Equality => "equality",
        }
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
    /// Level of the changed block.
    pub level: Level,
    /// JSON path in the body of the newer request, or of the older one if the newer ends earlier.
    pub path: String,
    /// Name of the changed thing: "tool `Read`, field `description`".
    pub name: String,
    /// First differing byte in the block's canonical bytes; `None` for parameters and breakpoints.
    pub offset_in_block: Option<u64>,
    /// The same, counted in canonical bytes from the start of the prompt.
    pub offset_in_prefix: Option<u64>,
    /// The stretch of canonical bytes that differs in the newer block; against a lock, the 256 bytes in which it begins.
    pub offset_range: Option<[u64; 2]>,
    /// Why the cache was not read.
    pub cause: Cause,
    /// The provider whose cache diagnosis has a word for it; `None` if the request's provider has no diagnosis.
    pub provider: Option<Provider>,
    /// The kind of volatile content in the changed bytes.
    pub volatile: Option<Volatile>,
    /// The request reads less because of it, ignoring time and with all other changes undone. For equality: less than
    /// if the lock's prompt were in the cache.
    pub breaks_prefix: bool,
    /// The amount that the request overpays because of it; `None` if no cache of its provider is modelled.
    pub loss: Option<Loss>,
    /// The bytes around the first difference, older and newer.
    pub windows: Option<[Window; 2]>,
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
}

/// Why the cost of a change is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unknown {
    /// No cache of the request's provider is modelled.
    NoCacheModel,
    /// The model has no price.
    NoPrice,
}

impl Unknown {
    /// Stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoCacheModel => "no_cache_model",
            Self::NoPrice => "no_price",
        }
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
        let daily = self.cost().filter(|_| self.rule != Rule::Equality);
        daily.map(|cost| Money::of(requests_per_day, cost.picousd(), 1))
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
    /// It has no name and began a chain, although there is one with the same tools and system prompt: another agent of
    /// that kind, or the same one with a completely replaced history. Bytes do not show which.
    NewChain,
    /// It continues the request before a chain's last one in another way. Without a name: a fork, a retry for another
    /// answer, or the same agent one step back. With a name: a fork of the parent's earlier state, or one that lost the
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
            Self::NewChain => "new_chain",
            Self::Branch => "branch",
        }
    }
}

/// A figure outside its budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule that it breaks.
    pub rule: Rule,
    /// Name of the chain; `None` for all chains together.
    pub chain: Option<String>,
    /// Name of the figure.
    pub what: String,
    /// The value found.
    pub found: String,
    /// The value expected.
    pub expected: String,
}
