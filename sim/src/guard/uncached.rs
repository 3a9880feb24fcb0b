//! Chains that repeat a history which no breakpoint covers: nothing breaks in them, and they pay for it again with every
//! request. And chains that are too short to be cached at all.

mod repeated;

use std::collections::BTreeMap;

pub(super) use self::repeated::{BEGINNING_TOKENS_MIN, Turn};
use self::repeated::{Part, Repeated, Repetition};
use super::finding::{Finding, Rule};
use super::identity::{Kinship, Lane, Whose};
use crate::diagnosis::{Cause, Subject};
use crate::outside::quoted;
use crate::pricing::grouped;
use crate::wire::{BlockId, ChainId, NodeId, Wire, shared_nodes};

/// The minimum of most Claude models (`cache/minimum.rs`): of a prefix as long as this, another model would read. It counts if it
/// is also half as long as its own model's minimum, so that more content in the prefix is no idle advice.
const CACHED_ELSEWHERE_MIN: u64 = 1_024;

/// What helps if prompts are short.
const IN_TESTS: &str = " If they are those of a test, `in_tests` checks them all the same.";

/// What each chain had in the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Uncached {
    chains: BTreeMap<ChainId, Kept>,
    /// What first requests repeat of other chains, by the digest of their first block.
    beginnings: BTreeMap<[u8; 32], Beginning>,
}

/// Chains that begin alike.
#[derive(Clone, Debug)]
struct Beginning {
    /// Name of the latest.
    name: String,
    /// The first request of the first of them.
    first: usize,
    /// The prompt of the latest; empty if the wire was renewed since.
    prompt: Vec<NodeId>,
    repeated: Repeated,
    /// Breakpoints of all of them end prefixes that are too short for their model.
    longest: Option<Longest>,
    /// The same for a model that caches short prefixes too.
    elsewhere: Repeated,
}

/// The breakpoints of a chain's requests.
#[derive(Clone, Debug, Default)]
struct Kept {
    name: String,
    requests: usize,
    /// The longest prefix before a breakpoint.
    longest: Option<Longest>,
    /// A prefix was long enough, or a recorded usage shows what the provider kept.
    cached: bool,
    /// A body carries a breakpoint, or the provider needs none.
    marked: bool,
    repeated: Repeated,
    /// The same for a model that caches short prefixes too.
    elsewhere: Repeated,
}

/// The longest prefix before a breakpoint, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Longest {
    tokens: u64,
    /// The shortest that its model caches.
    minimum_tokens: u64,
}

impl Uncached {
    /// Takes a request.
    pub fn take<T>(&mut self, wire: &Wire, turn: &Turn<'_>, whose: &Whose<T>) {
        let lane = &whose.lane;
        let Turn { taken, is_measured, is_implied, .. } = *turn;
        let kept = self.chains.entry(lane.chain).or_insert_with(|| Kept { name: lane.name.clone(), ..Kept::default() });
        kept.requests += 1;
        kept.marked |= !is_implied;
        kept.cached |= is_measured || taken.refusal.is_some() || taken.covered() > 0;
        kept.longest = kept.longest.max(Longest::of(taken));
        let grown = turn.grown(wire);
        kept.repeated.take(turn, taken.minimum_tokens, grown);
        // What is cached is long enough.
        if !kept.cached {
            kept.elsewhere.take(turn, elsewhere_min(taken), grown);
        }
        if lane.first && !turn.is_broken && !matches!(whose.kinship, Kinship::Fork { .. }) {
            self.begin(wire, turn, lane);
        }
    }

    fn begin(&mut self, wire: &Wire, turn: &Turn<'_>, lane: &Lane) {
        let Turn { taken, .. } = *turn;
        let is_judged = taken.refusal.is_none() && taken.request.has_modelled_cache();
        let first = taken.request.nodes.first().filter(|_| is_judged && !turn.is_measured && !turn.is_implied);
        let Some(block) = first.and_then(|first| wire.prefixes.block(*first)) else { return };
        let new = || Beginning {
            name: String::new(),
            first: taken.number,
            prompt: Vec::new(),
            repeated: Repeated::default(),
            longest: None,
            elsewhere: Repeated::default(),
        };
        let beginning = self.beginnings.entry(begins_with(wire, block)).or_insert_with(new);
        beginning.name.clone_from(&lane.name);
        beginning.take(wire, turn);
    }

    /// Forgets prompts, which are those of a wire that is no longer used.
    pub fn renew(&mut self) {
        self.beginnings.values_mut().for_each(|beginning| beginning.prompt.clear());
    }

