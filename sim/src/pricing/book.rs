//! The price book: gives rates, or the reason why there are none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use thiserror::Error;

use super::date::Date;
use super::factor::Factor;
use super::fees::{Fee, FeeLine, NotBilled};
use super::file::{self, BadBook, BookFile};
use super::money::Money;
use super::rates::{Category, Rate, Rates};
use super::row::{PriceRow, Tier};
use super::terms::Terms;
use super::tier::ServiceTier;
use crate::time::Instant;
use crate::wire::model::{ModelId, Vendor, resolve};

/// A key of a price: a model of the table, or a name that is not in the table and needs an override.
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
    /// Accepts any spelling.
    fn from(spelling: &str) -> Self {
        let named = || Self::Named(spelling.trim().to_ascii_lowercase());
        resolve(spelling).map_or_else(named, |found| Self::Known(found.id))
    }
}

impl ModelKey {
    /// The vendor, if the model is in the table.
    pub fn vendor(&self) -> Option<Vendor> {
        match self {
            Self::Known(model) => Some(model.row().vendor),
            Self::Named(_) => None,
        }
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

/// A model without a price: its tokens are counted, its cost is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no price for {model} ({})", words(.missing))]
pub struct Unpriced {
    /// The model.
    pub model: ModelKey,
    /// The categories without a price: all, or those without an override.
    pub missing: Vec<Category>,
}

fn words(categories: &[Category]) -> String {
    categories.iter().map(|category| category.word()).collect::<Vec<_>>().join(", ")
}

/// One optional price per million tokens for each category, in the order of [`Category::ALL`].
type Overrides = [Option<Money>; 5];

/// Dated prices, and the user's changes to them.
///
/// ```
/// use forkcast_sim::pricing::{PriceBook, Terms};
/// use forkcast_sim::wire::Usage;
///
/// let rates = PriceBook::built_in().rates(&"claude-opus-4-8".into(), &Terms::default())?;
/// let read = Usage { cache_read_input_tokens: 1_000_000, ..Usage::default() };
/// let fresh = Usage { input_tokens: 1_000_000, ..Usage::default() };
/// assert!(rates.bill(&read, &[]).total < rates.bill(&fresh, &[]).total);
/// # Ok::<(), forkcast_sim::pricing::Unpriced>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceBook {
    /// Sorted by model and first day.
    rows: Vec<PriceRow>,
    fees: Vec<Fee>,
    not_billed: Vec<NotBilled>,
    /// Names of files whose rows replace built-in ones.
    files: Vec<String>,
    overrides: BTreeMap<ModelKey, Overrides>,
    /// A discount on every token price, as agreed with the provider.
    remaining: Option<Factor>,
    /// Use the prices of this day for all requests.
    day: Option<Date>,
}

const BUILT_IN: &str = include_str!("prices.toml");

/// Parsed once; a test parses it too and reports errors.
static BOOK: LazyLock<PriceBook> = LazyLock::new(|| match file::read(BUILT_IN) {
    Ok(book) => PriceBook::of(book),
    Err(bad) => unreachable!("the built-in book: {bad}"),
});

impl Default for PriceBook {
    fn default() -> Self {
        Self::built_in()
    }
}

impl PriceBook {
    /// The day on which the built-in rows were last compared with their sources.
    pub const VERSION: &'static str = "2026-11-23";
    const VERSION_DATE: Date = Date(2026, 11, 23);

    /// The book of this release.
    pub fn built_in() -> Self {
        BOOK.clone()
    }

    fn of(mut file: BookFile) -> Self {
        file.rows.sort_by(|a, b| (&a.model, a.valid_from).cmp(&(&b.model, b.valid_from)));
        let BookFile { rows, fees, not_billed } = file;
        Self { rows, fees, not_billed, files: Vec::new(), overrides: BTreeMap::new(), remaining: None, day: None }
    }

