//! One row of the book: the prices of a model from a day on.

use super::date::Date;
use super::rates::Category;
use crate::wire::model::ModelId;

/// Where a price was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Tag of the page or repository, as in the fact sheet.
    pub tag: &'static str,
    /// When the copy was made.
    pub dated: &'static str,
}

/// Prices of the five categories in 10⁻¹² USD per token, which is USD per million tokens times 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Plain input.
    pub input_picousd: u64,
    /// Written to the cache for five minutes.
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
}

/// Other prices for long prompts. A cliff: they hold for every token of the request, the answer's too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthTier {
    /// The longest prompt (input, reads and writes) that still has the row's first prices, in tokens.
    pub above_prompt_tokens: u64,
    /// Prices beyond it.
    pub prices: Prices,
}

/// The prices of a model from a day on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whose prices.
    pub model: ModelId,
    /// First day; `None` where no source gives the model's first day, so that the row holds from the beginning.
    pub valid_from: Option<Date>,
    /// Prices at standard speed.
    pub standard: Prices,
    /// Prices of long prompts, where they differ.
    pub long: Option<LengthTier>,
    /// Prices of `speed: "fast"`, where it is sold; they know no length.
    pub fast: Option<Prices>,
    /// Where they were read.
    pub source: Source,
}

impl Row {
    /// A row with one price per category.
    pub const fn new(model: ModelId, valid_from: Option<Date>, standard: Prices, source: Source) -> Self {
        Self { model, valid_from, standard, long: None, fast: None, source }
    }

    /// With other prices for prompts of more than `above_prompt_tokens`.
    #[must_use]
    pub const fn long(self, above_prompt_tokens: u64, prices: Prices) -> Self {
        Self { long: Some(LengthTier { above_prompt_tokens, prices }), ..self }
    }

    /// With other prices for fast mode.
    #[must_use]
    pub const fn fast(self, prices: Prices) -> Self {
        Self { fast: Some(prices), ..self }
    }

    /// The prices of a prompt of this length and speed; fast mode has the standard ones where it is not sold.
    pub fn prices(&self, prompt_tokens: u64, fast: bool) -> &Prices {
        if let Some(prices) = self.fast.as_ref().filter(|_| fast) {
            return prices;
        }
        let long = self.long.as_ref().filter(|tier| prompt_tokens > tier.above_prompt_tokens);
        long.map_or(&self.standard, |tier| &tier.prices)
    }
}
