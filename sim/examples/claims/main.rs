//! Breaks behaviours and runs what claims them: `cargo run -p forkcast-sim --example claims [--tests] [ID or number …]`.
//!
//! The edits of `sim/coverage/breaks.toml` are built together, undone, and act one at a time (`FORKCAST_BREAK=7` before a
//! program built so). A scenario that notices no edit of a behaviour of its `covers:` claims too much. With `--tests`, tests
//! named after the behaviour are run too, and each edit has to be noticed by one of them or by a scenario.

#![allow(clippy::expect_used, clippy::panic, clippy::disallowed_methods, clippy::disallowed_types)] // For developers: it may stop, and edits files.

#[path = "../../tests/coverage/breaks.rs"]
mod breaks;
#[path = "../../tests/coverage/listing.rs"]
#[allow(dead_code)] // It is used for other lists too.
mod listing;
mod programs;
mod switches;

use std::collections::BTreeMap;
use std::process::ExitCode;

use breaks::Break;
use listing::Behaviour;
use programs::{Found, Programs};

/// What was found.
#[derive(Default)]
struct Findings {
    /// Edits noticed in any way, those of which only the kept run differs, and all, by behaviour and scenario.
    claims: BTreeMap<(String, String), [u32; 3]>,
    /// Pairs of an edit and a behaviour of which no test or scenario notices anything.
    slipped: u32,
}

impl Findings {
    fn claim(&mut self, id: &str, scenario: &str, found: Found) {
        let [noticed, differs, all] = self.claims.entry((id.to_owned(), scenario.to_owned())).or_default();
        *noticed += u32::from(found != Found::Passes);
        *differs += u32::from(found == Found::Differs);
        *all += 1;
    }

    /// Tells how many claims are true; returns whether all are, and whether every edit was noticed.
    fn tell(&self) -> bool {
        let mut untrue = 0;
        for ((id, scenario), [noticed, _, all]) in self.claims.iter().filter(|(_, [noticed, _, all])| noticed < all) {
            untrue += u32::from(*noticed == 0);
            let verdict = if *noticed == 0 { "UNTRUE: " } else { "" };
            println!("{verdict}{scenario} notices {noticed} of {all} edits of {id}");
        }
        let by_golden = self.claims.values().filter(|[noticed, differs, _]| *noticed > 0 && noticed == differs).count();
        println!(
            "{} claims of scenarios, {by_golden} of them by the kept run alone, {untrue} untrue",
            self.claims.len()
        );
        println!("{} edits of a behaviour that nothing notices", self.slipped);
        untrue + self.slipped == 0
    }
}

/// A holder of a behaviour: the program and the word that choose it.
fn chosen(held_by: &str) -> (String, &str) {
    if let Some(scenario) = held_by.strip_prefix("scenarios/catalog/") {
        return ("scenarios catalog".to_owned(), scenario.trim_end_matches(".yaml"));
    }
    let (file, name) = held_by.split_once(": ").expect("a test in a file");
    let (folder, rest) = file.split_once('/').expect("a file in a crate");
    (format!("{folder} {}", if rest.starts_with("src/") { "lib" } else { "all" }), name)
}

fn tries(programs: &Programs, number: usize, edit: &Break, known: &Known, findings: &mut Findings) {
    for id in &edit.ids {
        let mut best = Found::Passes;
        for held_by in known.holders(id) {
            let (program, word) = chosen(held_by);
            let found = programs.run(&program, &[word], number);
            println!("{number} {id}: {word} {found:?}");
            best = best.max(found);
            if program.ends_with(" catalog") {
                findings.claim(id, word, found);
            }
        }
        if best == Found::Passes && known.with_tests {
            println!("{number} {id}: NOTHING notices it");
            findings.slipped += 1;
        }
    }
}

/// What holds which behaviour.
struct Known {
    all: BTreeMap<String, Behaviour>,
    with_tests: bool,
}

impl Known {
    fn holders(&self, id: &str) -> impl Iterator<Item = &str> {
        let held_by = self.all.get(id).into_iter().flat_map(|behaviour| &behaviour.held_by);
        held_by.map(String::as_str).filter(|by| self.with_tests || by.ends_with(".yaml"))
    }
}

fn main() -> ExitCode {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    let known = Known { all: listing::all(), with_tests: wanted.iter().any(|word| word == "--tests") };
    wanted.retain(|word| word != "--tests");
    let all = breaks::all();
    let is_wanted = |number: usize, edit: &Break| {
        wanted.is_empty() || wanted.iter().any(|word| edit.ids.contains(word) || *word == number.to_string())
    };
    let mut edits: Vec<(usize, &Break)> = (1..).zip(&all).filter(|(number, edit)| is_wanted(*number, edit)).collect();
    let targets: &[&str] =
        if known.with_tests { &["--lib", "--test", "all", "--test", "catalog"] } else { &["--test", "catalog"] };
    let mut findings = Findings::default();
    while !edits.is_empty() {
        let (edited, left) = switches::Edited::of(&edits);
        let programs = Programs::build(targets);
        drop(edited);
        edits.retain(|(number, _)| left.iter().all(|(later, _)| later != number));
        for (number, edit) in &edits {
            tries(&programs, *number, edit, &known, &mut findings);
        }
        edits = left;
    }
    ExitCode::from(u8::from(!findings.tell()))
}
