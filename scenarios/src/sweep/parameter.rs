//! Parameters of a fan-out: the options of `forkcast fanout`, with the same names.

use std::collections::BTreeSet;
use std::sync::Arc;

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, LaunchPolicy, Profile};
use forkcast_sim::cache::Rules;
use forkcast_sim::wire::Ttl;

use crate::fanout::{Cell, Spawn, range};
use crate::format::problem::{alternatives, nearest};

/// A cell that is being built.
#[derive(Clone, Debug, Default)]
struct Draft {
    cell: Cell,
    spawn: Option<Spawn>,
    is_spawn: bool,
}

/// Sets a value in a cell.
type Put = fn(&mut Draft, &str) -> Result<(), String>;

/// A parameter: its name, its type, and how it is set.
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Whether it is a number, so that `20k` and `20000` are the same value.
    pub is_number: bool,
    put: Put,
}

const fn number(name: &'static str, put: Put) -> Parameter {
    Parameter { name, is_number: true, put }
}

const fn word(name: &'static str, put: Put) -> Parameter {
    Parameter { name, is_number: false, put }
}

/// Default parameters of named agents, as for `forkcast fanout --against spawn`.
const SPAWN: Spawn = Spawn { system: 3_000, tools: 7_000, brief: 1_000, gathered: 0, gathering_turns: 0 };

/// The name of the parameter that is a model.
pub const MODEL: &str = "model";

/// All parameters.
pub static PARAMETERS: [Parameter; 27] = [
    number("children", |draft, text| put(&mut draft.cell.children, small(text))),
    number("prefix", |draft, text| put(&mut draft.cell.prefix, whole(text))),
    number("tail", |draft, text| put(&mut draft.cell.tail, whole(text))),
    number("directive", |draft, text| put(&mut draft.cell.directive, whole(text))),
    number("turns", |draft, text| put(&mut draft.cell.turns, small(text))),
    number("growth", |draft, text| put(&mut draft.cell.growth, whole(text))),
    number("output", |draft, text| put(&mut draft.cell.output, whole(text))),
    word(MODEL, |draft, text| put(&mut draft.cell.model, Ok(Arc::from(text)))),
    word("ttl", |draft, text| put(&mut draft.cell.ttl, among::<Ttl>(text, &Ttl::WORDS))),
    word("head-ttl", |draft, text| put(&mut draft.cell.has_hour_head, among(text, &[("same", false), ("1h", true)]))),
    word("last-turn", |draft, text| {
        put(&mut draft.cell.leaves_last, among(text, &[("marked", false), ("unmarked", true)]))
    }),
    word("parent", |draft, text| put(&mut draft.cell.is_cold, among(text, &[("warm", false), ("cold", true)]))),
    word("launch", |draft, text| put(&mut draft.cell.launch, LaunchPolicy::named(text))),
    word("breakpoints", |draft, text| put(&mut draft.cell.placement, among::<Placement>(text, &Placement::WORDS))),
    word("cache", |draft, text| {
        put(
            &mut draft.cell.rules,
            Rules::preset(text).ok_or_else(|| "no such preset; see `forkcast list profiles`".to_owned()),
        )
    }),
    word("profile", |draft, text| put(&mut draft.cell.profile, among(text, &Profile::WORDS))),
    word("ablate", |draft, text| put(&mut draft.cell.ablations, ablations(text))),
    word("against", |draft, text| put(&mut draft.is_spawn, among(text, &[("fork", false), ("spawn", true)]))),
    number("spawn-system", |draft, text| put(&mut draft.spawn.get_or_insert(SPAWN).system, whole(text))),
    number("spawn-tools", |draft, text| put(&mut draft.spawn.get_or_insert(SPAWN).tools, whole(text))),
    number("spawn-brief", |draft, text| put(&mut draft.spawn.get_or_insert(SPAWN).brief, whole(text))),
    number("gather", |draft, text| put(&mut draft.spawn.get_or_insert(SPAWN).gathered, whole(text))),
    number("gather-turns", |draft, text| put(&mut draft.spawn.get_or_insert(SPAWN).gathering_turns, small(text))),
    number("itpm", |draft, text| put(&mut draft.cell.itpm, whole(text).map(Some))),
    number("rpm", |draft, text| put(&mut draft.cell.rpm, whole(text).map(Some))),
    number("waiting", |draft, text| put(&mut draft.cell.waiting, small(text))),
    word("no-window", |draft, text| {
        put(&mut draft.cell.without_window, among(text, &[("false", false), ("true", true)]))
    }),
];

