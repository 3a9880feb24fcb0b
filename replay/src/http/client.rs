//! The program that sent a request, and which of its agents, according to the headers.

use super::Headers;

/// Name and version of the program: the first product of the header, `claude-cli/2.1.63` of
/// `claude-cli/2.1.63 (external, cli)`. SDKs write the version after a blank (`Anthropic/Python 0.28.1`, seen in recorded
/// cassettes of 2024 to 2026), which is kept. `None` without a version: recorders often mask the header.
pub fn client(user_agent: &str) -> Option<String> {
    let mut words = user_agent.split_whitespace();
    let product = words.next()?;
    if product.split_once('/').is_some_and(|(_, version)| is_version(version)) {
        return Some(product.to_owned());
    }
    let version = words.next().filter(|word| is_version(word))?;
    Some(format!("{product} {version}"))
}

fn is_version(word: &str) -> bool {
    word.strip_prefix('v').unwrap_or(word).starts_with(|first: char| first.is_ascii_digit())
}

/// The chain of a request, and the chain that started it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its chain, if the headers have it.
    pub chain: Option<String>,
    /// The chain of its parent.
    pub parent: Option<String>,
    /// Its kind, if the headers show that it is a sub-agent without naming its parent.
    pub kind: Option<&'static str>,
}

/// Session, agent and parent as headers name them (`clients.md` 1, 5 and 6, 2026-11).
///
/// * Claude Code 2.1.330: `x-claude-code-agent-id` and `x-claude-code-session-id` in a sub-agent or fork. It names no
///   parent. The session does not identify the main conversation, because requests for titles and summaries have the
///   same id.
/// * opencode 1.18.33: `x-session-id`, in children `x-parent-session-id`. Requests for titles have the id too, but no
///   tools: `has_tools` distinguishes them.
/// * Codex CLI 0.169.0: `thread-id`, in children `x-codex-parent-thread-id`.
pub fn agent(headers: &Headers<'_>, has_tools: bool) -> Agent {
    let own = |name: &str| headers.get(name).filter(|id| !id.is_empty()).map(str::to_owned);
    if let Some(agent) = own("x-claude-code-agent-id") {
        let session = own("x-claude-code-session-id").unwrap_or_default();
        return Agent { chain: Some(format!("{session}/{agent}")), parent: None, kind: Some("named") };
    }
    if let Some(thread) = own("thread-id") {
        return Agent { chain: Some(thread), parent: own("x-codex-parent-thread-id"), kind: None };
    }
    let (session, parent) = (own("x-session-id"), own("x-parent-session-id"));
    match session {
        Some(session) if has_tools || parent.is_some() => Agent { chain: Some(session), parent, kind: None },
        _ => Agent::default(),
    }
}
