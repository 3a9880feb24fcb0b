//! Prices, the bills made from them, and the model table that they are keyed by. All expectations are written by hand
//! from the providers' pages; nothing here is derived from the code under test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

#[path = "pricing/amounts.rs"]
mod amounts;
#[path = "pricing/bills.rs"]
mod bills;
#[path = "pricing/books.rs"]
mod books;
#[path = "pricing/fuzzed.rs"]
mod fuzzed;
#[path = "pricing/models.rs"]
mod models;
#[path = "pricing/overrides.rs"]
mod overrides;
#[path = "pricing/providers.rs"]
mod providers;
#[path = "pricing/rows.rs"]
mod rows;
#[path = "pricing/spellings.rs"]
mod spellings;
#[path = "pricing/worked.rs"]
mod worked;
