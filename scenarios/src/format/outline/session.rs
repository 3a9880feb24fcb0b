//! `session` and what is in it.

use forkcast_sim::agent::permission::Mode;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::settings::Place;
use forkcast_sim::agent::spawn::fork::{Ablation, Profile};
use forkcast_sim::wire::Ttl;

use super::{Field, Object, Shape, words};
use crate::format::session::{IDLES, RANKINGS};

/// The form of a launch policy.
pub const LAUNCH: &str = "^(burst|primed|serial|stagger=[0-9]+|waves=[1-9][0-9]*)$";

/// `session`.
pub static SESSION: Object = Object::new(
    "session",
    "Options of the session; what is not said is as the runtime has it.",
    &[
        Field::name("id", "Id of the session, as sent in headers."),
        Field::truth("interactive", "A user sits at a terminal; else the session is headless."),
        Field::name("model", "The main agent's model."),
        Field::object("models", &MODELS),
        Field::of("cwd", Shape::Pattern("^/"), "Working directory on the simulated machine."),
        Field::of("home", Shape::Pattern("^/"), "The user's home on the simulated machine."),
        Field::object("environment", &ENVIRONMENT),
        Field::truth("internal_build", "A build for the vendor's own people."),
        Field::count("max_turns", 1, "turns", "Turns of the main agent in one query."),
        Field::count("max_depth", 0, "levels", "How deep agents may nest."),
        Field::count("max_tokens", 1, "tokens", "Tokens of output that a request allows."),
        Field::of("thinking", Shape::Anything, "The `thinking` parameter as it is sent."),
        Field::name("effort", "Effort, as `medium`."),
        Field::words(
            "permission_mode",
            || words(&Mode::WORDS),
            "How permission requests of the main agent are handled.",
        ),
        Field::truth("bypass_allowed", "The user allowed `bypassPermissions`."),
        Field::truth("streaming_tools", "Tools start while the answer still streams."),
        Field::truth("task_tools", "Agents have TaskOutput and TaskStop, which read and stop background tasks."),
        Field::truth(
            "messages",
            "Agents have SendMessage, which writes to running agents and continues ended ones. `${agent:CALL}` in the input of a scripted call is the id in the result of call CALL.",
        ),
        Field::truth("skill_tool", "Agents have the Skill tool, which calls skills."),
        Field::truth("assistant", "Assistant mode: agents and forked commands never block the user's input."),
        Field::object("helpers", &HELPERS),
        Field::object("compaction", &COMPACTION),
        Field::words("ranking", || words(&RANKINGS), "Which definition of a name wins."),
        Field::object("retries", &RETRIES),
        Field::tokens("token_budget", "Output tokens after which the budget says to go on (feature `TOKEN_BUDGET`)."),
        Field::ms("classifier_ms", "How long the classifier of finished background tasks takes."),
        Field::words("breakpoints", || words(&Placement::WORDS), "Where breakpoints are placed."),
        Field::words("ttl", || words(&Ttl::WORDS), "How long what they mark lives."),
        Field::object("forks", &FORKS),
        Field::object("worktrees", &WORKTREES),
        Field::object("teams", &TEAMS),
        Field::list(
            "remote",
            &Shape::Object(&REMOTE),
            "What the service for agents with `isolation: remote` does with a prompt; the first that fits counts.",
        ),
    ],
);

/// `session.models`.
pub static MODELS: Object = Object::new(
    "models",
    "What the short names of models mean.",
    &[
        Field::name("sonnet", "What `sonnet` means."),
        Field::name("opus", "What `opus` means."),
        Field::name("haiku", "What `haiku` means."),
    ],
);

/// `session.environment`.
pub static ENVIRONMENT: Object = Object::new(
    "environment",
    "What the prompt says of the surroundings.",
    &[
        Field::truth("git", "The directory is a git repository."),
        Field::text("platform", "The platform, such as `linux`."),
        Field::text("shell", "The shell, such as `bash`."),
        Field::text("os_version", "The version of the system, such as `Linux 6.1`."),
        Field::text("knowledge_cutoff", "The last month that the model knows of, such as `2026-01`."),
        Field::text("date", "Today, as the prompt says it; in quotes."),
    ],
);

/// `session.retries`.
pub static RETRIES: Object = Object::new(
    "retries",
    "What to do about refused and broken calls.",
    &[
        Field::count("attempts_max", 0, "attempts", "Tries after the first."),
        Field::list("waits_ms", &Shape::Count { least: 0 }, "Waits before further tries; the last one repeats.")
            .unit("ms"),
    ],
);

