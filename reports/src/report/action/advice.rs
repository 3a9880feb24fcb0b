//! What to do about each cause and what each what-if stands for, in words.

use forkcast_sim::diagnosis::Cause;

/// What to do about some causes.
pub(super) struct Advice {
    /// The causes that it would end. What saves the first is said of all.
    pub causes: &'static [Cause],
    /// What became of the requests that missed: "3 requests …".
    pub because: &'static str,
    /// Where a transcript shows more of what happened.
    special: Option<Special>,
}

/// Advice for requests of which more is known than their cause.
struct Special {
    /// Words in what a transcript shows.
    shows: &'static str,
    /// What to do.
    words: &'static str,
}

impl Advice {
    const fn new(causes: &'static [Cause], because: &'static str) -> Self {
        Self { causes, because, special: None }
    }

    /// What to do where a transcript `shows` this.
    const fn instead(self, shows: &'static str, words: &'static str) -> Self {
        Self { special: Some(Special { shows, words }), ..self }
    }

    /// Whether a miss is one of those that it would end.
    pub fn is_for(&self, cause: Cause, shows: &str) -> bool {
        self.causes.contains(&cause) && self.special.as_ref().is_none_or(|special| shows.contains(special.shows))
    }

    /// What to do.
    pub fn words(&self) -> &'static str {
        match &self.special {
            Some(special) => special.words,
            None => self.causes.first().map_or("", |cause| cause.suggestion().trim_end_matches('.')),
        }
    }
}

/// What a bill shows whose writes live for one hour already.
pub(super) const ONE_HOUR: &str = "one-hour entries";

/// Causes that somebody can do something about. What chance, the provider or the task itself causes is not among them.
pub(super) const MISSES: [Advice; 16] = [
    Advice::new(
        &[Cause::Expired],
        "came too late for entries of one hour (the most that can be saved: pings cost too)",
    )
    .instead(ONE_HOUR, "Keep entries alive, or begin anew, where sessions pause for more than an hour"),
    Advice::new(
        &[Cause::Expired],
        "came too late for their entry (the most that can be saved: longer lives cost more)",
    ),
    Advice::new(&[Cause::LevelParameter], "lost their history to another setting"),
    Advice::new(&[Cause::ModelChanged], "came right after a change of model"),
    Advice::new(
        &[Cause::ToolsAdded, Cause::ToolsRemoved, Cause::ToolsReordered, Cause::ToolChanged],
        "came after it had changed",
    ),
    Advice::new(&[Cause::MessageEdited, Cause::SystemChanged], "came after one")
        .instead("started anew", "Go on in the running client: a restart writes the whole conversation again"),
    Advice::new(&[Cause::SystemChanged], "came after another version had taken over")
        .instead("version of the client", "Update the client between sessions, not within one"),
    Advice::new(&[Cause::SystemChanged], "came after it had changed"),
    Advice::new(
        &[
            Cause::MessageEdited,
            Cause::MessageInserted,
            Cause::MessageRemoved,
            Cause::MessageMoved,
            Cause::HistoryTruncated,
            Cause::ResultsReordered,
            Cause::KeyOrder,
            Cause::ImageChanged,
        ],
        "came with another history than the one before",
    ),
    Advice::new(&[Cause::ResultsCleared], "came after some had been cleared"),
    Advice::new(&[Cause::ThinkingStripped], "came after some had been taken out"),
    Advice::new(&[Cause::Compacted], "came right after a compaction"),
    Advice::new(&[Cause::InFlight], "could not read what was still being written"),
    Advice::new(
        &[Cause::NoBreakpoint, Cause::BeyondLookback, Cause::BreakpointLimit, Cause::TtlOrder],
        "had none at the end of what was cached",
    ),
    Advice::new(&[Cause::BelowMinimum], "had a prefix too short to be cached"),
    Advice::new(&[Cause::OtherScope], "were sent in another one"),
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
            let general = fitting.iter().position(|advice| advice.special.is_none());
            assert!(general.is_none_or(|at| at + 1 == fitting.len()), "{cause}");
        }
    }
}
