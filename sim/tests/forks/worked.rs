//! The published example to the token (`economics.md` 3.7, contract ECON-05..09).

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{LaunchPolicy, Profile};
use forkcast_sim::cache::{PRESETS, Rules};
use forkcast_sim::simulation::run;

use super::fan::{Fan, equivalents, first_requests};

/// Placement, then token equivalents: cold burst, cold primed, warm burst, warm primed.
const TABLE: [(Placement, [u64; 4]); 3] = [
    (Placement::Shared, [304_125, 81_025, 39_625, 28_125]),
    (Placement::Tail, [304_375, 304_375, 39_875, 39_875]),
    (Placement::Both, [304_375, 81_275, 39_875, 28_375]),
];

fn cells() -> [(bool, LaunchPolicy); 4] {
    use LaunchPolicy::{Burst, Primed};
    [(true, Burst), (true, Primed), (false, Burst), (false, Primed)]
}

#[test]
fn the_published_table_is_reproduced_to_the_token_with_both_look_back_counts() {
    let mut off = Vec::new();
    for rules in PRESETS {
        for (placement, row) in TABLE {
            for ((is_cold, launch), expected) in cells().into_iter().zip(row) {
                let fan = Fan { placement, launch, is_cold, ..Fan::five() };
                let found = with_rules(fan, rules, 125);
                if found != expected * 100 {
                    off.push(format!(
                        "{} {placement:?} {launch:?} cold={is_cold}: {found} not {expected}00",
                        rules.name
                    ));
                }
            }
        }
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
}

#[test]
fn at_a_write_price_of_one_the_documents_own_figures_are_reproduced() {
    let fan = Fan { launch: LaunchPolicy::Primed, ..Fan::five() };
    assert_eq!(with_rules(Fan { is_cold: true, ..fan }, PRESETS[0], 100), 6_890_000);
    assert_eq!(with_rules(fan, PRESETS[0], 100), 2_750_000);
}

#[test]
fn forks_of_the_client_of_2026_read_the_parents_writes_under_any_launch_policy() {
    for placement in [Placement::Tail, Placement::Client2026] {
        for launch in [LaunchPolicy::Burst, LaunchPolicy::Primed, LaunchPolicy::Waves(2)] {
            let fan = Fan { profile: Profile::Client2026, placement, launch, ..Fan::five() };
            let finished = fan.finished();
            for line in first_requests(&finished) {
                let usage = line.predicted.unwrap();
                assert_eq!(usage.cache_read_input_tokens, 46_000, "{fan:?}");
                assert_eq!(usage.input_tokens, 0, "{fan:?}");
            }
        }
    }
}

fn with_rules(fan: Fan, rules: Rules, write: u64) -> u64 {
    let mut setup = fan.setup();
    setup.rules = rules;
    setup.observers = forkcast_sim::laws::all(&setup.rules, &forkcast_sim::seed::Seed::new(setup.seed));
    let finished = run(setup).unwrap_or_else(|failed| panic!("{fan:?}: {failed}"));
    let lines = first_requests(&finished);
    assert_eq!(lines.len(), fan.children);
    equivalents(&lines, write)
}
