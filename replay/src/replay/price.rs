//! What a request costs: the terms that its recording tells, the rates that they lead to, the fees beside its tokens.

use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Date, FeeLine, ModelKey, Rates, ServiceTier, Terms, fees};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::resolve;
use forkcast_sim::wire::{Request, Usage};

use super::{Options, Replay};
use crate::exchange::{Exchange, RecordedUsage};

/// Rates of one request and what they rest on.
pub(super) struct Priced {
    /// `None` for a model without a price.
    pub rates: Option<Rates>,
    /// What these depend on beside the model.
    pub terms: Terms,
    /// Lines beside the tokens.
    pub fees: Vec<FeeLine>,
    /// What had to be assumed.
    pub remarks: Vec<String>,
}

/// What decides on a request's prices.
pub(super) struct Asking<'a> {
    /// The model as spelled.
    pub model: &'a str,
    /// What the answer says.
    pub recorded: &'a RecordedUsage,
    /// The tier it was served at.
    pub tier: ServiceTier,
    /// The host is a regional one.
    pub regional_host: bool,
    /// The request asks for fast mode, should the answer not say.
    pub says_fast: bool,
    /// The request asks for the United States alone, should the answer not say.
    pub says_us: bool,
    /// When it was sent; absent where the recording has no instants.
    pub at: Option<Instant>,
}

impl<'a> Asking<'a> {
    /// A request of which the answer says all that is known.
    pub fn answered(model: &'a str, recorded: &'a RecordedUsage, at: Option<Instant>) -> Self {
        let tier = recorded.tier.unwrap_or_default();
        Self { model, recorded, tier, regional_host: false, says_fast: false, says_us: false, at }
    }
}

/// Prices a recorded exchange with this usage. `at` is absent where the recording has no instants, `request` where no
/// profile reads the body.
pub(super) fn price_exchange(
    options: &Options,
    exchange: &Exchange,
    request: Option<&Request>,
    at: Option<Instant>,
    usage: &Usage,
) -> Priced {
    let says = |field: &str, value: &[u8]| request.and_then(|request| request.envelope_value(field)) == Some(value);
    let model = request.map_or(exchange.model.as_str(), |request| request.model.as_str());
    let recorded = exchange.usage.unwrap_or_default();
    let asking = Asking {
        tier: exchange.tier,
        regional_host: exchange.at_regional_host(),
        says_fast: says("speed", b"\"fast\""),
        says_us: says("inference_geo", b"\"us\""),
        ..Asking::answered(model, &recorded, at)
    };
    price(options, &asking, usage)
}

/// Prices a request with this usage.
pub(super) fn price(options: &Options, asking: &Asking<'_>, usage: &Usage) -> Priced {
    let (model, recorded, at) = (asking.model, asking.recorded, asking.at);
    let terms = Terms {
        date: options.prices_of.or(at.map(Date::of)),
        at,
        prompt_tokens: usage.total_input_tokens(),
        tier: asking.tier,
        fast: recorded.fast.unwrap_or(asking.says_fast),
        geo_us: recorded.geo_us.unwrap_or(asking.says_us),
        regional: asking.regional_host || resolve(model).is_some_and(|resolved| resolved.regional),
    };
    let key = ModelKey::from(model);
    let rates = options.book.rates(&key, &terms).ok();
    let mut remarks: Vec<String> = rates.iter().flat_map(|rates| assumed(rates, &terms)).collect();
    let searches = recorded.web_search_requests;
    let fee = options.book.fee_line(&key, fees::WEB_SEARCH, searches).filter(|_| searches > 0);
    let runs = recorded.code_execution_requests;
    // Most charge for the time of the container, which no answer tells.
    let run_fee = options.book.fee_line(&key, fees::CODE_EXECUTION, runs);
    let run_fee = run_fee.filter(|fee| runs > 0 && fee.unit == fees::PER_REQUEST);
    let not_billed = [
        (searches > 0 && fee.is_none(), "searches of the web are not billed: their fee is not in the book"),
        (runs > 0 && run_fee.is_none(), "running code is not billed: the time of its container is not recorded"),
        (recorded.input_audio_tokens + recorded.output_audio_tokens > 0, "sound is billed at the price of text"),
    ];
    remarks.extend(not_billed.into_iter().filter(|(holds, _)| *holds).map(|(_, words)| words.to_owned()));
    Priced { rates, terms, fees: fee.into_iter().chain(run_fee).collect(), remarks }
}

impl Replay {
    /// Fills in the money of a line whose `usage` was billed, and what it rests on.
    pub(super) fn price(&mut self, line: &mut Line, priced: &mut Priced, usage: &Usage) {
        if priced.rates.is_none() && !self.unpriced.contains(&line.model) {
            self.unpriced.push(line.model.clone());
        }
        line.remarks.append(&mut priced.remarks);
        line.price(usage, priced.rates.as_ref(), &priced.fees);
    }
}

/// What the rates had to take in the place of what is not known.
fn assumed(rates: &Rates, terms: &Terms) -> Vec<String> {
    let tier = format!("served as {}, for which the book has no price: billed as standard", terms.tier);
    let all = [
        (rates.before_first_row, "priced by the model's first row, which is younger than the request"),
        (
            rates.fast_at_standard_price,
            "sent with `speed: \"fast\"`, for which the book has no price: billed as standard",
        ),
        (rates.tier_at_standard_price, tier.as_str()),
        (rates.hour_unknown, "the price depends on the hour, which is not recorded: billed outside peak hours"),
    ];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, words)| words.to_owned()).collect()
}