    /// One finding for each chain that repeats what it could read.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let chains = self.chains.values().filter_map(|kept| kept.unmarked().or_else(|| kept.too_short()));
        chains.chain(self.beginnings.values().filter_map(Beginning::finding))
    }

    /// The warning in words. A single request has nothing to keep.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let silent = || self.chains.values().filter(|kept| !kept.cached && kept.requests > 1);
        let of_tests =
            self.chains.values().filter(|kept| !kept.marked && kept.requests > 1 && !kept.repeated.is_costly());
        let assumed = told(of_tests, |_| {
            "carry no cache breakpoint, so the provider caches nothing of them and reads 0 % of their input. This check assumed \
             breakpoints after the system prompt and at the end."
                .to_owned()
        });
        let unmarked = told(silent().filter(|kept| kept.longest.is_none() && !kept.repeated.is_costly()), |_| {
            format!(
                "carry no cache breakpoint, so nothing of them is cached and no change can break a prefix.{IN_TESTS}"
            )
        });
        let is_short = |kept: &&Kept| kept.longest.is_some() && kept.too_short().is_none();
        let short = told(silent().filter(is_short), |kept| {
            let Longest { tokens, minimum_tokens } = kept.longest.unwrap_or_default();
            format!(
                "have their last breakpoint after {} tokens or fewer, and their model caches nothing below {}, so no change \
                 can break a prefix.{IN_TESTS}",
                grouped(tokens),
                grouped(minimum_tokens)
            )
        });
        assumed.into_iter().chain(unmarked).chain(short)
    }
}

impl Beginning {
    /// Takes the first request of another chain.
    fn take(&mut self, wire: &Wire, turn: &Turn<'_>) {
        let taken = turn.taken;
        let nodes = &taken.request.nodes;
        let shared = shared_nodes(&self.prompt, nodes);
        let part = Part::of(wire, &self.prompt, taken, shared).filter(|part| part.at == taken.request.known);
        let repetition = Repetition { blocks: 0..taken.request.known, part };
        self.prompt.clone_from(nodes);
        self.repeated.begin(turn, self.first, taken.minimum_tokens, &repetition);
        if taken.covered() == 0 {
            self.longest = self.longest.max(Longest::of(taken));
            self.elsewhere.begin(turn, self.first, elsewhere_min(taken), &repetition);
        }
    }

    /// No breakpoint covers what agents have in common. It is noted only: each of them may be the only one of its day.
    fn finding(&self) -> Option<Finding> {
        let unmarked = self.repeated.finding(&self.name, Cause::NoBreakpoint, |_| {
            let agents = match self.repeated.requests {
                1 => "1 agent repeats of another in its first request".to_owned(),
                agents => format!("{agents} agents repeat of others in their first requests"),
            };
            format!("no breakpoint at the end of what {agents}")
        });
        let found = unmarked.or_else(|| self.longest?.finding(&self.name, &self.elsewhere))?;
        Some(Finding { rule: Rule::Siblings, with_sibling: true, ..found })
    }
}

impl Longest {
    fn of(taken: &Subject) -> Option<Self> {
        let tokens = taken.marked().into_iter().map(|(at, _)| taken.cumulative[at]).max()?;
        Some(Self { tokens, minimum_tokens: taken.minimum_tokens })
    }

    /// The model does not cache it, and most models would: `elsewhere` is what they would read.
    fn finding(self, name: &str, elsewhere: &Repeated) -> Option<Finding> {
        let [tokens, minimum] = [self.tokens, self.minimum_tokens].map(grouped);
        elsewhere.finding(name, Cause::BelowMinimum, |repeat| {
            format!(
                "{repeat} at most {tokens} tokens before a breakpoint, and the model caches nothing below {minimum}"
            )
        })
    }
}

/// The shortest prefix that counts if another model would cache it.
fn elsewhere_min(taken: &Subject) -> u64 {
    (taken.minimum_tokens / 2).max(CACHED_ELSEWHERE_MIN).min(taken.minimum_tokens)
}

/// What blocks have in common that may be compared: their digest, or the beginning of a text.
fn begins_with(wire: &Wire, block: BlockId) -> [u8; 32] {
    const BYTES: usize = 1_024;
    match wire.blocks.bytes(block).get(..BYTES).filter(|_| !wire.blocks.is_outline(block)) {
        Some(beginning) => *blake3::hash(beginning).as_bytes(),
        None => *wire.blocks.digest(block).as_bytes(),
    }
}

impl Kept {
    /// No breakpoint covers what its requests repeat.
    fn unmarked(&self) -> Option<Finding> {
        self.repeated.finding(&self.name, Cause::NoBreakpoint, |repeat| {
            format!("no breakpoint at the end of what {repeat}: {}", self.repeated.rates())
        })
    }

    /// What it has marked is too short.
    fn too_short(&self) -> Option<Finding> {
        self.longest.filter(|_| !self.cached && self.marked)?.finding(&self.name, &self.elsewhere)
    }
}

/// One sentence for all chains of one sort.
fn told<'a>(chains: impl Iterator<Item = &'a Kept>, what: impl Fn(&Kept) -> String) -> Option<String> {
    let chains: Vec<&Kept> = chains.collect();
    let longest = chains.iter().max_by_key(|kept| kept.longest)?;
    let requests: usize = chains.iter().map(|kept| kept.requests).sum();
    let whose = match chains.as_slice() {
        [only] => quoted(&only.name),
        [first, more @ ..] => format!("{} and {} more chains", quoted(&first.name), more.len()),
        [] => return None,
    };
    Some(format!("The {requests} requests of {whose} {}", what(longest)))
}
