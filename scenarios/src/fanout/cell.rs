//! The parameters of one fan-out.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, LaunchPolicy, Profile};
use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::thousands;
use forkcast_sim::simulation::{Pace, RateLimits};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::Ttl;
use forkcast_sim::wire::model::{self, Vendor};

/// Tokens of the published example's tools and system prompt (`economics.md` 3.7); the rest of a prefix is history.
const TOOLS: u64 = 12_000;
const SYSTEM: u64 = 4_000;

/// Maximum number of requests in one cell: more take minutes and gigabytes without new information.
pub const REQUESTS_MAX: u64 = 1_000_000;

/// Maximum number of tokens in all requests of a cell, or of a scenario with declared sizes. It keeps sums of money far
/// within their integers.
pub const TOKENS_MAX: u128 = 1_000_000_000_000_000;

/// Maximum number of children if their answers differ. A thousand take 1.5 s of processor time and 170 MB with real
/// results, two thousand more than ten seconds: each child searches for N results among those of its parent (measured
/// 2026-11-22).
pub const OWN_ANSWERS_CHILDREN_MAX: u32 = 1_000;

/// Maximum number of days that a cell's clock may run; the runtime itself stops after a year.
pub const DAYS_MAX: u128 = 300;

const NANOS_PER_DAY: u128 = 86_400_000_000_000;

/// Parameters of a fan-out. All sizes are declared tokens: a tail does not grow with the number of children.
///
/// ```
/// use std::rc::Rc;
///
/// use forkcast_scenarios::fanout::{Cell, play};
/// use forkcast_sim::agent::query::Placement;
/// use forkcast_sim::agent::spawn::fork::LaunchPolicy;
/// use forkcast_sim::pricing::PriceBook;
///
/// let book = Rc::new(PriceBook::built_in());
/// let burst = Cell { children: 8, is_cold: true, placement: Placement::Both, ..Cell::default() };
/// let primed = Cell { launch: LaunchPolicy::Primed, ..burst.clone() };
/// assert!(play(&primed, &book)?.cost < play(&burst, &book)?.cost);
/// # Ok::<(), forkcast_scenarios::fanout::play::Unplayed>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Children of one message.
    pub children: u32,
    /// The parent's last request: tools, system prompt, history.
    pub prefix: u64,
    /// The part shared by children after it: the forking message and its placeholders.
    pub tail: u64,
    /// The directive of each child.
    pub directive: u64,
    /// Requests of each child.
    pub turns: u32,
    /// Growth of a child's prompt per turn: its answer and tool results.
    pub growth: u64,
    /// Tokens of each answer of a child.
    pub output: u64,
    /// The model, as spelled.
    pub model: Arc<str>,
    /// TTL of marked prefixes.
    pub ttl: Ttl,
    /// Breakpoints in the system prompt live for an hour, the others as long as `ttl` says.
    pub has_hour_head: bool,
    /// The last request of each child does not write what would never be read.
    pub leaves_last: bool,
    /// Whether the parent's entries have expired when the children start. A head of an hour is still alive.
    pub is_cold: bool,
    /// When the children start.
    pub launch: LaunchPolicy,
    /// Where breakpoints are placed.
    pub placement: Placement,
    /// How the children's messages are built.
    pub profile: Profile,
    /// The cache's rules.
    pub rules: Rules,
    /// Speed of the provider.
    pub pace: Pace,
    /// Principles that are deliberately broken.
    pub ablations: BTreeSet<Ablation>,
    /// Named agents instead of forks.
    pub spawn: Option<Spawn>,
    /// Number of children that each wait once for longer than five minutes, in the middle of their turns.
    pub waiting: u32,
    /// Allows requests longer than the model's window.
    pub without_window: bool,
    /// The provider's limit of input tokens per minute, without cache reads, from the fan-out on.
    pub itpm: Option<u64>,
    /// The provider's limit of requests per minute, from the fan-out on.
    pub rpm: Option<u64>,
}

