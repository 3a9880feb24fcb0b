//! The table of habits (`observed.md` 2, 5, 6). Recordings are those of `data/README.md`, Claude Code 2.0.64 to 2.1.219, 2026-01
//! to 2026-08; "release notes" are the client's published ones, read 2026-11-22. A habit holds only for versions in which it was
//! seen. The tests measure each on recordings that it was not written on.

use forkcast_sim::words;

use super::{RuleName, Version};
use crate::formats::Format;

words! {
    /// The confidence in a rule.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Confidence {
        /// Documented, or observed without exception in several sources.
        High = "high",
        /// Observed in one source, or documented and rarely observed.
        Medium = "medium",
    }
}

/// One rule, for whom it holds, and why.
#[derive(Clone, Copy, Debug)]
pub struct Habit {
    /// The rule.
    pub rule: RuleName,
    /// Whose habit it is; `None` for a rule of the cache or the model, which holds for every client.
    pub client: Option<Format>,
    /// First version.
    pub from: Option<Version>,
    /// Last version.
    pub until: Option<Version>,
    /// How sure it is.
    pub confidence: Confidence,
    /// A provider's document states what it rests on; no recording is needed to know it.
    pub documented: bool,
    /// Why it is believed to be so.
    pub rationale: &'static str,
    /// What shows it.
    pub evidence: &'static str,
    /// Where it was tried and failed; there it does not fire.
    pub failed: &'static str,
    /// The recordings by which it was found; it is measured on the others.
    pub written_on: &'static [&'static str],
}

impl Habit {
    /// Whether it holds for this client in this version.
    pub fn holds(&self, client: Format, version: Option<Version>) -> bool {
        if self.client.is_some_and(|own| own != client) {
            return false;
        }
        if self.from.is_none() && self.until.is_none() {
            return true;
        }
        version.is_some_and(|version| {
            self.from.is_none_or(|from| version >= from) && self.until.is_none_or(|until| version <= until)
        })
    }

    /// The versions in words.
    pub fn versions(&self) -> String {
        let dotted = |(major, minor, patch): Version| format!("{major}.{minor}.{patch}");
        match (self.from.map(dotted), self.until.map(dotted)) {
            (None, None) => "all".to_owned(),
            (Some(from), None) => format!("from {from}"),
            (None, Some(until)) => format!("to {until}"),
            (Some(from), Some(until)) if from == until => from,
            (Some(from), Some(until)) => format!("{from} to {until}"),
        }
    }
}

const ENTIRE: &str = "cc-entireio-cli";
const MAROT: &str = "cc-marot-spotter";
const POSH: &str = "cc-oh-my-posh";
const GIT_SYNC: &str = "cc-entire-git-sync";
const SKILLS: &str = "cc-entire-skills";
const AUTH: &str = "cc-entire-auth-go";
const PACKMIND: &str = "cc-packmind-context-evaluator";

const fn of_the_cache(rule: RuleName, confidence: Confidence) -> Habit {
    Habit {
        rule,
        client: None,
        from: None,
        until: None,
        confidence,
        documented: false,
        rationale: "",
        evidence: "",
        failed: "",
        written_on: &[],
    }
}

const fn of_claude_code(
    rule: RuleName,
    confidence: Confidence,
    from: Option<Version>,
    until: Option<Version>,
) -> Habit {
    Habit { client: Some(Format::ClaudeCode), from, until, ..of_the_cache(rule, confidence) }
}

use Confidence::{High, Medium};

