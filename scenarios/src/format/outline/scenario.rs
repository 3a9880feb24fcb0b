//! The whole file, its variants, and when and how fast a run goes.

use forkcast_sim::cache::PRESETS;

use super::{
    ACT, COMMAND, DEFINITION, EXPECT, Field, HOOK, Object, PERMISSIONS, PROMPT, REPLY, SERVER, SESSION, SHELL, SIZES,
    Shape, TOOL,
};

const ABOUT: Field = Field::text("about", "What it claims, in prose.").required();

const COVERS: Field = Field::list(
    "covers",
    &Shape::Pattern("^[A-Z]+-[0-9]{2}$"),
    "Ids of behaviours that fail here when they are broken.",
);

/// The top level of the file.
pub static SCENARIO: Object = Object::new(
    "scenario",
    "A scenario: a claim about agents, with a world, a script, and what must come out. YAML, for editors.",
    &[
        ABOUT,
        COVERS,
        Field::count("seed", 0, "random seed", "Where chance begins."),
        Field::object("session", &SESSION),
        Field::map("variables", &Shape::Text, "Environment variables of the process."),
        Field::list("features", &Shape::Text, "Compile-time features that are on."),
        Field::map("flags", &Shape::Truth, "Remote flags at the beginning."),
        Field::words(
            "cache",
            || PRESETS.map(|rules| rules.name).to_vec(),
            "A preset of cache rules; `forkcast list profiles` names them.",
        ),
        Field::of("prices", Shape::Pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), "The day of the prices, as 2026-11-22."),
        Field::object("limits", &LIMITS),
        Field::object("pace", &PACE),
        Field::object("prompt", &PROMPT),
        Field::object("sizes", &SIZES),
        Field::list("definitions", &Shape::Object(&DEFINITION), "Kinds of agents."),
        Field::map("files", &Shape::Text, "Files of the simulated machine, by path."),
        Field::list("shell", &Shape::Object(&SHELL), "What commands do."),
        Field::map("commands", &Shape::Object(&COMMAND), "Slash commands by their names, without `/`."),
        Field::list("hooks", &Shape::Object(&HOOK), "Hooks of the session."),
        Field::map(
            "skills",
            &Shape::Text,
            "Skills by name: instructions, after frontmatter if there is any. With `context: fork` the command `/name` runs as an agent of its own, of type `agent`, with `allowed-tools`; otherwise it becomes a prompt.",
        ),
        Field::object("permissions", &PERMISSIONS),
        Field::map("servers", &Shape::Object(&SERVER), "MCP servers by their names."),
        Field::list("tools", &Shape::Object(&TOOL), "Tools by data, such as those of a recording."),
        Field::map(
            "script",
            &Shape::List(&Shape::Object(&REPLY)),
            "What models say, as replies in order, by type of agent; `type#2` is for the second one alone.",
        )
        .required(),
        Field::list("user", &Shape::Object(&ACT), "What the user does, in order of time."),
        Field::object("expect", &EXPECT),
        Field::of(
            "variants",
            Shape::Map { names: Some("^[^+/]+$"), of: &Shape::Object(&VARIANT) },
            "The same scenario with some fields changed, by name; `forkcast run FILE+NAME` runs one.",
        ),
    ],
);

/// One of `variants`.
pub static VARIANT: Object = Object::new(
    "variant",
    "The same scenario with some fields changed.",
    &[
        ABOUT,
        COVERS,
        Field::of(
            "set",
            Shape::Fields { least: 1 },
            "Fields with their other values, by the paths of `--set`, as `session.ttl` or `script.main[0].say`.",
        )
        .required(),
        Field::object("expect", &EXPECT),
    ],
);

/// `limits`.
pub static LIMITS: Object = Object::new(
    "limits",
    "When the run is stopped; no property of what is simulated.",
    &[
        Field::count("steps", 1, "turns", "Turns of tasks, all together."),
        Field::count("until_ms", 1, "ms", "The last instant that the clock may show."),
        Field::count("turns", 1, "answers", "Answers of models, all together."),
    ],
);

/// `pace`.
pub static PACE: Object = Object::new(
    "pace",
    "How fast the provider is, if it differs from the default.",
    &[
        Field::ms("base_ms", "Time to the first byte of a request without input."),
        Field::count(
            "read_us_per_ktok",
            0,
            "µs per thousand tokens",
            "What a thousand tokens that are read add to it, in microseconds.",
        ),
        Field::count(
            "write_us_per_ktok",
            0,
            "µs per thousand tokens",
            "What a thousand tokens that are written add to it.",
        ),
        Field::count(
            "fresh_us_per_ktok",
            0,
            "µs per thousand tokens",
            "What a thousand tokens that are neither add to it.",
        ),
        Field::count("output_tokens_per_second", 1, "tokens per second", "Speed from the first byte on."),
        Field::ms("refusal_ms", "Time until a refusal."),
    ],
);
