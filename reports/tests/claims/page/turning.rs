//! Until how many requests a fork is cheaper than an agent with a brief: measured, and by the formula.

use std::rc::Rc;
use std::sync::Arc;

use forkcast_scenarios::fanout::breakeven::{Inquiry, Panel, Question, Unanswered, answer};
use forkcast_scenarios::fanout::play::Unplayed;
use forkcast_scenarios::fanout::{Cell, Spawn};
use forkcast_sim::pricing::PriceBook;

use super::measured::{FABLE_51, OPUS_48, OPUS_55, Priced, Runs, push, table};
use forkcast_reports::document::Document;

const CONTEXTS: [u64; 4] = [20_000, 50_000, 80_000, 150_000];

/// Requests of a child. Costs of forks and of agents grow alike with every turn, so that their difference is a line and
/// its zero needs no turn of its own.
const TURNS: [u32; 11] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40];

const SPAWN: Spawn = Spawn { system: 3_000, tools: 7_000, brief: 1_000, gathered: 0, gathering_turns: 0 };

/// The turning points.
pub fn turning_points(page: &mut Document, runs: &Runs) -> Result<(), Unplayed> {
    page.heading("Until how many requests a fork pays");
    page.text(vec![
        "Five forks of a warm parent with a tail of 2,500, directives of 200 and 1,000 tokens more with every turn, one first; \
         agents of 10,000 tokens with a brief of 1,000 each, and nothing to gather. The words that start them count."
            .to_owned(),
        "Measured, and in brackets by the formula K* = [(σ − r) S + (o + w − r) B − o M / N] / [r (H − S − B)] of \
         economics 3.3, which leaves directives out. Agents that start one first make the difference: all but one of them \
         read the tools and system prompt that the first one wrote."
            .to_owned(),
        "Requests of a child, by the context of the parent:".to_owned(),
    ]);
    let mut table = table("Measured", ["20k", "50k", "80k", "150k"]);
    for (name, model) in [("Opus 5.5", OPUS_55), ("Opus 4.8", OPUS_48), ("Fable 5.1", FABLE_51)] {
        for panel in panels(runs.book(), model)? {
            let start = if panel.title.contains("one first") { "one first" } else { "at once" };
            push(&mut table, format!("{name}, agents {start}"), figures(&panel));
        }
    }
    page.table(table);
    Ok(())
}

fn panels(book: &Rc<PriceBook>, model: Priced) -> Result<Vec<Panel>, Unplayed> {
    let base = Cell { model: Arc::from(model.id), output: 0, ..Cell::default() };
    let turns = Some(TURNS.to_vec());
    let inquiry = Inquiry { base, children: None, prefix: Some(CONTEXTS.to_vec()), turns, growth: None, spawn: SPAWN };
    let found = answer(Question::ForkOrSpawn, &inquiry, book).map_err(|why| match why {
        Unanswered::Unplayed(why) => why,
        other => Unplayed::Failed(other.to_string()),
    })?;
    Ok(found.panels)
}

/// `7.4 (7.8)`; a point before the first request is none.
fn figures(panel: &Panel) -> Vec<String> {
    let number = |at: f64| if at < 1.0 { "none".to_owned() } else { format!("{at:.1}") };
    let figure = |crossing: &forkcast_scenarios::fanout::breakeven::Crossing| {
        let measured = crossing.at.map_or_else(|| format!("over {}", TURNS[TURNS.len() - 1]), number);
        crossing.formula.map_or_else(|| measured.clone(), |formula| format!("{measured} ({})", number(formula)))
    };
    panel.crossings.iter().map(figure).collect()
}
