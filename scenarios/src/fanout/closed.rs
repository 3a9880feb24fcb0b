//! A formula for the tokens that a fan-out of forks reads, writes and sends uncached (`economics.md` 3.1, 3.2; own
//! derivation).
//!
//! P is the parent's last request, T the part that siblings share after it, D a directive, g the growth per turn; H = P
//! + T. A child's request of turn k has X(k) = H + D + (k − 1) g tokens.
//!
//! *First turns.* Let M be the last breakpoint of a child's first request, B the readable prefix that a warm parent
//! left, and C the readable prefix once one child has its first byte. The first m of N children start before a
//! sibling's entry is readable: N in a burst, 1 if primed, the first wave, or as many as a stagger starts before the
//! first byte (of the first child, or of the parent's own next request if that marks the same). These read B, or
//! nothing if the parent is cold, and write the rest up to M; the others read C and write the rest up to M. Tokens
//! after M are plain input.
//!
//! | breakpoints | M | B | C, warm | C, cold |
//! |---|---|---|---|---|
//! | `none` | 0 | 0 | 0 | 0 |
//! | `system` | head | head | head | head |
//! | `shared` | H | P | H | H |
//! | `tail` | X(1) | P | P | 0 |
//! | `both` | X(1) | P | H | H |
//! | `tail+previous` | X(1) | P | P | P |
//! | `before-results` | P + message | P | P + message | P + message |
//! | `client-2026` | X(1) | P | P | head |
//!
//! In the client of 2026, forks do not share T with their siblings: there C of `shared`, `both` and `before-results` is
//! P if warm and 0 if cold, and `shared` marks the same as `before-results`, the fork's own call.
//!
//! *Later turns.* Every placement except `none` marks the tail from turn 2 on. So turn 2 reads M and writes the rest,
//! and turn k > 2 reads X(k − 1) and writes g. Under `system` the tail of turn 2 finds a warm parent's entry at P if it
//! is within reach.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{LaunchPolicy, Profile};
use forkcast_sim::cache::{PositionCount, minimum_tokens};
use forkcast_sim::pricing::{ModelKey, PriceBook, Terms};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::model;
use forkcast_sim::wire::{Ttl, Usage};

use super::cell::Cell;

/// An assumption of the formula that a cell violates.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Assumption {
    /// Forks are unmodified.
    #[error("the formula applies to unmodified forks: no named agents, no ablations")]
    WholeForks,
    /// Every marked prefix is long enough to be cached.
    #[error("a marked prefix is shorter than the model's minimum")]
    Minimum,
    /// No entry expires before it is read.
    #[error("entries expire during the fan-out")]
    Lifetime,
    /// All breakpoints have one lifetime, and every request marks its end.
    #[error("the formula applies if all breakpoints have one lifetime, and the last turn is marked like the others")]
    Marking,
    /// Entries are within reach of a breakpoint.
    #[error("the look-back of a breakpoint does not reach the parent's prefix")]
    LookBack,
    /// All requests have the same price tier.
    #[error("requests of one child have different price tiers")]
    PriceTier,
    /// No child starts in the same instant as the first byte.
    #[error("a child starts in the instant of the first child's first byte")]
    Tie,
    /// Rate limits delay no call.
    #[error("the formula assumes that no rate limit delays a child")]
    RateLimits,
    /// Writes can be read from the first byte on.
    #[error("the formula assumes that writes can be read from the first byte on and are never lost")]
    Rules,
}

/// The children's usage without output.
///
/// # Errors
/// The first assumption that does not hold.
pub fn usage(cell: &Cell, book: &PriceBook) -> Result<Usage, Assumption> {
    holds(cell, book)?;
    let n = u64::from(cell.children);
    let leaders = leaders(cell)?;
    let first = First::of(cell);
    let read = leaders * (if cell.is_cold { 0 } else { first.parents }) + (n - leaders) * first.siblings;
    let mut sum = Sum { read, written: first.marked - read, fresh: first.whole - first.marked };
    sum.later(cell, &first);
    Ok(sum.usage(cell.ttl))
}

