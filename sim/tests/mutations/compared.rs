//! Plants every kind of change in generated and captured conversations and checks the result of `diagnosis::compare`.

use super::captured;
use super::case::Case;
use super::generated::{CLIENTS, Client, Conversation};
use super::judged::{cases, differences, hold, pairable, plant, plant_both, seed};
use super::kinds::{KINDS, Kind};
use super::prompt::Prompt;
use super::tally::Tally;
use forkcast_fixtures::Dice;

/// Two requests of a generated conversation: the newer one adds a turn.
pub fn generated(seed: u64) -> Case {
    of_conversation(seed, Conversation::new)
}

/// The same for a conversation with mostly repeated turns.
fn repeating(seed: u64) -> Case {
    of_conversation(seed, Conversation::repeating)
}

fn of_conversation(seed: u64, begin: fn(Client, &mut Dice) -> Conversation) -> Case {
    let mut dice = Dice::new(seed);
    let client = CLIENTS[(seed % CLIENTS.len() as u64) as usize];
    let mut conversation = begin(client, &mut dice);
    for _ in 0..2 + dice.below(9) {
        conversation.grow(&mut dice);
    }
    let older = conversation.prompt.clone();
    conversation.grow(&mut dice);
    Case { older, newer: conversation.prompt, dice }
}

/// The same with a captured request that is extended by a turn.
pub fn grown(prompt: &Prompt, seed: u64) -> Case {
    let mut newer = prompt.clone();
    let told = ["It is done.", "And now the next thing, please."];
    let turn = [newer.says("assistant", told[0]), newer.says("user", told[1])];
    newer.messages.extend(turn);
    Case { older: prompt.clone(), newer, dice: Dice::new(seed) }
}

/// Plants each kind `wanted` times in conversations.
fn planted_in(make: fn(u64) -> Case, wanted: u64) -> Tally {
    let mut tally = Tally::default();
    for (at, kind) in KINDS.iter().enumerate() {
        let mut planted = 0;
        for number in 0..wanted * 3 {
            let label = format!("seed {}", seed(at, number) + number);
            planted += u64::from(plant(kind, make(seed(at, number) + number), &label, &mut tally));
            if planted == wanted {
                break;
            }
        }
        assert!(planted > 0, "{}: no conversation holds the thing", kind.word);
    }
    println!("{}\n{tally}", tally.wrong.join("\n\n"));
    tally
}

#[test]
fn planted_changes_are_found_in_generated_conversations() {
    hold(&planted_in(generated, cases(40)));
}

#[test]
fn planted_changes_are_found_in_repetitive_conversations() {
    hold(&planted_in(repeating, cases(20)));
}

#[test]
fn planted_changes_are_found_in_captured_requests() {
    let prompts = captured::prompts();
    let mut tally = Tally::default();
    for (at, kind) in KINDS.iter().enumerate() {
        for number in 0..if prompts.is_empty() { 0 } else { cases(12) } {
            let mut dice = Dice::new(seed(at, number));
            let which = dice.below(prompts.len());
            plant(
                kind,
                grown(&prompts[which], seed(at, number)),
                &format!("request {which} seed {number}"),
                &mut tally,
            );
        }
    }
    println!("{}\n{tally}", tally.wrong.join("\n\n"));
    if !prompts.is_empty() {
        hold(&tally);
    }
}

/// Plants pairs of kinds in conversations.
fn pairs_planted_in(make: fn(u64) -> Case, conversations: u64) -> Tally {
    let kinds: Vec<&Kind> = KINDS.iter().filter(pairable).collect();
    let mut tally = Tally::default();
    for number in 0..conversations {
        let mut dice = Dice::new(number);
        let both = [*dice.pick(&kinds), *dice.pick(&kinds)];
        plant_both(both, make(number), &format!("seed {number}"), &mut tally);
    }
    println!("{}\n{tally}", tally.wrong.join("\n\n"));
    tally
}

#[test]
fn two_changes_in_one_request_are_each_found_once() {
    for (make, conversations) in [(generated as fn(u64) -> Case, cases(40) * 40), (repeating, cases(40) * 20)] {
        let sum = pairs_planted_in(make, conversations).sum();
        assert!(sum.planted > conversations && sum.found == sum.planted && sum.path == sum.planted);
        assert!(sum.offset * 1000 >= sum.offset_of * 995, "{sum:?}");
        assert!(Tally::cause_per_mille(&sum) >= 990, "{sum:?}");
    }
}

/// A thousand conversations that only grow, as they are and respelled, and half as many repetitive ones.
#[test]
fn appended_or_respelled_prompts_have_no_difference() {
    let harmless: Vec<&Kind> = KINDS.iter().filter(|kind| kind.is_harmless()).collect();
    let repeated = (0..500).map(|number| (number, repeating(number)));
    for (number, mut case) in (0..1_000).map(|number| (number, generated(number))).chain(repeated) {
        let mut kinds: Vec<&Kind> = (0..number % 4).map(|_| *case.dice.pick(&harmless)).collect();
        // Which of two equal keys is last depends on the key order.
        kinds.sort_by_key(|kind| kind.word == "duplicate-keys");
        let words: Vec<_> = kinds.into_iter().filter_map(|kind| kind.plant(&mut case).map(|_| kind.word)).collect();
        let found = differences(&case);
        assert!(found.is_empty(), "seed {number}, {words:?}: {found:?}");
    }
}
