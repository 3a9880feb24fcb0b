//! Where the match stopped, and why.

use forkcast_replay::replay::inspect::HeldEntry as Held;

use super::words::lifetime;
use crate::document::{count, several, span};
use crate::explained::{Explained, Stop};

pub(super) fn stop(explained: &Explained<'_>) -> Vec<String> {
    let read = explained.read_blocks();
    let inspection = explained.inspection;
    let reached = match read.checked_sub(1) {
        Some(last) => format!(
            "The cache has it up to {} ({} tokens).",
            explained.path(last),
            count(inspection.predicted.read_tokens)
        ),
        None => "The cache has no part of it.".to_owned(),
    };
    let known = match (inspection.sent_before().checked_sub(1), explained.first_new()) {
        (None, _) => "No earlier request of this model and scope began with the same block.".to_owned(),
        (Some(_), None) => "The whole prompt had been sent before.".to_owned(),
        (Some(last), Some(new)) => format!(
            "As an unbroken prefix it had been sent before up to {} ({} tokens); {} is the first block that was not.",
            explained.path(last),
            count(explained.tokens_through(last)),
            explained.path(new)
        ),
    };
    vec![format!("{reached} {known}"), reason(explained)]
}

fn reason(explained: &Explained<'_>) -> String {
    let missed = explained.missed_entry();
    let entry =
        || missed.map_or_else(String::new, |entry| format!("The entry of {}", several(entry.blocks as u64, "block")));
    match explained.stop() {
        Stop::Refused => {
            let why = explained.inspection.subject.refusal.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("The provider refuses the request: {why}")
        }
        Stop::NoBreakpoint => "Without a breakpoint nothing is looked up.".to_owned(),
        Stop::BelowMinimum => format!(
            "Every breakpoint is on a prefix shorter than this model's minimum of {} tokens.",
            count(explained.inspection.subject.minimum_tokens)
        ),
        Stop::NewFromHere if has_missed(explained) => {
            "A prefix ends at its first change: what follows is paid again, although it had been sent before."
                .to_owned()
        }
        Stop::NewFromHere if explained.inspection.sent_before() == 0 => "All of it is new to the cache.".to_owned(),
        Stop::NewFromHere => "The whole prefix that had been sent is read; the rest is new to the cache.".to_owned(),
        Stop::Expired => format!("{} is longer, but it {}.", entry(), age(explained, missed)),
        Stop::InFlight => format!("{} is longer, but the answer of the request that writes it had not begun.", entry()),
        Stop::Evicted => format!("{} is longer, but it was lost before the end of its lifetime.", entry()),
        Stop::BeyondLookback => format!(
            "{} is longer and could be read, but no breakpoint is at its end or at most {} positions after it.",
            entry(),
            explained.inspection.rules.look_back.reach
        ),
        Stop::NeverWritten => {
            "The part that had been sent after that had no breakpoint, so no entry was written there.".to_owned()
        }
    }
}

fn age(explained: &Explained<'_>, entry: Option<&Held>) -> String {
    let Some(life) = entry.and_then(|entry| entry.life) else { return "has expired".to_owned() };
    let idle = explained.inspection.at.since(life.last_use);
    format!("was last used {} before and lives {}", span(idle.as_millis()), lifetime(life.ttl))
}

fn has_missed(explained: &Explained<'_>) -> bool {
    explained.entry.line.explanation.as_ref().is_some_and(|explanation| explanation.missed_tokens() > 0)
}
