//! The built-in agent types (ADEF-18..22). Their prompts are our own.

use std::rc::Rc;

use super::{AgentDefinition, Source};

/// Tools that only read files.
const LOOKING: [&str; 3] = ["Read", "Glob", "Grep"];
/// Tools that change files or delegate work.
const CHANGING: [&str; 3] = ["Agent", "Edit", "Write"];

/// All built-in types. The fork is not among them (ADEF-23).
pub(super) fn all() -> Vec<AgentDefinition> {
    vec![general_purpose(), explore(), plan(), verification(), guide()]
}

fn named(agent_type: &str, when_to_use: &str, prompt: &str) -> AgentDefinition {
    let definition = AgentDefinition::new(Source::BuiltIn, agent_type, when_to_use, prompt);
    AgentDefinition { model: Some("inherit".into()), ..definition }
}

fn reading(definition: AgentDefinition, more: &[&str]) -> AgentDefinition {
    let tools: Vec<Rc<str>> = LOOKING.iter().chain(more).map(|tool| Rc::from(*tool)).collect();
    let disallowed_tools = CHANGING.iter().map(|tool| Rc::from(*tool)).collect();
    AgentDefinition { tools: Some(tools), disallowed_tools, ..definition }
}

fn general_purpose() -> AgentDefinition {
    let definition = named(
        "general-purpose",
        "Work of several steps that fits no other agent: open questions, searches whose first try may miss, changes \
         in many places.",
        "You work on one task that another agent gave you. Do all of it and nothing beside it. Search widely when you \
         do not know where something stands, read it when you do. Change existing files rather than add new ones. End \
         with a report: what you did, what you found, with paths; whoever reads it has seen nothing of your work.",
    );
    AgentDefinition { tools: Some(vec!["*".into()]), ..definition }
}

fn explore() -> AgentDefinition {
    let definition = named(
        "explore",
        "Finding one's way in a code base quickly: files by pattern, content by keyword, how something works. Say how \
         thorough the search should be.",
        "You find things in code and change nothing. Search by file name and by content, several searches at a time, \
         and read only what helps. Stop when the question is answered. Report paths and lines, and what you looked for \
         in vain.",
    );
    AgentDefinition { one_shot: true, ..reading(definition, &[]) }
}

fn plan() -> AgentDefinition {
    let definition = named(
        "plan",
        "Designing how to build something before it is built: steps, files that matter, what to weigh.",
        "You design and change nothing. Understand what is asked, read the code that it touches and what resembles it, \
         then propose one way: steps in order, what depends on what, where it can go wrong. End with the few files that \
         matter most.",
    );
    AgentDefinition { one_shot: true, ..reading(definition, &[]) }
}

fn verification() -> AgentDefinition {
    reading(
        named(
            "verification",
            "Checking that finished work does what it should: builds, tests, and tries to break it. Give it the task and \
             the files that changed.",
            "You check work that others say is done, and you mend nothing. Run the build and the tests, then try what \
             the author may not have tried: limits, wrong input, repetition. Every claim of yours rests on a command \
             that you ran and what it printed. End with one verdict: pass, fail, or partial, and why.",
        ),
        &["Bash"],
    )
}

fn guide() -> AgentDefinition {
    reading(
        named(
            "claude-code-guide",
            "Questions about the product itself: its features, settings, hooks, commands, and the interfaces beneath it.",
            "You answer questions about using the product. Look the answer up in its documentation before you rely on \
             memory, look at the user's own configuration where it matters, and name the page that you took it from. \
             Where the documentation is silent, say so.",
        ),
        &["WebFetch", "WebSearch"],
    )
}
