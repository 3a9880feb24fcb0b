//! What sharing comes to (ECON-10, ECON-15, ECON-16).

use std::sync::Arc;

use forkcast_scenarios::fanout::play::Unplayed;
use forkcast_scenarios::fanout::{Cell, Spawn};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{LaunchPolicy, Profile};
use forkcast_sim::cache::{PRESETS, Rules};

use super::measured::{FABLE_51, OPUS_48, OPUS_55, Priced, Runs, marked, push, table};
use forkcast_reports::document::{Document, Table, share};

const TURNS: [u32; 7] = [1, 2, 3, 5, 8, 11, 20];

/// Named agents with nothing to gather.
const SPAWN: Spawn = Spawn { system: 3_000, tools: 7_000, brief: 1_000, gathered: 0, gathering_turns: 0 };

/// What named agents must gather again: tokens, and requests that it takes.
const GATHERED: [(u64, u32); 4] = [(0, 0), (10_000, 3), (20_000, 5), (40_000, 8)];

/// Forks are cheap, agents of their own dear.
pub fn cheap_and_dear(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("A fork is cheap, an agent of its own is dear");
    page.text(vec![
        "Claimed (ECON-10, ECON-15, ECON-16): a fork costs little because it reads what is cached, a fresh agent much because its \
         context is new."
            .to_owned(),
        "Holds while children are short, or would have to gather again much of what their parent knows. Each request of a fork \
         reads its parent's whole history once more, and a fresh agent does not."
            .to_owned(),
        "Taken here: five warm children, one first; 80,000 tokens before the directive, 5,500 more with every turn; agents of \
         10,000 tokens and a brief of 1,000, all at once as clients start them, or one first like the forks. The words that \
         start them count: the message that forks, or the briefs. A request that gathers adds what it gathers, and comes \
         before the turns."
            .to_owned(),
        "Price of forks over that of agents, by requests of a child (✓ if forks cost less):".to_owned(),
    ]);
    let mut table = table("Measured", ["1", "2", "3", "5", "8", "11", "20"]);
    for (launch, word) in [(LaunchPolicy::Burst, "at once"), (LaunchPolicy::Primed, "one first")] {
        for (gathered, gathering_turns) in GATHERED {
            let spawn = Spawn { gathered, gathering_turns, ..SPAWN };
            push(&mut table, gathering("Opus 4.8", word, spawn), ratios(runs, OPUS_48, launch, spawn)?);
        }
        for (name, model) in [("Opus 5.5", OPUS_55), ("Fable 5.1", FABLE_51)] {
            push(&mut table, gathering(name, word, SPAWN), ratios(runs, model, launch, SPAWN)?);
        }
    }
    page.table(table);
    Ok(())
}

fn gathering(model: &str, launch: &str, spawn: Spawn) -> String {
    match spawn.gathered {
        0 => format!("{model}, {launch}, nothing to gather"),
        tokens => {
            format!(
                "{model}, {launch}, {} in {} requests",
                forkcast_reports::document::count(tokens),
                spawn.gathering_turns
            )
        }
    }
}

fn ratios(runs: &Runs, model: Priced, launch: LaunchPolicy, spawn: Spawn) -> Result<Vec<String>, Unplayed> {
    let ratio = |turns: &u32| {
        let fork = Cell {
            prefix: 78_000,
            tail: 2_000,
            turns: *turns,
            growth: 5_500,
            placement: Placement::Both,
            launch: LaunchPolicy::Primed,
            model: Arc::from(model.id),
            ..Cell::default()
        };
        let agents = Cell { spawn: Some(spawn), launch, ..fork.clone() };
        let fork = runs.of(&fork)?.started;
        let agents = runs.of(&agents)?.started;
        let ratio = fork.picousd() as f64 / agents.picousd().max(1) as f64;
        Ok(marked(&format!("{ratio:.2}"), fork < agents))
    };
    TURNS.iter().map(ratio).collect()
}

const WIDTHS: [u32; 5] = [2, 5, 8, 9, 20];

/// Forks share the cache, if they can find it.
pub fn share_the_cache(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("Forks share the cache");
    page.text(vec![
        "Claimed wherever forks are described. It is the parent's cache that a warm child reads, and it must be found: a \
         breakpoint looks back some 20 positions, and how many a message with nine calls takes differs between the rules of \
         August and of September 2026."
            .to_owned(),
        "What siblings share with one another is less: nothing at all in a burst, and nothing in the requests of the client of \
         2026, each of whose forks keeps its own call alone of the message that forks."
            .to_owned(),
        "Part of the children's input that was read, five, eight, nine of them (published example, warm, Opus 4.8; ✓ if all of \
         the parent's 46,000 tokens are read by all):"
            .to_owned(),
    ]);
    page.table(widths(runs)?);
    Ok(())
}

fn widths(runs: &Runs) -> Result<Table, Unplayed> {
    use LaunchPolicy::{Burst, Primed};
    use Placement::{Client2026, Tail, TailPrevious};
    let mut table = table("Measured", ["2 children", "5", "8", "9", "20"]);
    let rows: [(&str, Placement, LaunchPolicy, Profile, Rules); 6] = [
        ("tail, at once, docs-2026-09", Tail, Burst, Profile::Documents, PRESETS[0]),
        ("tail, at once, docs-2026-08", Tail, Burst, Profile::Documents, PRESETS[1]),
        ("tail+previous, at once, docs-2026-08", TailPrevious, Burst, Profile::Documents, PRESETS[1]),
        ("before the directive, one first, docs-2026-09", Placement::Shared, Primed, Profile::Documents, PRESETS[0]),
        ("client of 2026, at once, docs-2026-09", Client2026, Burst, Profile::Client2026, PRESETS[0]),
        ("client of 2026, one first, docs-2026-09", Client2026, Primed, Profile::Client2026, PRESETS[0]),
    ];
    for (words, placement, launch, profile, rules) in rows {
        let cell = |children: &u32| {
            let cell = Cell { children: *children, placement, launch, profile, rules, ..Cell::default() };
            let all = runs.with(&cell, (false, launch), OPUS_48)?;
            let of_parent = u64::from(*children) * cell.prefix;
            Ok(marked(&share(all.hit_rate), all.total_tokens - all.fresh_tokens >= of_parent))
        };
        let figures: Result<Vec<String>, Unplayed> = WIDTHS.iter().map(cell).collect();
        push(&mut table, words, figures?);
    }
    Ok(table)
}
