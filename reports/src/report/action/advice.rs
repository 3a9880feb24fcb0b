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

/// What a bill shows whose writes live for one hour already.
pub(super) const ONE_HOUR: &str = "one-hour entries";

/// Causes that somebody can do something about. What chance, the provider or the task itself causes is not among them.
pub(super) const MISSES: [Advice; 16] = [
    Advice {
        causes: &[Cause::Expired],
        shows: ONE_HOUR,
        words: "Keep entries alive, or begin anew, where sessions pause for more than an hour",
        because: "came too late for entries of one hour (the most that can be saved: pings cost too)",
    },
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
        causes: &[Cause::MessageEdited, Cause::SystemChanged],
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

/// What to do for a what-if to come true, in words.
pub(super) fn of_what_if(name: &str) -> String {
    match name {
        "ttl=1h" => "Use the one-hour lifetime".to_owned(),
        "ttl=5m" => "Use the five-minute lifetime".to_owned(),
        "ttl=head-1h" => "Give tools and system prompt one hour, the rest five minutes,".to_owned(),
        "ttl=best" => "Choose the lifetime for each conversation".to_owned(),
        _ if name.contains("keepalive=") => format!("Keep prefixes alive with pings ({name})"),
        _ if name.contains("breakpoints=") => format!("Place breakpoints otherwise ({name})"),
        _ => format!("Do as {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Advice, MISSES};
    use forkcast_sim::diagnosis::CAUSES;

    #[test]
    fn advice_with_words_comes_before_advice_without() {
        for cause in CAUSES {
            let fitting: Vec<&Advice> = MISSES.iter().filter(|advice| advice.causes.contains(&cause)).collect();
            let general = fitting.iter().position(|advice| advice.shows.is_empty());
            assert!(general.is_none_or(|at| at + 1 == fitting.len()), "{cause}");
        }
    }
}
