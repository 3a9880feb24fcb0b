//! The user's own prices, in the format of `PriceArgs` of the program.

use forkcast_sim::pricing::{Category, ModelKey, Money, PriceBook};

use super::words::categories;
use crate::names::Names;
use crate::record::{Value, list};
use crate::report::discount_percent;

/// Files, a discount, and prices one by one.
pub(super) struct OwnPrices<'a>(pub &'a PriceBook, pub Names);

impl OwnPrices<'_> {
    fn own(&self, model: &ModelKey, category: Category, price: Money) -> Override {
        Override { model: self.1.model(&model.to_string()).into_owned(), category, price }
    }
}

record! {
    OwnPrices<'_>, "prices":
    texts "files", "Price books of the user." =>
        |prices| Value::texts(prices.0.files().iter().map(|file| prices.1.file(file)));
    number "discount_percent", "A discount on everything." =>
        |prices| discount_percent(prices.0), unit("%"), null("without one");
    records: Override, "overrides", "Prices that were set one by one." =>
        |prices| list(prices.0.overrides().map(|(model, category, price)| prices.own(model, category, price)));
}

/// A price that was set.
struct Override {
    model: String,
    category: Category,
    price: Money,
}

record! {
    Override, "override":
    text "model", "The model." => |own| own.model.clone();
    field "category", categories, "The priced model." => |own| own.category.word();
    usd "usd_per_mtok", "The price of a million tokens." => |own| own.price;
}