    /// A book of this text alone, in the format of [`PriceBook::to_toml`].
    ///
    /// # Errors
    ///
    /// [`BadBook`] names the place, the finding and the expectation.
    pub fn parse(text: &str) -> Result<Self, BadBook> {
        file::read(text).map(Self::of)
    }

    /// Replaces all rows of the models that another book names, and fees with the same names. `name` is the origin of
    /// that book.
    ///
    /// # Errors
    ///
    /// [`BadBook`] names the place, the finding and the expectation.
    pub fn with_file(mut self, name: &str, text: &str) -> Result<Self, BadBook> {
        let file = file::read(text)?;
        let named: BTreeSet<&ModelKey> = file.rows.iter().map(|row| &row.model).collect();
        self.rows.retain(|row| !named.contains(&row.model));
        self.fees.retain(|fee| !file.fees.iter().any(|own| (own.vendor, &own.name) == (fee.vendor, &fee.name)));
        let mut rows = file.rows;
        rows.append(&mut self.rows);
        let fees = self.fees.into_iter().chain(file.fees).collect();
        let not_billed = self.not_billed.into_iter().chain(file.not_billed).collect();
        let mut files = self.files;
        files.push(name.to_owned());
        let overrides = self.overrides;
        let remaining = self.remaining;
        let day = self.day;
        Ok(Self { files, overrides, remaining, day, ..Self::of(BookFile { rows, fees, not_billed }) })
    }

    /// The book as text, in the format that [`PriceBook::with_file`] reads; without overrides and discount.
    pub fn to_toml(&self) -> String {
        file::print(self)
    }

    /// Version of the built-in rows, regardless of the user's changes.
    pub const fn version(&self) -> &'static str {
        Self::VERSION
    }

    /// Whole days from the last comparison of the built-in rows until `now`; 0 for an earlier clock.
    pub const fn age_days(now: Instant) -> u64 {
        Date::of(now).days().saturating_sub(Self::VERSION_DATE.days())
    }

    /// Every row, sorted by model and first day.
    pub fn rows(&self) -> &[PriceRow] {
        &self.rows
    }

    /// Every fee.
    pub fn fees(&self) -> &[Fee] {
        &self.fees
    }

    /// Charges that recordings do not show.
    pub fn not_billed(&self) -> &[NotBilled] {
        &self.not_billed
    }

    /// Names of files whose rows replace built-in ones.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Sets one price of a model to `usd_per_mtok`, for all dates, lengths, speeds and hours. If the model has rows,
    /// factors for tiers and regions still apply. A model without rows needs all five categories, which are then used
    /// as given.
    #[must_use]
    pub fn with_override(mut self, model: impl Into<ModelKey>, category: Category, usd_per_mtok: Money) -> Self {
        self.overrides.entry(model.into()).or_default()[category as usize] = Some(usd_per_mtok);
        self
    }

    /// Multiplies every token price by `remaining`, including overrides. Fees do not change.
    #[must_use]
    pub fn with_remaining(mut self, remaining: Factor) -> Self {
        self.remaining = (remaining != Factor::ONE).then_some(remaining);
        self
    }

    /// Uses the prices of `day` for all requests.
    #[must_use]
    pub fn with_day(mut self, day: Date) -> Self {
        self.day = Some(day);
        self
    }

    /// The factor on every token price after a discount.
    pub const fn remaining(&self) -> Option<Factor> {
        self.remaining
    }

    /// The overrides: model, category and USD per million tokens, in order.
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
    /// [`Unpriced`] if a category has neither a row nor an override, or if prices and factors are too large or have too
    /// many digits for exact costs.
    pub fn rates(&self, model: &ModelKey, terms: &Terms) -> Result<Rates, Unpriced> {
        let overrides = self.overrides.get(model).copied().unwrap_or_default();
        let rates = match self.row(model, self.day.or(terms.date)) {
            Some((at, row, before_first_row)) => {
                Rates { row: Some(at), before_first_row, ..rates_of_row(row, &overrides, terms) }
            }
            None => rates_of_overrides(model, &overrides)?,
        };
        let remaining = self.remaining.unwrap_or(Factor::ONE);
        let rates = Rates { per_token: rates.per_token.map(|rate| rate.times(remaining)), ..rates };
        let unpriced = || Unpriced { model: model.clone(), missing: Category::ALL.to_vec() };
        if rates.fit() { Ok(rates) } else { Err(unpriced()) }
    }