/// Whether the formula applies to this cell.
///
/// # Errors
/// The first assumption that does not hold.
pub fn holds(cell: &Cell, book: &PriceBook) -> Result<(), Assumption> {
    let conditions = [
        (cell.spawn.is_none() && cell.ablations.is_empty(), Assumption::WholeForks),
        (cell.rate_limits().is_none(), Assumption::RateLimits),
        (cell.rules.loss_per_million == 0, Assumption::Rules),
        (!cell.has_hour_head && !cell.leaves_last, Assumption::Marking),
        (is_cacheable(cell), Assumption::Minimum),
        (is_within_reach(cell), Assumption::LookBack),
        (cell.waiting == 0 && lives_long_enough(cell), Assumption::Lifetime),
        (has_one_price(cell, book), Assumption::PriceTier),
    ];
    conditions.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, which)| Err(which))?;
    leaders(cell).map(|_| ())
}

/// Totals over the children's first requests.
struct First {
    /// Total tokens.
    whole: u64,
    /// Total up to their last breakpoints, M.
    marked: u64,
    /// Total read by their second requests.
    read_next: u64,
    /// B: the prefix that a warm parent left to each.
    parents: u64,
    /// C: the prefix that siblings left to each.
    siblings: u64,
}

impl First {
    fn of(cell: &Cell) -> Self {
        let n = u64::from(cell.children);
        let p = cell.prefix;
        let head = cell.head();
        let documents = cell.profile == Profile::Documents;
        // Unshared parts add up to T over all children.
        let (tail, message) = if documents { (cell.tail * n, cell.message() * n) } else { (cell.tail, cell.tail) };
        let whole = p * n + tail + cell.directive * n;
        let warm = |cold: u64| if cell.is_cold { cold } else { p };
        let (marked, parents, siblings) = match cell.placement {
            Placement::None => (0, 0, 0),
            Placement::System => (head * n, head, head),
            Placement::Shared if documents => (p * n + tail, p, p + cell.tail),
            Placement::Both if documents => (whole, p, p + cell.tail),
            Placement::BeforeResults if documents => (p * n + message, p, p + cell.message()),
            Placement::Shared | Placement::BeforeResults => (p * n + message, p, warm(0)),
            Placement::Tail | Placement::Both => (whole, p, warm(0)),
            Placement::TailPrevious => (whole, p, p),
            Placement::Client2026 => (whole, p, warm(head)),
        };
        let finds_parent = cell.placement == Placement::System && !cell.is_cold && reaches_parent_at_second_turn(cell);
        let read_next = if finds_parent { p * n } else { marked };
        Self { whole, marked, read_next, parents, siblings }
    }
}

/// Tokens of all children.
struct Sum {
    read: u64,
    written: u64,
    fresh: u64,
}

impl Sum {
    fn later(&mut self, cell: &Cell, first: &First) {
        let grown = u64::from(cell.children) * cell.growth;
        for turn in 2..=u64::from(cell.turns) {
            let whole = first.whole + grown * (turn - 1);
            let read = match (cell.placement, turn) {
                (Placement::None, _) => {
                    self.fresh += whole;
                    continue;
                }
                (_, 2) => first.read_next,
                _ => whole - grown,
            };
            self.read += read;
            self.written += whole - read;
        }
    }

    fn usage(self, ttl: Ttl) -> Usage {
        let mut usage = Usage { input_tokens: self.fresh, cache_read_input_tokens: self.read, ..Usage::default() };
        match ttl {
            Ttl::FiveMinutes => usage.ephemeral_5m_input_tokens = self.written,
            Ttl::OneHour => usage.ephemeral_1h_input_tokens = self.written,
        }
        usage
    }
}

/// m: children that start before a sibling's entry is readable.
fn leaders(cell: &Cell) -> Result<u64, Assumption> {
    let n = u64::from(cell.children);
    match cell.launch {
        LaunchPolicy::Burst => Ok(n),
        LaunchPolicy::Primed | LaunchPolicy::Serial => Ok(1),
        LaunchPolicy::Waves(size) => Ok(u64::from(size).min(n)),
        LaunchPolicy::Stagger(Duration(0)) => Ok(n),
        LaunchPolicy::Stagger(span) => {
            let first_byte = first_byte(cell);
            if first_byte.0.is_multiple_of(span.0) && first_byte.0 / span.0 < n {
                return Err(Assumption::Tie);
            }
            Ok(first_byte.0.div_ceil(span.0).min(n))
        }
    }
}

