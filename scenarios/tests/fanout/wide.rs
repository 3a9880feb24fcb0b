//! Wide fan-outs: what siblings share is walked once, and nothing about any of their requests may show it.

use std::rc::Rc;

use forkcast_scenarios::fanout::setup::setup;
use forkcast_scenarios::fanout::{Cell, play};
use forkcast_sim::agent::spawn::fork::{Ablation, Profile};
use forkcast_sim::pricing::PriceBook;
use forkcast_sim::simulation::{Finished, run};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::formula::{cases, cells};

fn books() -> Rc<PriceBook> {
    Rc::new(PriceBook::built_in())
}

/// The run of a cell as it is played, and as a run is whose requests are explained and whose transcripts are written.
fn both(cell: &Cell) -> [Finished; 2] {
    [false, true].map(|is_told| {
        let mut setup = setup(cell, &books());
        setup.explains = is_told;
        setup.settings.without_transcripts = !is_told;
        run(setup).unwrap()
    })
}

/// Of each request who asked, when, when it was over, its usage, its money, and the premium of what nobody read.
fn told(finished: &Finished) -> Vec<String> {
    let lines = finished.entries.iter().map(|entry| {
        let line = &entry.line;
        let (usage, bill) = (line.predicted, line.predicted_bill.as_ref().map(|bill| bill.total));
        let times = (line.at, line.first_byte_at, entry.ended_at);
        format!("{:?} {times:?} {usage:?} {bill:?} {:?}", entry.agent, line.unread_writes)
    });
    lines.collect()
}

#[test]
fn fork_19_requests_that_begin_alike_cost_the_same_whether_each_is_walked_whole_or_behind_what_they_share() {
    let config =
        ProptestConfig { cases: cases().div_ceil(100), failure_persistence: None, ..ProptestConfig::default() };
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
fn transcripts_are_told_of_and_not_written_where_nobody_reads_them() {
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
fn thousands_of_children_send_what_a_hundred_do_each() {
    let of = |children| play(&Cell { children, ..Cell::default() }, &books()).unwrap().usage;
    let [few, many] = [of(100), of(3_000)];
    assert_eq!(many.total_input_tokens(), few.total_input_tokens() * 30);
    assert_eq!(many.cache_read_input_tokens, few.cache_read_input_tokens * 30);
}

#[test]
fn what_would_fill_the_memory_is_refused_before_it_does() {
    for ablation in [Ablation::RealResults, Ablation::Interleave] {
        let cell = Cell { children: 1_001, ablations: [ablation].into(), without_window: true, ..Cell::default() };
        let words = cell.check().unwrap_err().to_string();
        assert!(words.contains(ablation.name()) && words.contains("1000"), "{words}");
        let fine = [Cell { children: 1_000, ..cell.clone() }, Cell { profile: Profile::Client2026, ..cell }];
        fine.iter().for_each(|cell| assert_eq!(cell.check(), Ok(())));
    }
}
