//! A fork does not fork again: two guards, each sufficient alone (contract FORK-43..49, C01, C30).

use super::{Profile, QUERY_SOURCE, text};
use crate::agent::entry::{Entry, Nature};
use crate::agent::session::Context;
use crate::outside::words;
use crate::wire::Role;

words! {
    /// What detected that the caller is a fork.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Guard {
        /// The origin of its requests (FORK-44).
        QuerySource = "query_source",
        /// The tag in its history, in case the origin was lost (FORK-45).
        Scan = "scan",
    }
}

/// The first guard that trips for `context`: the origin, then the scan (C01). Each message of its history is scanned once.
pub fn trips(context: &Context) -> Option<Guard> {
    if *context.query_source == *QUERY_SOURCE {
        return Some(Guard::QuerySource);
    }
    let profile = context.session.settings.forks.profile;
    let entries = context.entries.borrow();
    if entries.unscanned().iter().any(|entry| holds_tag(entry, profile)) {
        return Some(Guard::Scan);
    }
    entries.is_scanned();
    None
}

/// Whether the tag is where the builder puts it (FORK-46): in a text block of a user message that is a list. Typed
/// input is a string. Model output and tool results do not count, because they may quote the tag.
///
/// The client of 2026 puts the directive into a tool result, so there a result counts if it begins like a fork's.
fn holds_tag(entry: &Entry, profile: Profile) -> bool {
    if entry.message.role != Role::User || entry.nature == Nature::Typed {
        return false;
    }
    let is_tagged = |json: &str| {
        if !json.contains(text::TAG_OPEN) {
            return false;
        }
        let Ok(block) = serde_json::from_str::<serde_json::Value>(json) else { return false };
        let said = |field: &str| block.get(field).and_then(serde_json::Value::as_str).unwrap_or_default();
        match said("type") {
            "text" => said("text").contains(text::TAG_OPEN),
            "tool_result" if profile == Profile::Client2026 => said("content").starts_with(text::STARTED_AS_YOU),
            _ => false,
        }
    };
    // Results are the first blocks, and need not be read where they do not count.
    let results = if profile == Profile::Client2026 { 0 } else { entry.answers.len() };
    entry.message.content.iter().skip(results).any(|piece| piece.read(is_tagged))
}
