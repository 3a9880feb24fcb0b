//! Random conversations: the requests, their course, and the time that passes.

use forkcast_sim::cache::{LifetimeClock, LookBack, PRESETS, PositionCount, Refresh, Rules, VisibleFrom};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::BlockKind;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The blocks that prompts are made of: kind and tokens. Few, so that equal prefixes are common.
pub const ALPHABET: [(BlockKind, u64); 12] = [
    (BlockKind::Text, 3),
    (BlockKind::Text, 1),
    (BlockKind::ToolUse, 2),
    (BlockKind::ToolUse, 1),
    (BlockKind::ToolResult, 4),
    (BlockKind::ToolResult, 2),
    (BlockKind::Thinking, 2),
    (BlockKind::Parameters, 0),
    (BlockKind::Tool, 5),
    (BlockKind::Media, 3),
    (BlockKind::ServerTool, 1),
    (BlockKind::Opaque, 0),
];

/// Longest prompt in blocks.
pub const BLOCKS_MAX: usize = 40;

/// A whole case.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The switches.
    pub rules: Rules,
    /// Shortest prefix that is cached.
    pub minimum_tokens: u64,
    /// The events.
    pub steps: Vec<Step>,
}

/// An event.
#[derive(Clone, Debug)]
pub enum Step {
    /// A request.
    Ask(Ask),
    /// An answer begins.
    FirstByte(Index),
    /// An answer ends.
    End(Index),
    /// A request is cancelled.
    GiveUp(Index),
    /// Time passes.
    Wait(Gap),
}

/// A request: the beginning of an earlier one, and blocks after it.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Which earlier request; none for a new conversation.
    pub base: Option<Index>,
    /// How many of its blocks are kept, if not all.
    pub rewind_to: Option<Index>,
    /// Letters of the alphabet and how often each is repeated.
    pub tail: Vec<(usize, usize)>,
    /// Positions of breakpoints; the last block if empty.
    pub marks: Vec<Option<Index>>,
    /// How many of the breakpoints, from the first on, live for an hour.
    pub long: usize,
    /// Another workspace.
    pub elsewhere: bool,
    /// The prompt's total relative to the sum of its blocks.
    pub surplus: i64,
}

/// A span of time.
#[derive(Clone, Debug)]
pub enum Gap {
    /// A number of nanoseconds.
    Span(u64),
    /// Until a lifetime of an earlier request is over, give or take a nanosecond.
    Lifetime {
        /// The request.
        of: Index,
        /// An hour instead of five minutes.
        long: bool,
        /// How long after the end of the lifetime.
        slack: Duration,
        /// One nanosecond early, exactly, or one late.
        nudge: i64,
    },
}

/// Cases under any of the presets, some with other switches.
pub fn plans() -> impl Strategy<Value = Plan> {
    plans_under(prop_oneof![3 => presets().boxed(), 2 => any_rules().boxed()])
}

/// Cases under `rules`.
pub fn plans_under(rules: impl Strategy<Value = Rules>) -> impl Strategy<Value = Plan> {
    let minimum = prop_oneof![3 => Just(0u64), 2 => 1u64..40];
    (rules, minimum, vec(step(), 2..30)).prop_map(|(rules, minimum_tokens, steps)| Plan {
        rules,
        minimum_tokens,
        steps,
    })
}

/// The unmodified presets.
pub fn presets() -> impl Strategy<Value = Rules> {
    select(PRESETS.to_vec())
}

fn any_rules() -> impl Strategy<Value = Rules> {
    let count = select(vec![PositionCount::Blocks, PositionCount::Runs, PositionCount::BlocksWithoutThinking]);
    let reading = (any::<bool>(), any::<bool>(), select(vec![Refresh::Chain, Refresh::HitOnly]));
    let visible = select(vec![VisibleFrom::FirstByte, VisibleFrom::RequestStart, VisibleFrom::ResponseEnd]);
    let clock = select(vec![LifetimeClock::RequestStart, LifetimeClock::ResponseEnd]);
    let rest = (visible, clock, select(vec![Duration(0), Duration::from_secs(15)]), any::<bool>());
    (presets(), count, 1u32..26, reading, rest).prop_map(|(preset, count, reach, reading, rest)| Rules {
        look_back: LookBack { count, reach },
        reads_any_ttl: reading.0,
        read_lifts_ttl: reading.1,
        refresh: reading.2,
        visible_from: rest.0,
        lifetime_clock: rest.1,
        slack: rest.2,
        failed_write_stands: rest.3,
        ..preset
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => ask().prop_map(Step::Ask),
        6 => any::<Index>().prop_map(Step::FirstByte),
        2 => any::<Index>().prop_map(Step::End),
        1 => any::<Index>().prop_map(Step::GiveUp),
        3 => gap().prop_map(Step::Wait),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let rewind_to = prop_oneof![3 => Just(None), 1 => any::<Index>().prop_map(Some)];
    let repeat = prop_oneof![4 => Just(1usize), 1 => 2usize..12];
    let mark = prop_oneof![2 => Just(None), 3 => any::<Index>().prop_map(Some)];
    (
        option::weighted(0.9, any::<Index>()),
        rewind_to,
        vec((0..ALPHABET.len(), repeat), 0..9),
        vec(mark, 0..=4),
        0usize..5,
        prop::bool::weighted(0.1),
        prop_oneof![4 => Just(0i64), 1 => -6i64..9],
    )
        .prop_map(|(base, rewind_to, tail, marks, long, elsewhere, surplus)| Ask {
            base,
            rewind_to,
            tail,
            marks,
            long,
            elsewhere,
            surplus,
        })
}

fn gap() -> impl Strategy<Value = Gap> {
    const SECOND: u64 = 1_000_000_000;
    let span = select(vec![0, 1, SECOND, 60 * SECOND, 299 * SECOND, 300 * SECOND, 310 * SECOND, 3_600 * SECOND]);
    let slack = select(vec![Duration(0), Duration(0), Duration::from_secs(10), Duration::from_secs(15)]);
    prop_oneof![
        1 => span.prop_map(Gap::Span),
        2 => (any::<Index>(), prop::bool::weighted(0.3), slack, -1i64..=1)
            .prop_map(|(of, long, slack, nudge)| Gap::Lifetime { of, long, slack, nudge }),
    ]
}
