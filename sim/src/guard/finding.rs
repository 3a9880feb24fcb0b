//! What is found: a change with its place, its cause and its price.

use super::rules::Rules;
use crate::diagnosis::{Cause, Note, Provider, Volatile, Window};
use crate::pricing::{Category, Money};
use crate::wire::Level;

/// What a finding is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A request keeps the whole prefix of the one before in its chain.
    Stability,
    /// Forks share all up to their directive, siblings all that they shared before.
    Sharing,
    /// Hit rate, cost per turn, number of breakpoints.
    Budget,
    /// The prompt is the one that the lock holds.
    Equality,
}

impl Rule {
    /// All, in the order of a score card.
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

/// A change, what it does to the cache, and what that costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is held against.
    pub rule: Rule,
    /// Name of the request's chain.
    pub chain: String,
    /// The request: its position among all that were taken, from 0.
    pub request: usize,
    /// The request that it is compared with; `None` where that is a lock's.
    pub older: Option<usize>,
    /// Level of the changed block.
    pub level: Level,
    /// JSON path in the body of the newer request, or of the older where the newer ends before it.
    pub path: String,
    /// What the changed thing is called: "tool `Read`, field `description`".
    pub name: String,
    /// First differing byte in the block's canonical bytes; `None` for parameters and breakpoints.
    pub offset_in_block: Option<u64>,
    /// The same, counted in canonical bytes from the start of the prompt.
    pub offset_in_prefix: Option<u64>,
    /// The stretch of canonical bytes that differs in the newer block; against a lock, the 256 bytes in which it begins.
    pub offset_range: Option<[u64; 2]>,
    /// Why the cache is not read.
    pub cause: Cause,
    /// Whose cache diagnosis would say so; `None` where the request's provider has none.
    pub provider: Option<Provider>,
    /// What in the changed bytes varies by itself.
    pub volatile: Option<Volatile>,
    /// Time left out and all other changes undone, the request reads less because of it. Of equality: than it would if the
    /// lock's prompt were in the cache.
    pub breaks_prefix: bool,
    /// What the request pays too much because of it; `None` where no cache of its provider is modelled, so that nobody knows
    /// what would have been read.
    pub loss: Option<Loss>,
    /// The bytes around the first difference, older and newer.
    pub windows: Option<[Window; 2]>,
}

/// What a request pays too much because of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Tokens that were sent before and would have been read without the change: after it, within it (`design.md` 3), and
    /// before it back to where a breakpoint ends. A token counts for the first change of its request that loses it.
    pub tokens: u64,
    /// At most so many: only digests of an edited block are known, and less of it may have been sent before.
    pub is_upper_bound: bool,
    /// What these (most of them) are billed as instead of reads.
    pub billed_as: Category,
    /// How much more that costs; `None` for a model without a price.
    pub cost: Option<Money>,
}

/// Why nobody can say what a change costs.
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
    /// Tokens lost; `None` where no cache is modelled.
    pub fn tokens_lost(&self) -> Option<u64> {
        self.loss.map(|loss| loss.tokens)
    }

    /// What these cost more; `None` where no cache is modelled or the model has no price.
    pub fn cost(&self) -> Option<Money> {
        self.loss.and_then(|loss| loss.cost)
    }

    /// Why its cost is not known; `None` where it is.
    pub fn unknown(&self) -> Option<Unknown> {
        match self.loss {
            None => Some(Unknown::NoCacheModel),
            Some(Loss { cost: None, .. }) => Some(Unknown::NoPrice),
            Some(_) => None,
        }
    }

    /// The word of the provider's own diagnosis; `None` where it has none.
    pub fn provider_reason(&self) -> Option<&'static str> {
        self.provider.and_then(|provider| provider.reason(self.cause, &self.path))
    }

    /// What it costs per day where so many requests a day are like this one; `None` too where it is another prompt than the
    /// lock's, which each cache pays once.
    pub fn cost_per_day(&self, requests_per_day: u64) -> Option<Money> {
        let daily = self.cost().filter(|_| self.rule != Rule::Equality);
        daily.map(|cost| Money::of(requests_per_day, cost.picousd(), 1))
    }

    /// Whether the rules let it pass by name.
    pub fn is_allowed(&self, rules: &Rules) -> bool {
        let starts = |prefix: &String| self.path.starts_with(prefix.as_str());
        rules.allow.iter().any(|allowed| allowed.cause == self.cause && allowed.path.as_ref().is_none_or(starts))
    }
}

/// Something that is no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Name of the request's chain.
    pub chain: String,
    /// The request: its position among all that were taken, from 0.
    pub request: usize,
    /// What it is.
    pub note: NoteKind,
    /// JSON path; empty where it concerns the whole request.
    pub path: String,
    /// What the provider answers, where the note is that it refuses.
    pub answer: Option<String>,
}

/// What a note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// A difference that costs nothing.
    Harmless(Note),
    /// Less was read than could have been, and time is to blame.
    Time(Cause),
    /// The provider's rules refuse the request; a recorded usage shows that it took it, or the rules of the check let it
    /// pass.
    Refused,
    /// Without a name it began a chain, and there is one with the same tools and system prompt: another agent of that kind, or
    /// that one with a history of which no word is left. Bytes do not tell.
    NewChain,
    /// It goes on otherwise from the request before a chain's last. Without a name: a fork, an answer that was asked for
    /// again, or that agent gone back by a step. With one: a fork of what its parent had been then, or one that lost the
    /// parent's last exchange. Bytes do not tell.
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
    /// What it is held against.
    pub rule: Rule,
    /// Name of the chain; `None` for all together.
    pub chain: Option<String>,
    /// Which figure.
    pub what: String,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}
