//! Public price tables of other projects, for comparison with the built-in book.
//!
//! Three tables are read (`providers.md` 6.4): genai-prices (`data.json`, both versions), models.dev (`api.json`) and
//! LiteLLM (`model_prices_and_context_window.json`). Only offers of the makers themselves are compared, at standard
//! speed, for prompts of ordinary length and on one day: resellers have prices of their own.

mod genai_prices;
mod litellm;
mod models_dev;

use std::collections::BTreeSet;
use std::fmt;

use forkcast_sim::pricing::{Category, Date, ModelKey, Money, PriceBook, Prices, Terms, usd_per_mtok};
use forkcast_sim::wire::model::{ModelId, Platform, resolve};
use serde_json::Value;
use thiserror::Error;

/// A table that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A list of providers, each with models and their conditional prices.
    GenaiPrices,
    /// Providers by name, each with models by name.
    ModelsDev,
    /// Models by name, with prices of one token.
    LiteLlm,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GenaiPrices => "genai-prices",
            Self::ModelsDev => "models.dev",
            Self::LiteLlm => "LiteLLM",
        })
    }
}

/// The prices of a model in such a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The table's name of the model.
    pub name: String,
    /// The model that this name means.
    pub model: ModelId,
    /// USD per million tokens in the order of [`Category::ALL`]; `None` where the table has no price.
    pub usd_per_mtok: [Option<Money>; 5],
}

/// A table of prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceTable {
    /// Which one.
    pub kind: Kind,
    /// The prices of known models, in the order of the file; a model may have several names.
    pub quotes: Vec<Quote>,
}

/// A text that is none of the tables.
#[derive(Debug, Error)]
pub enum NoPriceTable {
    /// Not JSON.
    #[error("{0}; expected JSON")]
    Json(#[from] serde_json::Error),
    /// JSON of another shape.
    #[error("found JSON without prices of known models; expected the table of genai-prices, models.dev or LiteLLM")]
    Shape,
}

impl PriceTable {
    /// Reads the prices of `day`.
    ///
    /// # Errors
    ///
    /// [`NoPriceTable`] if the text is not JSON, or none of the tables.
    pub fn read(text: &str, day: Date) -> Result<Self, NoPriceTable> {
        let table: Value = serde_json::from_str(text)?;
        let readers: [(Kind, Vec<Quote>); 3] = [
            (Kind::GenaiPrices, genai_prices::quotes(&table, day)),
            (Kind::ModelsDev, models_dev::quotes(&table)),
            (Kind::LiteLlm, litellm::quotes(&table)),
        ];
        let found = readers.into_iter().find(|(_, quotes)| !quotes.is_empty());
        found.map(|(kind, quotes)| Self { kind, quotes }).ok_or(NoPriceTable::Shape)
    }
}

/// The model that a provider's own offer means. Other providers, and other platforms of the maker, are left out.
fn offered(provider: &str, name: &str) -> Option<ModelId> {
    let found = match provider {
        "anthropic" => resolve(name),
        _ => resolve(&format!("{provider}/{name}")),
    };
    found.filter(|found| found.platform == Platform::Maker && !found.regional).map(|found| found.id)
}

/// The prices of an object under these names, in the order of [`Category::ALL`].
fn prices(of: impl Fn(&str) -> Option<f64>, names: [&str; 5], tokens: f64) -> [Option<Money>; 5] {
    names.map(|name| of(name).and_then(|usd| money(usd * tokens)))
}

/// USD with nine decimals: tables keep prices as binary fractions, often of one token.
fn money(usd: f64) -> Option<Money> {
    const NANOUSD: f64 = 1e9;
    const PICOUSD_PER_NANOUSD: i128 = 1_000;
    /// A price above it is no price.
    const USD_MAX: f64 = 1e6;
    let known = usd.is_finite() && (0.0..USD_MAX).contains(&usd);
    known.then(|| Money::from_picousd((usd * NANOUSD).round() as i128 * PICOUSD_PER_NANOUSD))
}

/// A price of the book that differs from that of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceDifference {
    /// The model.
    pub model: ModelId,
    /// The table's name of it.
    pub name: String,
    /// Which price.
    pub category: Category,
    /// In the book.
    pub book_usd_per_mtok: Money,
    /// In the table.
    pub table_usd_per_mtok: Money,
}

/// The book beside a table, on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Models that both price.
    pub models: BTreeSet<ModelId>,
    /// Prices that differ, by model and category. Names of a model with equal prices count once.
    pub differences: Vec<PriceDifference>,
    /// Models that the table alone prices.
    pub in_table_alone: BTreeSet<ModelId>,
    /// Models that the book alone prices.
    pub in_book_alone: BTreeSet<ModelId>,
}

impl Comparison {
    /// Compares what both price. A price that the table lacks is no difference.
    pub fn new(book: &PriceBook, table: &PriceTable, day: Date) -> Self {
        let mut comparison = Self::default();
        let mut seen = BTreeSet::new();
        for quote in &table.quotes {
            let Some(prices) = standard(book, quote.model, day) else {
                comparison.in_table_alone.insert(quote.model);
                continue;
            };
            comparison.models.insert(quote.model);
            let differences = Category::ALL.into_iter().zip(quote.usd_per_mtok).filter_map(|(category, quoted)| {
                let book_usd_per_mtok = usd_per_mtok(prices.of(category));
                let table_usd_per_mtok = quoted.filter(|quoted| *quoted != book_usd_per_mtok)?;
                let name = quote.name.clone();
                Some(PriceDifference { model: quote.model, name, category, book_usd_per_mtok, table_usd_per_mtok })
            });
            let new = differences.filter(|one| seen.insert((one.model, one.category, one.table_usd_per_mtok)));
            comparison.differences.extend(new);
        }
        comparison.differences.sort_by_key(|one| (one.model, one.category));
        let priced = book.rows().iter().filter_map(|row| match row.model {
            ModelKey::Known(model) => Some(model),
            ModelKey::Named(_) => None,
        });
        comparison.in_book_alone = priced.filter(|model| !comparison.models.contains(model)).collect();
        comparison
    }

    /// Models without a difference.
    pub fn agreeing(&self) -> usize {
        let differing: BTreeSet<ModelId> = self.differences.iter().map(|one| one.model).collect();
        self.models.len() - differing.len()
    }
}

/// The book's prices at standard speed for a prompt of ordinary length.
fn standard(book: &PriceBook, model: ModelId, day: Date) -> Option<Prices> {
    let rates = book.rates(&model.into(), &Terms { date: Some(day), ..Terms::default() }).ok()?;
    rates.row.and_then(|at| book.rows().get(at)).map(|row| row.standard)
}
