//! The text of actions for each cause and each what-if: for the author of an agent, and for the user of a client.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::ledger::CauseCost;

use crate::report::Recorded;

/// The reader of the advice: it decides what can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reader {
    /// Writes the agent: requests were recorded as sent.
    Author,
    /// Uses a client whose settings are unknown.
    User,
    /// Uses Claude Code.
    ClaudeCode,
}

impl Reader {
    /// The person who can change something about a request.
    pub fn of(entry: &Recorded<'_>) -> Self {
        match entry.answered {
            None => Self::Author,
            Some(answered) if answered.session.format.name() == "claude-code" => Self::ClaudeCode,
            Some(_) => Self::User,
        }
    }
}

/// The advice for some causes.
pub(super) struct Advice {
    /// Stable word for machines.
    pub code: &'static str,
    /// The causes that it would end.
    pub causes: &'static [Cause],
    /// A phrase in the evidence of a transcript, if it applies only to such requests.
    shows: Option<&'static str>,
    /// The same for people: `if …`.
    case: &'static str,
    /// The what-if that its words name, or the start of its name up to `=`: if it was tried, its figure counts, and not the cost of
    /// the misses.
    what_if: Option<&'static str>,
    /// It moves breakpoints only, so that it saves no more than the lower bound of the same bytes.
    pub is_bounded: bool,
    /// Advice for the author of an agent; by default the suggestion for the cause.
    author: Option<&'static str>,
    /// Advice for the user of a client; by default the suggestion for the cause.
    user: Option<&'static str>,
    /// Advice with the settings of Claude Code (`sim/docs/clients.md`).
    claude_code: Option<&'static str>,
}

impl Advice {
    const fn new(code: &'static str, causes: &'static [Cause]) -> Self {
        Self {
            code,
            causes,
            shows: None,
            case: "",
            what_if: None,
            is_bounded: false,
            author: None,
            user: None,
            claude_code: None,
        }
    }

    /// Limits it to requests with this evidence in a transcript; `case` names them to people.
    const fn where_it(self, shows: &'static str, case: &'static str) -> Self {
        Self { shows: Some(shows), case, ..self }
    }

    /// Sets the what-if that its words name.
    const fn priced_by(self, what_if: &'static str) -> Self {
        Self { what_if: Some(what_if), ..self }
    }

    /// Sets that its saving is at most the distance to the lower bound.
    const fn bounded(self) -> Self {
        Self { is_bounded: true, ..self }
    }

    /// Whether a what-if of this name prices it.
    pub fn is_priced_by(&self, tried: &str) -> bool {
        self.what_if.is_some_and(|name| tried == name || name.ends_with('=') && tried.starts_with(name))
    }

    /// Sets the advice for the author of an agent.
    const fn author(self, words: &'static str) -> Self {
        Self { author: Some(words), ..self }
    }

    /// Sets the advice for the user of a client.
    const fn user(self, words: &'static str) -> Self {
        Self { user: Some(words), ..self }
    }

    /// Sets the advice for the user of Claude Code.
    const fn claude_code(self, words: &'static str) -> Self {
        Self { claude_code: Some(words), ..self }
    }

    /// Whether it would prevent a miss.
    pub fn is_for(&self, cause: Cause, shows: &str) -> bool {
        self.causes.contains(&cause) && self.shows.is_none_or(|words| shows.contains(words))
    }

    /// The advice for this cause. The author of an agent gets what `list causes` says, as in every other output.
    pub fn words(&self, cause: Cause, reader: Reader) -> &'static str {
        let authors = || self.author.unwrap_or_else(|| cause.suggestion().trim_end_matches('.'));
        match reader {
            Reader::Author => authors(),
            Reader::User => self.user.unwrap_or_else(authors),
            Reader::ClaudeCode => self.claude_code.or(self.user).unwrap_or_else(authors),
        }
    }
}

