//! Every kind of change, planted in consecutive requests of an agent and in first requests of forks (compared with
//! their parent's last request).

use std::collections::BTreeMap;

use forkcast_fixtures::Dice;

use super::case::Case;
use super::judged::{cases, differences, hold, pairable, plant, plant_both, seed};
use super::kinds::{KINDS, Kind};
use super::talks::{Talk, all};
use super::tally::Tally;

/// Kinds that cannot occur in the runtime's prompts: it sends no images.
const ABSENT: [&str; 5] = ["image-byte", "image-encoded", "image-removed", "image-to-text", "image-in-result"];

/// Pairs of requests: the talk, the newer one, and whether it is a fork's first.
struct Pairs<'a> {
    talks: &'a [Talk],
    places: Vec<(usize, usize)>,
}

impl<'a> Pairs<'a> {
    fn of(talks: &'a [Talk]) -> Self {
        let all = talks.iter().enumerate().flat_map(|(talk, it)| (0..it.requests.len()).map(move |at| (talk, at)));
        let places = all.filter(|(talk, at)| talks[*talk].pair(*at, 0).is_some()).collect();
        Self { talks, places }
    }

    fn any(&self, seed: u64) -> (Case, String) {
        let (talk, at) = *Dice::new(seed).pick(&self.places);
        let talk = &self.talks[talk];
        (talk.pair(at, seed).unwrap(), format!("{} request {at} seed {seed}", talk.name))
    }

    /// First requests of forks.
    fn forks(&self) -> usize {
        let is_fork = |(talk, at): &&(usize, usize)| {
            let requests = &self.talks[*talk].requests;
            requests[*at].continues.is_some_and(|older| requests[older].chain != requests[*at].chain)
        };
        self.places.iter().filter(is_fork).count()
    }
}

#[test]
fn planted_changes_are_found_in_conversations_of_the_runtime() {
    let talks = all();
    let pairs = Pairs::of(&talks);
    println!(
        "{} runs, {} agents, {} requests that append to another, {} of them the first of a fork",
        talks.len(),
        talks.iter().map(Talk::agents).sum::<usize>(),
        pairs.places.len(),
        pairs.forks()
    );
    assert!(pairs.places.len() > 300 && pairs.forks() > 50);
    let (mut tally, mut absent) = (Tally::default(), Vec::new());
    for (at, kind) in KINDS.iter().enumerate() {
        let mut planted = 0;
        for number in 0..cases(24) * 32 {
            let (case, label) = pairs.any(seed(at, number) + number);
            planted += u64::from(plant(kind, case, &label, &mut tally));
            if planted == cases(24) {
                break;
            }
        }
        if planted == 0 {
            absent.push(kind.word);
        }
    }
    println!("{}\n{tally}", tally.wrong.join("\n\n"));
    assert_eq!(absent, ABSENT);
    hold(&tally);
}

#[test]
fn two_changes_in_one_request_of_the_runtime_are_each_found_once() {
    let talks = all();
    let pairs = Pairs::of(&talks);
    let kinds: Vec<&Kind> = KINDS.iter().filter(pairable).collect();
    let mut tally = Tally::default();
    for number in 0..cases(24) * 20 {
        let mut dice = Dice::new(number);
        let both = [*dice.pick(&kinds), *dice.pick(&kinds)];
        let (case, label) = pairs.any(number);
        plant_both(both, case, &label, &mut tally);
    }
    println!("{}\n{tally}", tally.wrong.join("\n\n"));
    let sum = tally.sum();
    assert!(sum.planted > cases(24) * 20 && sum.found == sum.planted);
    assert!(sum.path * 1000 >= sum.planted * 995 && sum.offset * 1000 >= sum.offset_of * 990, "{sum:?}");
    assert!(Tally::cause_per_mille(&sum) >= 980, "{sum:?}");
}

/// A re-spelling that needs a change in both requests does not count.
fn is_of_one(kind: &Kind, case: &mut Case) -> bool {
    let before = case.older.body();
    kind.plant(case).is_some() && case.older.body() == before
}

#[test]
fn a_respelled_request_of_the_runtime_is_the_same_prompt() {
    let talks = all();
    let pairs = Pairs::of(&talks);
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, kind) in KINDS.iter().enumerate().filter(|(_, kind)| kind.is_harmless()) {
        for number in 0..cases(24) {
            let (mut case, label) = pairs.any(seed(at, number) + number);
            if is_of_one(kind, &mut case) {
                *times.entry(kind.word).or_default() += 1;
                let found = differences(&case);
                assert!(found.is_empty(), "{label}, {}: {found:?}", kind.word);
            }
        }
    }
    assert!(times.len() >= 10, "{times:?}");
}
