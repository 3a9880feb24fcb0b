//! A thousand forks of a large parent: memory grows with what is their own, and nothing of the shared history is read or
//! counted again. Alone in its program, since the peak of the heap is that of all threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

use std::rc::Rc;

use forkcast_sim::agent::entry::Nature;
use forkcast_sim::agent::spawn::fork::{Forks, Profile};
use forkcast_sim::agent::{Entry, Settings};
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{Reply, Rule, Scripted};
use forkcast_sim::simulation::{Act, Does, Setup, run};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Piece, Role};
use peak_alloc::PeakAlloc;
use serde_json::json;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Messages of the parent's history, and bytes of each: some 100,000 tokens.
const MESSAGES: usize = 300;
const MESSAGE_BYTES: usize = 1_000;

fn history() -> Vec<Rc<Entry>> {
    let message = |at: usize| {
        let words = format!("{at:04} {}", "word after word ".repeat(MESSAGE_BYTES / 16));
        let (role, nature) =
            if at.is_multiple_of(2) { (Role::User, Nature::Typed) } else { (Role::Assistant, Nature::Said) };
        Entry::of(format!("h-{at}").into(), role, vec![Piece::text(&words)], &words, nature)
    };
    (0..MESSAGES).map(message).collect()
}

fn setup(profile: Profile, children: usize) -> Setup {
    let call = |child: usize| {
        let mut input = json!({ "description": "a part", "prompt": format!("Look at part {child}.") });
        if profile == Profile::Client2026 {
            input["subagent_type"] = "fork".into();
        }
        Said::ToolUse { id: format!("toolu_{child:05}").into(), name: "Agent".into(), input }
    };
    let rule = |agent: &str, times, said| {
        let reply = Reply { said, ..Reply::default() };
        Rule { agent: Some(agent.into()), times, reply, ..Rule::default() }
    };
    let report = Said::Text("Scope: a part\nResult: it is well".to_owned());
    let mut setup = Setup::new(
        5,
        Scripted::new(vec![
            rule("main", Some(1), (0..children).map(call).collect()),
            rule("fork", None, vec![report]),
            rule("main", None, vec![Said::Text("Good.".to_owned())]),
        ]),
    );
    setup.settings = Settings {
        features: ["FORK_SUBAGENT".to_owned()].into(),
        forks: Forks { profile, ..Forks::default() },
        ..Settings::default()
    };
    setup.history = history();
    setup.acts = vec![Act { at: Instant::default(), does: Does::Types("Look at all parts".into()) }];
    setup
}

/// The heap's peak over what was there before.
fn peak(profile: Profile, children: usize) -> usize {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let begun = std::time::Instant::now();
    let finished = run(setup(profile, children)).unwrap();
    let peak = HEAP.peak_usage() - before;
    eprintln!("{profile:?} {children}: {} lines, {} bytes, {:?}", finished.lines.len(), peak, begun.elapsed());
    peak
}

#[test]
fn memory_of_forks_is_that_of_their_suffixes() {
    for profile in [Profile::Client2026, Profile::Documents] {
        let peaks = [10, 100, 1_000].map(|children| peak(profile, children));
        eprintln!("{peaks:?}");
    }
}
