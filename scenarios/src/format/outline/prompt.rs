//! `prompt` and `sizes`.

use super::{Field, Object, Shape};

/// `prompt`.
pub static PROMPT: Object = Object::new(
    "prompt",
    "Texts of the prompt instead of the runtime's own.",
    &[
        Field::text("system", "The main system prompt."),
        Field::truth("user_context", "Memory files, date and the like precede the conversation."),
        Field::list("fragments", &Shape::Object(&FRAGMENT), "Texts that depend on flags."),
        Field::list("history", &Shape::Object(&PAST), "The main conversation when the session begins."),
    ],
);

/// An item of `prompt.history`.
pub static PAST: Object = Object::new(
    "past",
    "A message before the session: `user`, or what the model said.",
    &[
        Field::name("user", "What the user wrote."),
        Field::text("think", "Thinking."),
        Field::text("say", "Text."),
        Field::list("tools", &Shape::Object(&ANSWERED), "Calls, each with its result."),
    ],
)
.given(1, None);

/// An item of the `tools` of `prompt.history`.
pub static ANSWERED: Object = Object::new(
    "answered",
    "A call before the session, with its result.",
    &[
        Field::name("tool", "The tool.").required(),
        Field::of("input", Shape::Fields { least: 0 }, "Its input.").required(),
        Field::name("id", "Its id; without it one is made."),
        Field::text("result", "What it brought.").required(),
        Field::truth("failed", "It failed."),
    ],
);

/// An item of `prompt.fragments`.
pub static FRAGMENT: Object = Object::new(
    "fragment",
    "A text that the system prompt holds while a flag is warm.",
    &[
        Field::name("flag", "The flag.").required(),
        Field::text("text", "The text.").required(),
        Field::truth("before_divider", "It is among the stable texts; otherwise after them."),
    ],
);

/// `sizes`.
pub static SIZES: Object = Object::new(
    "sizes",
    "Declared tokens: each is the total of its part, shared over its blocks in order by largest remainder.",
    &[
        Field::tokens("system", "The system prompt."),
        Field::tokens("tools", "All tools."),
        Field::tokens(
            "history",
            "Everything before the main agent's first answer: user context, `prompt.history`, the first line that is typed.",
        ),
        Field::tokens("assistant", "The message of the main agent that forks, with all of its calls."),
        Field::tokens("placeholder", "All placeholder results of a fork together."),
        Field::tokens("directive_block", "A fork's own last block, for each child: the rules and its directive."),
        Field::tokens("growth", "What a turn adds: answer and tool results together."),
        Field::object("agents", &AGENT_SIZES),
        Field::map(
            "types",
            &Shape::Object(&PREFIX_SIZES),
            "What named agents send before their conversations, by type.",
        ),
    ],
);

/// `agents` of `sizes`.
pub static AGENT_SIZES: Object = Object::new(
    "agent_sizes",
    "Declared tokens of named agents, whose prompts are their own. What is not said is nothing.",
    &[
        Field::tokens("system", "Their system prompt."),
        Field::tokens("tools", "All their tools."),
        Field::tokens("brief", "Their whole first message."),
        Field::tokens("gathered", "What they gather first, beside `growth`: the history that they were not given."),
        Field::count("gathering_turns", 0, "turns", "The turns in which they do."),
    ],
);

/// An agent type in `types` of `sizes`.
pub static PREFIX_SIZES: Object = Object::new(
    "prefix_sizes",
    "Tokens of what an agent of one type sends before its conversation.",
    &[Field::tokens("system", "Tokens of its system prompt."), Field::tokens("tools", "Tokens of all its tools.")],
);
