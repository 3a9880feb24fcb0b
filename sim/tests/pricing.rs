//! Prices, the bills made from them, and the model table that they are keyed by. All expectations are written by hand
//! from the providers' pages; nothing here is derived from the code under test.

mod amounts;
mod bills;
mod books;
mod fuzzed;
mod models;
mod overrides;
mod providers;
mod rows;
mod spellings;
mod worked;