/// What the users of clients can do about a cause, in the words of reports: one line for all clients, or one for Claude
/// Code and one for the others. None if only the author of the agent can do anything.
pub fn in_clients(cause: Cause) -> Vec<String> {
    let said = |reader: Reader| {
        let fitting = MISSES.iter().filter(|advice| advice.causes.contains(&cause) && advice.user.is_some());
        let (special, general): (Vec<_>, Vec<_>) = fitting.partition(|advice| advice.shows.is_some());
        let one = |advice: &Advice| match (advice.case, advice.words(cause, reader)) {
            ("", words) => format!("{words}."),
            (case, words) => format!("{case}: {words}."),
        };
        general.into_iter().chain(special).map(one).collect::<Vec<_>>().join(" ")
    };
    match (said(Reader::ClaudeCode), said(Reader::User)) {
        (_, others) if others.is_empty() => Vec::new(),
        (claude_code, others) if claude_code == others => vec![format!("In a client: {others}")],
        (claude_code, others) => vec![format!("In Claude Code: {claude_code}"), format!("In other clients: {others}")],
    }
}

/// The evidence if the writes of a bill already have a one-hour lifetime.
const ONE_HOUR: &str = "one-hour entries";

/// Whether most of what a request writes lives for an hour.
pub fn lives_an_hour(entry: &Recorded<'_>) -> bool {
    let usage = entry.line.billed().unwrap_or_default();
    usage.ephemeral_1h_input_tokens > usage.ephemeral_5m_input_tokens
}

