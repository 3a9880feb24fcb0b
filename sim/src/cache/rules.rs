//! The switches of the marked family and their dated presets.
//!
//! Each switch is a question that the provider's documents leave open, or on which documents and recordings disagree
//! (`providers.md` 8, `observed.md` 1).

use crate::time::Duration;
use crate::wire::NormalForms;

/// Unit of the look-back: what counts as one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionCount {
    /// Every content block (prompt-caching page of 2026-08-21).
    Blocks,
    /// A run of consecutive tool calls, or of consecutive tool results, is one position (page after 2026-09-22).
    Runs,
    /// Every content block but thinking (recordings of 2026-01 to 2026-08).
    BlocksWithoutThinking,
}

impl PositionCount {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Runs => "runs",
            Self::BlocksWithoutThinking => "blocks without thinking",
        }
    }
}

/// How far back from a breakpoint the cache looks for an earlier write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookBack {
    /// What counts as one position.
    pub count: PositionCount,
    /// Positions checked, including the breakpoint itself.
    pub reach: u32,
}

impl LookBack {
    /// The rule for one provider: only Anthropic's own API counts runs (`providers.md` 8 no. 1, page after 2026-09-22).
    #[must_use]
    pub const fn of(self, counts_each_block: bool) -> Self {
        match self.count {
            PositionCount::Runs if counts_each_block => Self { count: PositionCount::Blocks, ..self },
            _ => self,
        }
    }
}

/// Which entries a hit keeps alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// The hit and every live entry of a shorter prefix of it (56 of 56 recorded cases, 2026-08).
    Chain,
    /// The hit alone.
    HitOnly,
}

/// When an entry becomes readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisibleFrom {
    /// The first byte of the writer's answer (prompt-caching page, concurrent requests, 2026-09).
    FirstByte,
    /// The writer's request, as if writes were instantaneous.
    RequestStart,
    /// The end of the writer's answer.
    ResponseEnd,
}

/// When a lifetime begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifetimeClock {
    /// At the start of the request that wrote or read the entry (prompt-caching page, 2026-09).
    RequestStart,
    /// At the end of that request's answer.
    ResponseEnd,
}

/// All switches of a marked cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Name of the preset, for reports.
    pub name: &'static str,
    /// Its source, in one sentence.
    pub source: &'static str,
    /// Normal forms of the wire under this preset.
    pub forms: NormalForms,
    /// The look-back.
    pub look_back: LookBack,
    /// Whether a five-minute breakpoint can read an entry written for an hour and vice versa. The billing text names no
    /// lifetime, hence the default.
    pub reads_any_ttl: bool,
    /// Which entries a hit refreshes.
    pub refresh: Refresh,
    /// Whether a breakpoint with a longer lifetime on a prefix that is read extends the entry to that lifetime. Nothing
    /// is billed below the hit, hence the default: no.
    pub read_lifts_ttl: bool,
    /// When an entry becomes readable.
    pub visible_from: VisibleFrom,
    /// When lifetimes begin.
    pub lifetime_clock: LifetimeClock,
    /// How long an entry is still found after the end of its lifetime.
    pub slack: Duration,
    /// Whether the write of a request that failed after its first byte stays.
    pub failed_write_stands: bool,
    /// Chance, in millionths, that a write is lost immediately. The documents promise a minimum lifetime, hence zero.
    pub loss_per_million: u32,
    /// Most breakpoints of a request.
    pub breakpoints_max: usize,
}

const DOCS_2026_09: Rules = Rules {
    name: "docs-2026-09",
    source: "platform.claude.com prompt-caching page, copy between 2026-09-22 and 2026-09-28",
    forms: NormalForms::DEFAULT,
    look_back: LookBack { count: PositionCount::Runs, reach: 20 },
    reads_any_ttl: true,
    refresh: Refresh::Chain,
    read_lifts_ttl: false,
    visible_from: VisibleFrom::FirstByte,
    lifetime_clock: LifetimeClock::RequestStart,
    slack: Duration(0),
    failed_write_stands: true,
    loss_per_million: 0,
    breakpoints_max: 4,
};

/// The presets, the default first.
pub const PRESETS: [Rules; 3] = [
    DOCS_2026_09,
    Rules {
        name: "docs-2026-08",
        source: "platform.claude.com prompt-caching page, copy of 2026-08-21",
        look_back: LookBack { count: PositionCount::Blocks, reach: 20 },
        ..DOCS_2026_09
    },
    Rules {
        name: "observed-2026-08",
        source: "recorded exchanges of 2026-01 to 2026-08: the smallest reach that fits them is 22, the largest 25",
        look_back: LookBack { count: PositionCount::BlocksWithoutThinking, reach: 22 },
        // Hits were seen up to 15 s after the lifetime (22,698 recorded requests, 2026-01 to 2026-08).
        slack: Duration::from_secs(15),
        ..DOCS_2026_09
    },
];

impl Default for Rules {
    fn default() -> Self {
        DOCS_2026_09
    }
}

impl Rules {
    /// The preset called `name`.
    ///
    /// ```
    /// use forkcast_sim::cache::Rules;
    ///
    /// assert_eq!(Rules::preset("docs-2026-09").map(|rules| rules.name), Some("docs-2026-09"));
    /// assert!(Rules::preset("docs-1999").is_none());
    /// ```
    pub fn preset(name: &str) -> Option<Self> {
        PRESETS.into_iter().find(|rules| rules.name == name)
    }

    /// The preset for a recording made `days_since_unix_epoch`: observed rules before 2026-09-22, the documented rules
    /// from then on.
    pub fn for_recording(days_since_unix_epoch: Option<i64>) -> Self {
        const DAY_2026_09_22: i64 = 20_718;
        match days_since_unix_epoch {
            Some(day) if day < DAY_2026_09_22 => PRESETS[2],
            _ => PRESETS[0],
        }
    }
}
