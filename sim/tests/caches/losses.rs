//! Writes lost by chance, and long conversations: the cases that the twin does not cover.

use forkcast_sim::cache::{EntryState, MarkedCache, Prompt, PromptCache, Rules};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{
    BlockId, BlockKind, Blocks, Content, Level, Marker, NodeId, NodeSizes, Place, Prefixes, Role, Ttl,
};

const PLACE: Place = Place { level: Level::Messages, item: 0, part: 0, keys: false };

/// A conversation that grows by a block of one token at a time.
struct Talk {
    prefixes: Prefixes,
    sizes: NodeSizes,
    block: BlockId,
    end: NodeId,
}

impl Talk {
    fn new() -> Self {
        let mut prefixes = Prefixes::default();
        let content = Content { level: Level::Messages, role: Role::User, kind: BlockKind::Text, bytes: b"again" };
        let (block, end) = (Blocks::default().intern(content), prefixes.root("one", "model"));
        Self { prefixes, sizes: NodeSizes::default(), block, end }
    }

    fn grow(&mut self) {
        self.end = self.prefixes.extend(self.end, self.block, BlockKind::Text).0;
        self.sizes.declare(&self.prefixes, self.end, 1);
    }

    /// Sends a request with a breakpoint at the end; returns the tokens read.
    fn ask(&self, cache: &mut MarkedCache, at: Instant) -> u64 {
        let markers = [Marker { node: self.end, ttl: Ttl::FiveMinutes, place: PLACE, automatic: false }];
        let prompt = Prompt {
            prefixes: &self.prefixes,
            markers: &markers,
            sizes: &self.sizes,
            total_tokens: u64::from(self.prefixes.depth(self.end)),
            minimum_tokens: 0,
        };
        let (ticket, outcome) = cache.look_up(&prompt, at);
        cache.first_byte(&self.prefixes, ticket, at);
        cache.ended(&self.prefixes, ticket, at);
        outcome.read_tokens
    }
}

/// Which of a thousand writes are lost.
fn lost(loss_per_million: u32, seed: u64) -> Vec<bool> {
    let mut cache = MarkedCache::new(Rules { loss_per_million, ..Rules::default() }, seed);
    let mut talk = Talk::new();
    (0..1_000)
        .map(|_| {
            talk.grow();
            talk.ask(&mut cache, Instant(0));
            cache.state(&talk.prefixes, talk.end, Instant(0)) == EntryState::Evicted
        })
        .collect()
}

#[test]
fn writes_are_lost_as_often_as_the_rules_say() {
    for (loss_per_million, least, most) in [(0, 0, 0), (1_000, 0, 10), (300_000, 250, 350), (1_000_000, 1_000, 1_000)] {
        let count = lost(loss_per_million, 7).into_iter().filter(|lost| *lost).count();
        assert!((least..=most).contains(&count), "{count} of 1,000 at {loss_per_million} in a million");
    }
}

#[test]
fn the_seed_decides_which_writes_are_lost() {
    assert_eq!(lost(300_000, 7), lost(300_000, 7));
    assert_ne!(lost(300_000, 7), lost(300_000, 8));
}

#[test]
fn a_lost_write_is_not_read_and_may_be_written_again() {
    let mut seen = [false; 2];
    for seed in 0..20 {
        let mut cache = MarkedCache::new(Rules { loss_per_million: 500_000, ..Rules::default() }, seed);
        let mut talk = Talk::new();
        talk.grow();
        let mut state = EntryState::Absent;
        for second in 0..40 {
            let at = Instant::from_millis(second * 1_000);
            assert_eq!(talk.ask(&mut cache, at) > 0, state == EntryState::Live);
            state = cache.state(&talk.prefixes, talk.end, at);
            assert_ne!(state, EntryState::Absent);
            seen[usize::from(state == EntryState::Live)] = true;
        }
        assert_eq!(state, EntryState::Live);
    }
    assert_eq!(seen, [true, true]);
}

#[test]
fn a_turn_of_a_long_conversation_costs_only_its_new_blocks() {
    let mut cache = MarkedCache::new(Rules::default(), 0);
    let mut talk = Talk::new();
    let mut now = Instant(0);
    for turn in 0..100_000 {
        talk.grow();
        now = now + Duration::from_secs(1);
        assert_eq!(talk.ask(&mut cache, now), turn);
    }
}
