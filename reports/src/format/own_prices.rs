//! What the user put in the place of list prices, in words that `PriceArgs` of the program reads again.

use forkcast_sim::pricing::{Category, ModelKey, Money, PriceBook};
use serde::Serialize;

use super::number::{Exact, Usd};
use crate::names::Names;
use crate::report::discount_percent;

/// Files, a discount, and prices one by one.
#[derive(Serialize)]
pub(super) struct OwnPricesObject {
    files: Vec<String>,
    discount_percent: Option<Exact>,
    overrides: Vec<OverrideObject>,
}

#[derive(Serialize)]
struct OverrideObject {
    model: String,
    category: &'static str,
    usd_per_mtok: Usd,
}

impl OwnPricesObject {
    pub fn of(book: &PriceBook, names: Names) -> Self {
        let one = |(model, category, price): (&ModelKey, Category, Money)| OverrideObject {
            model: names.model(&model.to_string()).into_owned(),
            category: category.word(),
            usd_per_mtok: Usd(price),
        };
        Self {
            files: book.files().iter().map(|file| names.file(file)).collect(),
            discount_percent: discount_percent(book).map(Exact),
            overrides: book.overrides().map(one).collect(),
        }
    }
}
