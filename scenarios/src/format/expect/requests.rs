//! Expectations about the bytes of requests and their cache usage.

use std::rc::Rc;

use forkcast_sim::diagnosis::{CAUSES, Cause};
use forkcast_sim::wire::Level;

use super::Figure;
use crate::format::outline;
use crate::format::reading::{At, Fields, Origin, yes};

/// An expectation about a request. If several agents have the same name, it applies to that turn of each of them.
#[derive(Clone, Debug)]
pub struct RequestClaim {
    /// The request.
    pub which: Which,
    /// Texts that its body must contain.
    pub has: Vec<Rc<str>>,
    /// Texts that its body must not contain.
    pub lacks: Vec<Rc<str>>,
    /// Its tools, in order.
    pub tools: Option<Vec<Rc<str>>>,
    /// A request whose whole prompt is the start of this one's.
    pub begins_as: Option<Which>,
    /// A request with the same prompt, byte for byte.
    pub same_as: Option<Which>,
    /// A request with the same prompt, byte for byte, except the last block of both.
    pub same_but_last: Option<Which>,
    /// For a variant: the scenario's own request of this agent and turn has the same prompt, byte for byte.
    pub unchanged: bool,
    /// Tokens that it read from the cache.
    pub read_tokens: Option<u64>,
    /// The cause of its misses.
    pub cause: Option<Cause>,
    /// Missed tokens (sent before but not read), and their cost above the read price.
    pub missed: Vec<Figure>,
    /// The first difference from the previous request.
    pub difference: Option<DifferenceClaim>,
    /// Number of breakpoints.
    pub breakpoints: Option<u64>,
    /// Its place.
    pub origin: Origin,
}

/// A request by its agent and turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Which {
    /// The agent's id, name or type.
    pub agent: Rc<str>,
    /// Its turn, counted from zero.
    pub turn: u32,
}

/// The first difference of a request, as reported by `forkcast diff`.
#[derive(Clone, Debug, Default)]
pub struct DifferenceClaim {
    /// The request to compare with; by default the previous one of its chain, which for a fork is its parent's.
    pub to: Option<Which>,
    /// The kind of change.
    pub cause: Option<Cause>,
    /// The level of the changed block.
    pub level: Option<Level>,
    /// Its path in the body.
    pub path: Option<Rc<str>>,
    /// Its name.
    pub name: Option<Rc<str>>,
    /// The first differing byte in the block.
    pub offset_in_block: Option<u64>,
    /// The first differing byte in the prompt.
    pub offset_in_prefix: Option<u64>,
}

impl RequestClaim {
    pub(super) fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::REQUEST)?;
        let figure = |name: &'static str| fields.may(name, |at| Figure::of(name, at));
        Some(Self {
            which: Which::read(&fields)?,
            has: fields.list("has", At::name),
            lacks: fields.list("lacks", At::name),
            tools: fields.may("tools", |at| at.list(At::name)),
            begins_as: fields.may("begins_as", Which::of),
            same_as: fields.may("same_as", Which::of),
            same_but_last: fields.may("same_but_last", Which::of),
            unchanged: fields.may("unchanged", yes).is_some(),
            read_tokens: fields.may("cache_read_input_tokens", At::number),
            cause: fields.may("cause", cause),
            missed: ["missed_tokens", "missed_usd"].into_iter().filter_map(figure).collect(),
            difference: fields.may("difference", DifferenceClaim::of),
            breakpoints: fields.may("breakpoints", At::number),
            origin: at.origin(),
        })
    }

    /// All requests that it names.
    pub fn named(&self) -> impl Iterator<Item = &Which> {
        let to = self.difference.as_ref().and_then(|difference| difference.to.as_ref());
        let others = [self.begins_as.as_ref(), self.same_as.as_ref(), self.same_but_last.as_ref(), to];
        std::iter::once(&self.which).chain(others.into_iter().flatten())
    }
}

fn cause(at: &At<'_>) -> Option<Cause> {
    let causes: Vec<(&str, Cause)> = CAUSES.iter().map(|cause| (cause.word(), *cause)).collect();
    at.word(&causes)
}

impl DifferenceClaim {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::DIFFERENCE)?;
        let text = |name: &str| fields.may(name, At::name);
        let number = |name: &str| fields.may(name, At::number);
        Some(Self {
            to: fields.may("to", Which::of),
            cause: fields.may("cause", cause),
            level: fields.may("level", |at| at.word(&Level::WORDS)),
            path: text("path"),
            name: text("name"),
            offset_in_block: number("offset_in_block"),
            offset_in_prefix: number("offset_in_prefix"),
        })
    }
}

impl Which {
    fn of(at: &At<'_>) -> Option<Self> {
        Self::read(&at.fields(&outline::WHICH)?)
    }

    fn read(fields: &Fields<'_>) -> Option<Self> {
        let agent = fields.must("agent", At::name);
        Some(Self { turn: fields.must("turn", |at| at.small(0))?, agent: agent? })
    }
}
