//! The emulator and its twin side by side: each call goes to both, and the first difference is an error.

use std::collections::BTreeMap;

use forkcast_sim::cache::{MarkedCache, Outcome, Prompt, PromptCache, Rules, Ticket};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{BlockId, BlockKind, Marker, NodeId, PathSizes, Place, Prefixes, Sizes, Ttl};

use super::passes::{self, Pass};
use super::twin::{Answer, Path, Spelled, Twin};

/// A request to both caches.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Scope and model.
    pub scope: String,
    /// The path in the arena.
    pub nodes: Vec<NodeId>,
    /// The same path, spelled out.
    pub blocks: Vec<(BlockId, BlockKind)>,
    /// Tokens of each prefix.
    pub cumulative: Vec<u64>,
    /// Breakpoints in prompt order.
    pub markers: Vec<Marker>,
    /// Tokens of the whole prompt.
    pub total_tokens: u64,
    /// Shortest prefix that is cached.
    pub minimum_tokens: u64,
}

impl Asked {
    fn spelled(&self) -> Spelled {
        let end = |marker: &Marker| self.nodes.iter().position(|node| *node == marker.node).unwrap() + 1;
        Spelled {
            scope: self.scope.clone(),
            blocks: self.blocks.clone(),
            cumulative: self.cumulative.clone(),
            markers: self.markers.iter().map(|marker| (end(marker), marker.ttl)).collect(),
            total_tokens: self.total_tokens,
            minimum_tokens: self.minimum_tokens,
        }
    }

    fn prompt<'a>(&'a self, prefixes: &'a Prefixes, sizes: &'a dyn Sizes) -> Prompt<'a> {
        Prompt {
            prefixes,
            markers: &self.markers,
            sizes,
            total_tokens: self.total_tokens,
            minimum_tokens: self.minimum_tokens,
        }
    }

    fn path(&self, blocks: usize) -> Path {
        let blocks = self.blocks[..blocks].iter().map(|(block, _)| *block).collect();
        Path { scope: self.scope.clone(), blocks }
    }
}

/// Both caches, and every prefix that was ever asked for.
pub struct Pair {
    /// The emulator.
    pub marked: MarkedCache,
    /// The twin.
    pub twin: Twin,
    tickets: BTreeMap<usize, Ticket>,
    paths: BTreeMap<NodeId, Path>,
}

impl Pair {
    /// Two empty caches.
    pub fn new(rules: Rules) -> Self {
        Self {
            marked: MarkedCache::new(rules, 0),
            twin: Twin::new(rules),
            tickets: BTreeMap::new(),
            paths: BTreeMap::new(),
        }
    }

    /// Looks up in both; a peek before must give the same result. Returns the request's number.
    pub fn ask(&mut self, prefixes: &Prefixes, asked: &Asked, at: Instant) -> Result<(usize, Outcome), String> {
        self.remember(asked);
        let sizes = PathSizes::new(prefixes, &asked.nodes, &asked.cumulative);
        let prompt = asked.prompt(prefixes, &sizes);
        let peeked = self.marked.peek(&prompt, at);
        let (ticket, outcome) = self.marked.look_up(&prompt, at);
        let (number, answer) = self.twin.look_up(&asked.spelled(), at);
        self.tickets.insert(number, ticket);
        if peeked != outcome {
            return Err(format!("request {number}: peek gave {peeked:?}, look_up {outcome:?}"));
        }
        let said = in_blocks(prefixes, &outcome);
        if said != answer {
            return Err(format!("request {number}: emulator {said:?}, twin {answer:?}"));
        }
        Ok((number, outcome))
    }

    /// Looks up in the emulator alone, if the twin does not know the rule.
    pub fn ask_emulator(&mut self, prefixes: &Prefixes, asked: &Asked, at: Instant) -> (usize, Outcome) {
        let sizes = PathSizes::new(prefixes, &asked.nodes, &asked.cumulative);
        let prompt = asked.prompt(prefixes, &sizes);
        let (ticket, outcome) = self.marked.look_up(&prompt, at);
        let (number, _) = self.twin.look_up(&asked.spelled(), at);
        self.tickets.insert(number, ticket);
        (number, outcome)
    }

