//! Look-ups of prompts that may never have been sent. They do not enter the arena, where they would count as sent.

use super::{Positions, Rules};
use crate::wire::{BlockId, BlockKind, NodeId, Ttl, Wire};

/// A block of a prompt that may never have been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The block.
    pub block: BlockId,
    /// Its tokens.
    pub tokens: u64,
}

/// A prompt with breakpoints, sent or not.
#[derive(Clone, Debug)]
pub struct StepPrompt {
    /// Its prefixes, as far as the arena has them.
    nodes: Vec<NodeId>,
    /// The provider counts each block as a position.
    counts_each_block: bool,
    kinds: Vec<BlockKind>,
    /// Breakpoints that are long enough to be cached: index of the block, and lifetime.
    markers: Vec<(usize, Ttl)>,
}

impl StepPrompt {
    /// The prompt of `steps` below `root`, with breakpoints on the steps of these indices.
    pub fn new(wire: &Wire, root: NodeId, steps: &[Step], markers: &[(usize, Ttl)], minimum_tokens: u64) -> Self {
        let counts_each_block = wire.prefixes.counts_each_block(root);
        let mut node = Some(root);
        let path = steps.iter().map_while(|step| {
            node = node.and_then(|above| wire.prefixes.child(above, step.block));
            node
        });
        let mut sum = 0_u64;
        let sizes = steps.iter().map(|step| {
            sum = sum.saturating_add(step.tokens);
            sum
        });
        let (nodes, cumulative): (Vec<NodeId>, Vec<u64>) = (path.collect(), sizes.collect());
        let kinds = steps.iter().map(|step| wire.blocks.kind(step.block)).collect();
        let long_enough = |(at, _): &&(usize, Ttl)| cumulative.get(*at).is_some_and(|size| *size >= minimum_tokens);
        let mut markers: Vec<(usize, Ttl)> = markers.iter().filter(long_enough).copied().collect();
        markers.sort_unstable();
        Self { nodes, counts_each_block, kinds, markers }
    }

    /// The breakpoints that count.
    pub fn markers(&self) -> &[(usize, Ttl)] {
        &self.markers
    }

    /// How many of its leading blocks are read: the longest prefix within the look-back of one of its breakpoints that
    /// is alive, as reported by `lives`, with a lifetime that may serve the breakpoint.
    pub(super) fn read(&self, rules: &Rules, lives: impl Fn(NodeId) -> Option<Ttl>) -> usize {
        let found = self.markers.iter().rev().filter_map(|(from, ttl)| {
            let mut positions = Positions::new(rules.look_back.of(self.counts_each_block));
            let mut reached = (0..=*from).rev().take_while(|at| positions.reach(self.kinds[*at]));
            let life = |at: usize| self.nodes.get(at).and_then(|node| lives(*node));
            let serves = |at: &usize| life(*at).is_some_and(|life| rules.reads_any_ttl || life == *ttl);
            reached.find(serves).map(|at| at + 1)
        });
        found.fold(0, usize::max)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed, TestRunner};
    use serde_json::{Value, json};

    use super::{Step, StepPrompt};
    use crate::cache::{LookBack, MarkedCache, PRESETS, Prompt, PromptCache, Rules};
    use crate::time::Instant;
    use crate::wire::{PathSizes, Pins, Request, Ttl, Wire};

    /// One request: how much of the previous one it keeps, what it adds, which of its blocks it marks for an hour or
    /// less, how many minutes later it is sent.
    type Plan = (usize, Vec<u8>, Vec<(usize, bool)>, u64);

    fn rules() -> impl Strategy<Value = Rules> {
        let switches = (0..PRESETS.len(), 1_u32..22, any::<bool>(), any::<bool>());
        switches.prop_map(|(preset, reach, reads_any_ttl, read_lifts_ttl)| {
            let preset = PRESETS[preset];
            let look_back = LookBack { reach, ..preset.look_back };
            Rules { look_back, reads_any_ttl, read_lifts_ttl, ..preset }
        })
    }

    fn plans() -> impl Strategy<Value = Vec<Plan>> {
        vec((0..40_usize, vec(0..7_u8, 0..16), vec((0..40_usize, any::<bool>()), 0..4), 0..8_u64), 1..14)
    }

