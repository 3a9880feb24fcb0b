//! The runs that test the claims.

use std::rc::Rc;
use std::sync::Arc;

use forkcast_scenarios::fanout::Cell;
use forkcast_scenarios::fanout::play::Unplayed;
use forkcast_scenarios::fanout::trial::{Trial, trial};
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::pricing::{Money, PriceBook};

use forkcast_reports::document::{self, Column, Table, money, share};

/// A model, and its title in a table: input price per million tokens, and the price of a read relative to it.
#[derive(Clone, Copy)]
pub struct Priced {
    /// Its id.
    pub id: &'static str,
    /// The column's title.
    pub title: &'static str,
}

/// Reads at a tenth of the price of input: the assumption of the claims.
pub const OPUS_48: Priced = Priced { id: "claude-opus-4-8", title: "Opus 4.8, $5, read × 0.1" };
/// Reads at a twentieth.
pub const OPUS_55: Priced = Priced { id: "claude-opus-5-5", title: "Opus 5.5, $4, read × 0.05" };
/// Reads at a fortieth.
pub const FABLE_51: Priced = Priced { id: "claude-fable-5-1", title: "Fable 5.1, $10, read × 0.025" };
/// Ten dollars a million tokens, read at a tenth.
pub const FABLE_5: Priced = Priced { id: "claude-fable-5", title: "Fable 5, $10, read × 0.1" };

/// One for each price of reading.
pub const MODELS: [Priced; 3] = [OPUS_48, OPUS_55, FABLE_51];

/// Cold or warm, started together or one first: its words, and the cell.
pub const SITUATIONS: [(&str, bool, LaunchPolicy); 4] = [
    ("cold, at once", true, LaunchPolicy::Burst),
    ("cold, one first", true, LaunchPolicy::Primed),
    ("warm, at once", false, LaunchPolicy::Burst),
    ("warm, one first", false, LaunchPolicy::Primed),
];

/// Plays cells.
pub struct Runs {
    book: Rc<PriceBook>,
}

/// The total input of all children.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// With the cache.
    pub cost: Money,
    /// The same with the words of the message that starts the children.
    pub started: Money,
    /// Without any.
    pub uncached: Money,
    /// Tokens of plain input that cost as much, in millionths.
    pub equivalents_millionths: i128,
    /// Tokens read, of the whole input.
    pub hit_rate: f64,
    /// Tokens that were written or paid in full, of the whole input.
    pub fresh_tokens: u64,
    /// The whole input.
    pub total_tokens: u64,
}

impl Runs {
    /// Runs billed by `book`.
    pub fn new(book: Rc<PriceBook>) -> Self {
        Self { book }
    }

    /// The prices.
    pub const fn book(&self) -> &Rc<PriceBook> {
        &self.book
    }

    /// Plays `cell` without output.
    pub fn of(&self, cell: &Cell) -> Result<Measured, Unplayed> {
        let Trial { outcome, .. } = trial(&Cell { output: 0, ..cell.clone() }, &self.book)?;
        let lacking = |what: &str| Unplayed::Failed(format!("{}: {what}", cell.model));
        let priced = |amount: Option<Money>| amount.ok_or_else(|| lacking("no price in the book"));
        Ok(Measured {
            cost: priced(outcome.cost)?,
            started: priced(outcome.started_cost())?,
            uncached: priced(outcome.cost_without_cache)?,
            equivalents_millionths: outcome.equivalents_millionths.ok_or_else(|| lacking("no price in the book"))?,
            hit_rate: outcome.usage.hit_rate().ok_or_else(|| lacking("no input"))?,
            fresh_tokens: outcome.usage.total_input_tokens() - outcome.usage.cache_read_input_tokens,
            total_tokens: outcome.usage.total_input_tokens(),
        })
    }

    /// Plays `cell` in a situation, by a model.
    pub fn with(&self, cell: &Cell, situation: (bool, LaunchPolicy), model: Priced) -> Result<Measured, Unplayed> {
        let (is_cold, launch) = situation;
        self.of(&Cell { is_cold, launch, model: Arc::from(model.id), ..cell.clone() })
    }

    /// The addition of each further child: the sum minus a fan-out of one, divided by the children after the first.
    pub fn further(&self, cell: &Cell, situation: (bool, LaunchPolicy), model: Priced) -> Result<Measured, Unplayed> {
        let all = self.with(cell, situation, model)?;
        let first = self.with(&Cell { children: 1, ..cell.clone() }, situation, model)?;
        let further = i128::from(cell.children.saturating_sub(1).max(1));
        let each = |all: Money, first: Money| Money::from_picousd((all.picousd() - first.picousd()) / further);
        Ok(Measured {
            cost: each(all.cost, first.cost),
            started: each(all.started, first.started),
            uncached: each(all.uncached, first.uncached),
            equivalents_millionths: (all.equivalents_millionths - first.equivalents_millionths) / further,
            ..all
        })
    }
}

impl Measured {
    /// The saved share of the uncached price; negative if it cost more.
    pub fn saved(&self) -> f64 {
        let uncached = self.uncached.picousd();
        if uncached == 0 { 0.0 } else { 1.0 - self.cost.picousd() as f64 / uncached as f64 }
    }

    /// `88.4 % saved`, or `25.0 % more`.
    pub fn saving(&self) -> String {
        let saved = self.saved();
        if saved < 0.0 { format!("{} more", share(-saved)) } else { format!("{} saved", share(saved)) }
    }

    /// `$0.4640, 88.4 % saved`, and whether the claim is true.
    pub fn text(&self, holds: bool) -> String {
        marked(&format!("{}, {}", money(self.cost), self.saving()), holds)
    }

    /// `5,050` or `2,625.5`, and whether the claim is true.
    pub fn equivalents(&self, holds: bool) -> String {
        let tenths = (self.equivalents_millionths + 50_000) / 100_000;
        let whole = document::count(u64::try_from(tenths / 10).unwrap_or_default());
        let text = if tenths % 10 == 0 { whole } else { format!("{whole}.{}", tenths % 10) };
        marked(&text, holds)
    }
}

/// The text, with a mark if the claim is true.
pub fn marked(text: &str, holds: bool) -> String {
    if holds { format!("{text} ✓") } else { text.to_owned() }
}

/// A table with a row for each situation and a column for each model.
pub fn by_situation(
    models: &[Priced],
    mut cell: impl FnMut((bool, LaunchPolicy), Priced) -> Result<String, Unplayed>,
) -> Result<Table, Unplayed> {
    let mut table = table("Measured", models.iter().map(|model| model.title));
    for (words, is_cold, launch) in SITUATIONS {
        let figures: Result<Vec<String>, Unplayed> =
            models.iter().map(|model| cell((is_cold, launch), *model)).collect();
        push(&mut table, words, figures?);
    }
    Ok(table)
}

/// An empty table: a column of words, then figures.
pub fn table(first: &'static str, titles: impl IntoIterator<Item = &'static str>) -> Table {
    let figures = titles.into_iter().map(|title| Column::right(title, title));
    Table::new("claims", std::iter::once(Column::left(first, first)).chain(figures).collect())
}

/// Adds a row.
pub fn push(table: &mut Table, words: impl Into<String>, figures: Vec<String>) {
    let cells = std::iter::once(words.into()).chain(figures).map(document::Cell::Text);
    table.rows.push(cells.collect());
}
