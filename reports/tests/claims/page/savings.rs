//! Claims about money (ECON-04, ECON-11 to ECON-13).

use std::sync::Arc;

use forkcast_scenarios::fanout::Cell;
use forkcast_scenarios::fanout::play::Unplayed;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::pricing::Money;

use super::measured::{FABLE_5, MODELS, OPUS_48, OPUS_55, Runs, SITUATIONS, by_situation, marked, push, table};
use forkcast_reports::document::{Document, Table, money, share};

const CLAIMED_UNCACHED: Money = Money::from_picousd(4_000_000_000_000);
const CLAIMED: Money = Money::from_picousd(500_000_000_000);

/// Four dollars against half a dollar.
pub fn four_dollars(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("$4 against $0.50");
    let cell = Cell { prefix: 80_000, tail: 2_000, directive: 500, placement: Placement::Both, ..Cell::default() };
    let bare = Cell { tail: 0, directive: 1, placement: Placement::Shared, ..cell.clone() };
    let models = [FABLE_5, OPUS_48, OPUS_55];
    let uncached: Result<Vec<String>, Unplayed> = models
        .iter()
        .map(|model| Ok(money(runs.with(&bare, (false, LaunchPolicy::Primed), *model)?.uncached)))
        .collect();
    page.text(vec![
        "Claimed (ECON-04): one dispatch of five children costs 0.50 instead of 4. No prices or sizes are given; five times \
         80,000 tokens of its other example are 4 dollars at ten a million. Taken here: a tail of 2,000 and directives of 500."
            .to_owned(),
        format!(
            "Holds when a million tokens cost $10, the parent is warm, and the other side of the scale is no cache at all. \
             The prefix alone, five times without a cache: {} for these models. Agents with small prompts of their own \
             would not carry it five times.",
            uncached?.join(", ")
        ),
        "All five together (✓ if $4 become $0.50 or less):".to_owned(),
    ]);
    page.table(by_situation(&models, |situation, model| {
        let all = runs.with(&cell, situation, model)?;
        Ok(all.text(all.uncached >= CLAIMED_UNCACHED && all.cost <= CLAIMED))
    })?);
    Ok(())
}

/// 90 % of five times 50,000.
pub fn five_of_fifty_thousand(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("Five forks of 50,000 tokens: over 90 % saved");
    let cell = Cell { prefix: 50_000, tail: 0, directive: 1_000, placement: Placement::Shared, ..Cell::default() };
    let warm = runs.with(&cell, (false, LaunchPolicy::Primed), OPUS_48)?;
    let fresh = 1.0 - warm.fresh_tokens as f64 / warm.total_tokens as f64;
    page.text(vec![
        "Claimed (ECON-12): five forks of about 1,000 tokens of their own bring 5,000 new tokens instead of 250,000, so more \
         than 90 % is saved."
            .to_owned(),
        format!(
            "True for tokens, not for money, if reads cost a tenth: warm, {} of the input is not new, and {} of its price is \
             saved. Cheaper reads bring the money there too. One request each; what children do afterwards is not in it.",
            share(fresh),
            share(warm.saved())
        ),
        "All five together (✓ if more than 90 % is saved):".to_owned(),
    ]);
    page.table(over_ninety(runs, &cell)?);
    let small = Cell { tail: 1_000, directive: 300, placement: Placement::Both, ..cell };
    page.text(vec![
        "The same with 1,000 tokens of the message that forks after the prefix and directives of 300, both breakpoints:"
            .to_owned(),
    ]);
    page.table(over_ninety(runs, &small)?);
    Ok(())
}

/// 90 % of eight times 100,000.
pub fn eight_of_a_hundred_thousand(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("Eight forks of 100,000 tokens: over 90 %");
    let cell =
        Cell { children: 8, prefix: 100_000, tail: 0, directive: 200, placement: Placement::Shared, ..Cell::default() };
    page.text(vec![
        "Claimed (ECON-11): with 100,000 tokens of history and eight forks more than 90 % may be saved. Taken here: directives \
         of 200, nothing else after the prefix."
            .to_owned(),
        "Never true if reads cost a tenth: 90 % is what reading everything saves, and the directives are on top. True for a \
         warm parent if reads are cheaper."
            .to_owned(),
        "All eight together (✓ if more than 90 % is saved):".to_owned(),
    ]);
    page.table(over_ninety(runs, &cell)?);
    Ok(())
}

fn over_ninety(runs: &Runs, cell: &Cell) -> Result<Table, Unplayed> {
    by_situation(&MODELS, |situation, model| {
        let all = runs.with(cell, situation, model)?;
        Ok(all.text(all.saved() > 0.9))
    })
}

const PREFIXES: [u64; 4] = [20_000, 50_000, 100_000, 200_000];
const CHILDREN: [u32; 5] = [1, 2, 5, 8, 20];

/// The larger and the more, the better.
pub fn grows(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("The larger the context and the more children, the more is saved");
    page.text(vec![
        "Claimed (ECON-13). Taken here: a tail of 2,500, directives of 200, a breakpoint before the directive, Opus 4.8."
            .to_owned(),
        "✓ if it grows with every further child, and for every number of children over the smaller prefix above. It does not \
         if all start cold at once, because no child reads; nor for one cold child alone, which pays for writing and reads \
         nothing; nor with the number of warm children that start at once, since each does the same."
            .to_owned(),
    ]);
    let mut table = table("Saved", ["1 child", "2", "5", "8", "20", "grows"]);
    for (words, is_cold, launch) in SITUATIONS {
        let mut before: Option<Vec<f64>> = None;
        for prefix in PREFIXES {
            let saved = saved_by_children(runs, prefix, (is_cold, launch))?;
            let grows = is_rising(&saved) && before.as_ref().is_none_or(|before| are_above(&saved, before));
            let mut figures: Vec<String> = saved.iter().map(|saved| share(*saved)).collect();
            figures.push(marked("", grows).trim().to_owned());
            push(&mut table, format!("{words}, {}", forkcast_reports::document::count(prefix)), figures);
            before = Some(saved);
        }
    }
    page.table(table);
    Ok(())
}

fn saved_by_children(runs: &Runs, prefix: u64, situation: (bool, LaunchPolicy)) -> Result<Vec<f64>, Unplayed> {
    let of = |children: &u32| {
        let cell = Cell {
            children: *children,
            prefix,
            placement: Placement::Shared,
            model: Arc::from(OPUS_48.id),
            ..Cell::default()
        };
        Ok(runs.with(&cell, situation, OPUS_48)?.saved())
    };
    CHILDREN.iter().map(of).collect()
}

/// Less than this is rounding: two fan-outs of the same share differ in the last bit.
const SAME: f64 = 1e-9;

fn is_rising(saved: &[f64]) -> bool {
    saved.windows(2).all(|pair| pair[1] > pair[0] + SAME)
}

fn are_above(saved: &[f64], before: &[f64]) -> bool {
    saved.iter().zip(before).all(|(now, before)| *now > *before + SAME)
}