/// `session.helpers`.
pub static HELPERS: Object = Object::new(
    "helpers",
    "Internal forks that the runtime runs for itself. A script answers them by these names.",
    &[
        Field::count(
            "extract_memories",
            1,
            "turns",
            "Writes what is worth keeping to the memory directory, after this many turns of the main agent.",
        ),
        Field::count("session_memory", 1, "turns", "Updates the notes of the session, after this many turns."),
        Field::count("prompt_suggestion", 1, "turns", "Guesses what the user types next, after this many turns."),
        Field::count(
            "speculation",
            1,
            "any number",
            "Works on each suggestion before it is accepted; any number turns it on.",
        ),
        Field::count(
            "agent_summary",
            1,
            "ms",
            "Says what each background agent is doing, after this many milliseconds.",
        ),
        Field::count("auto_dream", 1, "turns", "Tidies the memory directory, after this many turns."),
    ],
);

/// `session.compaction`.
pub static COMPACTION: Object = Object::new(
    "compaction",
    "When conversations are made shorter. Omitted mechanisms are off.",
    &[
        Field::count("window_tokens", 1, "tokens", "Tokens of the context window.").required(),
        Field::percent(
            "snip_percent",
            "From this share of the window on, long results of earlier calls keep their beginning.",
        ),
        Field::percent("micro_percent", "From this share on, results of earlier calls are cleared."),
        Field::percent(
            "auto_percent",
            "From this share on, a summary replaces the conversation; the script answers it as `compact`.",
        ),
        Field::count("kept_results", 0, "results", "The newest results, which stay as they are; 3 by default."),
        Field::words(
            "idle",
            || words(&IDLES),
            "Whose rule summarises the conversation while it is idle: `client-2026-10` after 55 minutes from 200,000 tokens on.",
        ),
    ],
);

/// `session.worktrees`.
pub static WORKTREES: Object = Object::new(
    "worktrees",
    "How worktrees of agents with `isolation: worktree` are made.",
    &[
        Field::truth("offered", "The Agent tool tells models of `isolation` (the default here)."),
        Field::list(
            "linked",
            &Shape::Name,
            "Folders that are linked from the repository and ignored by git; `node_modules` by default.",
        ),
        Field::truth("by_hook", "A hook of the user makes worktrees, so all of them are kept."),
        Field::truth("private_remote", "A fetch asks for a password."),
        Field::ms("takes_ms", "How long git takes to make a worktree, and to look at it in the end."),
    ],
);

/// An item of `session.remote`.
pub static REMOTE: Object = Object::new(
    "remote",
    "A run on another machine; nothing of it is billed here.",
    &[
        Field::name("prompt", "The prompts that it is for; `*` matches any text.").required(),
        Field::text("result", "What the agent reports, or why it fails."),
        Field::truth("fails", "It fails."),
        Field::ms("takes_ms", "How long it takes."),
        Field::yes("never_ends", "It never ends by itself."),
    ],
);

/// `session.teams`.
pub static TEAMS: Object = Object::new(
    "teams",
    "Teams: a call of Agent with `name` and a team starts a teammate. Without this, a session has none.",
    &[
        Field::name("current", "The current team, which calls without `team_name` mean."),
        Field::map(
            "places",
            &Shape::Words(|| words(&Place::WORDS)),
            "Where teammates run, by name; `in_process` by default.",
        ),
        Field::count(
            "capacity",
            1,
            "messages",
            "Unread messages that a mailbox holds before senders wait; 64 by default.",
        ),
        Field::ms("poll_ms", "How often a mailbox is read; 500 by default."),
        Field::truth("bridge", "Teammates in the leader's process ask at its terminal (the default)."),
    ],
);

/// `session.forks`.
pub static FORKS: Object = Object::new(
    "forks",
    "How forks are made, when they start, and which principle of theirs is broken on purpose.",
    &[
        Field::words(
            "profile",
            || words(&Profile::WORDS),
            "How their messages are made. `documents`: a call without type forks, and siblings share all but the last block. `client-2026`: `subagent_type: fork` does, and of the message the child keeps its own call.",
        ),
        Field::of(
            "launch",
            Shape::Pattern(LAUNCH),
            "When the forks of one message, or its named agents of one type, ask for the first time: `burst`, `primed`, `serial`, `stagger=MS` or `waves=N`.",
        ),
        Field::list(
            "ablations",
            &Shape::Words(|| words(&Ablation::WORDS)),
            "Principles that are broken, to see what they are worth.",
        ),
    ],
);
