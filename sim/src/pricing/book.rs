//! The price book: who asks for a price gets rates or a reason why there are none.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use super::claude;
use super::date::Date;
use super::money::Money;
use super::rates::{Category, Rates, Terms};
use super::row::Row;
use crate::wire::model::{ModelId, resolve};

/// Overrides are per million tokens, and so is everything computed beside them.
const TOKENS_PER_MTOK: i128 = 1_000_000;

/// Whose price: a model of the table, or a name that the table does not know and that only an override can price.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelKey {
    /// A model of the table.
    Known(ModelId),
    /// Any other name, in lower case.
    Named(String),
}

impl From<ModelId> for ModelKey {
    fn from(model: ModelId) -> Self {
        Self::Known(model)
    }
}

impl From<&str> for ModelKey {
    /// Any spelling.
    fn from(spelling: &str) -> Self {
        let named = || Self::Named(spelling.trim().to_ascii_lowercase());
        resolve(spelling).map_or_else(named, |found| Self::Known(found.id))
    }
}

impl fmt::Display for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(model) => model.fmt(f),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// A model without a price: its tokens count, its money is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no price for {model} ({})", words(.missing))]
pub struct Unpriced {
    /// Whose price is missing.
    pub model: ModelKey,
    /// The categories without one: all, or those that overrides leave open.
    pub missing: Vec<Category>,
}

fn words(categories: &[Category]) -> String {
    categories.iter().map(|category| category.word()).collect::<Vec<_>>().join(", ")
}

/// One optional price per million tokens for each category, in the order of [`Category::ALL`].
type Overrides = [Option<Money>; 5];

/// Dated prices, and what the user put in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceBook {
    /// Sorted by model and first day.
    rows: &'static [Row],
    overrides: BTreeMap<ModelKey, Overrides>,
}

impl Default for PriceBook {
    fn default() -> Self {
        Self::built_in()
    }
}

impl PriceBook {
    /// The day on which the built-in rows were last compared with their sources.
    pub const VERSION: &'static str = "2026-11-21";

    /// The book of this release.
    pub const fn built_in() -> Self {
        Self { rows: claude::ROWS, overrides: BTreeMap::new() }
    }

    /// Version of the rows; overrides are not part of it and are listed by [`PriceBook::overrides`].
    pub const fn version(&self) -> &'static str {
        Self::VERSION
    }

    /// Every row, sorted by model and first day.
    pub const fn rows(&self) -> &'static [Row] {
        self.rows
    }

    /// With `usd_per_mtok` in the place of one price of a model, at every date, length and speed. On a model with rows,
    /// batch and region still apply; a model without rows needs all five categories, which then hold as given.
    #[must_use]
    pub fn with_override(mut self, model: impl Into<ModelKey>, category: Category, usd_per_mtok: Money) -> Self {
        self.overrides.entry(model.into()).or_default()[category as usize] = Some(usd_per_mtok);
        self
    }

    /// What replaces the rows: model, category and USD per million tokens, in order.
    pub fn overrides(&self) -> impl Iterator<Item = (&ModelKey, Category, Money)> {
        self.overrides.iter().flat_map(|(model, prices)| {
            let given = Category::ALL.into_iter().zip(prices);
            given.filter_map(move |(category, price)| Some((model, category, (*price)?)))
        })
    }

    /// The prices of a request to `model` on these terms.
    ///
    /// # Errors
    ///
    /// [`Unpriced`] when a category has neither a row nor an override.
    pub fn rates(&self, model: &ModelKey, terms: &Terms) -> Result<Rates, Unpriced> {
        let overrides = self.overrides.get(model).copied().unwrap_or_default();
        match self.row(model, terms.date) {
            Some((row, before_first_row)) => Ok(rates_of_row(row, before_first_row, &overrides, terms)),
            None => rates_of_overrides(model, &overrides),
        }
    }

    /// The row in force at a date, and whether the date lies before it.
    fn row(&self, model: &ModelKey, date: Option<Date>) -> Option<(&'static Row, bool)> {
        let ModelKey::Known(model) = model else { return None };
        let start = self.rows.partition_point(|row| row.model < *model);
        let end = self.rows.partition_point(|row| row.model <= *model);
        let rows = self.rows.get(start..end)?;
        let begun = date.map_or(rows.len(), |date| rows.partition_point(|row| row.valid_from <= Some(date)));
        match begun.checked_sub(1) {
            Some(newest) => rows.get(newest).map(|row| (row, false)),
            None => rows.first().map(|row| (row, true)),
        }
    }
}

fn rates_of_row(row: &'static Row, before_first_row: bool, overrides: &Overrides, terms: &Terms) -> Rates {
    let prices = row.prices(terms.prompt_tokens, terms.fast);
    let (factor, divisor) = terms.factor(row);
    let numerators = Category::ALL.map(|category| {
        let per_mtok = i128::from(prices.of(category)).saturating_mul(TOKENS_PER_MTOK);
        overrides[category as usize].map_or(per_mtok, Money::picousd).saturating_mul(factor)
    });
    Rates {
        numerators,
        denominator: divisor * TOKENS_PER_MTOK,
        row: Some(row),
        before_first_row,
        fast_at_standard_price: terms.fast && row.fast.is_none(),
    }
}

fn rates_of_overrides(model: &ModelKey, overrides: &Overrides) -> Result<Rates, Unpriced> {
    let open = |category: &Category| overrides[*category as usize].is_none();
    let missing: Vec<Category> = Category::ALL.into_iter().filter(open).collect();
    if !missing.is_empty() {
        return Err(Unpriced { model: model.clone(), missing });
    }
    Ok(Rates {
        numerators: overrides.map(|price| price.unwrap_or_default().picousd()),
        denominator: TOKENS_PER_MTOK,
        row: None,
        before_first_row: false,
        fast_at_standard_price: false,
    })
}