/// Agents without the parent's conversation (`economics.md` 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// Their system prompt.
    pub system: u64,
    /// Their tools.
    pub tools: u64,
    /// Their first message.
    pub brief: u64,
    /// The part of the parent's history that they gather again.
    pub gathered: u64,
    /// The additional requests for gathering it.
    pub gathering_turns: u32,
}

/// Such as `spawns with 10k of their own, brief 1k, gather 20k in 5`.
impl fmt::Display for Spawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = thousands(self.system + self.tools);
        write!(f, "spawns with {own} of their own, brief {}", thousands(self.brief))?;
        match (self.gathered, self.gathering_turns) {
            (0, 0) => Ok(()),
            (tokens, turns) => write!(f, ", gather {} in {turns}", thousands(tokens)),
        }
    }
}

impl Default for Cell {
    /// The published example: five children of a warm parent of 46,000 tokens, one request each.
    fn default() -> Self {
        Self {
            children: 5,
            prefix: 46_000,
            tail: 2_500,
            directive: 200,
            turns: 1,
            growth: 1_000,
            output: 100,
            model: "claude-opus-5-5".into(),
            ttl: Ttl::FiveMinutes,
            has_hour_head: false,
            leaves_last: false,
            is_cold: false,
            launch: LaunchPolicy::Burst,
            placement: Placement::Client2026,
            profile: Profile::Documents,
            rules: Rules::default(),
            pace: Pace::default(),
            ablations: BTreeSet::new(),
            spawn: None,
            waiting: 0,
            without_window: false,
            itpm: None,
            rpm: None,
        }
    }
}

/// Why a cell is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There are no children.
    #[error("children: 0; a fan-out needs at least one child")]
    NoChildren,
    /// Children have no turns.
    #[error("turns: 0; a child needs at least one turn")]
    NoTurns,
    /// A prompt is empty, or a limit is zero.
    #[error("`{0}` must be at least one")]
    Empty(&'static str),
    /// Children would start after the parent's entries have expired.
    #[error("a stagger of {stagger_ms} ms is longer than the TTL ({ttl_ms} ms): every child would start cold")]
    Stagger {
        /// The requested stagger.
        stagger_ms: u64,
        /// The lifetime.
        ttl_ms: u64,
    },
    /// A head of an hour needs a breakpoint at the head, and a shorter lifetime after it.
    #[error(
        "a head of 1h needs breakpoints `system` or `client-2026`, which mark the head, and --ttl 5m for the others; found \
         breakpoints `{placement}` and ttl {ttl}", placement = .placement.name(), ttl = .ttl.name()
    )]
    Head {
        /// The placement.
        placement: Placement,
        /// The lifetime.
        ttl: Ttl,
    },
    /// More children wait than exist, or there is no turn to wait after.
    #[error(
        "waiting = {waiting} cannot be: expected at most the {children} children of a cell, each with 2 turns or more to wait \
         between; they have {turns}"
    )]
    Waiting {
        /// The number of waiting children.
        waiting: u32,
        /// The number of children.
        children: u32,
        /// Turns of each child.
        turns: u32,
    },
    /// More requests than a cell may have.
    #[error("{children} children with {requests} requests each exceed the limit of {REQUESTS_MAX} requests per cell")]
    TooMany {
        /// Children.
        children: u32,
        /// Requests of each child.
        requests: u64,
    },
    /// Each child would have its own list of answers.
    #[error(
        "under `{}` each of {children} children has its own copy of all answers, so at most {OWN_ANSWERS_CHILDREN_MAX} \
         children are allowed; without it, children share the answers", .ablation.name()
    )]
    TooWide {
        /// Children.
        children: u32,
        /// The ablation that makes their answers differ.
        ablation: Ablation,
    },
    /// The rules of a fan-out's cache are those of Claude models.
    #[error(
        "{model} is a model of {}, whose cache is not modelled; fan-outs follow the rules of Claude models", .vendor.word()
    )]
    Vendor {
        /// The model.
        model: Arc<str>,
        /// Its maker.
        vendor: Vendor,
    },
    /// Too many tokens for exact sums.
    #[error("these children would send {tokens} tokens; the limit is {TOKENS_MAX}")]
    TooLarge {
        /// Tokens of all requests.
        tokens: u128,
    },
    /// The run would take too long.
    #[error("the children would take {days} days; the limit is {DAYS_MAX}")]
    TooLong {
        /// Days from the first child to the last.
        days: u128,
    },
    /// A request exceeds the window.
    #[error(
        "the last request of a child has {tokens} tokens, but the window of {model} is {window}; --no-window runs it anyway"
    )]
    Window {
        /// Tokens of the longest request.
        tokens: u64,
        /// The model's window.
        window: u64,
        /// The model.
        model: Arc<str>,
    },
}

