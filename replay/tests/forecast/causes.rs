//! Causes of shortfalls: the money that has one, and a sample to be read in the transcripts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use forkcast_replay::replay::{Options, replay};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;
use forkcast_sim::seed::Seed;
use forkcast_sim::service::Entry;

use super::{SOURCES, data, inputs};

/// Seed of the sample that was read by hand (`observed.md` 7).
const SEED: u64 = 20_261_128;

/// How many causes are drawn.
const SAMPLE: usize = 50;

/// Positions among `len` causes, drawn at random.
fn drawn(len: usize) -> BTreeSet<usize> {
    let mut draws = Seed::new(SEED).child("causes").draws();
    let mut drawn = BTreeSet::new();
    while drawn.len() < SAMPLE.min(len) {
        drawn.insert(draws.below(len as u64) as usize);
    }
    drawn
}

#[test]
fn shortfalls_have_causes() {
    let Some(data) = data() else { return };
    let mut by_cause: BTreeMap<Cause, (u64, u64, i128)> = BTreeMap::new();
    let mut found = Vec::new();
    for source in SOURCES {
        let result = replay(&inputs(source, &data), &Options::default());
        for Entry { line, evidence, origin, .. } in &result.entries {
            for cause in &line.charge.causes {
                let sums = by_cause.entry(cause.cause).or_default();
                sums.0 += 1;
                sums.1 += cause.tokens;
                sums.2 += cause.cost.map_or(0, Money::picousd);
                let evidence = evidence.as_ref().expect("a cause without the line that shows it");
                let [recorded, left] = [line.recorded.unwrap().cache_read_input_tokens, cause.tokens];
                found.push(format!(
                    "{:<18} {left:>7} tokens, read {recorded:>7}, {}:{}, shown by line {}: {}",
                    cause.cause.word(),
                    Path::new(&origin.file).strip_prefix(&data).unwrap().display(),
                    origin.line,
                    evidence.line,
                    evidence.shows,
                ));
            }
        }
    }
    let whole: i128 = by_cause.values().map(|sums| sums.2).sum();
    for (cause, (requests, tokens, cost)) in &by_cause {
        let share = 100.0 * *cost as f64 / whole as f64;
        println!("{:<20} {requests:>6} requests {tokens:>12} tokens {share:>6.2} %", cause.word());
    }
    for at in drawn(found.len()) {
        println!("{}", found[at]);
    }
    let unexplained = by_cause.get(&Cause::Unexplained).map_or(0, |sums| sums.2);
    assert!(unexplained as f64 <= 0.08 * whole as f64, "more than 8 % of the money is unexplained");
}
