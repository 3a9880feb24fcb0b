//! The cost of a request: the terms in its recording, the resulting rates, the fees besides its tokens.

use std::sync::LazyLock;

use super::recorded_usage::{Passes, RecordedUsage};
use crate::pricing::{Date, FeeLine, ModelKey, Money, PriceBook, Rates, ServiceTier, Terms, fees};
use crate::time::Instant;
use crate::wire::model::resolve;
use crate::wire::{Request, Usage};

/// Prices, and the day for which they are taken.
#[derive(Clone, Copy, Debug)]
pub struct Tariff<'a> {
    /// The prices.
    pub book: &'a PriceBook,
    /// The day; `None` takes the day of each request, and the newest prices for one without.
    pub date: Option<Date>,
}

/// Facts that decide a request's prices.
#[derive(Clone, Copy, Debug)]
pub struct PriceFacts<'a> {
    /// The model as spelled.
    pub model: &'a str,
    /// Facts from the answer.
    pub answer: &'a RecordedUsage,
    /// The tier it was served at.
    pub tier: ServiceTier,
    /// The host is a regional one.
    pub regional_host: bool,
    /// The request asks for fast mode; used if the answer does not say.
    pub says_fast: bool,
    /// The request asks for the United States only; used if the answer does not say.
    pub says_us: bool,
    /// When it was sent; absent if the day is not known.
    pub at: Option<Instant>,
}

/// 2020-01-01: there are no recorded requests to a model before this day. Clocks of runs begin at zero, and captures may
/// be moved to another year.
const FIRST_RECORDED: Instant = Instant::from_millis(1_577_836_800_000);

/// The prices of one request and their basis.
#[derive(Clone, Debug, Default)]
pub struct Quote {
    /// `None` for a model without a price.
    pub rates: Option<Rates>,
    /// What these depend on besides the model.
    pub terms: Terms,
    /// Fees besides the tokens.
    pub fees: Vec<FeeLine>,
    /// Assumptions that were made.
    pub remarks: Vec<String>,
}

/// The prices of a request that is not billed.
pub static UNPRICED: LazyLock<Quote> = LazyLock::new(Quote::default);

impl Quote {
    /// What `usage` costs; `None` for a model without a price.
    pub fn total(&self, usage: &Usage) -> Option<Money> {
        self.rates.map(|rates| rates.bill(usage, &self.fees).total)
    }
}

impl<'a> PriceFacts<'a> {
    /// A request about which only the answer is known.
    pub fn answered(model: &'a str, answer: &'a RecordedUsage, at: Option<Instant>) -> Self {
        let tier = answer.tier.unwrap_or(ServiceTier::Standard);
        Self { model, answer, tier, regional_host: false, says_fast: false, says_us: false, at }
    }

    /// The same for `request`, whose body may ask for fast mode or for the United States only.
    pub fn asked_by(self, request: &'a Request) -> Self {
        let says = |field: &str, value: &[u8]| request.envelope_value(field) == Some(value);
        let (says_fast, says_us) = (says("speed", b"\"fast\""), says("inference_geo", b"\"us\""));
        Self { model: &request.model, says_fast, says_us, ..self }
    }

    fn terms(&self, date: Option<Date>, usage: &Usage, is_regional: bool) -> Terms {
        let at = self.at.filter(|at| *at >= FIRST_RECORDED);
        Terms {
            date: date.or(at.map(Date::of)),
            at,
            prompt_tokens: match self.answer.passes {
                Some(Passes { first, last }) => first.total_input_tokens().max(last.total_input_tokens()),
                None => usage.total_input_tokens(),
            },
            tier: self.tier,
            fast: self.answer.fast.unwrap_or(self.says_fast),
            geo_us: self.answer.geo_us.unwrap_or(self.says_us),
            regional: self.regional_host || is_regional,
        }
    }
}

impl Tariff<'_> {
    /// The prices of a request with this usage.
    pub fn quote(&self, facts: &PriceFacts<'_>, usage: &Usage) -> Quote {
        let resolved = resolve(facts.model);
        let is_regional = resolved.is_some_and(|resolved| resolved.regional);
        let terms = facts.terms(self.date, usage, is_regional);
        let key = resolved.map_or_else(|| ModelKey::from(facts.model), |resolved| resolved.id.into());
        let rates = self.book.rates(&key, &terms).ok();
        let mut remarks: Vec<String> = rates.iter().flat_map(|rates| assumed(rates, &terms)).collect();
        let answer = facts.answer;
        let line = |name, count| (count > 0).then(|| self.book.fee_line(&key, name, count)).flatten();
        let searches = answer.web_search_requests;
        let fee = line(fees::WEB_SEARCH, searches);
        let runs = answer.code_execution_requests;
        // Most providers charge for the time of the container, which no answer reports.
        let run_fee = line(fees::CODE_EXECUTION, runs).filter(|fee| fee.unit == fees::PER_REQUEST);
        let (passes, unpriced) = self.other_passes(answer, &terms);
        if unpriced > 0 {
            remarks.push(format!("{unpriced} passes of another model are not billed: its price is not in the book"));
        }
        let not_billed = [
            (searches > 0 && fee.is_none(), "searches of the web are not billed: their fee is not in the book"),
            (runs > 0 && run_fee.is_none(), "running code is not billed: the time of its container is not recorded"),
            (answer.input_audio_tokens + answer.output_audio_tokens > 0, "audio is billed at the price of text"),
        ];
        remarks.extend(not_billed.into_iter().filter(|(holds, _)| *holds).map(|(_, words)| words.to_owned()));
        Quote { rates, terms, fees: fee.into_iter().chain(run_fee).chain(passes).collect(), remarks }
    }

    /// What other models charge for their passes of the answer, and how many of these passes have no price. They were
    /// served at the tier of the answer; that an answer is fast says nothing about them.
    fn other_passes(&self, answer: &RecordedUsage, terms: &Terms) -> (Vec<FeeLine>, u32) {
        let (mut lines, mut unpriced) = (Vec::new(), 0);
        for passes in answer.others.iter().flatten() {
            let terms = Terms { prompt_tokens: passes.longest_prompt_tokens, fast: false, ..*terms };
            let priced = passes.model.and_then(|model| Some((model, self.book.rates(&model.into(), &terms).ok()?)));
            match priced {
                Some((model, rates)) => lines.push(passes.line(model, &rates)),
                None => unpriced += passes.passes,
            }
        }
        (lines, unpriced)
    }
}

/// Assumptions of the rates.
fn assumed(rates: &Rates, terms: &Terms) -> Vec<String> {
    let tier = || format!("served as {}, for which the book has no price: billed as standard", terms.tier);
    let fast = || "sent with `speed: \"fast\"`, for which the book has no price: billed as standard".to_owned();
    let first = || "priced by the model's first row, which is younger than the request".to_owned();
    let hour = || "the price depends on the hour, which is not recorded: billed outside peak hours".to_owned();
    let all = [
        rates.before_first_row.then(first),
        rates.fast_at_standard_price.then(fast),
        rates.tier_at_standard_price.then(tier),
        rates.hour_unknown.then(hour),
    ];
    all.into_iter().flatten().collect()
}
