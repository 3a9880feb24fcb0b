//! A row of the book: the prices of a model from a certain day.

use super::book::ModelKey;
use super::date::Date;
use super::factor::Factor;
use super::hours::Hours;
use super::money::Money;
use super::rates::Category;
use super::tier::ServiceTier;

/// The source of a price.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Tag of the page or repository, as in `providers.md`.
    pub tag: String,
    /// Date of the copy.
    pub dated: String,
}

/// USD per million tokens of a price in 10⁻¹² USD per token.
pub fn usd_per_mtok(picousd: u64) -> Money {
    const TOKENS_PER_MTOK: i128 = 1_000_000;
    Money::from_picousd(i128::from(picousd) * TOKENS_PER_MTOK)
}

/// Prices of the five categories in 10⁻¹² USD per token, which is USD per million tokens times 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Plain input.
    pub input_picousd: u64,
    /// Written to the cache for five minutes, or for the provider's only short lifetime (30 minutes for `OpenAI`).
    pub write_5m_picousd: u64,
    /// Written to the cache for one hour.
    pub write_1h_picousd: u64,
    /// Read from the cache.
    pub read_picousd: u64,
    /// The answer.
    pub output_picousd: u64,
}

impl Prices {
    /// In the order of the published tables: input, 5m write, 1h write, read, output.
    pub const fn new(input: u64, write_5m: u64, write_1h: u64, read: u64, output: u64) -> Self {
        Self {
            input_picousd: input,
            write_5m_picousd: write_5m,
            write_1h_picousd: write_1h,
            read_picousd: read,
            output_picousd: output,
        }
    }

    /// The price of one category in 10⁻¹² USD per token.
    pub const fn of(&self, category: Category) -> u64 {
        match category {
            Category::Input => self.input_picousd,
            Category::Write5m => self.write_5m_picousd,
            Category::Write1h => self.write_1h_picousd,
            Category::Read => self.read_picousd,
            Category::Output => self.output_picousd,
        }
    }

    /// Fills in what the provider's table omits: without a fee for writing, written tokens cost as input (an hour as
    /// the short lifetime); without a price for cached tokens, reads cost as input.
    pub fn filled(input: u64, write_5m: Option<u64>, write_1h: Option<u64>, read: Option<u64>, output: u64) -> Self {
        let short = write_5m.unwrap_or(input);
        Self::new(input, short, write_1h.unwrap_or(short), read.unwrap_or(input), output)
    }
}

/// Other prices for long prompts. They apply to every token of the request, including the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthTier {
    /// The longest prompt (input, reads and writes) that still has the row's first prices, in tokens.
    pub above_prompt_tokens: u64,
    /// Prices of longer prompts.
    pub prices: Prices,
}

/// Other prices for requests in another tier: a factor on the row's prices, own prices, or a factor and some own
/// prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tier {
    /// Applies to every category without an own price, and to prices of long prompts.
    pub factor: Option<Factor>,
    /// Own prices in the order of [`Category::ALL`], in 10⁻¹² USD per token, for all prompt lengths.
    pub own_picousd: [Option<u64>; 5],
}

/// The prices of a model from a certain day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceRow {
    /// The model.
    pub model: ModelKey,
    /// First day in UTC; `None` if no source gives the model's first day, so the row applies from the beginning.
    pub valid_from: Option<Date>,
    /// Prices at standard speed.
    pub standard: Prices,
    /// Prices of long prompts, if they differ.
    pub long: Option<LengthTier>,
    /// Prices of `speed: "fast"`, if available.
    pub fast: Option<Tier>,
    /// Prices of batches, if they differ.
    pub batch: Option<Tier>,
    /// Prices of the tier that may wait, if available.
    pub flex: Option<Tier>,
    /// Prices of the tier that is served first, if available.
    pub priority: Option<Tier>,
    /// Hours with other prices.
    pub peak: Option<(Hours, Tier)>,
    /// Factor on all token prices of requests with `inference_geo: "us"`.
    pub us: Option<Factor>,
    /// Factor on all token prices of regional endpoints.
    pub regional: Option<Factor>,
    /// Source of the prices.
    pub source: Source,
    /// A remark: how certain the price is, and its gaps.
    pub note: Option<String>,
}

impl PriceRow {
    /// The prices for a prompt of this length.
    pub fn prices(&self, prompt_tokens: u64) -> &Prices {
        let long = self.long.as_ref().filter(|tier| prompt_tokens > tier.above_prompt_tokens);
        long.map_or(&self.standard, |tier| &tier.prices)
    }

    /// The row's prices of a service tier, if it has its own.
    pub const fn tier(&self, tier: ServiceTier) -> Option<&Tier> {
        match tier {
            ServiceTier::Standard => None,
            ServiceTier::Batch => self.batch.as_ref(),
            ServiceTier::Flex => self.flex.as_ref(),
            ServiceTier::Priority => self.priority.as_ref(),
        }
    }
}
