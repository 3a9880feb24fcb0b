//! Memory and work grow with new content, never with shared content. These tests count; times are in `benches`.

use forkcast_sim::cache::{MarkedCache, Prompt, PromptCache, Rules};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{
    BlockKind, Blocks, Content, Level, Marker, NodeId, NodeSizes, Place, Prefixes, Role, Sizes, Ttl,
};

struct World {
    blocks: Blocks,
    prefixes: Prefixes,
    sizes: NodeSizes,
    cache: MarkedCache,
    now_ms: u64,
}

impl World {
    fn new() -> Self {
        Self {
            blocks: Blocks::default(),
            prefixes: Prefixes::default(),
            sizes: NodeSizes::default(),
            cache: MarkedCache::new(Rules::default(), 0),
            now_ms: 0,
        }
    }

    fn extend(&mut self, parent: NodeId, text: &str, tokens: u64) -> NodeId {
        self.extend_by(BlockKind::Text, parent, text, tokens)
    }

    fn extend_by(&mut self, kind: BlockKind, parent: NodeId, text: &str, tokens: u64) -> NodeId {
        let (level, role) = (Level::Messages, Role::User);
        let block = self.blocks.intern(Content { level, role, kind, bytes: text.as_bytes() });
        let (node, _) = self.prefixes.extend(parent, block, kind);
        self.sizes.declare(&self.prefixes, node, tokens);
        node
    }

    fn request(&mut self, end: NodeId) -> u64 {
        let place = Place { level: Level::Messages, item: 0, part: 0, keys: false };
        let markers = [Marker { node: end, ttl: Ttl::FiveMinutes, place, automatic: false }];
        let prompt = Prompt {
            prefixes: &self.prefixes,
            markers: &markers,
            sizes: &self.sizes,
            total_tokens: self.sizes.tokens_at(end),
            minimum_tokens: 1_024,
        };
        let at = Instant::from_millis(self.now_ms);
        let (ticket, outcome) = self.cache.look_up(&prompt, at);
        self.cache.first_byte(&self.prefixes, ticket, at);
        self.cache.ended(&self.prefixes, ticket, at);
        outcome.read_tokens
    }

    fn bytes(&self) -> usize {
        self.blocks.total_bytes() + self.prefixes.total_bytes()
    }

    fn parent(&mut self, blocks: usize) -> NodeId {
        let root = self.prefixes.root("scope", "model");
        let end = (0..blocks).fold(root, |end, block| self.extend(end, &format!("parent {block:0>2000}"), 500));
        self.request(end);
        end
    }
}

/// Bytes that 1,000 forks with suffixes of 2,000 bytes add to a parent of `parent_blocks` blocks.
fn bytes_of_forks(parent_blocks: usize) -> usize {
    let mut world = World::new();
    let parent = world.parent(parent_blocks);
    let before = world.bytes();
    for fork in 0..1_000 {
        let end = world.extend(parent, &format!("fork {fork:0>1995}"), 640);
        assert_eq!(world.request(end), parent_blocks as u64 * 500);
    }
    world.bytes() - before
}

#[test]
fn memory_of_forks_is_that_of_their_suffixes() {
    let small = bytes_of_forks(20);
    assert_eq!(small, bytes_of_forks(2_000));
    assert!(small < 1_000 * 2_000 * 11 / 10, "{small} bytes for 2,000,000 bytes of suffixes");
}

/// Tokens read by each of three siblings, and the steps of its look-back, if their parent made `calls` calls and each
/// sibling's prompt has all results. With `shared`, the end of the shared part is requested first.
fn looks_back(calls: u64, shared: bool) -> Vec<(u64, u64)> {
    let mut world = World::new();
    let parent = world.parent(40);
    let extend = |world: &mut World, kind, from: NodeId, name: &str| {
        (0..calls).fold(from, |end, call| world.extend_by(kind, end, &format!("{name} {call}"), 1))
    };
    let said = extend(&mut world, BlockKind::ToolUse, parent, "call");
    let answered = extend(&mut world, BlockKind::ToolResult, said, "result");
    if shared {
        world.request(answered);
    }
    let ask = |sibling: u64| {
        let end = world.extend(answered, &format!("sibling {sibling}"), 100);
        let before = world.cache.steps_back();
        (world.request(end), world.cache.steps_back() - before)
    };
    (0..3).map(ask).collect()
}

/// A run of calls is one position of the look-back and is walked in one step; otherwise a fan-out of N would take N²
/// steps.
#[test]
fn a_look_back_takes_as_many_steps_among_ten_siblings_as_among_ten_thousand() {
    // Its own block, the results, the calls, the parent's end, and the entry there.
    assert_eq!(looks_back(10, false), [(20_000, 5); 3]);
    assert_eq!(looks_back(10_000, false), [(20_000, 5); 3]);
    // Its own block, the results, and the entry at their end.
    assert_eq!(looks_back(10, true), [(20_020, 3); 3]);
    assert_eq!(looks_back(10_000, true), [(40_000, 3); 3]);
}

#[test]
fn a_conversation_of_a_million_turns_reads_all_that_came_before() {
    let mut world = World::new();
    let root = world.prefixes.root("scope", "model");
    let mut end = world.extend(root, "system", 2_000);
    world.request(end);
    for turn in 0..1_000_000_u64 {
        let expected = world.sizes.tokens_at(end);
        let answer = world.extend(end, &format!("answer {turn}"), 10);
        end = world.extend(answer, &format!("question {turn}"), 10);
        world.now_ms += 1_000;
        assert_eq!(world.request(end), expected, "turn {turn}");
    }
    assert_eq!(world.prefixes.ancestors(end).count(), 2_000_001);
}

/// The whole chain stays warm while its end is read, but not longer.
#[test]
fn a_long_chain_is_refreshed_as_a_whole() {
    let mut world = World::new();
    let root = world.prefixes.root("scope", "model");
    let first = world.extend(root, "system", 2_000);
    world.request(first);
    let mut end = first;
    for turn in 0..10_000_u64 {
        end = world.extend(end, &format!("turn {turn}"), 10);
        world.now_ms += 200_000;
        world.request(end);
    }
    world.now_ms += 299_000;
    assert_eq!(world.request(first), 2_000);
    world.now_ms += 299_000;
    assert_eq!(world.request(end), 0, "the end was last read 598 s ago");
}
