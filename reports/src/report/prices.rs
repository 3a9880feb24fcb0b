//! The prices of a bill.

use std::collections::BTreeSet;

use forkcast_scenarios::run::Run;
use forkcast_sim::pricing::{Date, Factor, ModelKey, NotBilled, PriceBook};
use forkcast_sim::time::Instant;

use super::Report;
use crate::names::Names;

/// The discount, in percent with all digits; `None` without one.
pub fn discount_percent(book: &PriceBook) -> Option<Factor> {
    let taken = Factor::ONE.millionths().saturating_sub(book.remaining()?.millionths());
    Some(Factor::from_millionths(taken.saturating_mul(100)))
}

/// `list prices of 2026-11-21`, `prices of my.toml, else list prices of the day of each request, less 15 %`.
pub fn statement(report: &Report<'_>) -> String {
    let has_days = report.span().is_some_and(|(_, last)| last.has_day());
    let day = match report.options.prices_of {
        Some(day) => day.to_string(),
        None if has_days => "the day of each request".to_owned(),
        None => report.options.book.version().to_owned(),
    };
    stated(&report.options.book, &day, report.names)
}

/// The same for one request.
pub fn statement_of_one(report: &Report<'_>, at: Option<Instant>) -> String {
    let options = report.options;
    let day = options.prices_of.or(at.filter(|at| at.has_day()).map(Date::of)).map(|date| date.to_string());
    stated(&options.book, day.as_deref().unwrap_or(options.book.version()), report.names)
}

/// The same for a simulated run.
pub fn statement_of_run(run: &Run) -> String {
    let day = run.scenario.prices.map(|date| date.to_string());
    stated(&run.book, day.as_deref().unwrap_or(run.book.version()), Names::Plain)
}

/// Description of the prices of a book on a day, for people.
pub fn stated(book: &PriceBook, day: &str, names: Names) -> String {
    let by_hand = match book.overrides().count() {
        0 => None,
        1 => Some("1 price given by hand".to_owned()),
        number => Some(format!("{number} prices given by hand")),
    };
    let files = book.files().iter().map(|file| format!("prices of {}", names.file(file)));
    let sources: Vec<String> = by_hand.into_iter().chain(files).chain([format!("list prices of {day}")]).collect();
    let discount = discount_percent(book).map(|percent| format!(", less {percent} %"));
    format!("{}{}", sources.join(", else "), discount.unwrap_or_default())
}

/// Charges by the makers of the models in a report that are in no recording.
pub fn not_billed<'r>(report: &'r Report<'_>) -> impl Iterator<Item = &'r NotBilled> {
    let models = report.tally.models.iter();
    let vendors: BTreeSet<_> = models.filter_map(|model| ModelKey::from(model.as_str()).vendor()).collect();
    let entries = report.options.book.not_billed().iter();
    entries.filter(move |entry| vendors.contains(&entry.vendor))
}
