//! Fees that are not tokens. They are lines of their own, and no factor of the terms touches them.

use super::money::Money;
use super::row::Source;

/// What is charged by the piece or by the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fee {
    /// Stable word for machines.
    pub name: &'static str,
    /// What is counted.
    pub unit: &'static str,
    /// Price of `per` units.
    pub price: Money,
    /// How many units the price is for.
    pub per: u32,
    /// Where it was read.
    pub source: Source,
}

impl Fee {
    /// Cost of `count` units, rounded once, half to even.
    pub fn cost(&self, count: u64) -> Money {
        Money::of(count, self.price.picousd(), i128::from(self.per))
    }
}

const PC_A: Source = Source { tag: "PC-A", dated: "2026-08-21" };
const PICOUSD_PER_CENT: i128 = 10_000_000_000;
const SECONDS_PER_HOUR: u32 = 3_600;

const fn cents(cents: i128) -> Money {
    Money::from_picousd(cents * PICOUSD_PER_CENT)
}

/// Searches of the web; `server_tool_use.web_search_requests` of the usage.
pub const WEB_SEARCH: Fee = Fee { name: "web_search", unit: "request", price: cents(1_000), per: 1_000, source: PC_A };

/// Fetched pages; free beyond their tokens. `server_tool_use.web_fetch_requests` of the usage.
pub const WEB_FETCH: Fee = Fee { name: "web_fetch", unit: "request", price: cents(0), per: 1, source: PC_A };

/// A container's time before the monthly allowance of 1,550 hours, which no single session can know. Free in requests
/// that carry `web_search` or `web_fetch` of 20260209 or later.
pub const CODE_EXECUTION: Fee =
    Fee { name: "code_execution", unit: "second", price: cents(5), per: SECONDS_PER_HOUR, source: PC_A };

/// Running time of a managed agent's session.
pub const MANAGED_SESSION: Fee =
    Fee { name: "managed_session", unit: "second", price: cents(8), per: SECONDS_PER_HOUR, source: PC_A };

/// All fees.
pub const FEES: [Fee; 4] = [WEB_SEARCH, WEB_FETCH, CODE_EXECUTION, MANAGED_SESSION];
