//! Values that no client writes, through everything that reads: no panics, no hangs, no broken laws, no text of a
//! prompt in the output, and no control of the terminal.
//!
//! `cargo test` runs some cases. The whole campaign, and one case of it again:
//!
//! ```text
//! FORKCAST_MUTATED_CASES=100000 cargo test -p forkcast-reports --test mutated -- --nocapture
//! FORKCAST_MUTATED_CASE=campaign:4711 cargo test -p forkcast-reports --test mutated -- --nocapture
//! ```
//!
//! A case belongs to a commit, because it is made from fixtures; the files of the first case of each kind stay in the
//! folder `mutated/kept` of cargo's temporary one (`target/tmp`), and useful ones are added to `corpus`.
//!
//! `FORKCAST_MUTATED_SEED` selects another campaign, `FORKCAST_MUTATED_FROM` a folder with more recordings to begin
//! with.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

mod campaign;
mod laws;
mod mutate;
mod recordings;
mod seeds;
mod shown;
mod texts;
mod tree;

use std::sync::Arc;
use std::time::Duration;

use campaign::{Job, Material, Plan};
use forkcast_replay::check::{Check, Checking};
use forkcast_replay::input::ReadOptions;
use forkcast_replay::source::feed;
use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, Recording};

/// Cases of a usual run, and how long they may take; the machines of CI differ.
const CASES: u64 = 600;
const SECONDS: u64 = 20;

/// A lock of the embedded sample.
fn sample_lock() -> Lock {
    let rules = Rules::default();
    let recording = Recording { preset: rules.preset.name.to_owned(), ..Recording::default() };
    let mut check = Check::new(Checking { rules, prices: None, recording: Some(recording), conformance: false });
    let sample = forkcast_fixtures::workspace().join("replay/sample/sample.exchanges.jsonl");
    feed(&[sample], &ReadOptions::default(), &|_| true, &mut check).unwrap();
    check.finish().lock.unwrap()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Known findings that are not fixed yet, by class and the beginning of their text. Each is removed with its fix.
const KNOWN: [(&str, &str); 0] = [];

fn assert_nothing(ran: u64, mut found: campaign::Found) {
    found.retain(|(class, what), _| !KNOWN.iter().any(|known| known.0 == *class && what.starts_with(known.1)));
    let found = &found;
    assert!(found.is_empty(), "found in {ran} cases:\n{}", campaign::table(found));
}

#[test]
fn no_value_breaks_anything() {
    let seed = variable("FORKCAST_MUTATED_SEED").unwrap_or_else(|| "campaign".to_owned());
    let cases: Option<u64> = variable("FORKCAST_MUTATED_CASES").map(|cases| cases.parse().unwrap());
    let longest = if cases.is_some() { Duration::MAX } else { Duration::from_secs(SECONDS) };
    let mut plan = Plan { seed, first: 0, cases: cases.unwrap_or(CASES), longest };
    if let Some(case) = variable("FORKCAST_MUTATED_CASE") {
        let (seed, number) = case.rsplit_once(':').unwrap();
        plan = Plan { seed: seed.to_owned(), first: number.parse().unwrap(), cases: 1, longest: Duration::MAX };
    }
    let (material, of) = (Material::new(), plan.clone());
    let job: Job = Arc::new(move |number, folder| material.case(&of, number, folder));
    let (ran, found) = campaign::run(&plan, &job);
    println!("{ran} cases of `{}`", plan.seed);
    assert_nothing(ran, found);
}

/// Fixtures of all rooms as they are, and everything in `corpus`, which is what once broke something.
#[test]
fn every_fixture_keeps_every_law() {
    let material = Material::new();
    let plan = Plan { seed: "fixtures".to_owned(), first: 0, cases: material.wholes(), longest: Duration::MAX };
    let of = plan.clone();
    let job: Job = Arc::new(move |number, folder| material.whole(&of, number, folder));
    let (ran, found) = campaign::run(&plan, &job);
    assert_nothing(ran, found);
}
