//! What must come out: how the run ends, figures, events, their order, and bytes of requests.
//!
//! What needs a part of the runtime that is not there yet stands under `pending`, with the name of that part.

use std::rc::Rc;

use forkcast_sim::outside::found;
use forkcast_sim::pricing::Money;
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
    /// What the message of a run that fails has in it.
    pub message: Option<(Rc<str>, Origin)>,
    /// Figures of the whole run.
    pub figures: Vec<Figure>,
    /// Figures of single agents.
    pub agents: Vec<(Rc<str>, Vec<Figure>, Origin)>,
    /// Events that happen, or do not.
    pub events: Vec<Pattern>,
    /// Events that happen in this order, others between them.
    pub orders: Vec<Vec<Pattern>>,
    /// What requests have in them.
    pub requests: Vec<RequestClaim>,
    /// Steps that need a part that is not there yet.
    pub pending: Vec<Pending>,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    /// The user has done everything and nothing runs.
    #[default]
    Finished,
    /// Nothing can happen any more, and something still waits.
    Stalled,
    /// A limit was reached.
    Limit,
    /// A model was asked something that no script answers.
    Unscripted,
    /// A law does not hold: a fault of the program, which no scenario can expect.
    LawBroken,
    /// Whoever watched the run ended it, which no scenario can expect either.
    Interrupted,
}

/// A figure and what it must be.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// The least that it may be.
    pub min: Option<Number>,
    /// The most that it may be.
    pub max: Option<Number>,
    /// Where it stands.
    pub origin: Origin,
}

/// A number of a scenario: tokens, shares and money compare exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number or a share.
    Plain(f64),
    /// An amount.
    Money(Money),
}

/// A pattern of events.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The word of the event.
    pub event: Rc<str>,
    /// Fields of the event and their values; a field of an agent or task may be given by its type, name or id.
    pub fields: Vec<(String, Value)>,
    /// When it happens.
    pub at_ms: Option<u64>,
    /// How often it must happen at least.
    pub min: u64,
    /// How often it may happen at most.
    pub max: Option<u64>,
    /// Where it stands.
    pub origin: Origin,
}

/// A step that needs a part which is not there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The step.
    pub step: String,
    /// The part.
    pub needs: String,
}

/// The ends that a scenario can expect.
const ENDS: [Ends; 4] = [Ends::Finished, Ends::Stalled, Ends::Limit, Ends::Unscripted];

impl Ends {
    /// The word of the format.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Stalled => "stalled",
            Self::Limit => "limit",
            Self::Unscripted => "unscripted",
            Self::LawBroken => "law_broken",
            Self::Interrupted => "interrupted",
        }
    }
}

impl Expect {
    /// Whether anything is claimed, beside that the run comes to its end.
    pub fn claims_anything(&self) -> bool {
        self.ends != Ends::Finished
            || self.message.is_some()
            || !(self.figures.is_empty() && self.agents.is_empty())
            || !(self.events.is_empty() && self.orders.is_empty() && self.requests.is_empty())
    }

    /// Reads `expect`.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(outline::EXPECT)?;
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
    let fields = at.fields(outline::FIGURES)?;
    Some(outline::FIGURES.iter().filter_map(|name| fields.may(name, |at| Figure::of(name, at))).collect())
}

impl Figure {
    fn of(name: &'static str, at: &At<'_>) -> Option<Self> {
        let (min, max) = if at.has_fields() {
            let bounds = at.fields(outline::BOUNDS)?;
            let bound = |word: &str| bounds.may(word, |at| number(name, at));
            if bounds.among(outline::BOUNDS).is_empty() {
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

/// Amounts are written as text or number, with all digits that count.
fn number(figure: &str, at: &At<'_>) -> Option<Number> {
    let json = at.json();
    let found = if figure.ends_with("_usd") {
        // As it was written where it is text; a number is spelled out, never as `1e-6`.
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
            at.wrong("add `event:`, the word of an event such as `tool.start`");
            return None;
        };
        let Some(known) = fields_of(&event) else {
            let words = EVENTS.iter().map(|(word, _)| *word);
            let meant = nearest(&event, words).map(|meant| format!("did you mean `{meant}`?"));
            let meant = meant.unwrap_or_else(|| "the words stand in `sim/src/agent/event.rs`".to_owned());
            at.wrong(format_args!("there is no event {}; {meant}", found(&event)));
            return None;
        };
        let outline: Vec<&str> = outline::PATTERN.iter().copied().chain(known.iter().copied()).collect();
        let fields = at.fields(&outline)?;
        let (min, max) = times(&fields, counted)?;
        let value = |name: &&str| Some(((*name).to_owned(), fields.get(name)?.json()));
        let at_ms = fields.may("at_ms", At::number);
        let fields = known.iter().filter_map(value).collect();
        Some(Self { event, fields, at_ms, min, max, origin: at.origin() })
    }
}

/// How often: `times` exactly, or `min` and `max`; at least once where nothing is said.
fn times(fields: &Fields<'_>, counted: bool) -> Option<(u64, Option<u64>)> {
    let said = fields.among(&["times", "min", "max"]);
    if let (false, [first, ..]) = (counted, &said[..]) {
        fields.get(first)?.wrong("in an order every event is one; leave this out, or write the event so often");
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
        let fields = at.fields(outline::PENDING)?;
        let step = fields.must("step", At::text);
        Some(Self { needs: fields.must("needs", At::text)?, step: step? })
    }
}