impl Cell {
    /// Tokens of tools and system prompt, which precede the history. A short prefix has smaller ones.
    pub fn head(&self) -> u64 {
        self.tools() + self.system()
    }

    /// Tokens of the tools.
    pub fn tools(&self) -> u64 {
        TOOLS.min(self.prefix / 2)
    }

    /// Tokens of the system prompt.
    pub fn system(&self) -> u64 {
        SYSTEM.min(self.prefix / 4)
    }

    /// Tokens of the history.
    pub fn history(&self) -> u64 {
        self.prefix - self.head()
    }

    /// Tokens of all placeholders together: a fifth of the tail, as in the published example. The client of 2026 has
    /// none.
    pub fn placeholders(&self) -> u64 {
        match self.profile {
            Profile::Documents => self.tail / 5,
            Profile::Client2026 => 0,
        }
    }

    /// Tokens of the forking message.
    pub fn message(&self) -> u64 {
        self.tail - self.placeholders()
    }

    /// Tokens of the message that starts the children, as the parent writes it: the forking message, or a brief for each
    /// named agent.
    pub fn started_by(&self) -> u64 {
        self.spawn.map_or(self.message(), |spawn| spawn.brief * u64::from(self.children))
    }

    /// The policy of its breakpoints: `both`, `client-2026, head 1h`, `both, last turn unmarked`.
    pub fn marking(&self) -> String {
        let head = if self.has_hour_head { ", head 1h" } else { "" };
        let last = if self.leaves_last { ", last turn unmarked" } else { "" };
        format!("{}{head}{last}", self.placement.name())
    }

    /// The cell under the default policy: equal for cells that differ only in launch and breakpoints.
    pub fn without_policy(&self) -> Self {
        let (launch, placement) = (LaunchPolicy::default(), Placement::default());
        Self { launch, placement, leaves_last: false, has_hour_head: false, ..self.clone() }
    }

    /// Requests of each child, including those that gather the history again.
    pub fn requests(&self) -> u64 {
        u64::from(self.turns) + self.spawn.map_or(0, |spawn| u64::from(spawn.gathering_turns))
    }

    /// About how many bytes its run takes: children start together, and each is an agent with its own state and answers.
    /// Measured on 2026-11-30 with 10,000 to 100,000 forks of one, three and five requests: within a tenth.
    pub fn memory_bytes(&self) -> u64 {
        u64::from(self.children) * (8_300 + 2_600 * self.requests())
    }

    /// The turn, counted from one, after which a waiting child waits.
    pub fn waits_after(&self) -> u64 {
        (self.requests() / 2).max(1)
    }

    /// Tokens of the longest request of a child.
    pub fn longest(&self) -> u64 {
        let grown = self.growth.saturating_mul(u64::from(self.turns).saturating_sub(1));
        let first = match self.spawn {
            Some(spawn) => vec![spawn.system, spawn.tools, spawn.brief, spawn.gathered],
            None => vec![self.prefix, self.tail, self.directive],
        };
        first.into_iter().fold(grown, u64::saturating_add)
    }

    /// The provider's rate limits. The parent's opening request represents a long conversation, so it does not count.
    pub const fn rate_limits(&self) -> RateLimits {
        RateLimits { requests_per_minute: self.rpm, input_tokens_per_minute: self.itpm, from: Instant(1) }
    }

