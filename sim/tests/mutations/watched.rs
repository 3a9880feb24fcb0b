//! The same changes seen by the guard: the same findings, and whether each of them breaks the prefix.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Facts, Finding, Guard, Rules, Sent};

use super::case::{At, Case};
use super::compared::generated;
use super::generated::mark;
use super::json::Json;
use super::judged::{cases, cause, seed, spot};
use super::kinds::{KINDS, Kind};
use super::prompt::Prompt;
use super::twin::Sides;

/// The position of the breakpoints in both requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    Client,
    Nowhere,
    System,
    Tail,
}

pub const PLACEMENTS: [Placement; 4] = [Placement::Client, Placement::Nowhere, Placement::System, Placement::Tail];

pub fn place(prompt: &mut Prompt, placement: Placement) {
    if placement != Placement::Client {
        prompt.unmark();
    }
    let last = match placement {
        Placement::System => prompt.system.last_mut(),
        Placement::Tail => prompt.messages.last_mut().and_then(|message| message.content.last_mut()),
        Placement::Client | Placement::Nowhere => None,
    };
    last.into_iter().for_each(|block| mark(&mut block.json));
}

/// A client always marks the end of its request; a change does not move the breakpoint.
pub fn keep_marked(case: &mut Case, placement: Placement) {
    let end = case.newer.messages.last_mut().and_then(|message| message.content.last_mut());
    let system = case.newer.system.last_mut();
    let block = match placement {
        Placement::Client | Placement::Tail => end,
        Placement::System => system,
        Placement::Nowhere => None,
    };
    block.into_iter().for_each(|block| mark(&mut block.json));
}

/// The guard's findings in the newer request.
fn findings(case: &Case) -> Vec<Finding> {
    let mut guard = Guard::new(Rules::default());
    let mut take = |prompt: &Prompt| {
        let body = prompt.body();
        guard
            .take(&Sent {
                facts: Facts { chain: Some("main"), scope: "scope", ..Facts::default() },
                ..Sent::body(body.as_bytes())
            })
            .expect("a body")
    };
    take(&case.older);
    take(&case.newer).findings
}

