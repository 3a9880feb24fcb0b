//! Words and numbers of `fanout`.

use std::collections::BTreeSet;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use forkcast_scenarios::fanout::breakeven::Question;
use forkcast_scenarios::fanout::policy::{LAUNCHES, PLACEMENTS};
use forkcast_scenarios::fanout::range;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, Profile};
use forkcast_sim::cache::{PRESETS, Rules};
use forkcast_sim::wire::Ttl;

use crate::args::values::words;

/// A list of numbers as it was typed.
#[derive(Clone, Debug)]
pub struct Numbers(pub Vec<u64>);

/// The state of a parent's entries when the children start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Parent {
    /// They are alive
    Warm,
    /// They are gone
    Cold,
}

/// What forks are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// Named agents that get a brief.
    Spawn,
}

/// A list of numbers, none of them twice.
pub fn numbers(text: &str) -> Result<Numbers, String> {
    let numbers = range::numbers(text).map_err(|bad| bad.to_string())?;
    let mut seen = BTreeSet::new();
    match numbers.iter().find(|number| !seen.insert(**number)) {
        Some(number) => Err(format!("{number} is listed twice: two rows would be equal")),
        None => Ok(Numbers(numbers)),
    }
}

/// One number.
pub fn number(text: &str) -> Result<u64, String> {
    match range::numbers(text).map_err(|bad| bad.to_string())?[..] {
        [number] => Ok(number),
        _ => Err("expected one number, such as `30k`".to_owned()),
    }
}

/// One number of things that can be run.
pub fn small(text: &str) -> Result<u32, String> {
    let number = number(text)?;
    u32::try_from(number).map_err(|_| format!("{number} is too large to run"))
}

/// The values of `--launch`, one per line.
pub fn launches() -> String {
    let lines = LAUNCHES.map(|(form, about)| format!("- {form}: {about}"));
    format!("When the children start: forks, and the named agents of --against\n\n{}", lines.join("\n"))
}

/// One question, or all.
pub type Questions = Vec<Question>;

/// Questions by their words.
pub fn questions() -> impl TypedValueParser<Value = Questions> {
    let one = |question: Question| PossibleValue::new(question.word()).help(question.about());
    let all = PossibleValue::new("all").help("All of these");
    PossibleValuesParser::new(Question::ALL.map(one).into_iter().chain([all])).map(|word| {
        let asked = Question::ALL.into_iter().filter(|question| word == "all" || question.word() == word);
        asked.collect()
    })
}

/// Lifetimes.
pub fn ttl() -> impl TypedValueParser<Value = Ttl> {
    words(Ttl::WORDS.to_vec())
}

/// Whether heads live for an hour.
pub fn head_ttl() -> impl TypedValueParser<Value = bool> {
    words(vec![("same", false), ("1h", true)])
}

/// Whether the last turn is unmarked.
pub fn last_turn() -> impl TypedValueParser<Value = bool> {
    words(vec![("marked", false), ("unmarked", true)])
}

/// Placements of breakpoints.
pub fn placement() -> impl TypedValueParser<Value = Placement> {
    let words = PLACEMENTS.map(|(placement, about)| PossibleValue::new(placement.name()).help(about));
    PossibleValuesParser::new(words).try_map(|word| {
        let found = PLACEMENTS.iter().find(|(placement, _)| placement.name() == word);
        found.map(|(placement, _)| *placement).ok_or_else(|| format!("`{word}` is unknown"))
    })
}

/// Presets of cache rules.
pub fn rules() -> impl TypedValueParser<Value = Rules> {
    words(PRESETS.iter().map(|rules| (rules.name, *rules)).collect())
}

/// Ways of building the messages of forks.
pub fn profile() -> impl TypedValueParser<Value = Profile> {
    words(Profile::WORDS.to_vec())
}

/// Principles that can be broken.
pub fn ablation() -> impl TypedValueParser<Value = Ablation> {
    words(Ablation::WORDS.to_vec())
}
