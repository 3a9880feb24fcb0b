//! What a request reads where time is left out: every entry ever written stays, and the next request can read it.
//!
//! Prompts that were never sent are looked up without entering the arena, where they would count as sent.

use crate::cache::{Positions, Rules};
use crate::wire::{BlockId, BlockKind, Marker, Moved, NodeId, Prefixes, Ttl, Wire};

/// All entries that were ever written.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    /// The lifetime at which a prefix was written, by the prefix's number: with any lifetime, for ever.
    ttls: Vec<Option<Ttl>>,
}

/// A block of a prompt that may never have been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The block.
    pub block: BlockId,
    /// Its tokens.
    pub tokens: u64,
}

/// A prompt with breakpoints, sent or not.
#[derive(Clone, Debug)]
pub(super) struct StepPrompt {
    /// Its prefixes as far as the arena has them.
    nodes: Vec<NodeId>,
    kinds: Vec<BlockKind>,
    /// Breakpoints that are long enough to be cached: index of the block, and lifetime.
    markers: Vec<(usize, Ttl)>,
}

impl StepPrompt {
    /// The prompt of `steps` below `root`, with breakpoints on the steps of these indices.
    pub fn new(wire: &Wire, root: NodeId, steps: &[Step], markers: &[(usize, Ttl)], minimum_tokens: u64) -> Self {
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
        Self { nodes, kinds, markers }
    }

    /// The breakpoints that count.
    pub fn markers(&self) -> &[(usize, Ttl)] {
        &self.markers
    }
}

/// How many leading blocks of a prompt are read: the longest prefix that the look-back from one of its breakpoints meets
/// and that was `written` with a lifetime which may serve it. `kinds` are those of its blocks.
pub(super) fn read_blocks(
    markers: &[(usize, Ttl)],
    kinds: &[BlockKind],
    written: impl Fn(usize) -> Option<Ttl>,
    rules: &Rules,
) -> usize {
    let found = markers.iter().rev().filter_map(|(from, ttl)| {
        let mut positions = Positions::new(rules.look_back);
        let reached = (0..=*from).rev().take_while(|at| positions.reach(kinds[*at]));
        let serves = |at: &usize| written(*at).is_some_and(|written| rules.reads_any_ttl || written == *ttl);
        reached.into_iter().find(serves).map(|at| at + 1)
    });
    found.max().unwrap_or(0)
}

impl Entries {
    /// How many leading blocks of `prompt` are read.
    pub fn read(&self, prompt: &StepPrompt, rules: &Rules) -> usize {
        let written = |at: usize| prompt.nodes.get(at).and_then(|node| self.get(*node));
        read_blocks(&prompt.markers, &prompt.kinds, written, rules)
    }

    /// The same over a wire to which these prefixes moved; others are forgotten.
    pub fn moved(&self, moved: &Moved) -> Self {
        let mut entries = Self::default();
        for (old, new) in moved.iter() {
            if let Some(ttl) = self.get(old) {
                entries.put(new, ttl);
            }
        }
        entries
    }

    /// The lifetime at which `node` was written, if it was.
    pub fn get(&self, node: NodeId) -> Option<Ttl> {
        self.ttls.get(node.index()).copied().flatten()
    }

    /// Writes what a request of these breakpoints writes that read its first `read` blocks.
    pub fn write(&mut self, prefixes: &Prefixes, markers: &[Marker], read: usize, rules: &Rules) {
        for marker in markers {
            let billed = prefixes.depth(marker.node) as usize > read;
            let known = self.get(marker.node);
            let lifted = billed || rules.read_lifts_ttl;
            let ttl = match known {
                Some(known) if lifted => known.max(marker.ttl),
                Some(known) => known,
                None => marker.ttl,
            };
            self.put(marker.node, ttl);
        }
    }

    /// Puts an entry.
    pub fn put(&mut self, node: NodeId, ttl: Ttl) {
        if self.ttls.len() <= node.index() {
            self.ttls.resize(node.index() + 1, None);
        }
        self.ttls[node.index()] = Some(ttl);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed, TestRunner};
    use serde_json::{Value, json};

    use super::Entries;
    use crate::cache::{LookBack, MarkedCache, PRESETS, Prompt, PromptCache, Rules};
    use crate::guard::subject::Subject;
    use crate::time::Instant;
    use crate::wire::{PathSizes, Pins, Wire};

    /// One request: how much of the one before it keeps, what it adds, which of its blocks it marks for an hour or less.
    type Plan = (usize, Vec<u8>, Vec<(usize, bool)>);

    fn rules() -> impl Strategy<Value = Rules> {
        let switches = (0..PRESETS.len(), 1_u32..22, any::<bool>(), any::<bool>());
        switches.prop_map(|(preset, reach, reads_any_ttl, read_lifts_ttl)| {
            let preset = PRESETS[preset];
            let look_back = LookBack { reach, ..preset.look_back };
            Rules { look_back, reads_any_ttl, read_lifts_ttl, ..preset }
        })
    }

    fn plans() -> impl Strategy<Value = Vec<Plan>> {
        vec((0..40_usize, vec(0..7_u8, 0..16), vec((0..40_usize, any::<bool>()), 0..4)), 1..14)
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

    /// Whether both read the same blocks of every request.
    fn agree(rules: &Rules, minimum_tokens: u64, plans: &[Plan]) -> Result<(), TestCaseError> {
        let (mut wire, mut entries, mut cache) =
            (Wire::new(rules.forms), Entries::default(), MarkedCache::new(*rules, 0));
        let (mut symbols, now): (Vec<u8>, _) = (Vec::new(), Instant::from_millis(7));
        for (number, (kept, added, marks)) in plans.iter().enumerate() {
            symbols.truncate(*kept);
            symbols.extend(added);
            let request = wire
                .read(body(&symbols, marks).as_bytes(), "s", "")
                .map_err(|error| TestCaseError::fail(error.to_string()))?;
            let cumulative = Pins::default().sizes(&request, &wire, None, None);
            let taken = Subject { minimum_tokens, refusal: None, ..Subject::new(number, request, cumulative, rules) };
            let sizes = PathSizes::new(&wire.prefixes, &taken.request.nodes, &taken.cumulative);
            let total_tokens = taken.cumulative.last().copied().unwrap_or(0);
            let markers = &taken.request.markers;
            let prompt = Prompt { prefixes: &wire.prefixes, markers, sizes: &sizes, total_tokens, minimum_tokens };
            let (ticket, outcome) = cache.look_up(&prompt, now);
            cache.first_byte(&wire.prefixes, ticket, now);
            cache.ended(&wire.prefixes, ticket, now);
            let read = entries.read(&taken.prompt(&wire), rules);
            entries.write(&wire.prefixes, &taken.effective(), read, rules);
            prop_assert_eq!(read, outcome.hit.map_or(0, |hit| wire.prefixes.depth(hit) as usize), "request {}", number);
        }
        Ok(())
    }

    #[test]
    fn time_left_out_is_the_cache_with_all_requests_at_one_instant() {
        let config =
            Config { cases: 2_000, rng_seed: RngSeed::Fixed(0), failure_persistence: None, ..Config::default() };
        let held = TestRunner::new(config).run(&(rules(), 0..60_u64, plans()), |(rules, minimum_tokens, plans)| {
            agree(&rules, minimum_tokens, &plans)
        });
        assert!(held.is_ok(), "{held:?}");
    }
}