/// All habits, in the order of their rules.
pub const HABITS: [Habit; 27] = [
    Habit {
        rationale: "the cache keeps what a request sent, for its lifetime",
        evidence: "documents; 98.9 % of verdicts of 12,014 requests by this rule and the lifetime alone",
        documented: true,
        ..of_the_cache(RuleName::Full, High)
    },
    Habit {
        rationale: "the client asks for a suggestion of the next prompt after an answer; that request ends with the answer",
        evidence: "present in 89 of 91 turn ends below 10,000 new tokens, in none of 3 above (2.1.59 on); learnt by user and version",
        written_on: &[ENTIRE, POSH],
        ..of_claude_code(RuleName::FollowUp, High, None, None)
    },
    Habit {
        rationale: "a request that the user took back can be read from its first byte on",
        evidence: "9 of 10 interrupted prompts read to their end, within 99 tokens",
        written_on: &[ENTIRE],
        ..of_claude_code(RuleName::Interrupted, High, None, None)
    },
    Habit {
        rationale: "a summary for a user who is away is a hidden request on the same prompt; it uses the prefix within its lifetime",
        evidence: "3 of 3 requests after more than the lifetime were read to their end (2.1.108 to 2.1.126)",
        failed: "more than the lifetime after the summary 0 of 43 were read",
        written_on: &[SKILLS],
        ..of_claude_code(RuleName::AwaySummary, Medium, None, None)
    },
    Habit {
        rationale: "entries belong to one model (prompt-caching page)",
        evidence: "3 of 3 switches",
        written_on: &[ENTIRE],
        documented: true,
        ..of_the_cache(RuleName::ModelChanged, High)
    },
    Habit {
        rationale: "a summary replaces the conversation (the client's prompt-caching page, 2026-08)",
        evidence: "64 of 64 compactions miss; the read lands in the hidden prefix",
        written_on: &[ENTIRE],
        documented: true,
        ..of_the_cache(RuleName::Compacted, High)
    },
    Habit {
        rationale: "the system prompt and the messages are built again when a session is resumed, also after the releases 2.1.90 and 2.1.97 whose notes say that it is fixed",
        evidence: "23 of 24 resumed sessions missed up to 2.1.96, 12 of 13 with a hook from 2.1.109 to 2.1.205; where the permission mode was written down more often than the last prompt 13 of 13 missed (2.1.109 to 2.1.179), 5 of them without a hook",
        failed: "one of two at 2.1.205; at 2.1.330 resuming keeps every byte",
        written_on: &[ENTIRE, GIT_SYNC, SKILLS, AUTH],
        ..of_claude_code(RuleName::Restarted, High, None, Some((2, 1, 205)))
    },
    Habit {
        rationale: "if a client queues all prompts, a prompt without a queue shows that it was started again",
        evidence: "8 of 8 restarts, 6 of them named system_changed by the provider (2.1.205 to 2.1.217)",
        failed: "at 2.1.330 resuming keeps every byte",
        written_on: &[POSH],
        ..of_claude_code(RuleName::Unqueued, Medium, Some((2, 1, 200)), Some((2, 1, 219)))
    },
    Habit {
        rationale: "a server that connects changes tools and system prompt (the client's prompt-caching page, 2026-08)",
        evidence: "1 of 1 reconnected with `/mcp` (2.1.38); release notes of 2.1.70 fix it",
        written_on: &[MAROT],
        documented: true,
        ..of_claude_code(RuleName::Reconnected, Medium, None, Some((2, 1, 69)))
    },
    Habit {
        rationale: "old results are replaced by a placeholder, which the client writes down",
        evidence: "3 of 3",
        written_on: &[ENTIRE],
        ..of_the_cache(RuleName::MicroCompacted, High)
    },
    Habit {
        rationale: "a prompt that shrinks within a turn lost old results",
        evidence: "5 of 5, up to 2.1.17",
        written_on: &[ENTIRE],
        ..of_the_cache(RuleName::Cleared, Medium)
    },
    Habit {
        rationale: "system prompt and tools come with the version (the client's prompt-caching page, 2026-08)",
        evidence: "no recorded case that nothing else decides",
        documented: true,
        ..of_claude_code(RuleName::VersionChanged, Medium, None, None)
    },
    Habit {
        rationale: "thinking is a parameter of the messages (prompt-caching page); prompts of skills and commands carry no note of it and run without",
        evidence: "45 of 45 switches missed; three users",
        written_on: &[ENTIRE],
        documented: true,
        ..of_claude_code(RuleName::Thinking, High, Some((2, 1, 14)), Some((2, 1, 37)))
    },
    Habit {
        rationale: "effort is a parameter of the messages (prompt-caching page, 2026-09)",
        evidence: "2 of 2 switches (2.1.205 to 2.1.219)",
        failed: "later versions keep the cache on models that accept system messages within a conversation",
        written_on: &[POSH],
        documented: true,
        ..of_the_cache(RuleName::Effort, Medium)
    },
    Habit {
        rationale: "fast mode sends a header that belongs to the cache key, from 2.1.86 on in all requests after the first fast one (the client's prompt-caching page, 2026-08)",
        evidence: "no public recording has a fast request",
        documented: true,
        ..of_claude_code(RuleName::Fast, Medium, Some((2, 1, 36)), None)
    },
    Habit {
        rationale: "a request repeated without a stream thinks with another budget",
        evidence: "4 of 4 missed, and the next read what came before it (2.1.1 to 2.1.50)",
        failed: "11 of 13 were read from 2.1.112 to 2.1.204; at 2.1.330 its prompt has the same bytes",
        written_on: &[ENTIRE],
        ..of_claude_code(RuleName::AtOnce, High, None, Some((2, 1, 50)))
    },
    Habit {
        rationale: "the first tools that a session asks for by name go into the list of tools",
        evidence: "36 of 36 first searches for tools missed, each diagnosed one named tools_changed by the provider; the read is that of the session's first request and 93 tokens (19 of 22), or nothing if that read nothing (5 of 6)",
        failed: "later searches of a session: 0 of 14; 1 of 35 from 2.1.78 to 2.1.111; none of 19 from 2.1.206 on",
        written_on: &[POSH],
        ..of_claude_code(RuleName::ToolsLoaded, High, Some((2, 1, 112)), Some((2, 1, 205)))
    },
    Habit {
        rationale: "what a hook adds after a tool is placed elsewhere once the turn is over; an entry from before it is still read",
        evidence: "8 of 8 turns with such a hook missed (2.1.217 to 2.1.219), one of them in a public folder, diagnosed messages_changed",
        failed: "2 of 2 were read at 2.1.232; long turns without such a hook: 1 of 113 missed",
        written_on: &[POSH],
        ..of_claude_code(RuleName::HookContext, Medium, Some((2, 1, 217)), Some((2, 1, 219)))
    },
    Habit {
        rationale: "the messages of a teammate are built again during its first seconds",
        evidence: "29 of 30 requests in the first 20 s missed, 11 of 20 up to 30 s, 6 of 42 up to a minute (2.1.39 to 2.1.42)",
        failed: "2 % later on; none of 18 of the sessions that lead a team; no public folder has one",
        ..of_claude_code(RuleName::Teammate, Medium, Some((2, 1, 39)), Some((2, 1, 42)))
    },
    Habit {
        rationale: "models that accept system messages within a conversation get reminders and files as one, after the breakpoint on the last result",
        evidence: "344 of 344 requests with attachments after the last result on Opus 4.8, Fable 5 and Sonnet 5 (2.1.156 to 2.1.205)",
        failed: "11 of 202 on Opus 4.7 (2.1.143 to 2.1.153); none of 210 on any model from 2.1.209 on",
        written_on: &[GIT_SYNC, SKILLS, AUTH, POSH],
        ..of_claude_code(RuleName::Tail, High, Some((2, 1, 154)), Some((2, 1, 205)))
    },
    Habit {
        rationale: "entries live five minutes or an hour from their last use (prompt-caching page)",
        evidence: "of 12 requests 300 to 315 s after the last use, 9 were read, later ones not",
        written_on: &[ENTIRE],
        documented: true,
        ..of_the_cache(RuleName::Expired, High)
    },
    Habit {
        rationale: "older models drop thinking of earlier turns when a user speaks (extended-thinking page)",
        evidence: "38 ends of turns of Sonnet 4.5 and Haiku 4.5",
        failed: "102 of 113 ends of turns of Sonnet 4.5 at 2.1.42 were read in full",
        written_on: &[ENTIRE],
        ..of_claude_code(RuleName::Stripped, Medium, None, Some((2, 1, 17)))
    },
    Habit {
        rationale: "everything before the point of return is still cached (the client's prompt-caching page, 2026-08)",
        evidence: "no recorded case that nothing else decides; a prompt that shrank is its sign, which no document states",
        ..of_the_cache(RuleName::Rewound, Medium)
    },
    Habit {
        rationale: "one breakpoint in the messages; the cache looks back a number of positions from it (prompt-caching page)",
        evidence: "2 of 2 beyond the reach missed",
        written_on: &[POSH],
        documented: true,
        ..of_claude_code(RuleName::BeyondReach, Medium, Some((2, 1, 100)), None)
    },
    Habit {
        rationale: "sessions of one user, version and model have the same tools and system prompt",
        evidence: "1h: 7 of 7 read it after expiry, against 14 of 34 without another session; 5m: 5 of 8 against 8 of 221",
        written_on: &[ENTIRE],
        ..of_the_cache(RuleName::SharedHead, High)
    },
    Habit {
        rationale: "somebody who is not in the input keeps the hidden prefix alive: others of the organisation or, from 2.1.84 on, everybody, for then the first system block is cached for all (release notes); it is as the newest cold starts found it",
        evidence: "from 2.1.84 on the newest cold start of the session, else of the version and model, decides: 72 of 83 expired sessions; before, the last two to five of the user: 8 of 9",
        failed: "a version that few still use loses it: 2.1.91 0 of 7, 2.1.108 2 of 9, 2.1.129 1 of 5; before 2.1.84 the session's own newest cold start broke 10 of 19 on one source; the number of two to five was chosen with two sources in view",
        written_on: &[PACKMIND, ENTIRE, POSH, GIT_SYNC, SKILLS, AUTH],
        ..of_claude_code(RuleName::WarmHead, Medium, None, None)
    },
    Habit {
        rationale: "the request for the summary goes out with tools and system prompt of the conversation",
        evidence: "what follows reads them although the conversation had expired; seen on the wire at 2.1.330",
        written_on: &[ENTIRE],
        ..of_claude_code(RuleName::CompactionReadsHead, Medium, Some((2, 1, 38)), None)
    },
];
