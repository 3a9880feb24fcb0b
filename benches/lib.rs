//! Inputs of the benches, generated deterministically so that every run measures the same work.

pub mod clock;
pub mod crowd;

use forkcast_sim::cache::{MarkedCache, Prompt, PromptCache, Rules};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{BlockKind, Blocks, Content, Level, Marker, NodeId, NodeSizes, Place, Prefixes, Role, Ttl};

/// An arena with its cache, as in a simulation.
#[derive(Debug)]
pub struct World {
    /// Blocks.
    pub blocks: Blocks,
    /// Prefixes.
    pub prefixes: Prefixes,
    /// Declared sizes.
    pub sizes: NodeSizes,
    /// The cache.
    pub cache: MarkedCache,
    /// The instant of the next request, in milliseconds.
    pub now_ms: u64,
}

impl Default for World {
    fn default() -> Self {
        Self {
            blocks: Blocks::default(),
            prefixes: Prefixes::default(),
            sizes: NodeSizes::default(),
            cache: MarkedCache::new(Rules::default(), 0),
            now_ms: 0,
        }
    }
}

/// A breakpoint at `node`.
pub fn marker(node: NodeId) -> Marker {
    let place = Place { level: Level::Messages, item: 0, part: 0, keys: false };
    Marker { node, ttl: Ttl::FiveMinutes, place, automatic: false }
}

impl World {
    /// The prefix `parent` extended by a text block of `tokens`.
    pub fn extend(&mut self, parent: NodeId, text: &[u8], tokens: u64) -> NodeId {
        let content = Content { level: Level::Messages, role: Role::User, kind: BlockKind::Text, bytes: text };
        let block = self.blocks.intern(content);
        let (node, _) = self.prefixes.extend(parent, block, BlockKind::Text);
        self.sizes.declare(&self.prefixes, node, tokens);
        node
    }

    /// Serves the prompt `end`, marked at its last block; returns the tokens read.
    pub fn request(&mut self, end: NodeId) -> u64 {
        let markers = [marker(end)];
        let prompt = Prompt {
            prefixes: &self.prefixes,
            markers: &markers,
            sizes: &self.sizes,
            total_tokens: forkcast_sim::wire::Sizes::tokens_at(&self.sizes, end),
            minimum_tokens: 1_024,
        };
        let at = Instant::from_millis(self.now_ms);
        let (ticket, outcome) = self.cache.look_up(&prompt, at);
        self.cache.first_byte(&self.prefixes, ticket, at);
        self.cache.ended(&self.prefixes, ticket, at);
        outcome.read_tokens
    }
}

/// `len` bytes of text, different for each `seed`.
pub fn text(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(format!("{state:x} ").as_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// A parent of 100,000 tokens in 200 blocks, written to the cache.
pub fn warm_parent(world: &mut World) -> NodeId {
    let mut end = world.prefixes.root("bench", "claude-opus-5");
    for block in 0..200 {
        end = world.extend(end, &text(block, 1_800), 500);
    }
    world.request(end);
    end
}

/// A request body in the format of Claude Code: three system blocks, tools with schemas, a tool loop of `turns`. The
/// last block has a breakpoint.
pub fn body(turns: usize) -> Vec<u8> {
    let words = |seed: usize, len: usize| String::from_utf8_lossy(&text(seed as u64, len)).replace(' ', "\\n  ");
    let tools: Vec<String> = (0..12)
        .map(|tool| {
            format!(
                r#"{{"name":"Tool{tool}","description":"{}","input_schema":{{"type":"object","properties":{{"path":{{"type":"string","description":"{}"}},"limit":{{"type":"integer"}}}},"required":["path"]}}}}"#,
                words(tool, 1_500),
                words(tool + 100, 80),
            )
        })
        .collect();
    let mut messages = vec![format!(r#"{{"role":"user","content":"{}"}}"#, words(7, 400))];
    for turn in 0..turns {
        messages.push(format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{}"}},{{"type":"tool_use","id":"toolu_{turn}","name":"Tool1","input":{{"path":"/src/{turn}.rs","limit":{turn}}}}}]}}"#,
            words(turn + 1_000, 200),
        ));
        let mark = if turn + 1 == turns { r#","cache_control":{"type":"ephemeral"}"# } else { "" };
        messages.push(format!(
            r#"{{"role":"user","content":[{{"tool_use_id":"toolu_{turn}","type":"tool_result","content":"{}"{mark}}}]}}"#,
            words(turn + 9_000, 2_400),
        ));
    }
    format!(
        r#"{{"model":"claude-opus-5","messages":[{}],"system":[{{"type":"text","text":"{}","cache_control":{{"type":"ephemeral"}}}}],"tools":[{}],"max_tokens":32000,"stream":true}}"#,
        messages.join(","),
        words(3, 9_000),
        tools.join(","),
    )
    .into_bytes()
}
