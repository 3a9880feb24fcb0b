//! Compares the result of `diagnosis::compare` for a planted change with the expected one.

use std::env;

use forkcast_sim::diagnosis::{Cause, Difference, compare};
use forkcast_sim::wire::{Level, Wire};

use super::case::{At, Case};
use super::kinds::{Kind, Plant, Tells, Varies};
use super::prompt::Prompt;
use super::tally::{Count, Tally};
use super::twin::{Sides, Spot};

/// The number of conversations per kind.
pub fn cases(default: u64) -> u64 {
    env::var("FORKCAST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

pub fn seed(at: usize, number: u64) -> u64 {
    number * 1_000 + at as u64 * 7
}

/// The expected place of a planted change; parameters only have path and level.
pub fn spot(at: &At, sides: &Sides) -> (Spot, bool) {
    match at {
        At::First => (sides.first(), true),
        At::Block(id) => (sides.of(*id), true),
        At::Parameter(path, level) => (parameter(path, level, sides), false),
        At::Standing(path, level) => (parameter(path, level, sides), false),
    }
}

fn parameter(path: &str, level: &'static str, sides: &Sides) -> Spot {
    let old_index = if path == "model" { 0 } else { sides.level_start(level) };
    Spot {
        path: path.to_owned(),
        level,
        offset_in_block: 0,
        offset_in_prefix: 0,
        index: 0,
        old_index,
        keys: true,
        other_path: None,
    }
}

/// The expected cause of a planted change.
pub fn cause(kind: &Kind, level: &str) -> Option<Cause> {
    match (kind.tells, level) {
        (Tells::Nothing, _) => None,
        (Tells::Cause(cause), _) => Some(cause),
        (Tells::Edit, "tools") => Some(Cause::ToolChanged),
        (Tells::Edit, "system") => Some(Cause::SystemChanged),
        (Tells::Edit, _) => Some(Cause::MessageEdited),
    }
}

/// Reads both requests and compares them.
pub fn differences(case: &Case) -> Vec<Difference> {
    let mut wire = Wire::default();
    let mut read = |prompt: &Prompt| wire.read(prompt.body().as_bytes(), "scope", "").expect("a body");
    let (older, newer) = (read(&case.older), read(&case.newer));
    compare(&wire, &older, &newer).differences
}

fn level(level: Level) -> &'static str {
    level.name()
}

/// Compares the findings with the planted changes.
fn judge(kind: &Kind, case: &Case, planted: &[At], found: &[Difference]) -> (Count, Vec<String>) {
    let sides = Sides::new(&case.older, &case.newer);
    let (mut count, mut wrong, mut used) = (Count::default(), Vec::new(), vec![false; found.len()]);
    for at in planted {
        let (spot, has_offset) = spot(at, &sides);
        let may_be_other = *at == At::First;
        let is_other = |found: &Difference| may_be_other && spot.other_path.as_ref() == Some(&found.path);
        let is_here =
            |found: &Difference| (found.path == spot.path || is_other(found)) && level(found.level) == spot.level;
        let expected = cause(kind, spot.level);
        let here = |exact: bool| {
            (0..found.len())
                .find(|at| !used[*at] && is_here(&found[*at]) && (!exact || Some(found[*at].cause) == expected))
        };
        let at = here(true).or_else(|| here(false));
        let one = at.map(|at| &found[at]);
        if let Some(at) = at {
            used[at] = true;
        }
        count.planted += 1;
        count.found += u64::from(!found.is_empty());
        count.path += u64::from(one.is_some());
        let cause = one.map(|one| one.cause) == expected;
        count.cause += u64::from(cause);
        let mut right = cause;
        if has_offset && !spot.keys && !one.is_some_and(is_other) {
            let offset = one.and_then(|one| one.offset_in_block.zip(one.offset_in_prefix));
            count.offset_of += 1;
            let exact = offset == Some((spot.offset_in_block, spot.offset_in_prefix));
            count.offset += u64::from(exact);
            right &= exact;
        }
        if let Varies::This(expected) = kind.varies {
            let exact = one.is_some_and(|one| one.volatile == expected);
            count.volatile_of += 1;
            count.volatile += u64::from(exact);
            right &= exact;
        }
        if !right {
            wrong.push(format!("{}: expected {expected:?} {spot:?}", kind.word));
        }
    }
    // A harmless kind counts once; every finding is wrong.
    if planted.is_empty() {
        count.planted += 1;
        count.found += 1;
        count.path += 1;
        count.cause += u64::from(found.is_empty());
    }
    let more: Vec<&Difference> = found.iter().zip(&used).filter(|(_, used)| !**used).map(|(one, _)| one).collect();
    count.more += more.len() as u64;
    if !wrong.is_empty() || !more.is_empty() {
        let told = found.iter().map(|one| {
            format!("  found {} {} {:?} {:?} {:?}", one.cause, one.path, one.offset_in_block, one.volatile, one.name)
        });
        let head = format!("{}: {} more", kind.word, more.len());
        wrong.extend(std::iter::once(head).chain(told.take(8)).collect::<Vec<_>>());
    }
    (count, wrong)
}

/// Plants a kind in a case and adds the outcome.
pub fn plant(kind: &Kind, mut case: Case, label: &str, tally: &mut Tally) -> bool {
    let Some(planted) = kind.plant(&mut case) else { return false };
    let found = differences(&case);
    let (count, wrong) = judge(kind, &case, &planted, &found);
    let own = tally.counts.entry(kind.word).or_default();
    let before = *own;
    *own = Count::default();
    let sum = own;
    *sum = count;
    sum_into(sum, &before);
    let shown = tally.wrong.iter().filter(|text| text.starts_with(&format!("[{}]", kind.word))).count();
    if !wrong.is_empty() && shown < 3 {
        tally.wrong.push(format!("[{}] {label}\n{}", kind.word, wrong.join("\n")));
    }
    true
}

fn sum_into(sum: &mut Count, before: &Count) {
    let both = Tally { counts: [("a", *sum), ("b", *before)].into(), wrong: Vec::new() };
    *sum = both.sum();
}

/// Kinds that do not affect each other's places.
pub fn pairable(kind: &&Kind) -> bool {
    let words = [
        "tool-added-between",
        "tool-removed-between",
        "property-added",
        "system-appended",
        "rewritten",
        "message-inserted",
        "block-inserted",
        "block-removed",
        "image-byte",
        "effort",
        "tool-choice",
        "input-keys",
        "result-cleared",
        "thinking-changed",
        "own-effort-came",
        "error-flag",
    ];
    words.contains(&kind.word) || matches!(kind.plant, Plant::Character(_) | Plant::Inside(_) | Plant::Varying(_))
}

/// Two changes in one request: each must be found exactly once.
pub fn plant_both(kinds: [&Kind; 2], mut case: Case, label: &str, tally: &mut Tally) -> bool {
    let mut planted = Vec::new();
    for kind in kinds {
        let Some(places) = kind.plant(&mut case) else { return false };
        if places.iter().any(|at| planted.iter().any(|(_, known)| known == at)) {
            return false;
        }
        planted.extend(places.into_iter().map(|at| (kind, at)));
    }
    let sides = Sides::new(&case.older, &case.newer);
    let stands = |at: &At| match at {
        At::Block(id) => [&sides.old, &sides.new].iter().any(|side| side.iter().any(|flat| flat.id == *id)),
        _ => true,
    };
    if !planted.iter().all(|(_, at)| stands(at)) {
        return false;
    }
    let found = differences(&case);
    let count = tally.counts.entry("two at once").or_default();
    let mut wrong = Vec::new();
    for (kind, at) in &planted {
        let (spot, has_offset) = spot(at, &sides);
        let expected = cause(kind, spot.level);
        let same = |one: &&Difference| one.path == spot.path && Some(one.cause) == expected;
        let offsets = (spot.offset_in_block, spot.offset_in_prefix);
        let exact = |one: &&Difference| one.offset_in_block.zip(one.offset_in_prefix) == Some(offsets);
        let here: Vec<&Difference> = found.iter().filter(same).collect();
        let defined = has_offset && !spot.keys;
        count.planted += 1;
        count.found += u64::from(!found.is_empty());
        count.path += u64::from(found.iter().any(|one| one.path == spot.path));
        count.cause += u64::from(!here.is_empty());
        count.offset_of += u64::from(defined);
        count.offset += u64::from(defined && here.iter().any(exact));
        if here.is_empty() || defined && !here.iter().any(exact) {
            wrong.push(format!("{}: expected {expected:?} {spot:?}", kind.word));
        }
    }
    count.more += (found.len() as u64).saturating_sub(planted.len() as u64);
    if (!wrong.is_empty() || found.len() != planted.len()) && tally.wrong.len() < 12 {
        let told =
            found.iter().map(|one| format!("  {} {} {:?} {}", one.cause, one.path, one.offset_in_block, one.name));
        wrong.extend(told);
        tally.wrong.push(format!("{label} {} and {}\n{}", kinds[0].word, kinds[1].word, wrong.join("\n")));
    }
    true
}

/// The figures required by issue 8.
pub fn hold(tally: &Tally) {
    let sum = tally.sum();
    assert_eq!((sum.found, sum.path, sum.offset), (sum.planted, sum.planted, sum.offset_of));
    assert!(Tally::cause_per_mille(&sum) >= 980 && sum.volatile * 1000 >= sum.volatile_of * 980);
    for (word, count) in &tally.counts {
        assert!(Tally::cause_per_mille(count) >= 900, "{word}: {count:?}");
    }
}