/// L: when the entry that siblings read becomes readable: at the first child's first byte, or at that of the parent's
/// own next request if that writes the same and comes sooner.
fn first_byte(cell: &Cell) -> Duration {
    let n = u64::from(cell.children);
    // Calls are equally long, so the first child's share of T is no smaller than any other.
    let own = if cell.profile == Profile::Documents { cell.tail } else { cell.tail.div_ceil(n) };
    let first = First::of(&Cell { children: 1, tail: own, ..cell.clone() });
    let read = if cell.is_cold { 0 } else { first.parents };
    let childs = cell.pace.first_byte(read, first.marked - read, first.whole - first.marked);
    let parent_writes_it = match cell.placement {
        Placement::System | Placement::Client2026 | Placement::TailPrevious => true,
        Placement::BeforeResults => cell.profile == Profile::Documents,
        Placement::None | Placement::Shared | Placement::Tail | Placement::Both => false,
    };
    let read = if cell.is_cold { 0 } else { cell.prefix };
    let parents = cell.pace.first_byte(read, cell.prefix - read + cell.message() + cell.growth, 0);
    if parent_writes_it { childs.min(parents) } else { childs }
}

fn is_cacheable(cell: &Cell) -> bool {
    let minimum = minimum_tokens(model::resolve(&cell.model).map(|resolved| resolved.id));
    let shortest = match cell.placement {
        Placement::System | Placement::Client2026 => cell.head(),
        _ => cell.prefix,
    };
    cell.placement == Placement::None || shortest >= minimum
}

/// Positions between a breakpoint and the entry it must find, both included. The forking message has one text and N
/// calls, then N results follow, then the directive; the client of 2026 has one call and one result.
fn is_within_reach(cell: &Cell) -> bool {
    let n = run_length(cell);
    let word = u64::from(cell.profile == Profile::Documents);
    // From the directive, from the placeholder before it, and from the call before that.
    let (tail, shared, message) = match cell.profile {
        Profile::Documents => (2 * n + word + 2, 2 * n + word + 1, n + word + 1),
        Profile::Client2026 => (3, 2, 2),
    };
    let first = match cell.placement {
        Placement::None | Placement::System | Placement::TailPrevious => 1,
        Placement::Shared | Placement::Both => shared,
        Placement::BeforeResults => message,
        Placement::Tail | Placement::Client2026 => tail,
    };
    // Turn 2 looks back over the unmarked answer and results of turn 1.
    let second = match cell.placement {
        Placement::BeforeResults => n + 4,
        _ => 4,
    };
    let first = if cell.is_cold { 1 } else { first };
    first.max(if cell.turns > 1 { second } else { 1 }) <= u64::from(cell.rules.look_back.reach)
}

/// Positions taken by the calls of the forking message, and again by its results.
fn run_length(cell: &Cell) -> u64 {
    match (cell.profile, cell.rules.look_back.count) {
        (Profile::Client2026, _) | (_, PositionCount::Runs) => 1,
        (Profile::Documents, _) => u64::from(cell.children),
    }
}

/// Whether the look-back from the tail of a child's second request reaches its parent's last request: over the child's
/// own call and result, the directive, and the forking message with its results.
fn reaches_parent_at_second_turn(cell: &Cell) -> bool {
    let between = match cell.profile {
        Profile::Documents => 2 * run_length(cell) + 4,
        Profile::Client2026 => 4,
    };
    between < u64::from(cell.rules.look_back.reach)
}

/// Between two uses of an entry there is at most one turn, one stagger, or the wait for a first byte.
fn lives_long_enough(cell: &Cell) -> bool {
    let longest = cell.pace.first_byte(0, cell.longest(), 0) + cell.pace.streaming(cell.output);
    let stagger = if let LaunchPolicy::Stagger(span) = cell.launch { span } else { Duration::default() };
    (longest + longest + stagger).0 < cell.ttl().0
}

fn has_one_price(cell: &Cell, book: &PriceBook) -> bool {
    let model = ModelKey::from(&*cell.model);
    let rates = |tokens| book.rates(&model, &Terms { prompt_tokens: tokens, ..Terms::default() });
    rates(cell.prefix + cell.directive) == rates(cell.longest())
}
