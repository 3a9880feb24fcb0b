//! Expectations: how the run ends, figures, events, their order, and bytes of requests.
//!
//! Steps that need a missing part of the runtime are listed under `pending`, with the name of that part.

use std::rc::Rc;

use forkcast_sim::outside::found;
use forkcast_sim::pricing::Money;
use forkcast_sim::words;
use serde_json::Value;

use super::outline;
use super::problem::nearest;
use super::reading::{At, Fields, Origin};

mod events;
mod requests;

pub use events::{EVENTS, fields_of};
pub use requests::{DifferenceClaim, RequestClaim, Which};

/// Expectations.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// How the run ends.
    pub ends: Ends,
    /// A text in the message of a run that fails.
    pub message: Option<(Rc<str>, Origin)>,
    /// Figures of the whole run.
    pub figures: Vec<Figure>,
    /// Figures of single agents.
    pub agents: Vec<(Rc<str>, Vec<Figure>, Origin)>,
    /// Events that must happen, or must not.
    pub events: Vec<Pattern>,
    /// Events that must happen in this order, possibly with others between them.
    pub orders: Vec<Vec<Pattern>>,
    /// Expectations about requests.
    pub requests: Vec<RequestClaim>,
    /// Steps that need a missing part of the runtime.
    pub pending: Vec<Pending>,
}

words! {
    /// How a run ends.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Ends: word {
        /// The user is done and nothing runs.
        #[default]
        Finished = "finished",
        /// Nothing can happen any more, but something still waits.
        Stalled = "stalled",
        /// A limit was reached.
        Limit = "limit",
        /// A model received a question without a scripted answer.
        Unscripted = "unscripted",
        /// A law was broken: a bug, which a scenario cannot expect.
        LawBroken = "law_broken",
        /// The caller cancelled the run, which a scenario cannot expect either.
        Interrupted = "interrupted",
    }
}

/// A figure with its bounds.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// Minimum.
    pub min: Option<Number>,
    /// Maximum.
    pub max: Option<Number>,
    /// Its place.
    pub origin: Origin,
}

/// A number in a scenario; tokens, shares and money are compared exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number or a share.
    Plain(f64),
    /// An amount of money.
    Money(Money),
}

/// A pattern of events.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The name of the event.
    pub event: Rc<str>,
    /// Expected fields. Agents and tasks may be given by type, name or id.
    pub fields: Vec<(String, Value)>,
    /// When it happens.
    pub at_ms: Option<u64>,
    /// Minimum number of occurrences.
    pub min: u64,
    /// Maximum number of occurrences.
    pub max: Option<u64>,
    /// Its place.
    pub origin: Origin,
}

/// A step that needs a missing part of the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The step.
    pub step: String,
    /// The part.
    pub needs: String,
}

/// The ways to end that a scenario can expect.
pub(super) const ENDS: [Ends; 4] = [Ends::Finished, Ends::Stalled, Ends::Limit, Ends::Unscripted];

impl Expect {
    /// Whether there is any expectation besides a normal end.
    pub fn claims_anything(&self) -> bool {
        self.ends != Ends::Finished
            || self.message.is_some()
            || !(self.figures.is_empty() && self.agents.is_empty())
            || !(self.events.is_empty() && self.orders.is_empty() && self.requests.is_empty())
    }

    /// Reads `expect`.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::EXPECT)?;
        let agents = |at: &At<'_>| at.named(|_, at| Some((figures(at)?, at.origin())));
        let agents = fields.or_default("agents", agents);
        Some(Self {
            ends: fields.or_default("ends", |at| at.word(&ENDS.map(|ends| (ends.word(), ends)))),
            message: fields.may("message", |at| Some((at.name()?, at.origin()))),
            figures: fields.or_default("figures", figures),
            agents: agents.into_iter().map(|(name, (figures, origin))| (name.into(), figures, origin)).collect(),
            events: fields.list("events", |at| Pattern::of(at, true)),
            orders: fields.list("orders", |at| at.list(|at| Pattern::of(at, false))),
            requests: fields.list("requests", RequestClaim::of),
            pending: fields.list("pending", Pending::of),
        })
    }
}