    fn block(symbol: u8) -> (&'static str, Value) {
        match symbol {
            0..=2 => {
                ("user", json!({"type": "text", "text": format!("text {symbol} {}", "word ".repeat(symbol.into()))}))
            }
            3 => ("assistant", json!({"type": "thinking", "thinking": "hm", "signature": "s"})),
            4 => ("assistant", json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}})),
            _ => ("user", json!({"type": "tool_result", "tool_use_id": "t", "content": format!("{symbol}")})),
        }
    }

    fn body(symbols: &[u8], marks: &[(usize, bool)]) -> String {
        let mut messages: Vec<Value> = Vec::new();
        for (at, symbol) in symbols.iter().enumerate() {
            let (role, mut block) = block(*symbol);
            if let Some((_, long)) = marks.iter().find(|(mark, _)| mark % symbols.len() == at) {
                block["cache_control"] = json!({"type": "ephemeral", "ttl": if *long { "1h" } else { "5m" }});
            }
            messages.push(json!({"role": role, "content": [block]}));
        }
        json!({"model": "claude-opus-5", "system": "Be kind.", "messages": messages}).to_string()
    }

    /// The request as steps.
    fn steps(wire: &Wire, request: &Request, cumulative: &[u64], minimum_tokens: u64) -> StepPrompt {
        let size = |at: usize| cumulative[at] - at.checked_sub(1).map_or(0, |before| cumulative[before]);
        let blocks = request.nodes.iter().enumerate();
        let steps = blocks.filter_map(|(at, node)| Some(Step { block: wire.prefixes.block(*node)?, tokens: size(at) }));
        let marked = request.markers.iter().filter_map(|marker| Some((request.index_of(marker)?, marker.ttl)));
        let marked: Vec<(usize, Ttl)> = marked.collect();
        StepPrompt::new(wire, request.root, &steps.collect::<Vec<_>>(), &marked, minimum_tokens)
    }

    /// Whether the steps of a request read as much as the request itself.
    fn agree(rules: &Rules, minimum_tokens: u64, plans: &[Plan]) -> Result<(), TestCaseError> {
        let (mut wire, mut cache) = (Wire::new(rules.forms), MarkedCache::new(*rules, 0));
        let (mut symbols, mut minutes): (Vec<u8>, u64) = (Vec::new(), 0);
        for (number, (kept, added, marks, later)) in plans.iter().enumerate() {
            symbols.truncate(*kept);
            symbols.extend(added);
            minutes += later;
            let now = Instant::from_millis(minutes * 60_000);
            let request = wire
                .read(body(&symbols, marks).as_bytes(), "s", "")
                .map_err(|error| TestCaseError::fail(error.to_string()))?;
            let cumulative = Pins::default().sizes(&request, &wire, None, None);
            let sizes = PathSizes::new(&wire.prefixes, &request.nodes, &cumulative);
            let total_tokens = cumulative.last().copied().unwrap_or(0);
            let markers = &request.markers;
            let prompt = Prompt { prefixes: &wire.prefixes, markers, sizes: &sizes, total_tokens, minimum_tokens };
            let steps = steps(&wire, &request, &cumulative, minimum_tokens);
            let read = cache.reads(&wire.prefixes, &steps, now);
            let (ticket, outcome) = cache.look_up(&prompt, now);
            cache.first_byte(&wire.prefixes, ticket, now);
            cache.ended(&wire.prefixes, ticket, now);
            prop_assert_eq!(read, outcome.hit.map_or(0, |hit| wire.prefixes.depth(hit) as usize), "request {}", number);
        }
        Ok(())
    }

    #[test]
    fn steps_are_read_as_the_request_that_they_are() {
        let config =
            Config { cases: 2_000, rng_seed: RngSeed::Fixed(0), failure_persistence: None, ..Config::default() };
        let held = TestRunner::new(config).run(&(rules(), 0..60_u64, plans()), |(rules, minimum_tokens, plans)| {
            agree(&rules, minimum_tokens, &plans)
        });
        assert!(held.is_ok(), "{held:?}");
    }
}
