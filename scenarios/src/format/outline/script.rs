//! The replies of `script`.

use super::{Field, Object, RAW_EVENT, Shape, words};
use forkcast_sim::wire::Ttl;

use crate::format::script::{BARE, BREAKS};

/// A reply of a script.
pub static REPLY: Object = Object::new(
    "reply",
    "What a model says to one request.",
    &[
        Field::name("id", "Its id, by which results of a run name it."),
        Field::object("when", &WHEN),
        Field::text("think", "Thinking."),
        Field::text("say", "Text."),
        Field::list("tools", &Shape::Object(&TOOL_CALL), "Calls of tools."),
        Field::tokens("output_tokens", "Tokens of the answer, if they are not counted."),
        Field::tokens("kept_tokens", "Tokens of the answer in the prompts that follow, if they are not counted."),
        Field::ms("first_byte_ms", "Time to the first byte, if it does not follow from the tokens."),
        Field::ms("streaming_ms", "Time from the first byte to the end."),
        Field::list(
            "block_ends_ms",
            &Shape::Count { least: 0 },
            "Milliseconds from the first byte to the end of each block, in order.",
        )
        .unit("ms"),
        Field::object("fault", &FAULT),
        Field::list(
            "events",
            &Shape::AnyOf(&[Shape::Words(|| BARE.to_vec()), Shape::Object(&RAW_EVENT)]),
            "Raw events of a stream instead of `think`, `say` and `tools`.",
        ),
        Field::count("times", 1, "times", "How often it is said to one agent; once by default."),
        Field::object("unseen", &UNSEEN),
        Field::name("model", "The request goes to this model: the client has switched to it."),
    ],
);

/// `unseen` of a reply.
pub static UNSEEN: Object = Object::new(
    "unseen",
    "What happened to the prompt of a request unseen by its agent.",
    &[
        Field::tokens(
            "changed_after_tokens",
            "The client sent everything after this many tokens anew, and sends it so from then on.",
        ),
        Field::tokens(
            "dropped_tokens",
            "It left out this many tokens of what follows, and leaves them out from then on.",
        ),
        Field::tokens("tail_tokens", "The client set its last breakpoint before this many tokens, not at the end."),
        Field::tokens("kept_tokens", "Another request keeps this many tokens of the prompt in the cache."),
        Field::words(
            "ttl",
            || words(&Ttl::WORDS),
            "The client asked for this lifetime of what it marked, not for the session's.",
        ),
    ],
);

/// `when` of a reply.
pub static WHEN: Object = Object::new(
    "when",
    "When a reply is said; it is looked at before the list.",
    &[
        Field::ordinal("turn", "In this turn of the agent, counted from zero."),
        Field::name("after", "The newest message has the result of the call with this id."),
        Field::name("user_has", "The last text of the user has this in it."),
        Field::text("user_is", "The last text of the user is this."),
    ],
);

/// An item of a reply's `tools`.
pub static TOOL_CALL: Object = Object::new(
    "tool_call",
    "A call of a tool.",
    &[
        Field::name("tool", "The tool.").required(),
        Field::of("input", Shape::Fields { least: 0 }, "Its input.").required(),
        Field::name("id", "Its id; without it one is made."),
        Field::truth("missing", "The model errs: there is no such tool."),
        Field::tokens("result_tokens", "Tokens of its result, if they are not counted."),
        Field::tokens(
            "notice_tokens",
            "Tokens of the notification about the task that it starts, if they are not counted.",
        ),
        Field::tokens(
            "brief_tokens",
            "Tokens of the first message of the agent that it starts, if they are not counted.",
        ),
        Field::ms("launch_ms", "How long the start of its agent takes; its call must have an `id`."),
    ],
);

/// `fault` of a reply.
pub static FAULT: Object = Object::new(
    "fault",
    "What goes wrong with a call: one of `status`, `lost` and `breaks`.",
    &[
        Field::of("status", Shape::Between { least: 400, most: 599 }, "HTTP status of a refusal, as 429 or 529.")
            .unit("HTTP status"),
        Field::name("kind", "The provider's word, as `overloaded_error`."),
        Field::text("message", "The provider's sentence."),
        Field::ms("retry_after_ms", "How long it asks to wait."),
        Field::yes("lost", "The connection is lost before the first byte."),
        Field::words("breaks", || words(&BREAKS), "How the stream breaks off."),
        Field::count("after_events", 0, "events", "Events that still arrive before it breaks."),
    ],
)
.one_of(&[&["status"], &["lost"], &["breaks", "after_events"]]);
