//! The scenario format as a fuzz target: `cargo test` replays `__fuzz__/scenarios/crashes`. Random bytes with
//! `BOLERO_RANDOM_ITERATIONS=100000`; coverage-guided with `cargo bolero test -p forkcast-scenarios --test all
//! mistakes::fuzzed::scenarios --corpus-dir scenarios/catalog`.

use bolero::check;
use forkcast_scenarios::format::Scenario;

/// Property of any text: it is a scenario, or each mistake has a message.
fn holds(text: &str) {
    if let Err(problems) = Scenario::read("case", "case.yaml", text, &[]) {
        assert!(!problems.0.is_empty() && problems.0.iter().all(|problem| !problem.says.is_empty()));
    }
}

#[test]
fn scenarios() {
    check!(name = "scenarios").with_iterations(0).for_each(|bytes: &[u8]| holds(&String::from_utf8_lossy(bytes)));
}
