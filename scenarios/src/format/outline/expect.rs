//! `expect`, what must come out.

use forkcast_sim::diagnosis::{CAUSES, Cause};
use forkcast_sim::wire::Level;

use super::{Field, Object, Shape, words};
use crate::format::expect::{ENDS, Ends};

/// A bound has the unit of its figure.
const BOUND: Shape = Shape::AnyOf(&[Shape::Number, Shape::Text]);

/// Why tokens that were sent before were not read.
pub const CAUSE: Shape =
    Shape::Explained { name: "cause", words: || CAUSES.map(Cause::word).to_vec(), by: "forkcast list causes" };

/// `expect`.
pub static EXPECT: Object = Object::new(
    "expect",
    "What must come out.",
    &[
        Field::words("ends", || ENDS.map(Ends::word).to_vec(), "How the run ends; `finished` by default."),
        Field::name("message", "What the message of a run that fails has in it."),
        Field::object("figures", &FIGURES),
        Field::map(
            "agents",
            &Shape::Object(&FIGURES),
            "Figures of single agents, by type, or `type#2` for the second one.",
        ),
        Field::list("events", &Shape::Object(&PATTERN), "Events that happen, or do not."),
        Field::list(
            "orders",
            &Shape::List(&Shape::Object(&PATTERN)),
            "Lists of events that happen in their order, others between them; each list for itself.",
        ),
        Field::list("requests", &Shape::Object(&REQUEST), "What requests have in them."),
        Field::list("pending", &Shape::Object(&PENDING), "Steps that need a part that is not there yet."),
    ],
);

/// `expect.figures`, and those of one agent.
pub static FIGURES: Object = Object::new(
    "figures",
    "Figures: a number, or `min` and `max`.",
    &[
        Field::figure("requests", "requests", "Requests that were sent."),
        Field::figure("turns", "requests", "Requests that were answered."),
        Field::figure("input_tokens", "tokens", "Input that was neither read nor written."),
        Field::figure("cache_read_input_tokens", "tokens", "Input that was read from the cache."),
        Field::figure("cache_creation_input_tokens", "tokens", "Input that was written to the cache."),
        Field::figure("output_tokens", "tokens", "Output."),
        Field::figure(
            "token_equivalents",
            "tokens",
            "The input in tokens of plain input: 1.25 for one written for five minutes, 2 for an hour, 0.1 for one that is read.",
        ),
        Field::figure("hit_rate", "part of 1", "Share of the input that was read, from 0 to 1."),
        Field::figure("cost_usd", "USD", "The bill."),
        Field::figure("cost_without_cache_usd", "USD", "The bill if nothing were ever read or written."),
        Field::figure("makespan_ms", "ms", "From the beginning to the end."),
        Field::figure("agents", "agents", "Agents that asked anything, the main agent too."),
    ],
);

/// A figure's bounds.
pub static BOUNDS: Object = Object::new(
    "bounds",
    "Bounds of a figure.",
    &[
        Field::of("min", BOUND, "The least that it may be.").unit("that of the figure"),
        Field::of("max", BOUND, "The most that it may be.").unit("that of the figure"),
    ],
)
.given(1, None);

/// Fields of an event pattern, besides the fields of the event.
pub static PATTERN: Object = Object::new("pattern", "Events of one kind; fields of the event narrow it down. An agent or task may be given by its type, name or id. An event or a field that there is not is refused, and the nearest one named.", &[
    Field::name("event", "Its word, as `tool.start`.").required(),
    Field::count("times", 0, "times", "How often it happens; without it at least once."),
    Field::count("min", 0, "times", "How often it happens at least."),
    Field::count("max", 0, "times", "How often it happens at most."),
    Field::ms("at_ms", "When it happens."),
]).open(&Shape::Anything);

/// An item of `expect.requests`.
pub static REQUEST: Object = Object::new(
    "request",
    "A claim about one request; where several agents are called so, about that turn of each.",
    &[
        Field::name("agent", "Its agent, by type or `type#2`.").required(),
        Field::ordinal("turn", "Its turn, counted from zero.").required(),
        Field::list("has", &Shape::Name, "Texts that its body has."),
        Field::list("lacks", &Shape::Name, "Texts that its body does not have."),
        Field::list("tools", &Shape::Name, "Names of its tools, in order."),
        Field::of("begins_as", Shape::Object(&WHICH), "A request whose whole prompt is the beginning of this one's."),
        Field::of("same_as", Shape::Object(&WHICH), "A request with the same prompt, byte for byte."),
        Field::of(
            "same_but_last",
            Shape::Object(&WHICH),
            "A request with the same prompt, byte for byte, up to the last block of both.",
        ),
        Field::yes(
            "unchanged",
            "In a variant: the scenario's own request of this agent and turn has the same prompt, byte for byte.",
        ),
        Field::tokens("cache_read_input_tokens", "Tokens that it read from the cache."),
        Field::of("cause", CAUSE, "Why it missed what it missed."),
        Field::figure("missed_tokens", "tokens", "Tokens that had been sent before and were not read."),
        Field::figure("missed_usd", "USD", "What these cost over the price of reading."),
        Field::object("difference", &DIFFERENCE),
        Field::count("breakpoints", 0, "breakpoints", "Breakpoints in it."),
    ],
);

/// The first difference of a request.
pub static DIFFERENCE: Object = Object::new(
    "difference",
    "The first difference of a request, as `forkcast diff` shows it.",
    &[
        Field::of(
            "to",
            Shape::Object(&WHICH),
            "From this request; without it from the last one of its chain, which for a fork is its parent's.",
        ),
        Field::of("cause", CAUSE, "What kind of change."),
        Field::words("level", || words(&Level::WORDS), "Level of the changed block."),
        Field::name("path", "Its path in the body."),
        Field::name("name", "What it is called."),
        Field::count("offset_in_block", 0, "bytes", "First differing byte in the block."),
        Field::count("offset_in_prefix", 0, "bytes", "First differing byte in the prompt."),
    ],
);

/// A request by its agent and turn.
pub static WHICH: Object = Object::new(
    "which",
    "A request by its agent and turn.",
    &[
        Field::name("agent", "Its agent, by type or `type#2`.").required(),
        Field::ordinal("turn", "Its turn, counted from zero.").required(),
    ],
);

/// An item of `expect.pending`.
pub static PENDING: Object = Object::new(
    "pending",
    "A step that needs a part which is not there yet.",
    &[Field::text("step", "The step.").required(), Field::text("needs", "The part.").required()],
);
