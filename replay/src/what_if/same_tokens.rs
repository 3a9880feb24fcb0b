//! The tokens that were billed, at other prices: all that can be said of a request whose cache is not modelled, or that would go
//! to a model without a modelled cache.
//!
//! Categories stay as recorded: plain input, read, written, answer. Only an hour's lifetime is Claude's alone: at another maker
//! such writes cost what its ordinary ones cost, which is the price of plain input where writing is free. Sizes are scaled where
//! both tokenizers are measured ([`Ratio`]). Another model's answers, and what its cache would have held, are unknown.

use forkcast_sim::pricing::PriceBook;
use forkcast_sim::service::Quote;
use forkcast_sim::wire::Usage;
use forkcast_sim::wire::model::Vendor;

use super::other_model::Ratio;
use super::pricing::Pricing;
use super::spec::WhatIf;
use super::{Basis, Hypothetical};

/// A request as it was billed.
pub(crate) struct Billed<'a> {
    /// Its model as spelled.
    pub model: &'a str,
    /// Its usage.
    pub usage: &'a Usage,
    /// Its prices.
    pub quote: &'a Quote,
    /// Its cache is modelled: what-ifs that only need such a cache are tried in one.
    pub is_modelled: bool,
}

impl Billed<'_> {
    /// Its outcome under each of `what_ifs` without any cache; as billed where that says nothing.
    pub fn under(&self, what_ifs: &[WhatIf], book: &PriceBook) -> Vec<Hypothetical> {
        let outcome = |what_if: &WhatIf| {
            let is_priced = !what_if.needs_cache() && what_if.concerns(self.model);
            let is_tried = self.is_modelled && what_if.is_cached();
            let found = (is_priced && !is_tried).then(|| self.same_tokens(what_if, book)).flatten();
            found.unwrap_or_else(|| self.unchanged())
        };
        what_ifs.iter().map(outcome).collect()
    }

    fn unchanged(&self) -> Hypothetical {
        Hypothetical { usage: *self.usage, cost: self.quote.total(self.usage), basis: Basis::Billed }
    }

    /// `None` if this request or the other model has no price.
    fn same_tokens(&self, what_if: &WhatIf, book: &PriceBook) -> Option<Hypothetical> {
        self.quote.rates?;
        let ratio = what_if.model.map_or_else(Ratio::default, |to| Ratio::between(self.model, to));
        let prompt_tokens = ratio.of(self.quote.terms.prompt_tokens);
        let rates = Pricing::new(what_if, book).rates(self.model, prompt_tokens, self.quote)?;
        let has_hours = what_if.model.is_none_or(|to| to.row().vendor == Vendor::Anthropic);
        let usage = counted(self.usage, ratio, has_hours);
        let cost = Some(rates.bill(&usage, &self.quote.fees).total);
        Some(Hypothetical { usage, cost, basis: Basis::SameTokens })
    }
}

/// The usage in tokens and lifetimes of the other model.
fn counted(usage: &Usage, ratio: Ratio, has_hours: bool) -> Usage {
    let [short, hour] =
        [usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens].map(|tokens| ratio.of(tokens));
    Usage {
        input_tokens: ratio.of(usage.input_tokens),
        cache_read_input_tokens: ratio.of(usage.cache_read_input_tokens),
        ephemeral_5m_input_tokens: if has_hours { short } else { short + hour },
        ephemeral_1h_input_tokens: if has_hours { hour } else { 0 },
        output_tokens: ratio.of(usage.output_tokens),
    }
}
