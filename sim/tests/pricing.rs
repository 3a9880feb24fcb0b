//! Prices, bills, and the model table they use. All expectations are written by hand from the providers' pages; none is
//! derived from the code under test.

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
