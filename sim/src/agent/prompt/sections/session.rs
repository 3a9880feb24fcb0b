//! Parts that depend on the session; they follow the divider (PROMPT-02).

use std::fmt::Write;

use super::Section;
use crate::agent::session::{Context, Session};
use crate::agent::settings::Profile;

/// The environment (PROMPT-03).
pub fn environment(context: &Context) -> Section {
    let settings = &context.session.settings;
    let surroundings = &settings.environment;
    let cwd = if context.is_main() { settings.cwd.clone() } else { context.cwd.borrow().clone() };
    let text = format!(
        "# Environment
- Primary working directory: {cwd}
- Git repository: {git}
- Platform: {platform}
- Shell: {shell}
- OS version: {os_version}
- Model: {model}
- Knowledge cutoff: {knowledge_cutoff}
- The product runs in a terminal, on the desktop, on the web and in editors.
- Fast mode is the same model with faster output; `/fast` toggles it.",
        git = if surroundings.git { "yes" } else { "no" },
        platform = surroundings.platform,
        shell = surroundings.shell,
        os_version = surroundings.os_version,
        model = context.model,
        knowledge_cutoff = surroundings.knowledge_cutoff,
    );
    Section::of("environment", text)
}

/// The descriptions of connected servers (PROMPT-04); `None` without servers.
pub fn servers(session: &Session) -> Option<Section> {
    let mut text = "# Servers".to_owned();
    for server in session.servers.ready() {
        let _ = write!(text, "\n## {}\n{}", server.name, server.instructions);
    }
    session.servers.ready().next().is_some().then(|| Section::of("servers", text))
}

/// The available skills (PROMPT-04); `None` without skills.
pub fn skills(session: &Session) -> Option<Section> {
    let mut text = "# Skills".to_owned();
    for skill in session.skills.all() {
        let _ = write!(text, "\n- {}: {}", skill.name, skill.description);
    }
    session.skills.all().next().is_some().then(|| Section::of("skills", text))
}

/// How to work in this session (PROMPT-12), with additions for forks (PROMPT-13, PROMPT-14).
pub fn guidance(forks: Option<Profile>) -> Section {
    let mut text = GUIDANCE.to_owned();
    if let Some(profile) = forks {
        text.push_str(match profile {
            Profile::Documents => "\n- Calling Agent without `subagent_type`",
            Profile::Client2026 => "\n- Calling Agent with `subagent_type: \"fork\"`",
        });
        text.push_str(FORK_GUIDANCE);
    }
    Section::of("guidance", text)
}

/// PROMPT-12.
const GUIDANCE: &str = "# In this session
- If a denied tool call leaves you wondering why, ask the user with AskUserQuestion.
- A command that only the user can run, such as an interactive login, the user can type with the prefix `!`: it runs in this \
session, and its output lands in the conversation.
- Use Glob or Grep yourself for a simple search. Use the `explore` agent only when a simple search is not enough or when the \
task clearly needs more than 3 queries.
- Call the Skill tool only for skills that are listed; never guess one.";

/// PROMPT-13 and PROMPT-14.
const FORK_GUIDANCE: &str = " makes a fork of yourself that runs in the background; its tool output stays out of \
your context.
- Fork by default when you hand work on. If you are the fork, do the work yourself.";

/// Notes for every sub-agent, in addition to its own prompt.
pub fn notes() -> Section {
    let text = "# Notes
- Name files by absolute paths.
- Your last message is your report: whoever gave you the task sees nothing else of your work.";
    Section::fixed("notes", text)
}
