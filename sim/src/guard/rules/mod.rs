//! Checks and their severities. Read from a file in which every line is optional:
//!
//! ```toml
//! cache = "docs-2026-09"     # the provider's cache rules
//! stability = "fail"         # each request keeps the prefix of the previous one: off, note or fail
//! sharing = "fail"           # forks and siblings share what they can
//! breakpoints = "fail"       # breakpoints cover the history that the next request repeats
//! siblings_differ = "note"   # agents of one kind differ from their first requests on
//! equality = "note"          # the prompt equals the one in the lock
//! missing = "fail"           # every request of the lock is sent
//! thinking = "fail"          # thinking is sent again after the content that it was made after
//! account_created = "2026-07-01"  # decides what some models do with such thinking
//! pinned = ["tools"]         # levels in which a difference from the lock always fails
//! requests_per_day = 1000    # for costs per day
//! in_tests = true            # prompts are short, as in tests: no minimum, and breakpoints are assumed if there are none
//!
//! [budget]
//! min_hit_rate = 0.9         # share of input tokens read, over a chain without its first request
//! max_cost_per_turn = 0.05   # USD
//! max_breakpoints = 3
//! max_cost_rise = 0.05       # against a lock: by how much a chain's cost may rise
//! max_hit_rate_fall = 0.02   # against a lock: by how much the share of tokens read may fall
//!
//! [[allow]]                  # allowed changes
//! cause = "compacted"
//! path = "messages"          # beginning of the path; without it, anywhere
//! ```

mod file;

use thiserror::Error;

use super::finding::{Finding, Rule};
use crate::cache;
use crate::diagnosis::Cause;
use crate::pricing::{Date, Money};
use crate::wire::Level;

/// Most requests a day that costs are multiplied by.
pub const REQUESTS_PER_DAY_MAX: u64 = 10_000_000_000;

/// Treatment of the findings of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It is not checked.
    Off,
    /// It is reported.
    Note,
    /// The check fails.
    Fail,
}

/// Checks and their severities.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The provider's cache rules.
    pub preset: cache::Rules,
    /// Each request keeps the whole prefix of the previous one in its chain.
    pub stability: Severity,
    /// Forks share everything up to their directive, siblings everything that earlier siblings shared.
    pub sharing: Severity,
    /// Breakpoints cover the history that the next request repeats.
    pub breakpoints: Severity,
    /// Agents of one kind have the same tools, system prompt and settings from their first requests on.
    pub siblings: Severity,
    /// The prompt equals the one in the lock.
    pub equality: Severity,
    /// Every chain and every request of the lock is sent. Limited to the compared part of the lock: not checked if
    /// equality is off and no level is pinned; a chain whose conversation is not compared only has to exist.
    pub missing: Severity,
    /// Thinking is sent again after the content that it was made after, where the model checks it.
    pub thinking: Severity,
    /// When the account was created: accounts from 2026-08-31 on get HTTP 400 for thinking that older ones pay for.
    pub account_created: Option<Date>,
    /// Levels in which a difference from the lock always is a [`Severity::Fail`].
    pub pinned: Vec<Level>,
    /// Limits on figures.
    pub budget: Budget,
    /// Allowed changes.
    pub allow: Vec<Allowed>,
    /// Requests a day, for costs per day.
    pub requests_per_day: Option<u64>,
    /// Prompts are short, as in tests: every breakpoint counts, however little it covers, and breakpoints after the
    /// system prompt and at the end are assumed until a body carries one.
    pub in_tests: bool,
}

/// Limits on figures; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Least share of tokens read, per thousand input tokens, of a chain without its first request.
    pub min_hit_rate_per_mille: Option<u32>,
    /// Highest cost of a request.
    pub max_cost_per_turn: Option<Money>,
    /// Most breakpoints of a request.
    pub max_breakpoints: Option<usize>,
    /// Thousandths by which a chain's cost may exceed a lock's.
    pub max_cost_rise_per_mille: Option<u32>,
    /// Thousandths of all input tokens by which a chain's reads may fall below a lock's.
    pub max_hit_rate_fall_per_mille: Option<u32>,
}

/// An allowed change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Its cause.
    pub cause: Cause,
    /// Beginning of its path; `None` for any.
    pub path: Option<String>,
}

/// An error in a text of rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: found {found}, expected {expected}")]
pub struct BadRules {
    /// Line, counted from 1.
    pub line: usize,
    /// The text found.
    pub found: String,
    /// The text expected.
    pub expected: String,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            preset: cache::Rules::default(),
            stability: Severity::Fail,
            sharing: Severity::Fail,
            breakpoints: Severity::Fail,
            siblings: Severity::Note,
            equality: Severity::Note,
            missing: Severity::Fail,
            thinking: Severity::Fail,
            account_created: None,
            pinned: Vec::new(),
            budget: Budget::default(),
            allow: Vec::new(),
            requests_per_day: None,
            in_tests: false,
        }
    }
}

impl Rules {
    /// Parses rules; missing ones are as in [`Rules::default`].
    ///
    /// # Errors
    /// When the text is no TOML, or contains something that is no rule.
    pub fn from_toml(text: &str) -> Result<Self, BadRules> {
        Self::default().with_toml(text)
    }

    /// Parses rules; missing ones stay as they are.
    ///
    /// # Errors
    /// When the text is no TOML, or contains something that is no rule.
    pub fn with_toml(self, text: &str) -> Result<Self, BadRules> {
        file::read(self, text)
    }

    /// The severity of `rule`.
    pub fn severity(&self, rule: Rule) -> Severity {
        match rule {
            Rule::Stability => self.stability,
            Rule::Sharing => self.sharing,
            Rule::Breakpoints => self.breakpoints,
            Rule::Siblings => self.siblings,
            Rule::Thinking => self.thinking,
            Rule::Equality if self.pinned.is_empty() => self.equality,
            Rule::Equality | Rule::Budget => Severity::Fail,
        }
    }

    /// Whether `rule` is checked.
    pub fn checks(&self, rule: Rule) -> bool {
        match rule {
            Rule::Budget => self.budget != Budget::default(),
            // The lock decides this, and whether a request with thinking was checked. The score lists the last two only
            // where they are broken: most inputs have nothing that they could be about.
            Rule::Equality | Rule::Thinking | Rule::Breakpoints | Rule::Siblings => false,
            _ => self.severity(rule) != Severity::Off,
        }
    }

    /// Whether the check fails because of `finding`.
    pub fn forbid(&self, finding: &Finding) -> bool {
        let severity = match finding.rule {
            Rule::Equality if !self.pinned.contains(&finding.level) => self.equality,
            // No change made the prompt short, and some prompts have to be.
            Rule::Breakpoints if finding.cause == Cause::BelowMinimum => self.breakpoints.min(Severity::Note),
            rule => self.severity(rule),
        };
        let counts = finding.breaks_prefix || finding.rule == Rule::Equality;
        severity == Severity::Fail && counts && !finding.is_allowed(self)
    }
}
