//! Which prices hold under a what-if.

use forkcast_sim::pricing::{Date, ModelKey, PriceBook, Rates, Terms};
use forkcast_sim::service::Quote;
use forkcast_sim::wire::model::ModelId;

use super::spec::WhatIf;
use crate::rebuild::Dispatch;

/// See the module.
pub(super) struct Pricing<'a> {
    book: &'a PriceBook,
    model: Option<ModelId>,
    date: Option<Date>,
    /// Prompts have other sizes, on which a price may depend.
    other_sizes: bool,
}

impl<'a> Pricing<'a> {
    pub fn new(what_if: &WhatIf, book: &'a PriceBook) -> Self {
        Self { book, model: what_if.model, date: what_if.prices, other_sizes: what_if.compact_at.is_some() }
    }

    /// The prices of a request as it is sent; `None` for a model without a price.
    pub fn of(&self, sent: &Dispatch<'_>) -> Option<Rates> {
        self.rates(sent.model, sent.total_tokens, sent.quote)
    }

    /// The prices of a request to `model` with a prompt of so many tokens, which was billed by `quote`.
    pub fn rates(&self, model: &str, prompt_tokens: u64, quote: &Quote) -> Option<Rates> {
        if self.model.is_none() && self.date.is_none() && !self.other_sizes {
            return quote.rates;
        }
        let key = self.model.map_or_else(|| ModelKey::from(model), ModelKey::from);
        let date = self.date.or(quote.terms.date);
        self.book.rates(&key, &Terms { date, prompt_tokens, ..quote.terms }).ok()
    }
}