/// The parameter with this name.
///
/// # Errors
/// If there is none, with the name that was probably meant.
pub fn find(name: &str) -> Result<&'static Parameter, String> {
    let names = || PARAMETERS.iter().map(|parameter| parameter.name);
    PARAMETERS.iter().find(|parameter| parameter.name == name).ok_or_else(|| match nearest(name, names()) {
        Some(near) => format!("`{name}`: a fan-out has no such parameter; did you mean `{near}`?"),
        None => format!("`{name}`: a fan-out has no such parameter; expected {}", alternatives(names())),
    })
}

/// The published example's cell with these values set.
///
/// # Errors
/// The first value that cannot be read, or why the cell cannot be run.
pub fn cell(set: &[String]) -> Result<Cell, String> {
    let mut draft = Draft::default();
    for one in set {
        let (name, value) = one.split_once('=').ok_or_else(|| format!("`{one}`: expected PARAMETER=VALUE"))?;
        (find(name)?.put)(&mut draft, value).map_err(|why| format!("`{name}`: found `{value}`: {why}"))?;
    }
    let Draft { mut cell, spawn, is_spawn } = draft;
    cell.spawn = is_spawn.then(|| spawn.unwrap_or(SPAWN));
    cell.check().map_err(|refused| format!("{}: {refused}", set.join(" ")))?;
    Ok(cell)
}

fn put<T>(field: &mut T, value: Result<T, String>) -> Result<(), String> {
    value.map(|value| *field = value)
}

fn whole(text: &str) -> Result<u64, String> {
    match range::numbers(text).map_err(|bad| bad.to_string())?[..] {
        [number] => Ok(number),
        _ => Err("expected one number".to_owned()),
    }
}

fn small(text: &str) -> Result<u32, String> {
    u32::try_from(whole(text)?).map_err(|_| "more than can be run".to_owned())
}

fn among<T: Clone>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| value.clone());
    found.ok_or_else(|| format!("expected {}", alternatives(words.iter().map(|(word, _)| *word))))
}

/// `none`, or names joined by `+`.
fn ablations(text: &str) -> Result<BTreeSet<Ablation>, String> {
    if text == "none" {
        return Ok(BTreeSet::new());
    }
    text.split('+').map(|name| among(name.trim(), &Ablation::WORDS)).collect()
}

#[cfg(test)]
mod tests {
    use super::cell;
    use crate::fanout::Cell;
    use forkcast_sim::agent::spawn::fork::LaunchPolicy;

    fn of(set: &[&str]) -> Result<Cell, String> {
        cell(&set.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn without_values_it_is_the_published_example() {
        assert_eq!(of(&[]), Ok(Cell::default()));
    }

    #[test]
    fn every_value_is_set_in_its_field() {
        let made =
            of(&["children=8", "prefix=20k", "parent=cold", "launch=primed", "against=spawn", "gather=5k"]).unwrap();
        assert_eq!((made.children, made.prefix, made.is_cold), (8, 20_000, true));
        assert_eq!(made.launch, LaunchPolicy::Primed);
        assert_eq!(made.spawn.map(|spawn| (spawn.gathered, spawn.tools)), Some((5_000, 7_000)));
        assert_eq!(of(&["gather=5k", "against=fork"]).unwrap().spawn, None);
    }

    #[test]
    fn invalid_values_are_refused_with_a_reason() {
        for (set, says) in [
            (["childern=5"], "did you mean `children`?"),
            (["children=0"], "at least one child"),
            (["children=many"], "expected as"),
            (["ttl=2h"], "expected `5m`"),
            (["launch=never"], "launch"),
            (["launch=stagger=600000"], "longer than the TTL"),
            (["prefix=9m"], "--no-window"),
            (["cache=none"], "list profiles"),
        ] {
            let why = of(&set).unwrap_err();
            assert!(why.contains(says), "{set:?}: {why}");
        }
    }
}
