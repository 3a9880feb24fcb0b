//! Which prefixes a breakpoint checks when it looks back for an earlier write.

use super::rules::{LookBack, PositionCount};
use crate::wire::{BlockKind, NodeId, Prefixes};

/// The prefixes that a breakpoint at `from` checks, longest first.
pub fn look_back(prefixes: &Prefixes, from: NodeId, rule: LookBack) -> impl Iterator<Item = NodeId> + '_ {
    let mut positions = Positions::new(rule.of(prefixes.counts_each_block(from)));
    prefixes.ancestors(from).take_while(move |node| positions.reach(prefixes.kind(*node)))
}

/// Prefixes of one path, from the longest back to the shortest, in steps of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The longest prefix.
    pub longest: NodeId,
    /// The shortest prefix, which may be the same.
    pub shortest: NodeId,
}

/// The same prefixes in stretches, longest first: consecutive blocks of one kind form a stretch if they count as one
/// position or none. This keeps the number of stretches small, however many consecutive calls there are.
pub fn stretches(prefixes: &Prefixes, from: NodeId, rule: LookBack) -> impl Iterator<Item = Stretch> + '_ {
    let rule = rule.of(prefixes.counts_each_block(from));
    let mut positions = Positions::new(rule);
    let mut next = Some(from);
    std::iter::from_fn(move || {
        let longest = next.filter(|node| prefixes.depth(*node) > 0)?;
        let kind = prefixes.kind(longest);
        if !positions.reach(kind) {
            return None;
        }
        let goes_on = !is_position(rule.count, kind, Some(kind));
        let shortest = if goes_on { prefixes.run_start(longest) } else { longest };
        next = prefixes.parent(shortest);
        Some(Stretch { longest, shortest })
    })
}

/// Counts the positions of a look-back. It is fed the kinds of blocks from the breakpoint backwards.
#[derive(Clone, Copy, Debug)]
pub struct Positions {
    rule: LookBack,
    passed: u32,
    behind: Option<BlockKind>,
}

impl Positions {
    /// The count before the breakpoint's own block.
    pub const fn new(rule: LookBack) -> Self {
        Self { rule, passed: 0, behind: None }
    }

    /// Whether the look-back reaches the next block, which is of `kind`.
    pub fn reach(&mut self, kind: BlockKind) -> bool {
        if is_position(self.rule.count, kind, self.behind) {
            self.passed += 1;
        }
        if kind != BlockKind::Parameters {
            self.behind = Some(kind);
        }
        self.passed <= self.rule.reach
    }
}

/// Whether a block opens a new position, given the block after it.
fn is_position(count: PositionCount, kind: BlockKind, behind: Option<BlockKind>) -> bool {
    match (count, kind) {
        (_, BlockKind::Parameters) => false,
        (PositionCount::BlocksWithoutThinking, BlockKind::Thinking) => false,
        (PositionCount::Runs, BlockKind::ToolUse | BlockKind::ToolResult) => behind != Some(kind),
        _ => true,
    }
}
