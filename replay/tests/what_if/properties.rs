//! Random sessions: conversations that grow, rewind, fork, wait and change their model.

use std::collections::BTreeMap;

use forkcast_sim::cache::{MarkedCache, PRESETS, Prompt, PromptCache, Rules, Ticket};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Marker, Ttl, Usage};
use proptest::prelude::*;

use super::stage::{Ask, OPUS, Stage, ask, parts, picousd, what_if};

/// One step of a session.
#[derive(Clone, Debug)]
struct Step {
    gap_secs: u64,
    agent: usize,
    /// Kept blocks of the agent's last prompt, in tenths; of the main agent's if the agent is new.
    kept_tenths: usize,
    /// Kinds and tokens of new blocks.
    new: Vec<(u8, u64)>,
    markers: Vec<(usize, bool)>,
    answer_secs: u64,
    hidden: bool,
    other_model: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let gap = prop_oneof![Just(0_u64), Just(1), Just(40), 290_u64..330, Just(900), 3_590_u64..3_640, Just(9_000)];
    let kept = prop_oneof![4 => Just(10_usize), 1 => 0_usize..10];
    let new = prop::collection::vec((0_u8..4, 1_u64..3_000), 0..4);
    let markers = prop::collection::vec((0_usize..30, any::<bool>()), 0..4);
    let flags = (1_u64..30, prop::bool::weighted(0.15), prop::bool::weighted(0.1));
    (gap, 0_usize..3, kept, new, markers, flags).prop_map(|(gap_secs, agent, kept_tenths, new, markers, flags)| Step {
        gap_secs,
        agent,
        kept_tenths,
        new,
        markers,
        answer_secs: flags.0,
        hidden: flags.1,
        other_model: flags.2,
    })
}

/// Up to twenty requests.
pub fn sessions() -> impl Strategy<Value = Vec<Ask>> {
    prop::collection::vec(step(), 1..20).prop_map(|steps| build(&steps))
}

fn build(steps: &[Step]) -> Vec<Ask> {
    let head = [("tools".to_owned(), 700), ("system".to_owned(), 900)];
    let mut last: BTreeMap<usize, Vec<(String, u64)>> = BTreeMap::new();
    let mut names = 0;
    let mut at_secs = 0;
    let mut asks = Vec::new();
    for step in steps {
        at_secs += step.gap_secs;
        let known = last.get(&step.agent).or_else(|| last.get(&0)).cloned().unwrap_or_else(|| head.to_vec());
        let kept = head.len() + (known.len() - head.len()) * step.kept_tenths / 10;
        let mut blocks = known[..kept].to_vec();
        for (kind, tokens) in &step.new {
            names += 1;
            blocks.push((format!("{}{names}", ["t", "u", "r", "r"][usize::from(*kind)]), *tokens));
        }
        let mut asked = ask("", at_secs).agent(step.agent);
        asked.head = head.len();
        asked.markers = markers(&step.markers, blocks.len());
        asked.answer_secs = step.answer_secs;
        asked.hidden = step.hidden;
        asked.model = if step.other_model { "claude-opus-5" } else { OPUS };
        last.insert(step.agent, blocks.clone());
        asked.blocks = blocks;
        asks.push(asked);
    }
    asks
}

/// In prompt order, longer lifetimes first, as the provider demands; the tail is always marked.
fn markers(wanted: &[(usize, bool)], len: usize) -> Vec<(usize, Ttl)> {
    let mut depths: Vec<usize> = wanted.iter().map(|(depth, _)| 1 + depth % len).chain([len]).collect();
    depths.sort_unstable();
    depths.dedup();
    let long = wanted.iter().filter(|(_, long)| *long).count();
    let ttl = |at: usize| if at < long { Ttl::OneHour } else { Ttl::FiveMinutes };
    depths.into_iter().enumerate().map(|(at, depth)| (depth, ttl(at))).collect()
}

