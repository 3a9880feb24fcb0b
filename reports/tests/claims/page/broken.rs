//! Claims about prefixes that are not the parent's: a byte that differs, and a history that is left out.

use std::collections::BTreeSet;
use std::sync::Arc;

use forkcast_scenarios::fanout::Cell;
use forkcast_scenarios::fanout::play::Unplayed;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, LaunchPolicy};

use super::measured::{OPUS_48, Runs, SITUATIONS, marked, push, table};
use forkcast_reports::document::{Document, Table, money};

/// The published example, with one thing broken on purpose.
fn broken(ablation: Option<Ablation>) -> Cell {
    let ablations: BTreeSet<Ablation> = ablation.into_iter().collect();
    Cell { placement: Placement::Both, model: Arc::from(OPUS_48.id), ablations, ..Cell::default() }
}

/// One byte that differs.
pub fn one_byte(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("One space, one reordered tool, one flag");
    page.text(vec![
        "Claimed (CACHE-04, CACHE-05, CACHE-12, CACHE-21): one byte that differs from the parent's prefix breaks it from \
         there on."
            .to_owned(),
        "True for a warm parent. It flips when nothing would have been read anyway: cold children that start at once pay the \
         same with or without the space. With one first, only the first pays for it, because siblings differ in the same way \
         and share what it wrote."
            .to_owned(),
        "What five children cost more than unchanged ones (published example, both breakpoints, Opus 4.8; ✓ if it costs \
         anything):"
            .to_owned(),
    ]);
    let mut table = table("Measured", SITUATIONS.map(|(words, ..)| words));
    let rows = [
        ("one space in the system prompt", Ablation::AddedSpace),
        ("two tools in another order", Ablation::ReorderTools),
        ("a flag in a tool's description", Ablation::ModeInTools),
        ("another `thinking` setting", Ablation::OtherThinking),
    ];
    for (words, ablation) in rows {
        push(
            &mut table,
            words,
            SITUATIONS.iter().map(|at| dearer(runs, at.1, at.2, ablation)).collect::<Result<_, _>>()?,
        );
    }
    page.table(table);
    Ok(())
}

fn dearer(runs: &Runs, is_cold: bool, launch: LaunchPolicy, ablation: Ablation) -> Result<String, Unplayed> {
    let of = |ablation| runs.with(&broken(ablation), (is_cold, launch), OPUS_48);
    let (whole, changed) = (of(None)?.cost, of(Some(ablation))?.cost);
    let more = changed - whole;
    let times = changed.picousd() as f64 / whole.picousd().max(1) as f64;
    Ok(match more.picousd() {
        0 => "nothing".to_owned(),
        1.. => marked(&format!("{} more, × {times:.1}", money(more)), true),
        _ => format!("{} less", money(whole - changed)),
    })
}

const TURNS: [u32; 5] = [1, 2, 3, 5, 11];

/// A history that is left out.
pub fn strip_history(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("Leaving the history out never pays");
    page.text(vec![
        "Claimed (CACHE-18): a child without its parent's history has another prefix, so leaving the history out saves nothing."
            .to_owned(),
        "Only the first request of a warm child shows that. It flips when the parent is cold, from the first request on: what \
         is not sent needs not be written. And it flips for warm children of several turns, each of which would read the \
         history once more. What the child no longer knows, it may have to gather again: see the section on agents."
            .to_owned(),
        "Price of children without the history over that of whole ones, by requests of a child (five children, published \
         example, both breakpoints, Opus 4.8; ✓ if leaving it out does not pay):"
            .to_owned(),
    ]);
    page.table(stripped(runs)?);
    Ok(())
}

fn stripped(runs: &Runs) -> Result<Table, Unplayed> {
    let mut table = table("Measured", ["1", "2", "3", "5", "11"]);
    for (words, is_cold, launch) in SITUATIONS {
        let ratio = |turns: &u32| {
            let of = |ablation| runs.with(&Cell { turns: *turns, ..broken(ablation) }, (is_cold, launch), OPUS_48);
            let (whole, without) = (of(None)?.cost, of(Some(Ablation::StripHistory))?.cost);
            let ratio = without.picousd() as f64 / whole.picousd().max(1) as f64;
            Ok(marked(&format!("{ratio:.2}"), without >= whole))
        };
        push(&mut table, words, TURNS.iter().map(ratio).collect::<Result<_, Unplayed>>()?);
    }
    Ok(table)
}
