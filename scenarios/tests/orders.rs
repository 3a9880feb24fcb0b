//! Other orders of what is ready at the same instant: no law is broken in any of them.

use std::collections::BTreeSet;

use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Options, play};
use forkcast_scenarios::{catalog, expect};

/// What other orders do to a scenario.
#[derive(Debug, Default)]
struct Orders {
    /// Different runs.
    digests: BTreeSet<u128>,
    /// Random seeds under which an expectation does not hold.
    unmet: Vec<u64>,
    /// Random seeds under which the run does not end as it should.
    ends: BTreeSet<&'static str>,
}

fn explore(item: &catalog::CatalogItem, seeds: u64) -> Orders {
    let mut orders = Orders::default();
    for seed in 0..seeds {
        let scenario = item.read(&[]).unwrap();
        let expected = scenario.expect.ends;
        let run = play(scenario, &Options { interleave: Some(seed), ..Options::default() });
        assert!(run.ends != Ends::LawBroken && run.laws_held(), "{}, seed {seed}: {:?}", item.name, run.message);
        orders.digests.insert(run.digest);
        if run.ends != expected {
            orders.ends.insert(run.ends.word());
        } else if !expect::failures(&run).is_empty() {
            orders.unmet.push(seed);
        }
    }
    orders
}

/// What another order of the same instant changes, by the scenario whose expectations it does not meet: 200 random seeds,
/// 2026-11-29. All of these are about who comes first; a label such as `fork#1` is that of the first agent that asks.
const FINDINGS: [(&str, &str); 9] = [
    ("contract/E09", "which of two agents that end at one instant is reported first"),
    ("contract/E10+of-one-instant", "whether a child's end or the user's signal of the same instant wins"),
    ("contract/E11", "whether two killed agents are reported in one turn or in two"),
    ("contract/E15", "which fork asks first, and so is primed and named `fork#1`"),
    ("contract/E16", "which fork asks first, and so is primed and named `fork#1`"),
    ("contract/E17", "which of two forks is the first, whose history is replaced"),
    ("contract/E19", "which of two permission requests the user's next answer is for"),
    ("contract/E23", "which of two teammates' permission requests the user's next answer is for"),
    ("forks/client-2026", "which fork asks first, and so is named `fork#1`"),
];

/// `FORKCAST_ORDERS=200` explores the whole catalog under so many random seeds and prints what it finds.
#[test]
fn no_order_breaks_a_law_and_orders_that_change_outcomes_are_known() {
    let wanted = std::env::var("FORKCAST_ORDERS").ok().and_then(|seeds| seeds.parse().ok());
    let is_new = |name: &str| {
        ["E09", "E11", "E13", "E14", "E20", "E21", "E23", "E24", "E25"].iter().any(|new| name.ends_with(new))
    };
    for item in catalog::all().iter().filter(|item| wanted.is_some() || is_new(&item.name)) {
        let seeds = wanted.unwrap_or(4);
        let orders = explore(item, seeds);
        if wanted.is_some() {
            let (digests, unmet) = (orders.digests.len(), orders.unmet.len());
            println!("{}: {digests} runs in {seeds} orders, {unmet} unmet, other ends {:?}", item.name, orders.ends);
        }
        assert!(orders.ends.is_empty(), "{}: {:?}", item.name, orders.ends);
        let is_known =
            FINDINGS.iter().any(|(name, _)| item.name.split('+').next() == Some(*name) || item.name == *name);
        assert!(is_known || orders.unmet.is_empty(), "{}: seeds {:?}", item.name, orders.unmet);
    }
}
