//! The Agent tool's description: which agents exist, and when to use them (PROMPT-15..23, LOOP-24).
//!
//! It is only advice: the runtime never spawns or refuses because of this text (PROMPT-22, C21).

use std::fmt::Write;

use crate::agent::definition::AgentDefinition;
use crate::agent::session::Session;
use crate::agent::settings::Profile;

/// The description of the Agent tool in `session`. `forks` says how a call requests a fork, if forks are enabled. The
/// description has guidance about forks exactly then (PROMPT-16).
pub fn describe(session: &Session, forks: Option<Profile>) -> String {
    let mut text = format!("{PURPOSE}\n\nKinds of agents:");
    for definition in session.visible_definitions() {
        let _ = write!(text, "\n{}", line(&definition));
    }
    let omitted = match forks {
        None => WITHOUT_KIND,
        Some(Profile::Documents) => WITHOUT_KIND_FORK,
        Some(Profile::Client2026) => KIND_FORK,
    };
    let _ = write!(text, "\n\n{omitted}\n\n{WHEN_NOT}\n\n{HOW}\n\n{AFTERWARDS}\n\n{CHOICE}");
    if forks.is_some() {
        let _ = write!(text, "\n{CHOICE_FORK}\n\n{FORK}");
    }
    text
}

/// An agent in the list (PROMPT-17).
pub fn line(definition: &AgentDefinition) -> String {
    let agent_type = &definition.agent_type;
    let when_to_use = &definition.when_to_use;
    format!("- {agent_type}: {when_to_use} (Tools: {})", definition.tools_in_words())
}

const PURPOSE: &str = "Hands a task to another agent, which works on it in a context of its own and reports back once.";

const WITHOUT_KIND: &str = "Name the kind in `subagent_type`; without it `general-purpose` is taken.";

const WITHOUT_KIND_FORK: &str = "Name the kind in `subagent_type`; without it you fork yourself.";

const KIND_FORK: &str = "Name the kind in `subagent_type`; without it `general-purpose` is taken, and with `fork` you fork \
yourself.";

/// PROMPT-15.
const WHEN_NOT: &str = "When not to use it:
- You know the file's path: use Read.
- You look for the definition of a certain class: use Glob or Grep.
- You look for code inside one file, or in two or three: use Read.
- The task has nothing to do with the agents above.";

/// LOOP-24: the cost of an agent.
const HOW: &str = "How to use it:
- A new agent knows nothing of this conversation and pays for all that it has to read: give it a task that is worth that, and \
all that it needs to know.
- Say what it is to report, and whether it may change files.
- Launch agents that do not depend on one another in one message; they work at the same time.
- The user sees nothing of its report: tell what matters in your own words.";

/// PROMPT-19 and PROMPT-20.
const AFTERWARDS: &str = "In the background:
- A result `async_launched` says that the agent works, and nothing of its outcome. Do not claim to know the outcome and do not \
guess it; a notification will tell you.
- Until then you can do three things: send it a message, read its output, or stop its task.
- Prefer `Read(output_file)` to `TaskOutput` to look at its output.";

/// PROMPT-21, the part that does not need forks.
const CHOICE: &str = "Which way:
- A specialised role with a limited context: a named agent.
- Long work: in the background.
- A skill on its own: its slash command, which runs apart from this conversation.
- A light branch inside the runtime (titles, summaries): the runtime does it itself with `runForkedAgent()`.
- Edits that must not touch the working copy: `isolation: \"worktree\"`.";

/// PROMPT-21 to PROMPT-23, if forks are enabled.
const CHOICE_FORK: &str = "- Several workers that need this whole conversation: forks.
- A precise task that is better off with a clean context: a fresh agent. A task whose intermediate output you need not keep: a \
fork.
- A role that lives long and knows its trade: never a fork, a named agent.";

/// PROMPT-16.
const FORK: &str = "Forking:
- Ask whether you will need the intermediate output again, not how big the task is. If not, fork.
- Research of open questions: several forks in parallel, in one message.
- Implementation that takes more than a couple of edits: fork it.
- Forks are cheap: they share your prompt cache. Give them no other model, and do not look into their output before they \
report.";
