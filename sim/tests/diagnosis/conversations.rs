//! Laws of every conversation, with forks, edits, pauses and overlaps.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use forkcast_sim::cache::{PRESETS, Rules};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::ledger::charge;
use forkcast_sim::pricing::{Category, Money, PriceBook, Rates, Terms};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{BlockId, Usage};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::day::{Day, Sent, Served};
use crate::tries::tries;

/// Changes of an agent's prompt before it is sent again.
#[derive(Clone, Debug)]
enum Change {
    Append(usize),
    Edit(Index),
    Insert(Index),
    Remove(Index),
    Swap(Index, Index),
    Rewind(Index),
    Tool(u8),
    System(u8),
    Effort(u8),
    Model(u8),
    Nothing,
}

#[derive(Clone, Debug)]
struct Step {
    /// Index of the agent; one beyond the last forks a new one from another.
    agent: Index,
    change: Change,
    wait_seconds: u64,
    begins_after_seconds: u64,
    /// Whether tools, system and tail are marked, and the tail's lifetime.
    marked: [bool; 4],
    scope: u8,
    /// Share of the predicted read that the bill shows, in percent.
    read_percent: u64,
}

#[derive(Clone, Debug)]
struct Plan {
    rules: Rules,
    minimum_tokens: u64,
    steps: Vec<Step>,
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (1..4usize).prop_map(Change::Append),
        1 => any::<Index>().prop_map(Change::Edit),
        1 => any::<Index>().prop_map(Change::Insert),
        1 => any::<Index>().prop_map(Change::Remove),
        1 => any::<(Index, Index)>().prop_map(|(a, b)| Change::Swap(a, b)),
        1 => any::<Index>().prop_map(Change::Rewind),
        1 => (0..3u8).prop_map(Change::Tool),
        1 => (0..3u8).prop_map(Change::System),
        1 => (0..2u8).prop_map(Change::Effort),
        1 => (0..2u8).prop_map(Change::Model),
        2 => Just(Change::Nothing),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    (
        any::<Index>(),
        changes(),
        prop_oneof![4 => 0..20u64, 1 => 280..4_000u64],
        prop_oneof![3 => Just(0u64), 1 => 0..30u64],
        any::<[bool; 4]>(),
        prop_oneof![9 => Just(0u8), 1 => Just(1u8)],
        prop_oneof![4 => Just(100u64), 1 => 0..100u64],
    )
        .prop_map(|(agent, change, wait_seconds, begins_after_seconds, marked, scope, read_percent)| Step {
            agent,
            change,
            wait_seconds,
            begins_after_seconds,
            marked,
            scope,
            read_percent,
        })
}

fn plans() -> impl Strategy<Value = Plan> {
    (select(PRESETS.to_vec()), any::<bool>(), select(vec![0, 60, 200]), prop::collection::vec(steps(), 1..25)).prop_map(
        |(rules, lossy, minimum_tokens, steps)| Plan {
            rules: Rules { loss_per_million: if lossy { 200_000 } else { 0 }, ..rules },
            minimum_tokens,
            steps,
        },
    )
}

/// The request that an agent would send.
#[derive(Clone, Debug, Default)]
struct Agent {
    tool: u8,
    system: u8,
    effort: u8,
    model: u8,
    messages: Vec<u32>,
}

impl Agent {
    fn change(&mut self, change: &Change, fresh: &mut u32) {
        let mut text = || {
            *fresh += 1;
            // Some texts repeat, as reminders do.
            if fresh.is_multiple_of(5) { 0 } else { *fresh }
        };
        let len = self.messages.len();
        match change {
            Change::Append(count) => self.messages.extend((0..*count).map(|_| text())),
            Change::Edit(at) if len > 0 => self.messages[at.index(len)] = text(),
            Change::Insert(at) => self.messages.insert(at.index(len + 1), text()),
            Change::Remove(at) if len > 0 => drop(self.messages.remove(at.index(len))),
            Change::Swap(a, b) if len > 0 => self.messages.swap(a.index(len), b.index(len)),
            Change::Rewind(at) => self.messages.truncate(at.index(len + 1)),
            Change::Tool(tool) => self.tool = *tool,
            Change::System(system) => self.system = *system,
            Change::Effort(effort) => self.effort = *effort,
            Change::Model(model) => self.model = *model,
            _ => {}
        }
        if self.messages.is_empty() {
            self.messages.push(text());
        }
    }

