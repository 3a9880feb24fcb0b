//! The published example (ECON-05 to ECON-09), and the overlap that it speaks of (ECON-01 to ECON-03, ECON-14).

use std::sync::Arc;

use forkcast_scenarios::fanout::Cell;
use forkcast_scenarios::fanout::play::Unplayed;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::wire::Ttl;

use super::measured::{MODELS, OPUS_48, Priced, Runs, SITUATIONS, by_situation, push, table};
use forkcast_reports::document::Document;

const PRIMED_WARM: (bool, LaunchPolicy) = (false, LaunchPolicy::Primed);

/// Five children of 46,000 tokens; the breakpoint is before the directive.
fn example() -> Cell {
    Cell { placement: Placement::Shared, ..Cell::default() }
}

/// 5,050 tokens for each child but the first.
pub fn tokens_a_child(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("5,050 tokens a child");
    page.text(vec![
        "Claimed (ECON-05 to ECON-08): five forks share 48,500 tokens, 46,000 of their parent and 2,500 of the message that \
         forks, and each gets 200 of its own; children 2 to 5 pay as much as for 5,050 tokens of plain input."
            .to_owned(),
        "Holds when reads cost a tenth, one child goes first, the last breakpoint is before the directive, and each child \
         asks once."
            .to_owned(),
    ]);
    page.text(vec!["Each further child, in tokens of plain input:".to_owned()]);
    let claimed = 5_050_000_000;
    page.table(by_situation(&MODELS, |situation, model| {
        let child = runs.further(&example(), situation, model)?;
        Ok(child.equivalents(child.equivalents_millionths == claimed))
    })?);
    page.text(vec!["All five together, by the place of the breakpoint (Opus 4.8):".to_owned()]);
    page.table(by_placement(runs)?);
    page.text(vec!["All five together, in dollars:".to_owned()]);
    page.table(by_situation(&MODELS, |situation, model| Ok(runs.with(&example(), situation, model)?.text(false)))?);
    page.text(verdict(runs)?);
    Ok(())
}

fn by_placement(runs: &Runs) -> Result<forkcast_reports::document::Table, Unplayed> {
    let mut table = table("Measured", SITUATIONS.map(|(words, ..)| words));
    let rows = [
        ("before the directive", Placement::Shared),
        ("after the directive", Placement::Tail),
        ("both", Placement::Both),
    ];
    for (words, placement) in rows {
        let cell = Cell { placement, ..example() };
        let figures: Result<Vec<String>, Unplayed> = SITUATIONS
            .iter()
            .map(|(_, is_cold, launch)| Ok(runs.with(&cell, (*is_cold, *launch), OPUS_48)?.equivalents(false)))
            .collect();
        push(&mut table, words, figures?);
    }
    Ok(table)
}

fn verdict(runs: &Runs) -> Result<Vec<String>, Unplayed> {
    let written = Cell { placement: Placement::Both, ..example() };
    let written = runs.further(&written, PRIMED_WARM, OPUS_48)?.equivalents(false);
    let cold = runs.with(&example(), (true, LaunchPolicy::Primed), OPUS_48)?;
    let burst = runs.with(&example(), (true, LaunchPolicy::Burst), OPUS_48)?;
    Ok(vec![
        format!(
            "If the directive is written too, a further child costs {written}. The same texts reckon a saving of 71.7 % for all \
             five with a cold first child (ECON-09), writing at the price of input. Written at five quarters of it: {} with one \
             first, and {} at once.",
            cold.saving(),
            burst.saving(),
        ),
        "With the breakpoint only after the directive, cold children share nothing, whoever goes first.".to_owned(),
    ])
}

/// The first child pays for 48,700 tokens.
pub fn first_child(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("48,700 tokens for the first child");
    page.text(vec![
        "Claimed (ECON-07): child 1 finds nothing in the cache and pays for all of its 48,700 tokens, as for plain input."
            .to_owned(),
        "True only without a breakpoint. A cold child with one also writes, at five quarters of the price of input (60,825), or \
         twice of it for an hour. It flips when the parent is warm: then the first child reads like the others, and writes \
         the message that forks alone."
            .to_owned(),
        "The first child, in tokens of plain input (✓ if it pays for 48,700):".to_owned(),
    ]);
    let mut table = table("Measured", MODELS.map(|model| model.title));
    let rows = [
        ("cold, no breakpoint", true, Placement::None, Ttl::FiveMinutes),
        ("cold, before the directive, 5m", true, Placement::Shared, Ttl::FiveMinutes),
        ("cold, before the directive, 1h", true, Placement::Shared, Ttl::OneHour),
        ("warm, before the directive, 5m", false, Placement::Shared, Ttl::FiveMinutes),
    ];
    for (words, is_cold, placement, ttl) in rows {
        let cell = Cell { children: 1, placement, ttl, ..example() };
        let figure = |model: &Priced| {
            let child = runs.with(&cell, (is_cold, LaunchPolicy::Primed), *model)?;
            Ok(child.equivalents(child.equivalents_millionths == 48_700_000_000))
        };
        push(&mut table, words, MODELS.iter().map(figure).collect::<Result<_, Unplayed>>()?);
    }
    page.table(table);
    Ok(())
}

/// 99.75 % overlap, 89.78 % saved; the chapter's title says 95.
pub fn overlap_and_discount(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("99.75 % the same, 90 % saved, or 95");
    let cell = Cell { prefix: 80_000, tail: 0, ..example() };
    let all = runs.of(&Cell { model: Arc::from(OPUS_48.id), launch: LaunchPolicy::Primed, ..cell.clone() })?;
    page.text(vec![
        "Claimed (ECON-01 to ECON-03, ECON-14): of 80,200 tokens, 80,000 are the same for all, which is 99.75 %; children 2 to 5 \
         save about 90 % (89.78 % by its own figures); the chapter's title says ninety-five."
            .to_owned(),
        format!(
            "True for further children if reads cost a tenth and there is something to read: {} of a warm fan-out's input \
             was read. What a price list gives for reading is the ceiling of what can be saved, so 95 % needs a model that reads \
             at less than a twentieth.",
            share2(all.hit_rate)
        ),
        "Each further child (✓ if at least 89.7 % is saved):".to_owned(),
    ]);
    page.table(by_situation(&MODELS, |situation, model| {
        let child = runs.further(&cell, situation, model)?;
        Ok(child.text(child.saved() >= 0.897))
    })?);
    Ok(())
}

/// A share with two decimals.
fn share2(part: f64) -> String {
    format!("{:.2} %", part * 100.0)
}