    /// The TTL of entries.
    pub fn ttl(&self) -> Duration {
        self.ttl.duration()
    }

    /// Checks whether the cell can be run.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), Refused> {
        if self.children == 0 {
            return Err(Refused::NoChildren);
        }
        if self.turns == 0 {
            return Err(Refused::NoTurns);
        }
        let brief = self.spawn.map_or(1, |spawn| spawn.brief);
        let parts = [("--prefix", self.prefix), ("--directive", self.directive), ("--spawn-brief", brief)];
        if let Some((name, _)) = parts.into_iter().find(|(_, size)| *size == 0) {
            return Err(Refused::Empty(name));
        }
        if self.waiting > self.children || self.waiting > 0 && self.turns < 2 {
            let waiting = self.waiting;
            let children = self.children;
            let turns = self.turns;
            return Err(Refused::Waiting { waiting, children, turns });
        }
        let marks_head = matches!(self.placement, Placement::System | Placement::Client2026);
        if self.has_hour_head && !(marks_head && self.ttl == Ttl::FiveMinutes) {
            return Err(Refused::Head { placement: self.placement, ttl: self.ttl });
        }
        self.check_extent()?;
        if let Some(flag) =
            [("--itpm", self.itpm), ("--rpm", self.rpm)].into_iter().find(|(_, limit)| *limit == Some(0))
        {
            return Err(Refused::Empty(flag.0));
        }
        if let LaunchPolicy::Stagger(span) = self.launch
            && span > self.ttl()
        {
            return Err(Refused::Stagger { stagger_ms: span.as_millis(), ttl_ms: self.ttl().as_millis() });
        }
        self.check_model()
    }

    /// Checks that work and sums stay within limits.
    fn check_extent(&self) -> Result<(), Refused> {
        let children = self.children;
        let requests = self.requests();
        let all = u64::from(children).saturating_mul(requests);
        if all > REQUESTS_MAX {
            return Err(Refused::TooMany { children, requests });
        }
        let own_answers = [Ablation::RealResults, Ablation::Interleave].into_iter();
        let differ = own_answers.filter(|_| self.profile == Profile::Documents && self.spawn.is_none());
        if let Some(ablation) = differ.into_iter().find(|ablation| self.ablations.contains(ablation))
            && children > OWN_ANSWERS_CHILDREN_MAX
        {
            return Err(Refused::TooWide { children, ablation });
        }
        // Includes the parent's own prompt, for any children.
        let parent = u128::from(self.prefix) + u128::from(self.tail) + u128::from(self.directive);
        let tokens = parent + u128::from(all) * (u128::from(self.longest()) + u128::from(self.output));
        if tokens > TOKENS_MAX {
            return Err(Refused::TooLarge { tokens });
        }
        let turn = self.pace.first_byte(0, self.longest(), 0).0.saturating_add(self.pace.streaming(self.output).0);
        let stagger = if let LaunchPolicy::Stagger(span) = self.launch { span.0 } else { 0 };
        let nanos = u128::from(turn) * u128::from(requests) + u128::from(stagger) * u128::from(children);
        match nanos / NANOS_PER_DAY {
            days if days > DAYS_MAX => Err(Refused::TooLong { days }),
            _ => Ok(()),
        }
    }

    /// Checks that the model's cache is modelled, and that requests fit its window. Nothing is known of a model that is
    /// not in the table.
    fn check_model(&self) -> Result<(), Refused> {
        let Some(resolved) = model::resolve(&self.model) else { return Ok(()) };
        let row = resolved.id.row();
        if row.vendor != Vendor::Anthropic {
            return Err(Refused::Vendor { model: self.model.clone(), vendor: row.vendor });
        }
        match row.window_tokens.filter(|window| !self.without_window && self.longest() > *window) {
            Some(window) => Err(Refused::Window { tokens: self.longest(), window, model: self.model.clone() }),
            None => Ok(()),
        }
    }
}
