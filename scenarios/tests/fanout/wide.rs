//! Wide fan-outs: the shared part of siblings is walked once, which must not change any of their requests.

use std::cell::RefCell;
use std::rc::Rc;

use forkcast_scenarios::fanout::setup::setup;
use forkcast_scenarios::fanout::{Cell, play};
use forkcast_sim::agent::spawn::fork::{Ablation, Profile};
use forkcast_sim::pricing::PriceBook;
use forkcast_sim::service::Entry;
use forkcast_sim::simulation::{Finished, run};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::formula::{cases, cells};

fn books() -> Rc<PriceBook> {
    Rc::new(PriceBook::built_in())
}

/// The run of a cell as it is played, and as a run with explanations and transcripts.
fn both(cell: &Cell) -> [Finished; 2] {
    [false, true].map(|is_told| {
        let mut setup = setup(cell, &books());
        setup.explains = is_told;
        setup.digests = true;
        setup.settings.without_transcripts = !is_told;
        run(setup).unwrap()
    })
}

/// What [`told`] tells of an entry.
fn told_of(entry: &Entry) -> String {
    let line = &entry.line;
    let (usage, bill) = (line.predicted, line.predicted_cost.map(|cost| cost.total));
    let times = (line.at, line.first_byte_at, entry.ended_at);
    format!("{:?} {times:?} {usage:?} {bill:?} {:?}", entry.agent, line.unread_writes)
}

/// For each request: agent, times, usage, cost, and the premium for unread writes.
fn told(finished: &Finished) -> Vec<String> {
    finished.entries.iter().map(told_of).collect()
}

#[test]
fn entries_are_the_same_one_by_one_as_in_a_list() {
    let cell = Cell { children: 40, turns: 2, itpm: Some(200_000), ..Cell::default() };
    for explains in [false, true] {
        let mut listed = setup(&cell, &books());
        let mut taken = setup(&cell, &books());
        (listed.explains, taken.explains) = (explains, explains);
        let lines = Rc::new(RefCell::new(Vec::new()));
        let into = Rc::clone(&lines);
        taken.takes_entries = Some(Box::new(move |entry| into.borrow_mut().push(told_of(&entry))));
        let taken = run(taken).unwrap();
        assert!(taken.entries.is_empty());
        assert_eq!(*lines.borrow(), told(&run(listed).unwrap()));
        assert!(lines.borrow().len() >= 80);
    }
}

#[test]
fn fork_19_requests_with_a_shared_start_cost_the_same_whether_or_not_it_is_walked_again() {
    let config = ProptestConfig { cases: cases().div_ceil(30), failure_persistence: None, ..ProptestConfig::default() };
    let limits = (1_u32..30, prop::option::of(20_u64..60));
    let outcome = TestRunner::new(config).run(&(cells(), limits), |(cell, (more, rpm))| {
        let cell = Cell { children: cell.children + more, rpm, ..cell };
        let [played, whole] = both(&cell);
        prop_assert_eq!(played.digest, whole.digest);
        prop_assert_eq!(told(&played), told(&whole));
        prop_assert_eq!((played.over_limits, played.makespan), (whole.over_limits, whole.makespan));
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn transcripts_emit_events_but_are_not_written_if_never_read() {
    let cell = Cell { children: 20, ..Cell::default() };
    let written = both(&cell).map(|finished| {
        let session = finished.session.unwrap();
        let below = session.world.files.below("/home/user/.claude");
        below.iter().map(|path| session.world.files.read(path).unwrap().len()).sum::<usize>()
    });
    assert_eq!(written[0], 0);
    assert!(written[1] > 100_000, "{} bytes", written[1]);
}

#[test]
fn each_of_thousands_of_children_sends_the_same_as_each_of_a_hundred() {
    let of = |children| play(&Cell { children, ..Cell::default() }, &books()).unwrap().usage;
    let [few, many] = [of(100), of(3_000)];
    assert_eq!(many.total_input_tokens(), few.total_input_tokens() * 30);
    assert_eq!(many.cache_read_input_tokens, few.cache_read_input_tokens * 30);
}

#[test]
fn fan_outs_that_would_exhaust_memory_are_refused() {
    for ablation in [Ablation::RealResults, Ablation::Interleave] {
        let cell = Cell { children: 1_001, ablations: [ablation].into(), without_window: true, ..Cell::default() };
        let words = cell.check().unwrap_err().to_string();
        assert!(words.contains(ablation.name()) && words.contains("1000"), "{words}");
        let fine = [Cell { children: 1_000, ..cell.clone() }, Cell { profile: Profile::Client2026, ..cell }];
        fine.iter().for_each(|cell| assert_eq!(cell.check(), Ok(())));
    }
}