    /// Serves a call with passes of server-side tools; each pass is given as a request without the breakpoint that the
    /// provider sets itself. Returns the sums.
    pub fn serve(
        &mut self,
        prefixes: &Prefixes,
        calls: &[(Asked, Instant)],
        place: Place,
    ) -> Result<(usize, Outcome), String> {
        let ((first, at), (last, _)) = (&calls[0], &calls[calls.len() - 1]);
        self.remember(last);
        let sizes = PathSizes::new(prefixes, &last.nodes, &last.cumulative);
        let prompt = first.prompt(prefixes, &sizes);
        let end = |asked: &Asked| *asked.nodes.last().unwrap();
        let passes: Vec<Pass> = calls[1..].iter().map(|(asked, at)| Pass { end: end(asked), place, at: *at }).collect();
        let outcome = passes::serve(&mut self.marked, &prompt, *at, &passes, prefixes, &sizes);
        let (number, answer) = self.serve_slowly(calls);
        let said = in_blocks(prefixes, &outcome);
        if said != answer {
            return Err(format!("call {number}: emulator {said:?}, twin {answer:?}"));
        }
        Ok((number, outcome))
    }

    /// The passes of a call as separate requests, in order.
    fn serve_slowly(&mut self, calls: &[(Asked, Instant)]) -> (usize, Answer) {
        let mut sums: Option<(usize, Answer)> = None;
        for (index, (asked, at)) in calls.iter().enumerate() {
            let mut spelled = asked.spelled();
            if index > 0 && !spelled.markers.is_empty() {
                spelled.markers.push((spelled.blocks.len(), Ttl::FiveMinutes));
            }
            let (number, mut answer) = self.twin.look_up(&spelled, *at);
            self.twin.first_byte(number, *at);
            self.twin.ended(number, *at);
            if let Some((_, sum)) = &sums {
                answer.tokens.iter_mut().zip(sum.tokens).for_each(|(tokens, before)| *tokens += before);
            }
            sums = Some((number, answer));
        }
        sums.unwrap()
    }

    fn remember(&mut self, asked: &Asked) {
        for (index, node) in asked.nodes.iter().enumerate() {
            self.paths.entry(*node).or_insert_with(|| asked.path(index + 1));
        }
    }

    /// The first byte of an answer.
    pub fn first_byte(&mut self, prefixes: &Prefixes, number: usize, at: Instant) {
        self.marked.first_byte(prefixes, self.tickets[&number], at);
        self.twin.first_byte(number, at);
    }

    /// The end of an answer.
    pub fn ended(&mut self, prefixes: &Prefixes, number: usize, at: Instant) {
        self.marked.ended(prefixes, self.tickets[&number], at);
        self.twin.ended(number, at);
    }

    /// A cancelled request.
    pub fn given_up(&mut self, prefixes: &Prefixes, number: usize) {
        self.marked.given_up(prefixes, self.tickets[&number]);
        self.twin.given_up(number);
    }

    /// Compares the state of every prefix in both, at `at` and when entries used at `at` are about to expire.
    pub fn compare_states(&self, prefixes: &Prefixes, at: Instant) -> Result<(), String> {
        for later in [at, at + Duration::from_secs(300)] {
            for (node, path) in &self.paths {
                let (fast, slow) = (self.marked.state(prefixes, *node, later), self.twin.state(path, later));
                if fast != slow {
                    let depth = path.blocks.len();
                    return Err(format!(
                        "prefix of {depth} blocks in {} at {}: emulator {fast:?}, twin {slow:?}",
                        path.scope, later.0
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The outcome, with the number of blocks of each prefix.
fn in_blocks(prefixes: &Prefixes, outcome: &Outcome) -> Answer {
    let blocks = |node: Option<NodeId>| node.map(|node| prefixes.depth(node) as usize);
    Answer {
        hit: blocks(outcome.hit),
        last_counting: blocks(outcome.last_effective),
        tokens: [outcome.read_tokens, outcome.write_5m_tokens, outcome.write_1h_tokens, outcome.input_tokens],
    }
}
