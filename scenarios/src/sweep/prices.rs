//! Prices of a plan: the built-in ones, with the user's changes. A plan contains the texts of price books, so that
//! running a part needs no other file.

use forkcast_sim::pricing::{Category, Factor, Money, PriceBook};
use serde::{Deserialize, Serialize};

/// Changes to list prices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Price books; if two name the same model, the later one applies.
    pub files: Vec<BookFile>,
    /// Single prices, which override all books.
    pub prices: Vec<PlannedPrice>,
    /// The factor on every token price after a discount, in millionths.
    pub remaining_millionths: Option<u64>,
}

/// A price book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BookFile {
    /// Its file name in messages.
    pub name: String,
    /// Its full text.
    pub text: String,
}

/// One price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedPrice {
    /// The model.
    pub model: String,
    /// The word of the category.
    pub category: String,
    /// USD per million tokens, with all digits.
    pub usd_per_mtok: String,
}

impl Prices {
    /// The built-in book with these changes.
    ///
    /// # Errors
    /// The first one that cannot be read.
    pub fn book(&self) -> Result<PriceBook, String> {
        let mut book = PriceBook::built_in();
        for BookFile { name, text } in &self.files {
            let read = book.with_file(name, text);
            book = read.map_err(|bad| format!("{name}:{}:{}: {}", bad.line, bad.column, bad.problem))?;
        }
        for PlannedPrice { model, category, usd_per_mtok } in &self.prices {
            let known = Category::named(category)
                .ok_or_else(|| format!("a price of {model}: there is no category `{category}`"))?;
            let usd: Money = usd_per_mtok.parse().map_err(|_| format!("a price of {model}: `{usd_per_mtok}`"))?;
            book = book.with_override(model.as_str(), known, usd);
        }
        Ok(book.with_remaining(self.remaining_millionths.map_or(Factor::ONE, Factor::from_millionths)))
    }
}
