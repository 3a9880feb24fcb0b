//! The same changes seen by the guard, among all other requests of the run: the original findings, plus the planted
//! ones.

use std::collections::BTreeSet;

use forkcast_fixtures::Dice;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Checked, Facts, Finding, Guard, NoteKind, Rules, Sent};

use super::case::Case;
use super::judged::{cases, cause, seed, spot};
use super::kinds::{KINDS, Kind};
use super::prompt::Prompt;
use super::talks::{Request, all};
use super::twin::Sides;

/// Passes a request to the guard as the runtime's recorder does.
fn take(guard: &mut Guard, request: &Request, prompt: &Prompt) -> Checked {
    let body = prompt.body();
    let chain = Some(&*request.chain);
    let sent = Sent {
        facts: Facts { chain, parent: request.parent.as_deref(), scope: "run", ..Facts::default() },
        ..Sent::body(body.as_bytes())
    };
    guard.take(&sent).expect("a body")
}

/// The content of a finding, without places, which depend on the spelling.
fn said(found: &Finding) -> (Cause, String, Option<u64>, Option<u64>, bool) {
    (found.cause, found.name.clone(), found.offset_in_block, found.offset_in_prefix, found.breaks_prefix)
}

/// Changes of breakpoints change the read, not the prompt.
fn moves_breakpoints(kind: &Kind) -> bool {
    ["markers-moved", "markers-dropped", "lifetimes", "automatic"].contains(&kind.word)
}

/// Plants a harmless change in one request; `false` if it needs a change in the previous request too.
fn respell(kind: &Kind, case: &mut Case) -> bool {
    let before = case.older.body();
    kind.plant(case).is_some() && case.older.body() == before
}

/// A thousand conversations of agents, with changing JSON spelling from request to request.
#[test]
fn a_respelled_run_has_the_same_findings() {
    let talks = all();
    let harmless: Vec<&Kind> = KINDS.iter().filter(|kind| kind.is_harmless() && !moves_breakpoints(kind)).collect();
    let (mut conversations, mut respelled, mut findings) = (0, 0, 0);
    for round in 0_u64.. {
        if conversations >= 1_000 {
            break;
        }
        for talk in &talks {
            conversations += talk.agents();
            let mut guards = [Guard::new(Rules::default()), Guard::new(Rules::default())];
            for (at, request) in talk.requests.iter().enumerate().filter(|(_, request)| request.answered) {
                let mut dice = Dice::new(round * 1_000 + at as u64);
                let mut words = Vec::new();
                let mut spelled = request.prompt.clone();
                for kind in (0..round % 4).map(|_| *dice.pick(&harmless)).collect::<Vec<_>>() {
                    let seed = round * 100_000 + at as u64;
                    let mut case = Case { older: spelled.clone(), newer: spelled.clone(), dice: Dice::new(seed) };
                    if kind.word != "duplicate-keys" && respell(kind, &mut case) {
                        spelled = case.newer;
                        words.push(kind.word);
                    }
                }
                respelled += u64::from(!words.is_empty());
                let plain = take(&mut guards[0], request, &request.prompt);
                let other = take(&mut guards[1], request, &spelled);
                let [plain, other] =
                    [plain, other].map(|checked| checked.findings.iter().map(said).collect::<Vec<_>>());
                assert_eq!(plain, other, "{} request {at}, round {round}, {words:?}", talk.name);
                findings += plain.len();
            }
        }
    }
    println!(
        "{conversations} conversations, {respelled} requests spelled otherwise, {findings} findings as in the original"
    );
    assert!(respelled > 1_000);
}

/// Errors in the guard's findings in a request in which `kind` was planted.
fn wrong(kind: &Kind, case: &Case, planted: &[super::case::At], plain: &Checked, found: &Checked) -> Option<String> {
    let sides = Sides::new(&case.older, &case.newer);
    let expected: BTreeSet<(Cause, String)> = planted
        .iter()
        .filter_map(|at| {
            let (spot, _) = spot(at, &sides);
            Some((cause(kind, spot.level)?, spot.path))
        })
        .collect();
    let told: BTreeSet<(Cause, String)> = found.findings.iter().map(|one| (one.cause, one.path.clone())).collect();
    // A part of its parent's latest exchange that a fork lacks may not have been meant for it: that is a note.
    let is_noted = |(planted, _): &(Cause, String)| {
        *planted == Cause::Rewound && found.notes.iter().any(|noted| noted.note == NoteKind::Branch)
    };
    let known: BTreeSet<(Cause, String)> = plain.findings.iter().map(|one| (one.cause, one.path.clone())).collect();
    let missed: Vec<_> = expected.difference(&told).filter(|one| !is_noted(one)).collect();
    // A tool that moved and changed has both findings.
    let is_its_move =
        |(cause, _): &(Cause, String)| kind.word == "tool-moved-changed" && *cause == Cause::ToolsReordered;
    let of_others = told.iter().filter(|one| !expected.contains(one) && !known.contains(one));
    let more: Vec<_> = of_others.filter(|one| !is_its_move(one)).collect();
    (!missed.is_empty() || !more.is_empty())
        .then(|| format!("{}: missed {missed:?}, more {more:?}, told {told:?}", kind.word))
}

/// Every kind in requests of whole runs, in which all agents send requests before and during the changed one.
#[test]
fn the_guard_finds_planted_changes_among_all_agents_of_a_run() {
    let talks = all();
    let (mut all, mut mistakes) = (0_u64, Vec::new());
    for (number, talk) in talks.iter().enumerate() {
        let mut guard = Guard::new(Rules::default());
        for (at, request) in talk.requests.iter().enumerate().filter(|(_, request)| request.answered) {
            let seeds = seed(at, number as u64);
            let mut dice = Dice::new(seeds);
            let chosen = (0..cases(4)).map(|_| *dice.pick(&KINDS.iter().collect::<Vec<_>>())).collect::<Vec<_>>();
            for kind in chosen {
                let Some(mut case) = talk.pair(at, seeds) else { continue };
                let before = case.older.body();
                let Some(planted) = kind.plant(&mut case) else { continue };
                if case.older.body() != before || moves_breakpoints(kind) {
                    continue;
                }
                all += 1;
                let plain = take(&mut guard.clone(), request, &request.prompt);
                let found = take(&mut guard.clone(), request, &case.newer);
                let label = format!("{} request {at} of {}", talk.name, request.chain);
                mistakes.extend(wrong(kind, &case, &planted, &plain, &found).map(|text| format!("{label}: {text}")));
            }
            take(&mut guard, request, &request.prompt);
        }
    }
    println!("{} of {all} wrong\n{}", mistakes.len(), mistakes.join("\n"));
    // Measured 2026-11-30: 5 of 1,190. Three in first requests of helpers of the long day: a summary in place of their whole
    // history, and a system prompt that they share with nobody. Two in first requests of forks with an exchange put in: it is
    // reported, and their own tail too.
    assert!(all > 500 && mistakes.len() <= 5, "{} of {all}", mistakes.len());
}
