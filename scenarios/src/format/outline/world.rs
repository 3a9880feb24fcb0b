//! Definitions, files, shell, hooks, permissions, tools and servers.

use forkcast_sim::agent::definition::Source;
use forkcast_sim::agent::hook::Moment;

use super::{Field, Object, Shape, words};

/// An item of `definitions`.
pub static DEFINITION: Object = Object::new(
    "definition",
    "A kind of agent, in one of its two forms.",
    &[
        Field::words("source", || words(&Source::WORDS), "Where it comes from.").required(),
        Field::name("file", "Its file; of a plugin `…/plugins/NAME/…`."),
        Field::text("markdown", "Frontmatter followed by the system prompt."),
        Field::of("json", Shape::Fields { least: 0 }, "Objects by their names, or one with `name`."),
    ],
)
.one_of(&[&["markdown"], &["json"]]);

/// An item of `shell`.
pub static SHELL: Object = Object::new(
    "shell_rule",
    "What a command does; the first rule that fits counts.",
    &[
        Field::name("command", "The command, or a pattern with `*`.").required(),
        Field::text("output", "What it prints."),
        Field::of("exit_code", Shape::Between { least: 0, most: 255 }, "How it ends; zero is success.")
            .unit("exit code"),
        Field::ms("takes_ms", "How long it takes."),
        Field::map("writes", &Shape::Text, "Files that it writes, by path."),
        Field::truth("never_ends", "It hangs."),
        Field::ms("stuck_after_ms", "After how long a watcher finds that it hangs."),
        Field::count("times", 1, "times", "How often the rule holds; without it always."),
    ],
);

/// A slash command in `commands`.
pub static COMMAND: Object = Object::new(
    "command",
    "A slash command.",
    &[Field::text("output", "What it says."), Field::ms("takes_ms", "How long it takes.")],
);

/// An item of `hooks`.
pub static HOOK: Object = Object::new(
    "hook",
    "A hook of the session, or without `moment` what a definition's hook of this name says.",
    &[
        Field::name("name", "Its name.").required(),
        Field::words("moment", || words(&Moment::WORDS), "When it runs."),
        Field::name("tool", "The tool that it looks at; without it all."),
        Field::truth("in_background", "Nobody waits for it."),
        Field::list("says", &Shape::Object(&HOOK_SAYS), "What it says at one run after the other; then nothing."),
    ],
);

/// An item of a hook's `says`.
pub static HOOK_SAYS: Object = Object::new(
    "hook_says",
    "What a hook says at one of its runs.",
    &[
        Field::ms("after_ms", "How long it takes."),
        Field::yes("prevent", "Nothing may follow."),
        Field::text("error", "What the model must mend."),
        Field::text("add", "Text for the model."),
        Field::text("block", "Why the tool may not run."),
    ],
);

/// `permissions`.
pub static PERMISSIONS: Object = Object::new(
    "permissions",
    "Rules: `Tool` or `Tool(pattern)`.",
    &[
        Field::list("allow", &Shape::Name, "Calls that are allowed."),
        Field::list("deny", &Shape::Name, "Calls that are refused."),
        Field::list("ask", &Shape::Name, "Calls that the user is asked about."),
    ],
);

/// An item of `tools`: a tool by data.
pub static TOOL: Object = Object::new(
    "tool",
    "A tool by data. One of the runtime with the same name is replaced.",
    &[
        Field::name("name", "Its name.").required(),
        Field::text("description", "What it is for, for the model."),
        Field::of("schema", Shape::Fields { least: 0 }, "JSON Schema of its input; any object by default."),
        Field::list(
            "results",
            &Shape::Object(&TOOL_RESULT),
            "Its results, in order; those with a call answer this call alone.",
        ),
    ],
);

/// An item of the `results` of a tool by data.
pub static TOOL_RESULT: Object = Object::new(
    "tool_result",
    "A result of a tool by data.",
    &[
        Field::name("call", "The id of the call that it answers."),
        Field::text("content", "The text of the result."),
        Field::truth("failed", "It is an error."),
        Field::ms("takes_ms", "Milliseconds that the call takes."),
        Field::yes("never_ends", "The call ends only if it is interrupted."),
        Field::name(
            "reads",
            "The result has the report of the agent that this call started, so that no notification follows.",
        ),
    ],
);

/// An MCP server in `servers`.
pub static SERVER: Object = Object::new(
    "server",
    "An MCP server. Its tools are called `mcp__server__tool`.",
    &[
        Field::text("instructions", "Its description, which the main prompt repeats."),
        Field::truth(
            "shared",
            "The session connects to it at its start (the default); otherwise only agents whose definition writes it out do.",
        ),
        Field::ms("takes_ms", "How long a connection takes."),
        Field::truth("fails", "No connection can be made."),
        Field::list("tools", &Shape::Object(&TOOL), "Its tools, with their own names."),
    ],
);
