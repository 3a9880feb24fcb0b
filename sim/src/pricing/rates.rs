//! From a row and the terms of one request to a bill.

use std::fmt;

use super::date::Date;
use super::money::Money;
use super::row::Row;
use crate::wire::Usage;

/// The five kinds of tokens that have a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Plain input.
    Input,
    /// Written to the cache for five minutes.
    Write5m,
    /// Written to the cache for one hour.
    Write1h,
    /// Read from the cache.
    Read,
    /// The answer.
    Output,
}

impl Category {
    /// All, in the order of the published tables.
    pub const ALL: [Self; 5] = [Self::Input, Self::Write5m, Self::Write1h, Self::Read, Self::Output];

    /// Stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Write5m => "write_5m",
            Self::Write1h => "write_1h",
            Self::Read => "read",
            Self::Output => "output",
        }
    }

    /// Tokens of this kind in a request's usage.
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

/// What a price depends on beside the model and the category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Day of the request; `None` takes the newest prices.
    pub date: Option<Date>,
    /// The whole prompt: input, reads and writes.
    pub prompt_tokens: u64,
    /// Sent as an item of a batch.
    pub batch: bool,
    /// Sent with `speed: "fast"`. No batch accepts it, so nothing real has both; asked for both, both apply.
    pub fast: bool,
    /// Sent with `inference_geo: "us"`. Models before 4.6 refuse it, so it changes nothing there.
    pub geo_us: bool,
    /// Sent to a regional endpoint of Bedrock or Vertex. Costs more from the 4.5 models on. `inference_geo` belongs to
    /// another platform, so with both the surcharge counts once.
    pub regional: bool,
}

impl Terms {
    /// Terms of a request with this usage, all else standard.
    pub fn of(usage: &Usage) -> Self {
        Self { prompt_tokens: usage.total_input_tokens(), ..Self::default() }
    }

    /// Factor on the prices of a row as numerator and denominator.
    ///
    /// Source: PC-A, pricing page (2026-08-21): batch × 0.5 on every category; `inference_geo` × 1.1; regional
    /// endpoints 10 % over global.
    pub(super) fn factor(&self, row: &Row) -> (i128, i128) {
        let version = row.model.row().claude.map_or((0, 0), |(_, version)| version);
        let surcharged = (self.geo_us && version >= (4, 6)) || (self.regional && version >= (4, 5));
        let (numerator, denominator) = if surcharged { (11, 10) } else { (1, 1) };
        (numerator, if self.batch { denominator * 2 } else { denominator })
    }
}

/// An exact price of one token: `numerator / denominator` in 10⁻¹² USD. Not reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Above the line.
    pub numerator: i128,
    /// Below the line, at least 1.
    pub denominator: i128,
}

/// The prices that hold for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Numerators in the order of [`Category::ALL`].
    pub(super) numerators: [i128; 5],
    pub(super) denominator: i128,
    /// The row they come from; `None` for a model that has overrides alone.
    pub row: Option<&'static Row>,
    /// The request is older than the model's first row and took that row.
    pub before_first_row: bool,
    /// Fast mode was asked for, but the model has no price for it and took the standard one.
    pub fast_at_standard_price: bool,
}

impl Rates {
    /// The exact price of one token.
    pub const fn per_token(&self, category: Category) -> Rate {
        // In bounds: five variants.
        Rate { numerator: self.numerators[category as usize], denominator: self.denominator }
    }

    /// Cost of `tokens` of one category, rounded once, half to even.
    pub fn line(&self, category: Category, tokens: u64) -> Money {
        Money::of(tokens, self.per_token(category).numerator, self.denominator)
    }

    /// How much more `tokens` cost as `from` than as `to`, rounded once, half to even; negative where they cost less.
    pub fn difference(&self, from: Category, to: Category, tokens: u64) -> Money {
        let difference = self.per_token(from).numerator.saturating_sub(self.per_token(to).numerator);
        Money::of(tokens, difference, self.denominator)
    }

    /// The bill of a request.
    pub fn bill(&self, usage: &Usage) -> Bill {
        let lines = Category::ALL.map(|category| {
            let tokens = category.tokens(usage);
            Line { category, tokens, cost: self.line(category, tokens) }
        });
        Bill { lines, total: lines.iter().map(|line| line.cost).sum() }
    }
}

/// One line of a bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// What is charged.
    pub category: Category,
    /// How many.
    pub tokens: u64,
    /// For how much.
    pub cost: Money,
}

/// What one request costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bill {
    /// A line per category, in the order of [`Category::ALL`], those without tokens too.
    pub lines: [Line; 5],
    /// The sum of the lines, exactly.
    pub total: Money,
}