/// The engine of recorded requests: one cache, answers delivered as they begin.
fn plain(rules: &Rules, asks: &[Ask]) -> Vec<Usage> {
    let mut stage = Stage::default();
    let mut cache = MarkedCache::new(*rules, 0);
    let mut answers: BTreeMap<(Instant, Ticket), Instant> = BTreeMap::new();
    let mut usages = Vec::new();
    for ask in asks {
        stage.send(ask, |sent| {
            while let Some(((began, ticket), ended)) = answers
                .first_key_value()
                .map(|(key, ended)| (*key, *ended))
                .filter(|((began, _), _)| *began <= sent.times.at)
            {
                answers.remove(&(began, ticket));
                cache.first_byte(sent.prefixes, ticket, began);
                cache.ended(sent.prefixes, ticket, ended);
            }
            let markers: Vec<Marker> = sent.markers.iter().map(|sent| sent.marker).collect();
            let prompt = Prompt {
                prefixes: sent.prefixes,
                markers: &markers,
                sizes: sent.sizes,
                total_tokens: sent.total_tokens,
                minimum_tokens: sent.minimum_tokens,
            };
            let predicted = cache.peek(&prompt, sent.times.at);
            let (ticket, outcome) = cache.look_up(&prompt, sent.times.at);
            assert_eq!(predicted, outcome);
            answers.insert((sent.times.first_byte_at, ticket), sent.times.ended_at);
            if !sent.hidden {
                usages.push(outcome.usage());
            }
        });
    }
    usages
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_changed_is_what_the_engine_predicts(asks in sessions(), preset in 0_usize..3) {
        let rows = what_if(&[""], &PRESETS[preset], &asks);
        let usages: Vec<Usage> = rows.iter().map(|row| row[0].usage).collect();
        prop_assert_eq!(usages, plain(&PRESETS[preset], &asks));
    }

    /// A what-if with the model of all requests, with the present rules, or of a length that none has, changes nothing.
    #[test]
    fn changes_that_change_nothing(asks in sessions()) {
        let asks: Vec<Ask> = asks.into_iter().map(|ask| ask.model(OPUS)).collect();
        let specs = ["", "model=claude-opus-4-8", "cache=docs-2026-09", "compact-at=10m"];
        for row in what_if(&specs, &Rules::default(), &asks) {
            prop_assert_eq!(&row[1..], &[row[0]; 3]);
        }
    }

    #[test]
    fn every_prompt_is_accounted_for(asks in sessions()) {
        let specs = ["ttl=1h", "ttl=head-1h", "ttl=best", "breakpoints=before-results", "no-cache"];
        let rows = what_if(&specs, &Rules::default(), &asks);
        for (row, ask) in rows.iter().zip(asks.iter().filter(|ask| !ask.hidden)) {
            for hypothetical in row {
                prop_assert_eq!(hypothetical.usage.total_input_tokens(), super::stage::total(ask));
            }
        }
    }

    /// The better lifetime for each conversation is never dearer than either for all.
    #[test]
    fn the_best_is_the_best(asks in sessions()) {
        let rows = what_if(&["ttl=5m", "ttl=1h", "ttl=best"], &Rules::default(), &asks);
        let [short, long, best] = [0, 1, 2].map(|at| picousd(&rows.iter().map(|row| row[at]).collect::<Vec<_>>()));
        prop_assert!(best <= short.min(long));
    }

    /// Columns do not know of each other.
    #[test]
    fn a_column_is_the_same_alone_and_among_others(asks in sessions()) {
        let specs = ["ttl=best", "ttl=1h", "keepalive=2@270", "model=claude-haiku-4-5", "compact-at=25k", "ttl=5m"];
        let together = what_if(&specs, &Rules::default(), &asks);
        for (at, spec) in specs.iter().enumerate() {
            let alone: Vec<_> = super::stage::column(spec, &asks);
            prop_assert_eq!(parts(&alone), parts(&together.iter().map(|row| row[at]).collect::<Vec<_>>()));
        }
    }
}
