//! Worked bills for every provider in `providers.yaml`, each with its arithmetic and source.

use forkcast_sim::pricing::{Category, Date, ModelKey, PriceBook, ServiceTier, Terms};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Worked {
    model: String,
    day: Option<String>,
    at: Option<String>,
    #[serde(default)]
    tier: String,
    #[serde(default)]
    fast: bool,
    #[serde(default)]
    geo_us: bool,
    #[serde(default)]
    regional: bool,
    usage: [u64; 5],
    usd: String,
    source: String,
}

fn numbers(text: &str) -> Vec<u64> {
    text.split(['-', 'T', ':', 'Z']).filter(|part| !part.is_empty()).map(|part| part.parse().unwrap()).collect()
}

fn day(text: &str) -> Date {
    let [year, month, day] = numbers(text).try_into().unwrap();
    Date(year as i32, month as u8, day as u8)
}

/// Days since the Unix epoch by counting leap days, with years starting in March.
pub fn instant(text: &str) -> Instant {
    let [year, month, day, hour, minute, second]: [u64; 6] = numbers(text).try_into().unwrap();
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    // The days of the year 1970 by the same count.
    let seconds = (days - 719_468) * 86_400 + hour * 3_600 + minute * 60 + second;
    Instant(seconds * 1_000_000_000)
}

fn worked() -> Vec<Worked> {
    serde_saphyr::from_str(include_str!("providers.yaml")).unwrap()
}

fn priced(case: &Worked) -> (Usage, Terms) {
    let [input_tokens, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, cache_read_input_tokens, output_tokens] =
        case.usage;
    let usage = Usage {
        input_tokens,
        cache_read_input_tokens,
        ephemeral_5m_input_tokens,
        ephemeral_1h_input_tokens,
        output_tokens,
    };
    let at = case.at.as_deref().map(instant);
    let terms = Terms {
        date: case.day.as_deref().map(day).or(at.map(Date::of)),
        at,
        prompt_tokens: usage.total_input_tokens(),
        tier: ServiceTier::of_word(&case.tier).unwrap_or_default(),
        fast: case.fast,
        geo_us: case.geo_us,
        regional: case.regional,
    };
    (usage, terms)
}

#[test]
fn every_bill_is_the_one_worked_by_hand() {
    let book = PriceBook::built_in();
    for case in worked() {
        let (usage, terms) = priced(&case);
        let rates = book.rates(&ModelKey::from(case.model.as_str()), &terms).unwrap();
        assert_eq!(rates.bill(&usage, &[]).total.to_string(), case.usd, "{case:?}");
        assert!(!case.source.is_empty() && !rates.before_first_row, "{case:?}");
    }
}

#[test]
fn they_cover_the_book() {
    let cases = worked();
    assert!(cases.len() >= 60, "{}", cases.len());
    let book = PriceBook::built_in();
    let mut rows: Vec<usize> = cases
        .iter()
        .map(|case| book.rates(&ModelKey::from(case.model.as_str()), &priced(case).1).unwrap().row.unwrap())
        .collect();
    rows.sort_unstable();
    rows.dedup();
    assert!(rows.len() >= 60, "{} rows", rows.len());
    for tier in ServiceTier::ALL {
        assert!(cases.iter().any(|case| priced(case).1.tier == tier), "{tier}");
    }
}

/// A discount of a quarter leaves three quarters of each worked bill, up to the rounding of its lines.
#[test]
fn a_discount_reduces_every_bill() {
    let three_quarters = forkcast_sim::pricing::Factor::from_millionths(750_000);
    let (list, book) = (PriceBook::built_in(), PriceBook::built_in().with_remaining(three_quarters));
    for case in worked() {
        let (usage, terms) = priced(&case);
        let key = ModelKey::from(case.model.as_str());
        let total = |book: &PriceBook| book.rates(&key, &terms).unwrap().bill(&usage, &[]).total.picousd();
        let apart = total(&book) * 4 - total(&list) * 3;
        assert!(apart.abs() <= 2 * Category::ALL.len() as i128, "{case:?}: {apart}");
    }
}
