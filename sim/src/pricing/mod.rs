//! Costs: a dated price book, and money in 10⁻¹² USD.
//!
//! ```
//! use forkcast_sim::pricing::{Date, ModelKey, PriceBook, Terms};
//! use forkcast_sim::wire::Usage;
//!
//! let usage = Usage { input_tokens: 10, cache_read_input_tokens: 80_000, output_tokens: 500, ..Usage::default() };
//! let terms = Terms { date: Some(Date(2026, 10, 7)), ..Terms::of(&usage) };
//! let rates = PriceBook::built_in().rates(&ModelKey::from("claude-sonnet-5-5"), &terms)?;
//! assert_eq!(rates.bill(&usage, &[]).total.to_string(), "0.01302");
//! # Ok::<(), forkcast_sim::pricing::Unpriced>(())
//! ```
//!
//! * [`Money`]: sums that neither round nor overflow.
//! * [`PriceBook`]: model, date and terms to [`Rates`]; a model without a price is [`Unpriced`].
//! * `prices.toml`: the built-in rows, in the format of a user's own book ([`PriceBook::with_file`]). A new price is a
//!   new row there, never an edit.
//! * [`fees`]: charges per unit or per hour.
//!
//! All prices are list prices unless the user says otherwise.

mod book;
mod date;
mod factor;
pub mod fees;
mod file;
mod hours;
mod money;
mod rates;
mod row;
mod terms;
mod tier;

pub use book::{ModelKey, PriceBook, Unpriced};
pub use date::Date;
pub use factor::Factor;
pub use fees::{Fee, FeeLine, NotBilled};
pub use file::BadBook;
pub use hours::{Hours, Span, Weekday};
pub use money::{Decimal, Money, NotMoney, div_half_even, grouped, parse_number, several, thousands};
pub use rates::{Bill, BillLine, Category, Rate, Rates};
pub use row::{LengthTier, PriceRow, Prices, Source, Tier, usd_per_mtok};
pub use terms::Terms;
pub use tier::ServiceTier;