fn figures(at: &At<'_>) -> Option<Vec<Figure>> {
    let fields = at.fields(&outline::FIGURES)?;
    Some(outline::FIGURES.names().into_iter().filter_map(|name| fields.may(name, |at| Figure::of(name, at))).collect())
}

impl Figure {
    fn of(name: &'static str, at: &At<'_>) -> Option<Self> {
        let (min, max) = if at.has_fields() {
            let bounds = at.fields(&outline::BOUNDS)?;
            let bound = |word: &str| bounds.may(word, |at| number(name, at));
            if bounds.among(&outline::BOUNDS.names()).is_empty() {
                at.wrong("expected `min`, `max` or both");
                return None;
            }
            (bound("min"), bound("max"))
        } else {
            let exact = number(name, at)?;
            (Some(exact), Some(exact))
        };
        Some(Self { name, min, max, origin: at.origin() })
    }
}

/// Amounts are written as text or as a number, with all significant digits.
fn number(figure: &str, at: &At<'_>) -> Option<Number> {
    let json = at.json();
    let found = if figure.ends_with("_usd") {
        // Text is used as written; a number is written out, never as `1e-6`.
        let number = || json.as_f64().map(|number| number.to_string());
        let digits = json.as_str().map(str::to_owned).or_else(number).unwrap_or_default();
        digits.parse().ok().map(Number::Money)
    } else {
        json.as_f64().filter(|number| *number >= 0.0).map(Number::Plain)
    };
    if found.is_none() {
        let what = if figure.ends_with("_usd") { "an amount in USD such as 0.0123" } else { "a number from 0 up" };
        at.wrong(format_args!("expected {what}, or `min` and `max`"));
    }
    found
}

impl Pattern {
    fn of(at: &At<'_>, counted: bool) -> Option<Self> {
        let event = at.named(|name, at| (name == "event").then(|| at.name()).flatten())?.into_iter().next();
        let Some((_, event)) = event else {
            at.wrong("add `event:`, the name of an event such as `tool.start`");
            return None;
        };
        let Some(known) = fields_of(&event) else {
            let words = EVENTS.iter().map(|(word, _)| *word);
            let meant = nearest(&event, words).map(|meant| format!("did you mean `{meant}`?"));
            let meant = meant.unwrap_or_else(|| "for the names see `sim/src/agent/event.rs`".to_owned());
            at.wrong(format_args!("there is no event {}; {meant}", found(&event)));
            return None;
        };
        let fields = at.fields_and(&outline::PATTERN, known)?;
        let (min, max) = times(&fields, counted)?;
        let value = |name: &&str| Some(((*name).to_owned(), fields.get(name)?.json()));
        let at_ms = fields.may("at_ms", At::number);
        let fields = known.iter().filter_map(value).collect();
        Some(Self { event, fields, at_ms, min, max, origin: at.origin() })
    }
}

/// Number of occurrences: `times` exactly, or `min` and `max`; at least one by default.
fn times(fields: &Fields<'_>, counted: bool) -> Option<(u64, Option<u64>)> {
    let said = fields.among(&["times", "min", "max"]);
    if let (false, [first, ..]) = (counted, &said[..]) {
        fields.get(first)?.wrong("in an order every event counts once; leave this out, or repeat the event");
        return None;
    }
    if let Some(times) = fields.may("times", At::number) {
        return Some((times, Some(times)));
    }
    let max = fields.may("max", At::number);
    Some((fields.may("min", At::number).unwrap_or(u64::from(max != Some(0))), max))
}

impl Pending {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::PENDING)?;
        let step = fields.must("step", At::text);
        Some(Self { needs: fields.must("needs", At::text)?, step: step? })
    }
}