/// Errors in the findings.
fn wrong(kind: &Kind, placement: Placement, case: &Case, planted: &[At]) -> Option<String> {
    let sides = Sides::new(&case.older, &case.newer);
    let found = findings(case);
    let told = || {
        let lines = found.iter().map(|one| {
            format!(
                "  {} {} {:?} breaks {} lost {:?}",
                one.cause,
                one.path,
                one.offset_in_block,
                one.breaks_prefix,
                one.tokens_lost()
            )
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    for at in planted {
        let (spot, _) = spot(at, &sides);
        let breaks = spot.old_index < sides.covered();
        let is_here = |path: &String| *path == spot.path || *at == At::First && spot.other_path.as_ref() == Some(path);
        let right = |one: &&Finding| is_here(&one.path) && Some(one.cause) == cause(kind, spot.level);
        match found.iter().find(right) {
            Some(one) if one.breaks_prefix != breaks => {
                return Some(format!("{} {placement:?} {spot:?} should break: {breaks}\n{}", kind.word, told()));
            }
            None if cause(kind, spot.level).is_some() => {
                return Some(format!("{} {placement:?} {spot:?} is not found\n{}", kind.word, told()));
            }
            _ => {}
        }
    }
    let breakpoint = |one: &&Finding| matches!(one.cause, Cause::NoBreakpoint | Cause::BeyondLookback);
    let more = found.iter().filter(|one| !breakpoint(one)).count();
    (planted.is_empty() && more > 0).then(|| format!("{} {placement:?} is harmless\n{}", kind.word, told()))
}

#[test]
fn the_guard_finds_planted_changes_and_knows_which_break_the_prefix() {
    let (mut all, mut mistakes) = (0_u64, Vec::new());
    for (at, kind) in KINDS.iter().enumerate() {
        for number in 0..cases(16) {
            let placement = PLACEMENTS[(number % 4) as usize];
            let mut case = generated(seed(at, number) + number);
            case.both(|prompt| place(prompt, placement));
            let Some(planted) = kind.plant(&mut case) else { continue };
            if !planted.is_empty() {
                keep_marked(&mut case, placement);
            }
            all += 1;
            mistakes.extend(wrong(kind, placement, &case, &planted));
        }
    }
    println!("{} of {all} wrong\n{}", mistakes.len(), mistakes.iter().take(25).cloned().collect::<Vec<_>>().join("\n"));
    assert!(mistakes.len() as u64 * 100 <= all * 2, "{} of {all}", mistakes.len());
}

/// A change of the newer request's breakpoints, and the expected cause.
type Breakpoints = (&'static str, fn(&mut Case), Option<Cause>);

const BREAKPOINTS: [Breakpoints; 7] = [
    ("as they were", |_| {}, None),
    ("dropped", |case| case.newer.unmark(), Some(Cause::NoBreakpoint)),
    ("moved to the system prompt", |case| place(&mut case.newer, Placement::System), Some(Cause::NoBreakpoint)),
    ("one hour for all", |case| lifetimes(&mut case.newer), None),
    (
        "automatic",
        |case| {
            case.newer.unmark();
            case.newer.set("cache_control", r#"{"type":"ephemeral"}"#);
        },
        None,
    ),
    (
        "five and more",
        |case| case.newer.tools.iter_mut().for_each(|tool| mark(&mut tool.json)),
        Some(Cause::BreakpointLimit),
    ),
    (
        "an hour after five minutes",
        |case| {
            place(&mut case.newer, Placement::Tail);
            lifetimes(&mut case.newer);
            let system = case.newer.system.last_mut().expect("a system prompt");
            mark(&mut system.json);
        },
        Some(Cause::TtlOrder),
    ),
];

fn lifetimes(prompt: &mut Prompt) {
    for block in prompt.blocks_mut() {
        if let Some(marker) = block.json.get_mut("cache_control") {
            marker.set("ttl", Json::text("1h"));
        }
    }
}

#[test]
fn moved_breakpoints_are_found_by_their_rule() {
    for (word, change, expected) in BREAKPOINTS {
        for number in 0..cases(16) {
            let mut case = generated(number * 3);
            change(&mut case);
            let found = findings(&case);
            let causes: Vec<Cause> = found.iter().filter(|one| one.breaks_prefix).map(|one| one.cause).collect();
            match expected {
                None => assert!(causes.is_empty(), "{word}, seed {}: {found:?}", number * 3),
                Some(cause) => assert!(causes.contains(&cause), "{word}, seed {}: {causes:?}", number * 3),
            }
        }
    }
}

/// Thirty blocks at once: the older end is out of reach unless there is a breakpoint in between.
#[test]
fn an_end_out_of_reach_is_found() {
    for (blocks, expected) in [(6, None), (30, Some(Cause::BeyondLookback))] {
        let mut case = generated(1);
        case.both(|prompt| place(prompt, Placement::Tail));
        for number in 0..blocks {
            let text = case.newer.says("user", &format!("Note {number}."));
            case.newer.messages.push(text);
        }
        place(&mut case.newer, Placement::Tail);
        let found = findings(&case);
        assert_eq!(found.first().map(|one| one.cause), expected, "{found:?}");
    }
}

/// Kinds after which at most half of a history remains to identify it.
const ANOTHER_CHAIN: [&str; 7] = [
    "compacted",
    "compacted-but-last",
    "compacted-but-third",
    "rewound",
    "rewound-in-silence",
    "call-ids",
    "truncated",
];

/// Without names, a request continues the chain whose history it shares, despite planted changes.
#[test]
fn a_planted_change_breaks_its_chain_instead_of_starting_a_new_one() {
    let mut lost: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    let mut all = 0_u64;
    for (at, kind) in KINDS.iter().enumerate() {
        for number in 0..cases(16) {
            let mut case = generated(seed(at, number) + number);
            let Some(_) = kind.plant(&mut case) else { continue };
            let mut guard = Guard::new(Rules::default());
            let mut take = |prompt: &Prompt| guard.take(&Sent::body(prompt.body().as_bytes())).expect("a body").first;
            assert!(take(&case.older));
            all += 1;
            *lost.entry(kind.word).or_default() += u64::from(take(&case.newer));
        }
    }
    lost.retain(|_, times| *times > 0);
    println!("of {all} requests these began a chain of their own: {lost:?}");
    let unexpected: Vec<_> = lost.keys().filter(|word| !ANOTHER_CHAIN.contains(word)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
}
