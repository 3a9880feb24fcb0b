//! Values of options: words of tables, numbers, days.

use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use forkcast_replay::input::InputFormat;
use forkcast_reports::format::tables;
use forkcast_sim::cache::{PRESETS, Rules};
use forkcast_sim::pricing::Date;

use super::Format;

/// Formats by their names, so that shells can complete them.
pub fn input_format() -> impl TypedValueParser<Value = InputFormat> {
    PossibleValuesParser::new(InputFormat::names()).try_map(|name| name.parse::<InputFormat>())
}

/// Names of tables.
pub fn table() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(tables::names().map(|(name, what)| PossibleValue::new(name).help(what)))
}

/// Presets of cache rules by their names.
pub fn preset() -> impl TypedValueParser<Value = Rules> {
    let names = PRESETS.iter().map(|rules| rules.name);
    PossibleValuesParser::new(names).try_map(|name| Rules::preset(&name).ok_or("unknown preset"))
}

/// Forms of an output that is no list of requests.
pub fn whole() -> impl TypedValueParser<Value = Format> {
    let forms = Format::value_variants().iter().filter(|form| **form != Format::Jsonl);
    PossibleValuesParser::new(forms.filter_map(Format::to_possible_value))
        .try_map(|form| <Format as ValueEnum>::from_str(&form, false))
}

/// The words of a table, with their values.
pub fn words<T: Clone + Send + Sync + 'static>(table: Vec<(&'static str, T)>) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.iter().map(|(word, _)| *word)).try_map(move |word| {
        let found = table.iter().find(|(known, _)| *known == word).map(|(_, value)| value.clone());
        found.ok_or_else(|| format!("`{word}` is unknown"))
    })
}

/// Parses a whole number of at least `LEAST`.
pub fn number<T: FromStr + TryInto<u64> + Copy, const LEAST: u64>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number: &T| (*number).try_into().is_ok_and(|number| number >= LEAST));
    number.ok_or_else(|| format!("expected a whole number from {LEAST}, such as 7"))
}

/// Parses a day.
pub fn date(text: &str) -> Result<Date, String> {
    let date: jiff::civil::Date = text.parse().map_err(|_| "not a date, expected YYYY-MM-DD".to_owned())?;
    Ok(Date(date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs()))
}