    /// The bill line for `count` units of a fee; `None` if the book has no such fee of the model's vendor.
    pub fn fee_line(&self, model: &ModelKey, name: &str, count: u64) -> Option<FeeLine> {
        let vendor = model.vendor()?;
        self.fees.iter().find(|fee| fee.vendor == vendor && fee.name == name).map(|fee| fee.line(count))
    }

    /// The row in force at a date and its index, and whether the date precedes the first row.
    fn row(&self, model: &ModelKey, date: Option<Date>) -> Option<(usize, &PriceRow, bool)> {
        let date = Some(date.unwrap_or(Self::VERSION_DATE));
        let start = self.rows.partition_point(|row| row.model < *model);
        let end = self.rows.partition_point(|row| row.model <= *model);
        let rows = self.rows.get(start..end)?;
        let begun = rows.partition_point(|row| row.valid_from <= date);
        let at = begun.saturating_sub(1);
        rows.get(at).map(|row| (start + at, row, begun == 0))
    }
}

/// Prices of a row: the length tier first, then fast mode, service tier, hour, and region.
fn rates_of_row(row: &PriceRow, overrides: &Overrides, terms: &Terms) -> Rates {
    let prices = row.prices(terms.prompt_tokens);
    let fast = row.fast.as_ref().filter(|_| terms.fast);
    let tier = row.tier(terms.tier);
    let peak = row.peak.as_ref().filter(|(hours, _)| terms.at.is_some_and(|at| hours.contain(at)));
    let tiers = [fast, tier, peak.map(|(_, tier)| tier)];
    let surcharge = [(terms.geo_us, row.us), (terms.regional, row.regional)];
    let surcharge = surcharge.into_iter().filter_map(|(asked, factor)| factor.filter(|_| asked)).max();
    let per_token = Category::ALL.map(|category| {
        let given = overrides[category as usize].map(Rate::per_mtok);
        let first = given.unwrap_or_else(|| Rate::whole(prices.of(category)));
        let served =
            tiers.into_iter().flatten().fold(first, |rate, tier| of_tier(tier, category, rate, given.is_some()));
        served.times(surcharge.unwrap_or(Factor::ONE))
    });
    Rates {
        per_token,
        row: None,
        before_first_row: false,
        fast_at_standard_price: terms.fast && fast.is_none(),
        tier_at_standard_price: terms.tier != ServiceTier::Standard && tier.is_none(),
        hour_unknown: row.peak.is_some() && terms.at.is_none(),
    }
}

/// A tier's own price, or its factor on `rate`. An override replaces any own price.
fn of_tier(tier: &Tier, category: Category, rate: Rate, is_given: bool) -> Rate {
    match tier.own_picousd[category as usize] {
        Some(own) if !is_given => Rate::whole(own),
        _ => rate.times(tier.factor.unwrap_or(Factor::ONE)),
    }
}

fn rates_of_overrides(model: &ModelKey, overrides: &Overrides) -> Result<Rates, Unpriced> {
    let mut missing = Vec::new();
    let per_token = Category::ALL.map(|category| {
        overrides[category as usize].map(Rate::per_mtok).unwrap_or_else(|| {
            missing.push(category);
            Rate::whole(0)
        })
    });
    if !missing.is_empty() {
        return Err(Unpriced { model: model.clone(), missing });
    }
    Ok(Rates {
        per_token,
        row: None,
        before_first_row: false,
        fast_at_standard_price: false,
        tier_at_standard_price: false,
        hour_unknown: false,
    })
}
