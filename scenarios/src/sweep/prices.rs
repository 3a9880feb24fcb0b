//! Prices of a plan: the built-in ones, and what the user put in their place. A plan holds the texts of price books, so that
//! whoever runs a part needs no other file.

use forkcast_sim::pricing::{Category, Factor, Money, PriceBook};
use serde::{Deserialize, Serialize};

/// What stands in the place of list prices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Price books; of two that name a model the later one holds.
    pub files: Vec<BookFile>,
    /// Single prices, above all books.
    pub prices: Vec<PlannedPrice>,
    /// What a discount leaves of every price of a token, in millionths.
    pub remaining_millionths: Option<u64>,
}

/// A price book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BookFile {
    /// Its file, as messages name it.
    pub name: String,
    /// Its whole text.
    pub text: String,
}

/// One price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedPrice {
    /// The model.
    pub model: String,
    /// The word of its category.
    pub category: String,
    /// USD per million tokens, all digits.
    pub usd_per_mtok: String,
}

impl Prices {
    /// The built-in book with these in its place.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub fn book(&self) -> Result<PriceBook, String> {
        let mut book = PriceBook::built_in();
        for BookFile { name, text } in &self.files {
            let read = book.with_file(name, text);
            book = read.map_err(|bad| format!("{name}:{}:{}: {}", bad.line, bad.column, bad.problem))?;
        }
        for PlannedPrice { model, category, usd_per_mtok } in &self.prices {
            let known = Category::ALL.into_iter().find(|known| known.word() == category);
            let known = known.ok_or_else(|| format!("a price of {model}: there is no category `{category}`"))?;
            let usd: Money = usd_per_mtok.parse().map_err(|_| format!("a price of {model}: `{usd_per_mtok}`"))?;
            book = book.with_override(model.as_str(), known, usd);
        }
        Ok(book.with_remaining(self.remaining_millionths.map_or(Factor::ONE, Factor::from_millionths)))
    }
}
