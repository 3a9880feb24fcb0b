//! Fees that are not tokens. They are lines of their own, and no factor of the terms touches them.

use super::money::Money;
use super::row::Source;
use crate::wire::model::Vendor;

/// What is charged by the piece or by the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fee {
    /// Who charges it.
    pub vendor: Vendor,
    /// Stable word for machines.
    pub name: String,
    /// What is counted.
    pub unit: String,
    /// Price of `per` units.
    pub price: Money,
    /// How many units the price is for, at least 1.
    pub per: u32,
    /// Where it was read.
    pub source: Source,
    /// What else should be known.
    pub note: Option<String>,
}

/// Name of the fee for searches of the web; `server_tool_use.web_search_requests` of the usage.
pub const WEB_SEARCH: &str = "web_search";

/// Name of the fee for running code, by the time of its container or by the piece.
pub const CODE_EXECUTION: &str = "code_execution";

/// Unit of fees by the piece.
pub const PER_REQUEST: &str = "request";

impl Fee {
    /// Cost of `count` units, rounded once, half to even.
    pub fn cost(&self, count: u64) -> Money {
        Money::of(count, self.price.picousd(), i128::from(self.per))
    }

    /// The line of a bill for `count` units.
    pub fn line(&self, count: u64) -> FeeLine {
        FeeLine { name: self.name.clone(), unit: self.unit.clone(), count, cost: self.cost(count) }
    }
}

/// One line of a bill that is not about tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeeLine {
    /// Stable word of the fee.
    pub name: String,
    /// What is counted.
    pub unit: String,
    /// How many.
    pub count: u64,
    /// For how much.
    pub cost: Money,
}

/// What a vendor charges and no recording tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotBilled {
    /// Who charges it.
    pub vendor: Vendor,
    /// What it is, for people.
    pub what: String,
}
