//! Captured runs of the runtime, checked by the guard and locked like any others.

use std::path::Path;

use forkcast_replay::check::{Check, Checking, Outcome};
use forkcast_replay::source::{Fed, feed_inputs};
use forkcast_scenarios::capture::{self, Recorder};
use forkcast_scenarios::run::{Options, play};
use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, equality};

fn check(name: &str) -> (Fed, Outcome) {
    let scenario = capture::scenario(Path::new(name)).expect("a scenario").expect("without mistakes");
    let run = play(scenario, &Options::default());
    let mut check = Check::new(Checking { recording: Some(Default::default()), ..Checking::default() });
    let fed = feed_inputs(Recorder::new(&run).inputs(), &|| true, &mut check);
    assert_eq!(fed.requests, run.requests.len());
    assert!(fed.inputs.unreadable.is_empty());
    (fed, check.finish())
}

#[test]
fn the_runtimes_forks_break_no_prefix_and_are_named_in_the_lock() {
    for name in ["G02-siblings", "fan-out", "client-2026"] {
        let (fed, outcome) = check(name);
        assert!(fed.requests > 3, "{name}");
        let broken: Vec<String> =
            outcome.report.findings.iter().filter(|found| found.breaks_prefix).map(ToString::to_string).collect();
        assert_eq!(broken, [] as [String; 0], "{name}");
        let lock = outcome.lock.unwrap();
        let main = lock.chain("main").unwrap_or_else(|| panic!("{name}: {:?}", lock.chains.len()));
        assert_eq!(main.parent, None);
        let forks: Vec<_> = lock.chains.iter().filter(|chain| chain.parent.as_deref() == Some("main")).collect();
        assert!(forks.len() > 1, "{name}");
        assert_eq!(Lock::parse(&lock.text()).unwrap().text(), lock.text());
    }
}

#[test]
fn a_flag_flip_in_the_system_prompt_is_found_in_the_parent_only() {
    let (_, outcome) = check("E15");
    let broken: Vec<_> = outcome.report.findings.iter().filter(|found| found.breaks_prefix).collect();
    let said: Vec<_> = broken.iter().map(|found| (&*found.chain, found.cause.word(), &*found.path)).collect();
    assert_eq!(said, [("main", "system_changed", "system[1]")]);
}

#[test]
fn a_scenario_matches_its_own_lock() {
    let locks = [(); 2].map(|()| check("fan-out").1.lock.unwrap());
    assert_eq!(locks[0].text(), locks[1].text());
    let found = equality(&locks[0], &locks[1], &Rules::default());
    assert!(found.findings.is_empty() && found.strangers.is_empty() && found.notes.is_empty());
}

#[test]
fn other_files_are_left_to_the_readers() {
    assert!(capture::scenario(Path::new("no-such-scenario")).is_none());
    assert!(capture::scenario(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))).is_none());
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    assert!(capture::scenario(&file("cassette.yaml", "interactions: []\nversion: 1\n")).is_none());
    let mistaken = capture::scenario(&file("mine.yaml", "script: 7\n")).unwrap().unwrap_err();
    assert!(mistaken.contains("mine.yaml"), "{mistaken}");
}