    fn body(&self, [tools, system, tail, hour]: [bool; 4]) -> String {
        let marker = |on: bool| if on { r#","cache_control":{"type":"ephemeral"}"# } else { "" };
        let tail = if tail && hour && !tools && !system {
            r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#
        } else {
            marker(tail)
        };
        let last = self.messages.len() - 1;
        let messages: Vec<String> = self
            .messages
            .iter()
            .enumerate()
            .map(|(at, text)| {
                let (role, marker) = (["user", "assistant"][at % 2], if at == last { tail } else { "" });
                format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"{marker}}}]}}"#)
            })
            .collect();
        format!(
            r#"{{"model":"claude-opus-4-{}","output_config":{{"effort":"{}"}},"tools":[{{"name":"fixed"{}}},{{"name":"{}"}}],"system":[{{"type":"text","text":"S{}"{}}}],"messages":[{}]}}"#,
            7 + self.model,
            ["high", "low"][usize::from(self.effort)],
            marker(tools),
            self.tool,
            self.system,
            marker(system),
            messages.join(",")
        )
    }
}

/// The bill with less read than predicted: the rest was written for five minutes.
fn billed_less(usage: &Usage, percent: u64) -> Usage {
    let read = usage.cache_read_input_tokens * percent / 100;
    let unread = usage.cache_read_input_tokens - read;
    let written = usage.ephemeral_5m_input_tokens + unread / 2;
    Usage {
        cache_read_input_tokens: read,
        ephemeral_5m_input_tokens: written,
        input_tokens: usage.input_tokens + (unread - unread / 2),
        ..*usage
    }
}

/// Plays a plan; `law` sees each request that was served.
fn hold(
    plan: &Plan,
    mut law: impl FnMut(&Day, &Sent, &Served) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut day = Day::new(plan.rules, plan.minimum_tokens);
    let (mut agents, mut at, mut fresh) = (vec![Agent::default()], Instant::default(), 0);
    for step in &plan.steps {
        let mut chosen = step.agent.index(agents.len() + 1);
        if chosen == agents.len() {
            agents.push(agents[step.agent.index(agents.len())].clone());
            chosen = agents.len() - 1;
        }
        agents[chosen].change(&step.change, &mut fresh);
        at = at + Duration::from_secs(step.wait_seconds);
        let mut sent = Sent {
            at,
            begins_after: Duration::from_secs(step.begins_after_seconds),
            scope: step.scope.to_string(),
            chain: chosen.to_string(),
            body: agents[chosen].body(step.marked),
            usage: None,
        };
        if step.read_percent < 100 {
            sent.usage = Some(billed_less(&day.predict(&sent), step.read_percent));
        }
        let served = day.send(&sent);
        law(&day, &sent, &served)?;
    }
    Ok(())
}

/// Tokens that no earlier request sent, by the definition: neither as part of a prefix of the scope and model, nor as a
/// block of the chain's previous request. The latter is taken from the alignment that the comparison uses. Which block
/// was edited into which is not considered: of a block without a partner, at most everything is new, and at least the
/// part that no block of the previous request has at its ends.
#[derive(Default)]
struct Novelty {
    prefixes: BTreeSet<Vec<u8>>,
    previous: BTreeMap<String, Vec<BlockId>>,
}

impl Novelty {
    fn new_tokens(&mut self, day: &Day, sent: &Sent, served: &Served) -> RangeInclusive<u64> {
        let blocks = forkcast_sim::diagnosis::blocks(&served.request, &day.wire.prefixes);
        let before = self.previous.insert(sent.chain.clone(), blocks.clone());
        let partner = before.as_ref().map(|before| forkcast_sim::diagnosis::align(before, &blocks).partner);
        let mut prefix = format!("{} {:?} ", sent.scope, served.request.resolved.map(|found| found.id)).into_bytes();
        let mut most = 0;
        let mut least = 0;
        let mut start = 0;
        for (at, (block, end)) in blocks.iter().zip(&served.cumulative).enumerate() {
            prefix.extend_from_slice(day.wire.blocks.bytes(*block));
            prefix.push(day.wire.blocks.level(*block) as u8);
            prefix.push(day.wire.blocks.role(*block) as u8);
            let known = !self.prefixes.insert(prefix.clone());
            let stood = partner.as_ref().is_some_and(|partner| partner[at].is_some());
            if !known && !stood {
                let unread = end - served.usage.cache_read_input_tokens.clamp(start, *end);
                let bytes = |block: &BlockId| day.wire.blocks.bytes(*block);
                let older = before.iter().flatten();
                let alike = older.map(|older| alike_at_ends(bytes(older), bytes(block))).max().unwrap_or(0);
                most += unread;
                least += unread.saturating_sub(alike);
            }
            start = *end;
        }
        least..=most
    }
}

/// Bytes that two blocks have in common at both ends; a block has as many tokens as bytes here.
fn alike_at_ends(older: &[u8], newer: &[u8]) -> u64 {
    let mut alike = 0;
    while alike < older.len().min(newer.len()) && older[alike] == newer[alike] {
        alike += 1;
    }
    let mut end = 0;
    while alike + end < older.len().min(newer.len()) && older[older.len() - 1 - end] == newer[newer.len() - 1 - end] {
        end += 1;
    }
    (alike + end) as u64
}

fn rates(prices: &[u64; 5]) -> Rates {
    let mut book = PriceBook::built_in();
    for (category, price) in Category::ALL.into_iter().zip(prices) {
        book = book.with_override("mine", category, Money::from_picousd(i128::from(*price)));
    }
    book.rates(&"mine".into(), &Terms::default()).unwrap()
}

proptest! {
    #![proptest_config(tries(2_000))]

    #[test]
    fn every_token_is_read_or_new_or_missed_for_one_cause(plan in plans()) {
        let mut novelty = Novelty::default();
        hold(&plan, |day, sent, served| {
            let found = &served.explanation;
            prop_assert_eq!(found.read_tokens, served.usage.cache_read_input_tokens);
            prop_assert_eq!(found.read_tokens + found.new_tokens + found.missed_tokens(), served.usage.total_input_tokens());
            let new_tokens = novelty.new_tokens(day, sent, served);
            prop_assert!(new_tokens.contains(&found.new_tokens), "{} is not within {new_tokens:?}", found.new_tokens);
            let parts: Vec<_> = found.missed.iter().map(|part| (part.cause, part.billed_as)).collect();
            prop_assert!(parts.is_sorted_by(|a, b| a < b), "each cause and price once, in order: {:?}", parts);
            prop_assert!(found.missed.iter().all(|part| part.tokens > 0));
            prop_assert!(sent.usage.is_some() || parts.iter().all(|(cause, _)| *cause != Cause::Unexplained));
            Ok(())
        })?;
    }

    #[test]
    fn causes_add_up_to_the_bill_minus_the_perfect_bill(
        plan in plans(),
        prices in prop::array::uniform5(0..10_000_000_000_001u64),
    ) {
        let rates = rates(&prices);
        hold(&plan, |_, _, served| {
            let charge = charge(Some(&rates), &served.usage, &[], Some(&served.explanation));
            let causes: Money = charge.causes.iter().filter_map(|cause| cause.cost).sum();
            prop_assert_eq!(charge.bill.unwrap().total - charge.perfect.unwrap(), causes);
            prop_assert_eq!(charge.causes.iter().map(|cause| cause.tokens).sum::<u64>(), served.explanation.missed_tokens());
            Ok(())
        })?;
    }

    #[test]
    fn a_warm_conversation_that_only_grows_misses_nothing(
        turns in prop::collection::vec((1..18usize, 0..300u64, any::<Index>()), 1..12),
        rules in select(PRESETS.to_vec()),
    ) {
        let steps = turns.into_iter().map(|(messages, wait_seconds, agent)| Step {
            agent,
            change: Change::Append(messages),
            wait_seconds,
            begins_after_seconds: 0,
            marked: [false, false, true, false],
            scope: 0,
            read_percent: 100,
        });
        let plan = Plan { rules, minimum_tokens: 0, steps: steps.collect() };
        let mut sent_tokens = 0;
        hold_one(&plan, |served| {
            prop_assert_eq!(&served.explanation.missed, &Vec::new());
            prop_assert_eq!(served.explanation.read_tokens, sent_tokens);
            prop_assert!(served.explanation.differences.is_empty() && served.explanation.notes.is_empty());
            sent_tokens = served.usage.total_input_tokens();
            Ok(())
        })?;
    }
}

/// Plays a plan with a single agent.
fn hold_one(plan: &Plan, mut law: impl FnMut(&Served) -> Result<(), TestCaseError>) -> Result<(), TestCaseError> {
    let mut day = Day::new(plan.rules, plan.minimum_tokens);
    let (mut agent, mut at, mut fresh) = (Agent::default(), Instant::default(), 0);
    for step in &plan.steps {
        agent.change(&step.change, &mut fresh);
        at = at + Duration::from_secs(step.wait_seconds);
        let body = agent.body(step.marked);
        let sent = Sent { at, begins_after: Duration(0), scope: "s".into(), chain: "c".into(), body, usage: None };
        law(&day.send(&sent))?;
    }
    Ok(())
}
