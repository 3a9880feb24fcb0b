//! `user`, the acts from outside.

use forkcast_sim::agent::queue::{Mode, Priority};

use super::{Field, Object, Shape, words};
use crate::format::user::{DIALOGS, SOURCES, WAITED_FOR};

/// An act of the user.
pub static ACT: Object = Object::new(
    "act",
    "What the user does, or what else comes from outside, at one instant: `at_ms` and one other field.",
    &[
        Field::ms("at_ms", "When, in virtual milliseconds from the beginning.").required(),
        Field::tokens("tokens", "Tokens of the text that it adds, if they are not counted."),
        Field::name("types", "A line that is sent."),
        Field::yes("escape", "The user presses ESC."),
        Field::name(
            "background",
            "What runs in the foreground goes to the background: an agent by type or id, or `all`.",
        ),
        Field::name("allow", "The oldest open permission request of this tool, or of `all`, is answered with yes."),
        Field::name("deny", "The oldest open permission request of this tool, or of `all`, is answered with no."),
        Field::map("flip", &Shape::Truth, "Remote flags get other values."),
        Field::name("kill", "A background task is stopped: an agent by type, name or id."),
        Field::yes("kill_all", "All background tasks are stopped."),
        Field::words(
            "dialog",
            || words(&DIALOGS),
            "A dialog of the user interface opens or closes; the queue waits while it is open.",
        ),
        Field::object("arrives", &ARRIVES),
        Field::object("rewrites", &REWRITES),
        Field::name(
            "rewinds",
            "The main conversation continues before the newest text of the user that contains this one.",
        ),
        Field::name(
            "forgets",
            "The session forgets the task and the names of an ended agent of this id, name, type or description.",
        ),
        Field::name("loses", "The same, and the agent's transcript is lost too."),
        Field::name(
            "asks_aside",
            "The user asks this beside the conversation, which an internal fork `side_question` answers.",
        ),
        Field::name("connects", "The session connects to this MCP server."),
        Field::name("disconnects", "The session loses its connection to this MCP server."),
        Field::object("waits", &WAITS),
    ],
)
.given(2, Some(3));

/// A history that is replaced by one text.
pub static REWRITES: Object = Object::new(
    "rewrites",
    "The history of the main agent or of a running sub-agent becomes one text, as after a compaction.",
    &[
        Field::name("agent", "`main`, or the agent by type, name or id.").required(),
        Field::name("as", "The text.").required(),
        Field::ms(
            "takes_ms",
            "How long it takes, before the next request; without it, the main conversation is replaced before its next turn.",
        ),
    ],
);

/// Waiting for the agents.
pub static WAITS: Object = Object::new(
    "waits",
    "The user waits until agents have nothing to do; all later acts are put off, or come sooner, by as much as this ends later or sooner than its own instant.",
    &[
        Field::words(
            "for",
            || words(&WAITED_FOR),
            "`main`: until the main agent has nothing to do; `agents`: and no agent runs in the background.",
        )
        .required(),
        Field::ms("ms", "The time after that, in virtual milliseconds."),
    ],
);

/// An item that is enqueued from outside.
pub static ARRIVES: Object = Object::new(
    "arrives",
    "Something arrives in the queue from elsewhere.",
    &[
        Field::name("text", "Its text.").required(),
        Field::words("mode", || words(&Mode::WORDS), "What it is.").required(),
        Field::words("priority", || words(&Priority::WORDS), "When it leaves; `next` by default."),
        Field::words("source", || words(&SOURCES), "Where it comes from.").required(),
        Field::name("agent", "The agent that it is for; without it the main thread."),
    ],
);
