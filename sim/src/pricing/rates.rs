//! The prices that apply to one request, and its bill.

use std::fmt;

use super::factor::{Factor, greatest_common_divisor};
use super::fees::FeeLine;
use super::money::Money;
use crate::outside::words;
use crate::wire::{TOKENS_MAX, Usage};

words! {
    /// The five categories of tokens that have a price.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Category: word {
        /// Plain input.
        Input = "input",
        /// Written to the cache for five minutes, or for the provider's only short lifetime.
        Write5m = "write_5m",
        /// Written to the cache for one hour.
        Write1h = "write_1h",
        /// Read from the cache.
        Read = "read",
        /// The answer.
        Output = "output",
    }
}

impl Category {
    /// Tokens of this category in a request's usage.
    pub const fn tokens(self, usage: &Usage) -> u64 {
        match self {
            Self::Input => usage.input_tokens,
            Self::Write5m => usage.ephemeral_5m_input_tokens,
            Self::Write1h => usage.ephemeral_1h_input_tokens,
            Self::Read => usage.cache_read_input_tokens,
            Self::Output => usage.output_tokens,
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// An exact price of one token: `numerator / denominator` in 10⁻¹² USD, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Numerator.
    pub numerator: i128,
    /// Denominator, at least 1.
    pub denominator: i128,
}

impl Rate {
    /// A whole number of 10⁻¹² USD per token.
    pub(super) fn whole(picousd: u64) -> Self {
        Self { numerator: picousd.into(), denominator: 1 }
    }

    /// USD per million tokens.
    pub(super) fn per_mtok(price: Money) -> Self {
        Self { numerator: price.picousd(), denominator: TOKENS_PER_MTOK }.reduced()
    }

    /// The price times `factor`; a result out of range fails [`Rates::fit`].
    #[must_use]
    pub(super) fn times(self, factor: Factor) -> Self {
        if factor == Factor::ONE {
            return self;
        }
        let (above, below) = factor.fraction();
        Self { numerator: self.numerator.saturating_mul(above), denominator: self.denominator.saturating_mul(below) }
            .reduced()
    }

    fn reduced(self) -> Self {
        let divisor = greatest_common_divisor(self.numerator, self.denominator);
        Self { numerator: self.numerator / divisor, denominator: self.denominator / divisor }
    }
}

const TOKENS_PER_MTOK: i128 = 1_000_000;

/// The prices that apply to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// In the order of [`Category::ALL`].
    pub(super) per_token: [Rate; 5],
    /// Index of their row in [`PriceBook::rows`](super::PriceBook::rows); `None` for a model that has only overrides.
    pub row: Option<usize>,
    /// The request is older than the model's first row, which was used.
    pub before_first_row: bool,
    /// Fast mode was requested, but the model has no price for it, so the standard price was used.
    pub fast_at_standard_price: bool,
    /// The request was served in a tier for which the model has no price, so the standard price was used.
    pub tier_at_standard_price: bool,
    /// The price depends on the hour, which is unknown; the price outside peak hours was used.
    pub hour_unknown: bool,
}

impl Rates {
    /// The exact price of one token.
    pub const fn per_token(&self, category: Category) -> Rate {
        // In bounds: five variants.
        self.per_token[category as usize]
    }

    /// Whether costs are exact at these prices: the product of two prices and the largest token count of a request must
    /// fit into 128 bits, and so must sums over any number of tokens.
    pub(super) fn fit(&self) -> bool {
        /// A thousand dollars per token.
        const PER_TOKEN_MAX: i128 = 1_000_000_000_000_000;
        /// Four categories of input, and the difference of two prices.
        const PRODUCT_MAX: i128 = i128::MAX / (8 * TOKENS_MAX as i128);
        let largest = |part: fn(&Rate) -> i128| self.per_token.iter().map(part).fold(0, i128::max);
        let numerator = largest(|rate| rate.numerator.saturating_abs());
        let denominator = largest(|rate| rate.denominator);
        let is_dear = |rate: &Rate| rate.numerator.saturating_abs() / rate.denominator > PER_TOKEN_MAX;
        !self.per_token.iter().any(is_dear)
            && numerator.checked_mul(denominator).is_some_and(|product| product <= PRODUCT_MAX)
            && denominator.checked_mul(denominator).is_some()
    }

    /// Cost of `tokens` of one category, rounded once, half to even.
    pub fn line(&self, category: Category, tokens: u64) -> Money {
        let rate = self.per_token(category);
        Money::of(tokens, rate.numerator, rate.denominator)
    }

    /// The extra cost of `tokens` as `from` instead of `to`, rounded once, half to even; negative if they cost less.
    pub fn difference(&self, from: Category, to: Category, tokens: u64) -> Money {
        if tokens == 0 {
            return Money::default();
        }
        let from = self.per_token(from);
        let to = self.per_token(to);
        let more = from.numerator * to.denominator;
        let less = to.numerator * from.denominator;
        let rate = Rate { numerator: more - less, denominator: from.denominator * to.denominator }.reduced();
        Money::of(tokens, rate.numerator, rate.denominator)
    }

    /// The bill of a request; `fees` are additional lines.
    pub fn bill(&self, usage: &Usage, fees: &[FeeLine]) -> Bill {
        let lines = Category::ALL.map(|category| {
            let tokens = category.tokens(usage);
            BillLine { category, tokens, cost: self.line(category, tokens) }
        });
        let total = lines.iter().map(|line| line.cost).chain(fees.iter().map(|fee| fee.cost)).sum();
        Bill { lines, fees: fees.to_vec(), total }
    }
}

/// One line of a bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BillLine {
    /// The charged category.
    pub category: Category,
    /// Number of tokens.
    pub tokens: u64,
    /// Their cost.
    pub cost: Money,
}

/// The cost of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bill {
    /// A line per category, in the order of [`Category::ALL`], including those without tokens.
    pub lines: [BillLine; 5],
    /// Charges other than tokens of the model.
    pub fees: Vec<FeeLine>,
    /// The exact sum of all lines.
    pub total: Money,
}

impl Bill {
    /// The cost of the prompt alone, without answer and fees.
    pub fn input(&self) -> Money {
        self.lines.iter().filter(|line| line.category != Category::Output).map(|line| line.cost).sum()
    }
}
