//! What to do about each cause and what each what-if stands for, in words.

use forkcast_sim::diagnosis::Cause;

/// What to do about some causes.
pub(super) struct Advice {
    /// The causes that it would end.
    pub causes: &'static [Cause],
    /// Words in what a transcript shows, without which it is not meant; empty for any.
    pub shows: &'static str,
    /// What to do.
    pub words: &'static str,
    /// What became of the requests that missed: "3 requests …".
    pub because: &'static str,
}

impl Advice {
    /// Whether a miss is one of those that it would end.
    pub fn is_for(&self, cause: Cause, shows: &str) -> bool {
        self.causes.contains(&cause) && shows.contains(self.shows)
    }
}

/// Causes that somebody can do something about. What chance, the provider or the task itself causes is not among them.
pub(super) const MISSES: [Advice; 15] = [
    Advice {
        causes: &[Cause::Expired],
        shows: "",
        words: "Use the one-hour lifetime, or keep entries alive, where sessions pause",
        because: "came too late for their entry (the most that can be saved: longer lives cost more)",
    },
    Advice {
        causes: &[Cause::LevelParameter],
        shows: "",
        words: "Do not switch thinking, effort or tool choice within a session",
        because: "lost their history to it",
    },
    Advice {
        causes: &[Cause::ModelChanged],
        shows: "",
        words: "Keep one model per conversation; give other models work of their own",
        because: "came right after a change of model",
    },
    Advice {
        causes: &[Cause::ToolsAdded, Cause::ToolsRemoved, Cause::ToolsReordered, Cause::ToolChanged],
        shows: "",
        words: "Keep the list of tools as it is while a session runs",
        because: "came after it had changed",
    },
    Advice {
        causes: &[Cause::MessageEdited, Cause::SystemChanged, Cause::ToolChanged],
        shows: "started anew",
        words: "Go on in the running client: a restart writes the whole conversation again",
        because: "came after one",
    },
    Advice {
        causes: &[Cause::SystemChanged],
        shows: "version of the client",
        words: "Update the client between sessions, not within one",
        because: "came after another version had taken over",
    },
    Advice {
        causes: &[Cause::SystemChanged],
        shows: "",
        words: "Keep the system prompt as it is",
        because: "came after it had changed",
    },
    Advice {
        causes: &[
            Cause::MessageEdited,
            Cause::MessageInserted,
            Cause::MessageRemoved,
            Cause::MessageMoved,
            Cause::HistoryTruncated,
            Cause::ResultsReordered,
            Cause::KeyOrder,
            Cause::ImageChanged,
        ],
        shows: "",
        words: "Send the history again byte for byte and only append to it",
        because: "came with another history than the one before",
    },
    Advice {
        causes: &[Cause::ResultsCleared],
        shows: "",
        words: "Clear old tool results rarely and many at once",
        because: "came after some had been cleared",
    },
    Advice {
        causes: &[Cause::ThinkingStripped],
        shows: "",
        words: "Send thinking back unchanged, or take a model that keeps it",
        because: "came after it had been taken out",
    },
    Advice {
        causes: &[Cause::Compacted],
        shows: "",
        words: "Compact at pauses, when the entry would expire anyway",
        because: "came right after a compaction",
    },
    Advice {
        causes: &[Cause::InFlight],
        shows: "",
        words: "Start sub-agents a few seconds apart",
        because: "could not read what was still being written",
    },
    Advice {
        causes: &[Cause::NoBreakpoint, Cause::BeyondLookback, Cause::BreakpointLimit, Cause::TtlOrder],
        shows: "",
        words: "Put breakpoints where the next request looks for them",
        because: "had none at the end of what was cached",
    },
    Advice {
        causes: &[Cause::BelowMinimum],
        shows: "",
        words: "Move shared content into the prefix until it reaches the model's minimum",
        because: "had a prefix too short to be cached",
    },
    Advice {
        causes: &[Cause::OtherScope],
        shows: "",
        words: "Send the requests of one conversation within one workspace",
        because: "were sent in another one",
    },
];

/// Alternatives of which entry lives how long and is found where.
pub(super) const LIFETIME: &str = "lifetime";

/// The family of a what-if, whose members are alternatives, and what to do in words; `None` for those that are nobody's
/// choice, such as other prices.
pub(super) fn of_what_if(name: &str) -> Option<(&'static str, String)> {
    let parts: Vec<&str> = name.split(['+', ',', ' ']).filter(|part| !part.is_empty()).collect();
    let beyond_choice = |part: &&str| part.starts_with("prices=") || part.starts_with("cache=");
    if parts.is_empty() || parts.iter().any(|part| beyond_choice(part)) {
        return None;
    }
    if let Some(model) = parts.iter().find_map(|part| part.strip_prefix("model=")) {
        return Some(("model", format!("Where its answers are good enough, run on {model}")));
    }
    let words = match parts[..] {
        ["ttl=1h"] => "Use the one-hour lifetime where sessions wait longer than five minutes".to_owned(),
        ["ttl=5m"] => "Use the five-minute lifetime where sessions do not wait longer".to_owned(),
        ["ttl=head-1h"] => "Give tools and system prompt one hour, the rest five minutes".to_owned(),
        ["ttl=best"] => "Choose the lifetime of each conversation by its pauses".to_owned(),
        ["no-cache"] => "Do not mark for the cache what is not read again".to_owned(),
        [part] if part.starts_with("keepalive=") => format!("Keep prefixes alive with pings ({part})"),
        [part] if part.starts_with("breakpoints=") => format!("Place breakpoints as {part} does"),
        _ => format!("Do as {name}"),
    };
    Some((LIFETIME, words))
}

#[cfg(test)]
mod tests {
    use super::{Advice, LIFETIME, MISSES, of_what_if};
    use forkcast_sim::diagnosis::CAUSES;

    #[test]
    fn advice_with_words_comes_before_advice_without() {
        for cause in CAUSES {
            let fitting: Vec<&Advice> = MISSES.iter().filter(|advice| advice.causes.contains(&cause)).collect();
            let general = fitting.iter().position(|advice| advice.shows.is_empty());
            assert!(general.is_none_or(|at| at + 1 == fitting.len()), "{cause}");
        }
    }

    #[test]
    fn what_nobody_can_choose_is_no_advice() {
        assert_eq!(of_what_if("prices=2026-11-01"), None);
        assert_eq!(of_what_if("cache=docs-2026-09+ttl=1h"), None);
        assert_eq!(of_what_if("ttl=1h").unwrap().0, LIFETIME);
        assert_eq!(of_what_if("model=claude-sonnet-5").unwrap().0, "model");
        assert_eq!(of_what_if("ttl=1h+keepalive=3@240").unwrap().1, "Do as ttl=1h+keepalive=3@240");
    }
}
