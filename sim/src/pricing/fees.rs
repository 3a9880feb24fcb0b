//! Fees that are not tokens. They have their own lines in a bill, and factors of the terms do not apply to them.

use super::money::Money;
use super::row::Source;
use crate::wire::model::Vendor;

/// A charge per unit or per time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fee {
    /// The vendor that charges it.
    pub vendor: Vendor,
    /// Stable word for machines.
    pub name: String,
    /// The counted unit.
    pub unit: String,
    /// Price of `per` units.
    pub price: Money,
    /// How many units the price is for, at least 1.
    pub per: u32,
    /// Source of the price.
    pub source: Source,
    /// A remark, for people.
    pub note: Option<String>,
}

/// Name of the fee for web searches; `server_tool_use.web_search_requests` in usage.
pub const WEB_SEARCH: &str = "web_search";

/// Name of the fee for code execution, per container time or per request.
pub const CODE_EXECUTION: &str = "code_execution";

/// Unit of fees per request.
pub const PER_REQUEST: &str = "request";

impl Fee {
    /// Cost of `count` units, rounded once, half to even.
    pub fn cost(&self, count: u64) -> Money {
        Money::of(count, self.price.picousd(), i128::from(self.per))
    }

    /// The bill line for `count` units.
    pub fn line(&self, count: u64) -> FeeLine {
        FeeLine { name: self.name.clone(), unit: self.unit.clone(), count, cost: self.cost(count) }
    }
}

/// A bill line that is not about tokens of the request's own model: a fee, or passes of another model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeeLine {
    /// Stable word of the fee.
    pub name: String,
    /// The counted unit.
    pub unit: String,
    /// Number of units.
    pub count: u64,
    /// Their cost.
    pub cost: Money,
}

/// A charge that recordings do not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotBilled {
    /// The vendor that charges it.
    pub vendor: Vendor,
    /// Description, for people.
    pub what: String,
}