/// The facts about a miss besides its cause: the evidence of a transcript, or how long the entry lived.
pub(super) fn shown(entry: &Recorded<'_>, cause: Cause) -> &'static str {
    match cause {
        Cause::Expired if lives_an_hour(entry) => ONE_HOUR,
        _ => entry.evidence.as_ref().map_or("", |shown| shown.shows),
    }
}

/// What to do about one cause of a request's missed tokens.
pub fn suggestion(entry: &Recorded<'_>, part: &CauseCost) -> String {
    let shows = shown(entry, part.cause);
    if entry.evidence.as_ref().is_some_and(|evidence| evidence.is_of_provider(part.cause)) {
        return match part.cause {
            Cause::ThinkingStripped => "Nothing in the client: the model does not keep thinking of earlier turns.",
            _ => "Nothing in the client: the provider could not read yet what it had written before.",
        }
        .to_owned();
    }
    match MISSES.iter().find(|advice| advice.is_for(part.cause, shows)) {
        Some(advice) => format!("{}.", advice.words(part.cause, Reader::of(entry))),
        None => part.cause.suggestion().to_owned(),
    }
}

/// Only the client's makers can change it.
const THE_CLIENT: &str = "Report it to the makers of the client: it changed what it had sent before";

/// Only the client's makers can change it.
const ITS_BREAKPOINTS: &str = "Report it to the makers of the client: it placed no breakpoint where one was needed";

/// Causes that can be avoided. Causes by chance, by the provider or by the task itself are not included.
pub(super) const MISSES: [Advice; 15] = [
    Advice::new("pause_over_an_hour", &[Cause::Expired])
        .where_it(ONE_HOUR, "If entries live for an hour already")
        .author("Keep the entry warm, or begin a new conversation before a pause of more than an hour")
        .user("Start a new session, or compact, before a pause of more than an hour")
        .claude_code("Start a new conversation (/clear), or /compact, before a pause of more than an hour"),
    Advice::new("pause", &[Cause::Expired])
        .priced_by("ttl=1h")
        .user("Keep pauses below five minutes, or choose the one-hour lifetime if the client has it")
        .claude_code("Let entries live for an hour (setting promptCacheTtl \"1h\", or ENABLE_PROMPT_CACHING_1H=1)"),
    Advice::new("setting_changed", &[Cause::LevelParameter])
        .user("Keep thinking, effort and output settings fixed within a session"),
    Advice::new("model_changed", &[Cause::ModelChanged])
        .user("Keep one model in a long session; change it in a new one"),
    Advice::new("tools_changed", &[Cause::ToolsAdded, Cause::ToolsRemoved, Cause::ToolsReordered, Cause::ToolChanged])
        .user("Connect servers and load tools at the beginning of a session, not within it"),
    Advice::new("restart", &[Cause::MessageEdited, Cause::SystemChanged])
        .where_it("started again", "After a restart")
        .user("Do not restart the client in a long session"),
    Advice::new("update", &[Cause::SystemChanged])
        .where_it("version of the client", "After an update")
        .user("Update the client between sessions, not within one"),
    Advice::new("system_changed", &[Cause::SystemChanged])
        .user("Keep instructions, output style and working directory as they are within a session"),
    Advice::new(
        "history_changed",
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
    )
    .user(THE_CLIENT),
    Advice::new("results_cleared", &[Cause::ResultsCleared]).user(THE_CLIENT),
    Advice::new("thinking_stripped", &[Cause::ThinkingStripped]).user(THE_CLIENT),
    Advice::new("compacted", &[Cause::Compacted]).user("Compact rarely, at a natural pause"),
    Advice::new("in_flight", &[Cause::InFlight]),
    Advice::new("breakpoints", &[Cause::NoBreakpoint, Cause::BeyondLookback, Cause::BreakpointLimit, Cause::TtlOrder])
        .user(ITS_BREAKPOINTS)
        .priced_by("breakpoints=")
        .bounded(),
    Advice::new("other_scope", &[Cause::OtherScope]).user("Stay in one workspace and one account within a session"),
];

/// The change that a what-if makes.
pub(super) struct Change {
    /// Stable word for machines.
    pub code: &'static str,
    /// In words.
    pub words: String,
}

/// The change of the what-if with this name.
pub(super) fn change(name: &str, reader: Reader) -> Change {
    let settings = reader == Reader::ClaudeCode;
    let (code, words) = match name {
        "ttl=1h" if settings => (
            "ttl_1h",
            "Let entries live for an hour (setting promptCacheTtl \"1h\", or ENABLE_PROMPT_CACHING_1H=1)".to_owned(),
        ),
        "ttl=1h" => ("ttl_1h", "Use the one-hour lifetime".to_owned()),
        "ttl=5m" if settings => {
            ("ttl_5m", "Let entries live for five minutes (setting promptCacheTtl \"5m\")".to_owned())
        }
        "ttl=5m" => ("ttl_5m", "Use the five-minute lifetime".to_owned()),
        "ttl=head-1h" => ("ttl_head_1h", "Give tools and system prompt one hour, the rest five minutes,".to_owned()),
        "ttl=best" => ("ttl_best", "Choose the lifetime for each conversation".to_owned()),
        _ if name.contains("keepalive=") => ("keepalive", format!("Keep prefixes alive with pings ({name})")),
        _ if name.contains("breakpoints=") => ("breakpoints", format!("Place breakpoints differently ({name})")),
        _ => match name.strip_prefix("model=") {
            Some(model) => ("model", format!("Use {model}")),
            None => ("what_if", format!("Change {name}")),
        },
    };
    Change { code, words }
}

#[cfg(test)]
mod tests {
    use super::{Advice, MISSES, in_clients};
    use forkcast_sim::diagnosis::{CAUSES, Cause};

    #[test]
    fn the_meaning_of_a_cause_has_the_words_of_the_first_screen() {
        assert_eq!(
            in_clients(Cause::Expired),
            [
                "In Claude Code: Let entries live for an hour (setting promptCacheTtl \"1h\", or \
                 ENABLE_PROMPT_CACHING_1H=1). If entries live for an hour already: Start a new conversation (/clear), or \
                 /compact, before a pause of more than an hour.",
                "In other clients: Keep pauses below five minutes, or choose the one-hour lifetime if the client has it. \
                 If entries live for an hour already: Start a new session, or compact, before a pause of more than an hour.",
            ]
        );
        assert_eq!(
            in_clients(Cause::MessageEdited)[0],
            "In a client: Report it to the makers of the client: it changed what it had sent before. After a restart: Do not \
             restart the client in a long session."
        );
        let unknown: Vec<Cause> = CAUSES.into_iter().filter(|cause| in_clients(*cause).is_empty()).collect();
        assert!(!unknown.contains(&Cause::SystemChanged) && unknown.contains(&Cause::Unexplained), "{unknown:?}");
    }

    #[test]
    fn advice_for_special_cases_comes_before_general_advice() {
        for cause in CAUSES {
            let fitting: Vec<&Advice> = MISSES.iter().filter(|advice| advice.causes.contains(&cause)).collect();
            let general = fitting.iter().position(|advice| advice.shows.is_none());
            assert!(general.is_none_or(|at| at + 1 == fitting.len()), "{cause}");
        }
    }
}
