//! Laws of every conversation.
//!
//! `FORKCAST_CASES` sets how many are tried, `FORKCAST_SEED` which; by default a run always tries the same ones.

use forkcast_sim::cache::Outcome;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{BlockId, Ttl};
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::pair::Asked;
use super::plan::{self, Plan};
use super::play::{Event, play};
use crate::tries::tries;

fn runner() -> TestRunner {
    TestRunner::new(Config { max_shrink_iters: 100_000, ..tries(10_000) })
}

/// Plays random plans; `law` checks each event and returns an error if it is violated.
fn hold<L: Default>(
    plans: impl proptest::strategy::Strategy<Value = Plan>,
    law: impl Fn(&mut L, &Plan, Event<'_>) -> Result<(), String>,
) {
    let held = runner().run(&plans, |plan| {
        let (mut state, mut broken) = (L::default(), Ok(()));
        play(&plan, &mut |event| {
            if broken.is_ok() {
                broken = law(&mut state, &plan, event);
            }
        })
        .and(broken)
        .map_err(TestCaseError::fail)
    });
    if let Err(error) = held {
        panic!("{error}");
    }
}

#[test]
fn emulator_and_twin_agree_in_outcome_and_state_at_every_step() {
    hold(plan::plans(), |(): &mut (), _, _| Ok(()));
}

#[test]
fn the_parts_of_a_usage_add_up_to_the_prompt() {
    hold(plan::plans(), |(): &mut (), _, event| {
        let Event::Asked { asked, outcome, .. } = event else { return Ok(()) };
        let sum = outcome.read_tokens + outcome.write_5m_tokens + outcome.write_1h_tokens + outcome.input_tokens;
        let usage = outcome.usage();
        if (sum, usage.total_input_tokens()) == (asked.total_tokens, asked.total_tokens) && is_copy(outcome) {
            return Ok(());
        }
        Err(format!("{outcome:?} does not add up to {}", asked.total_tokens))
    });
}

fn is_copy(outcome: &Outcome) -> bool {
    let usage = outcome.usage();
    (usage.cache_read_input_tokens, usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens)
        == (outcome.read_tokens, outcome.write_5m_tokens, outcome.write_1h_tokens)
        && (usage.input_tokens, usage.output_tokens) == (outcome.input_tokens, 0)
}

/// A request as the law on reads remembers it: blocks, its breakpoints, and when its answer began.
#[derive(Default)]
struct Seen {
    scope: String,
    blocks: Vec<BlockId>,
    marked: Vec<(usize, Ttl)>,
    read: usize,
    at: Instant,
    began: bool,
    given_up: bool,
}

impl Seen {
    fn new(asked: &Asked, outcome: &Outcome, at: Instant) -> Self {
        let blocks_to = |end| asked.nodes.iter().position(|node| *node == end).map_or(0, |index| index + 1);
        let marked = asked.markers.iter().map(|marker| (blocks_to(marker.node), marker.ttl));
        Self {
            scope: asked.scope.clone(),
            blocks: asked.blocks.iter().map(|(block, _)| *block).collect(),
            marked: marked.filter(|(end, _)| asked.cumulative[*end - 1] >= asked.minimum_tokens).collect(),
            read: outcome.hit.map_or(0, blocks_to),
            at,
            began: false,
            given_up: false,
        }
    }

    /// The lifetime at which it wrote the prefix of `other`'s first `end` blocks, if it did.
    fn wrote(&self, other: &Self, end: usize) -> Option<Ttl> {
        let same = self.scope == other.scope && self.blocks.get(..end) == other.blocks.get(..end);
        self.marked.iter().filter(|(marked, _)| same && self.began && *marked == end).map(|(_, ttl)| *ttl).max()
    }

    /// Whether it read the prefix of `other`'s first `end` blocks or a longer one.
    fn kept_alive(&self, other: &Self, end: usize) -> bool {
        self.scope == other.scope && self.read >= end && self.blocks.get(..end) == other.blocks.get(..end)
    }
}

/// A read must have a reason among the earlier requests.
fn reason(seen: &[Seen], reader: &Seen, plan: &Plan) -> Result<(), String> {
    if reader.read == 0 {
        return Ok(());
    }
    let lifetimes = seen.iter().filter_map(|earlier| earlier.wrote(reader, reader.read));
    let Some(longest) = lifetimes.max() else { return Err("read a prefix that was never written".to_owned()) };
    let uses = seen
        .iter()
        .filter(|earlier| earlier.wrote(reader, reader.read).is_some() || earlier.kept_alive(reader, reader.read));
    let Some(last) = uses.map(|earlier| earlier.at).max() else { return Err("never used".to_owned()) };
    if reader.at.since(last) > longest.duration() + plan.rules.slack {
        return Err(format!("read an expired entry: last use {last:?}, now {:?}", reader.at));
    }
    Ok(())
}

#[test]
fn every_read_entry_was_written_is_readable_and_alive() {
    hold(plan::plans_under(plan::presets()), |seen: &mut Vec<Seen>, plan, event| {
        match event {
            Event::Asked { asked, outcome, at, .. } => {
                let reader = Seen::new(asked, outcome, at);
                reason(seen, &reader, plan)?;
                if outcome.read_tokens > reader.read.checked_sub(1).map_or(0, |last| asked.cumulative[last]) {
                    return Err("read more than was written".to_owned());
                }
                seen.push(reader);
            }
            Event::Began(number) => seen[number].began |= !seen[number].given_up,
            Event::GivenUp(number) => seen[number].given_up = true,
        }
        Ok(())
    });
}
