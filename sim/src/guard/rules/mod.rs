//! What is checked, and how hard. A file says it, and each line of it may be absent:
//!
//! ```toml
//! cache = "docs-2026-09"     # the provider's cache rules
//! stability = "fail"         # each request keeps the prefix of the one before: off, note or fail
//! sharing = "fail"           # forks and siblings share what they can
//! equality = "note"          # the prompt is the one that the lock holds
//! missing = "fail"           # every request of the lock is sent
//! pinned = ["tools"]         # levels whose equality with the lock is always held to `fail`
//! requests_per_day = 1000    # what costs per day are told for
//! in_tests = true            # prompts are short ones of tests: no minimum, and breakpoints where there are none
//!
//! [budget]
//! min_hit_rate = 0.9         # tokens read, of all input tokens of a chain, its first request left out
//! max_cost_per_turn = 0.05   # USD
//! max_breakpoints = 3
//! max_cost_rise = 0.05       # against a lock: how much more of its cost a chain may cost
//! max_hit_rate_fall = 0.02   # against a lock: how much of all input tokens a chain may read less
//!
//! [[allow]]                  # what may happen
//! cause = "compacted"
//! path = "messages"          # a path that begins so; left out, anywhere
//! ```

mod file;

use thiserror::Error;

use super::finding::{Finding, Rule};
use crate::cache;
use crate::diagnosis::Cause;
use crate::pricing::Money;
use crate::wire::Level;

/// Largest number of requests a day that costs are multiplied by.
pub const REQUESTS_PER_DAY_MAX: u64 = 10_000_000_000;

/// What happens to what a rule finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It is not looked for.
    Off,
    /// It is told.
    Note,
    /// The check fails.
    Fail,
}

/// What is checked, and how hard.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The provider's cache rules.
    pub preset: cache::Rules,
    /// Each request keeps the whole prefix of the one before in its chain.
    pub stability: Severity,
    /// Forks share all up to their directive, siblings all that they shared before.
    pub sharing: Severity,
    /// The prompt is the one that the lock holds.
    pub equality: Severity,
    /// Every chain and every request of the lock is sent. Looked at as far as the lock is: not if equality is off and no
    /// level is pinned, and of a chain whose conversation nobody asks about only whether it is there.
    pub missing: Severity,
    /// Levels whose equality with the lock is held to [`Severity::Fail`].
    pub pinned: Vec<Level>,
    /// Figures that must be kept.
    pub budget: Budget,
    /// What may happen.
    pub allow: Vec<Allowed>,
    /// Requests a day that costs per day are told for.
    pub requests_per_day: Option<u64>,
    /// Prompts are those of tests, which are short: every breakpoint counts, however little it covers, and bodies are taken
    /// as marked behind the system prompt and at the end until one carries a breakpoint.
    pub in_tests: bool,
}

/// Figures that must be kept; `None` holds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Tokens read of a thousand input tokens, at least, over a chain without its first request.
    pub min_hit_rate_per_mille: Option<u32>,
    /// What a request may cost.
    pub max_cost_per_turn: Option<Money>,
    /// Breakpoints that a request may carry.
    pub max_breakpoints: Option<usize>,
    /// Thousandths by which a chain may cost more than a lock expects.
    pub max_cost_rise_per_mille: Option<u32>,
    /// Thousandths of all input tokens by which a chain may read less than a lock expects.
    pub max_hit_rate_fall_per_mille: Option<u32>,
}

/// A change that may happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// By this cause.
    pub cause: Cause,
    /// At paths that begin so; `None`: anywhere.
    pub path: Option<String>,
}

/// A text that is no rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: found {found}, expected {expected}")]
pub struct BadRules {
    /// Line, counted from 1.
    pub line: usize,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: String,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            preset: cache::Rules::default(),
            stability: Severity::Fail,
            sharing: Severity::Fail,
            equality: Severity::Note,
            missing: Severity::Fail,
            pinned: Vec::new(),
            budget: Budget::default(),
            allow: Vec::new(),
            requests_per_day: None,
            in_tests: false,
        }
    }
}

impl Rules {
    /// The rules that a text says; what it leaves out is as in [`Rules::default`].
    ///
    /// # Errors
    /// When it is no TOML, or says something that no rule is.
    pub fn from_toml(text: &str) -> Result<Self, BadRules> {
        file::read(text)
    }

    /// How hard `rule` is held.
    pub fn severity(&self, rule: Rule) -> Severity {
        match rule {
            Rule::Stability => self.stability,
            Rule::Sharing => self.sharing,
            Rule::Equality if self.pinned.is_empty() => self.equality,
            Rule::Equality | Rule::Budget => Severity::Fail,
        }
    }

    /// Whether `rule` is looked at.
    pub fn checks(&self, rule: Rule) -> bool {
        match rule {
            Rule::Budget => self.budget != Budget::default(),
            // A lock says so.
            Rule::Equality => false,
            _ => self.severity(rule) != Severity::Off,
        }
    }

    /// Whether the check fails because of `finding`.
    pub fn forbid(&self, finding: &Finding) -> bool {
        let severity = match finding.rule {
            Rule::Equality if !self.pinned.contains(&finding.level) => self.equality,
            rule => self.severity(rule),
        };
        let counts = finding.breaks_prefix || finding.rule == Rule::Equality;
        severity == Severity::Fail && counts && !finding.is_allowed(self)
    }
}
