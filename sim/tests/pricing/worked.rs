//! Lines computed by hand from the published prices.

use Category::{Input, Output, Read, Write1h, Write5m};
use forkcast_sim::pricing::{Category, Date, ModelKey, PriceBook, ServiceTier, Terms};

/// Model, day (`None`: newest), prompt tokens, terms (`b`atch, `f`ast, `g`eo us, `r`egional), category, tokens, USD,
/// tag of the source.
type Worked = (&'static str, Option<Date>, u64, &'static str, Category, u64, &'static str, &'static str);

const fn on(year: i32, month: u8, day: u8) -> Option<Date> {
    Some(Date(year, month, day))
}

#[rustfmt::skip]
const PLAIN: [Worked; 35] = [
    ("claude-fable-5-1",  None,              1,       "", Read,    1_234_567, "0.30864175",  "PC-N"),
    ("claude-fable-5-1",  None,              900_000, "", Input,   900_000,   "9",           "PC-N"),
    ("claude-mythos-5-1", None,              1,       "", Write1h, 3,         "0.00006",     "PC-N"),
    ("claude-mythos-5-1", None,              1,       "", Read,    1,         "0.00000025",  "PC-N"),
    ("claude-fable-5",    on(2026, 6, 9),    1,       "", Read,    1_000,     "0.001",       "PC-N"),
    ("claude-fable-5",    on(2026, 11, 20),  1,       "", Output,  777,       "0.03885",     "PC-N"),
    ("claude-mythos-5",   None,              1,       "", Write5m, 80_000,    "1",           "PC-N"),
    ("claude-opus-5-5",   on(2026, 9, 22),   1,       "", Input,   250_000,   "1",           "OV-O55"),
    ("claude-opus-5-5",   None,              1,       "", Read,    999,       "0.0001998",   "OV-O55"),
    ("claude-opus-5-5",   None,              1,       "", Output,  12_345,    "0.2469",      "OV-O55"),
    ("claude-opus-5",     on(2026, 7, 24),   999_999, "", Input,   999_999,   "4.999995",    "PC-N"),
    ("claude-opus-4-8",   on(2026, 5, 28),   1,       "", Write5m, 16,        "0.0001",      "PC-N"),
    ("claude-opus-4-7",   None,              1,       "", Write1h, 7,         "0.00007",     "PC-N"),
    ("claude-opus-4-5",   on(2025, 12, 1),   1,       "", Read,    80_000,    "0.04",        "PC-N"),
    ("claude-opus-4-1",   on(2025, 8, 6),    1,       "", Output,  4,         "0.0003",      "PC-N"),
    ("claude-opus-4",     on(2025, 6, 1),    1,       "", Write5m, 8,         "0.00015",     "PC-N"),
    ("claude-sonnet-5",   on(2026, 8, 31),   1,       "", Input,   1_000_000, "2",           "PC-N"),
    ("claude-sonnet-5",   on(2026, 9, 1),    1,       "", Input,   1_000_000, "2",           "PC-N"),
    ("claude-sonnet-5",   on(2026, 9, 1),    1,       "", Output,  1_000_000, "10",          "PC-N"),
    ("claude-sonnet-5-5", on(2026, 9, 28),   1,       "", Read,    1_000_000, "0.2",         "OV-S55"),
    ("claude-sonnet-5-5", on(2026, 10, 6),   1,       "", Read,    1_000_000, "0.2",         "OV-S55"),
    ("claude-sonnet-5-5", on(2026, 10, 7),   1,       "", Read,    1_000_000, "0.1",         "kurofune/claudit v1.9.2"),
    ("claude-sonnet-5-5", None,              1,       "", Read,    1_000_000, "0.1",         "kurofune/claudit v1.9.2"),
    ("claude-sonnet-5-5", on(2026, 10, 7),   1,       "", Write5m, 2,         "0.000005",    "kurofune/claudit v1.9.2"),
    ("claude-sonnet-4-6", on(2026, 3, 13),   1,       "", Input,   11,        "0.000033",    "PC-N"),
    ("claude-sonnet-4-5", on(2025, 10, 1),   1,       "", Write5m, 24_091,    "0.09034125",  "PC-N"),
    ("claude-sonnet-4",   on(2025, 6, 1),    1,       "", Write1h, 500,       "0.003",       "PC-N"),
    ("claude-3-7-sonnet", on(2025, 3, 1),    1,       "", Read,    10,        "0.000003",    "docs.anthropic.com pricing"),
    ("claude-3-5-sonnet", on(2024, 7, 1),    1,       "", Output,  10,        "0.00015",     "docs.anthropic.com pricing"),
    ("claude-haiku-4-5",  on(2025, 11, 1),   1,       "", Write5m, 4_096,     "0.00512",     "PC-N"),
    ("claude-haiku-4-5",  None,              1,       "", Read,    3,         "0.0000003",   "PC-N"),
    ("claude-3-5-haiku",  on(2025, 1, 1),    1,       "", Input,   2_091,     "0.0016728",   "PC-N"),
    ("claude-3-5-haiku",  on(2025, 1, 1),    1,       "", Read,    25,        "0.000002",    "PC-N"),
    ("claude-3-5-haiku",  on(2025, 1, 1),    1,       "", Write5m, 2_091,     "0.002091",    "PC-N"),
    ("claude-3-5-haiku",  on(2025, 1, 1),    0,       "", Output,  0,         "0",           "PC-N"),
];

#[rustfmt::skip]
const LENGTHS: [Worked; 36] = [
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_000, "", Input,   100_000, "0.01",         "OV-H55"),
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_000, "", Write5m, 100_000, "0.0125",       "OV-H55"),
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_000, "", Write1h, 100_000, "0.02",         "OV-H55"),
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_000, "", Read,    100_000, "0.001",        "OV-H55"),
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_000, "", Output,  1_000,   "0.0005",       "OV-H55"),
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_001, "", Input,   100_001, "0.0500005",    "OV-H55"),
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_001, "", Write5m, 100_001, "0.062500625",  "OV-H55"),
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_001, "", Write1h, 100_001, "0.100001",     "OV-H55"),
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_001, "", Read,    100_001, "0.00500005",   "OV-H55"),
    ("claude-haiku-5-5",  on(2026, 10, 7),  100_001, "", Output,  1_000,   "0.0025",       "OV-H55"),
    ("claude-haiku-5-5",  None,             100_001, "f", Output, 1_000,   "0.0025",       "OV-H55"),
    ("claude-haiku-5-5",  None,             100_001, "bg", Read,  1,       "0.0000000275", "OV-H55"),
    ("claude-haiku-5-5",  None,             100_000, "bg", Read,  1,       "0.0000000055", "OV-H55"),
    ("claude-sonnet-4-5", on(2025, 12, 1),  200_000, "", Input,   1_000,   "0.003",        "PC-N"),
    ("claude-sonnet-4-5", on(2025, 12, 1),  200_001, "", Input,   1_000,   "0.006",        "PC-N"),
    ("claude-sonnet-4-5", on(2025, 12, 1),  200_001, "", Write5m, 1_000,   "0.0075",       "PC-N"),
    ("claude-sonnet-4-5", on(2025, 12, 1),  200_001, "", Write1h, 1_000,   "0.012",        "PC-N"),
    ("claude-sonnet-4-5", on(2025, 12, 1),  200_001, "", Read,    1_000,   "0.0006",       "PC-N"),
    ("claude-sonnet-4-5", on(2025, 12, 1),  200_001, "", Output,  1_000,   "0.0225",       "PC-N"),
    ("claude-sonnet-4",   on(2025, 12, 1),  200_000, "", Output,  1_000,   "0.015",        "PC-N"),
    ("claude-sonnet-4",   on(2025, 12, 1),  200_001, "", Output,  1_000,   "0.0225",       "PC-N"),
    ("claude-opus-4-6",   on(2026, 3, 12),  200_000, "", Input,   1_000,   "0.005",        "PC-A"),
    ("claude-opus-4-6",   on(2026, 3, 12),  200_000, "", Output,  1_000,   "0.025",        "PC-A"),
    ("claude-opus-4-6",   on(2026, 3, 12),  200_001, "", Input,   1_000,   "0.01",         "PC-A"),
    ("claude-opus-4-6",   on(2026, 3, 12),  200_001, "", Write5m, 1_000,   "0.0125",       "PC-A"),
    ("claude-opus-4-6",   on(2026, 3, 12),  200_001, "", Write1h, 1_000,   "0.02",         "PC-A"),
    ("claude-opus-4-6",   on(2026, 3, 12),  200_001, "", Read,    1_000,   "0.001",        "PC-A"),
    ("claude-opus-4-6",   on(2026, 3, 12),  200_001, "", Output,  1_000,   "0.0375",       "PC-A"),
    ("claude-opus-4-6",   on(2026, 3, 13),  200_001, "", Input,   1_000,   "0.005",        "PC-N"),
    ("claude-opus-4-6",   on(2026, 3, 13),  200_001, "", Output,  1_000,   "0.025",        "PC-N"),
    ("claude-opus-4-6",   None,             900_000, "", Input,   1_000,   "0.005",        "PC-N"),
    ("claude-sonnet-4-6", on(2026, 3, 12),  200_000, "", Read,    1_000,   "0.0003",       "PC-A"),
    ("claude-sonnet-4-6", on(2026, 3, 12),  200_001, "", Read,    1_000,   "0.0006",       "PC-A"),
    ("claude-sonnet-4-6", on(2026, 3, 12),  200_001, "", Output,  1_000,   "0.0225",       "PC-A"),
    ("claude-sonnet-4-6", on(2026, 3, 13),  200_001, "", Read,    1_000,   "0.0003",       "PC-N"),
    ("claude-opus-5",     None,             200_001, "", Input,   1_000,   "0.005",        "PC-N"),
];

#[rustfmt::skip]
const MODIFIERS: [Worked; 43] = [
    ("claude-haiku-4-5",  None, 1, "b",    Input,   1_000, "0.0005",      "PC-N"),
    ("claude-haiku-4-5",  None, 1, "b",    Write5m, 1_000, "0.000625",    "PC-N"),
    ("claude-haiku-4-5",  None, 1, "b",    Write1h, 1_000, "0.001",       "PC-N"),
    ("claude-haiku-4-5",  None, 1, "b",    Read,    1_000, "0.00005",     "PC-N"),
    ("claude-haiku-4-5",  None, 1, "b",    Output,  1_000, "0.0025",      "PC-N"),
    ("claude-3-5-haiku",  None, 1, "b",    Write1h, 1_000, "0.0008",      "PC-N"),
    ("claude-sonnet-4-5", None, 200_001, "b", Output, 1_000, "0.01125",   "PC-N"),
    ("claude-opus-5",     None, 1, "f",    Input,   10,    "0.0001",      "PC-N"),
    ("claude-opus-5",     None, 1, "f",    Write5m, 10,    "0.000125",    "PC-N"),
    ("claude-opus-5",     None, 1, "f",    Write1h, 10,    "0.0002",      "PC-N"),
    ("claude-opus-5",     None, 1, "f",    Read,    10,    "0.00001",     "PC-N"),
    ("claude-opus-5",     None, 1, "f",    Output,  10,    "0.0005",      "PC-N"),
    ("claude-opus-4-8",   None, 1, "f",    Output,  2_000, "0.1",         "PC-N"),
    ("claude-opus-5-5",   None, 1, "f",    Input,   1_000, "0.008",       "OV-O55"),
    ("claude-opus-5-5",   None, 1, "f",    Write5m, 1_000, "0.01",        "OV-O55"),
    ("claude-opus-5-5",   None, 1, "f",    Write1h, 1_000, "0.016",       "OV-O55"),
    ("claude-opus-5-5",   None, 1, "f",    Read,    1_000, "0.0004",      "OV-O55"),
    ("claude-opus-5-5",   None, 1, "f",    Output,  1_000, "0.04",        "OV-O55"),
    ("claude-opus-4-7",   None, 1, "f",    Output,  2_000, "0.05",        "PC-N"),
    ("claude-opus-4-6",   None, 1, "f",    Output,  2_000, "0.05",        "PC-N"),
    ("claude-opus-4-6",   None, 1, "g",    Input,   1_000, "0.0055",      "PC-N"),
    ("claude-sonnet-4-6", None, 1, "g",    Output,  1_000, "0.0165",      "PC-N"),
    ("claude-fable-5-1",  None, 1, "g",    Read,    1_000, "0.000275",    "PC-N"),
    ("claude-opus-5",     None, 1, "g",    Write1h, 1_000, "0.011",       "PC-N"),
    ("claude-opus-5",     None, 1, "g",    Write5m, 1_000, "0.006875",    "PC-N"),
    ("claude-opus-4-5",   None, 1, "g",    Input,   1_000, "0.005",       "PC-N"),
    ("claude-sonnet-4-5", None, 1, "g",    Output,  1_000, "0.015",       "PC-N"),
    ("claude-haiku-4-5",  None, 1, "g",    Output,  1_000, "0.005",       "PC-N"),
    ("claude-opus-4-5",   None, 1, "r",    Input,   1_000, "0.0055",      "PC-N"),
    ("claude-sonnet-4-5", None, 1, "r",    Read,    1_000, "0.00033",     "PC-N"),
    ("claude-haiku-4-5",  None, 1, "r",    Output,  1_000, "0.0055",      "PC-N"),
    ("claude-sonnet-5",   None, 1, "r",    Write1h, 1_000, "0.0044",      "PC-N"),
    ("claude-opus-4-1",   None, 1, "r",    Input,   1_000, "0.015",       "PC-N"),
    ("claude-sonnet-4",   None, 1, "r",    Input,   1_000, "0.003",       "PC-N"),
    ("claude-3-7-sonnet", None, 1, "r",    Input,   1_000, "0.003",       "docs.anthropic.com pricing"),
    ("claude-opus-5",     None, 1, "gr",   Input,   1_000, "0.0055",      "PC-N"),
    ("claude-opus-4-5",   None, 1, "gr",   Input,   1_000, "0.0055",      "PC-N"),
    ("claude-opus-5-5",   None, 1, "bg",   Input,   1_000, "0.0022",      "OV-O55"),
    ("claude-opus-5-5",   None, 1, "bg",   Read,    1,     "0.00000011",  "OV-O55"),
    ("claude-opus-5",     None, 1, "fg",   Output,  1_000, "0.055",       "PC-N"),
    ("claude-opus-5",     None, 1, "bf",   Output,  1_000, "0.025",       "PC-N"),
    ("claude-haiku-4-5",  None, 1, "br",   Read,    1,     "0.000000055", "PC-N"),
    ("claude-opus-5",     None, 1, "bfgr", Read,    20,    "0.000011",    "PC-N"),
];

fn check(rows: &[Worked]) {
    let book = PriceBook::built_in();
    for (model, date, prompt_tokens, flags, category, tokens, usd, tag) in rows.iter().copied() {
        let terms = Terms {
            date,
            at: None,
            prompt_tokens,
            tier: if flags.contains('b') { ServiceTier::Batch } else { ServiceTier::Standard },
            fast: flags.contains('f'),
            geo_us: flags.contains('g'),
            regional: flags.contains('r'),
        };
        let rates = book.rates(&ModelKey::from(model), &terms);
        let cost = rates.as_ref().map(|rates| rates.line(category, tokens).to_string());
        assert_eq!(cost, Ok(usd.to_owned()), "{tokens} {category} of {model}, {terms:?}");
        let source = rates.ok().and_then(|rates| rates.row).map(|at| book.rows()[at].source.tag.as_str());
        assert_eq!(source, Some(tag), "{model}, {terms:?}");
    }
}

#[test]
fn plain_requests() {
    check(&PLAIN);
}

#[test]
fn length_tiers_on_both_sides_of_every_threshold_and_date() {
    check(&LENGTHS);
}

#[test]
fn batch_fast_and_region() {
    check(&MODIFIERS);
}

/// Model, day, fast, before its first row, fast at the standard price.
#[rustfmt::skip]
const FLAGS: [(&str, Option<Date>, bool, bool, bool); 16] = [
    ("claude-sonnet-5-5", on(2026, 9, 27), false, true,  false),
    ("claude-sonnet-5-5", on(2026, 9, 28), false, false, false),
    ("claude-sonnet-5-5", on(2026, 10, 7), false, false, false),
    ("claude-sonnet-5-5", None,            false, false, false),
    ("claude-haiku-5-5",  on(2026, 10, 6), false, true,  false),
    ("claude-haiku-5-5",  on(2026, 10, 7), false, false, false),
    ("claude-opus-5-5",   on(2026, 9, 21), true,  true,  false),
    ("claude-opus-5-5",   on(2026, 9, 22), true,  false, false),
    ("claude-opus-5",     on(2026, 7, 23), false, true,  false),
    ("claude-opus-5",     on(2026, 7, 24), true,  false, false),
    ("claude-opus-4-8",   on(2026, 5, 27), false, true,  false),
    ("claude-fable-5",    on(2026, 6, 8),  true,  true,  true),
    ("claude-fable-5",    on(2026, 6, 9),  true,  false, true),
    ("claude-opus-4-5",   on(1970, 1, 1),  false, false, false),
    ("claude-opus-4-6",   None,            true,  false, true),
    ("claude-opus-4-6",   on(1970, 1, 1),  false, false, false),
];

#[test]
fn rates_report_their_assumptions() {
    let book = PriceBook::built_in();
    for (model, date, fast, before_first_row, fast_at_standard_price) in FLAGS {
        let terms = Terms { date, fast, ..Terms::default() };
        let rates = book.rates(&ModelKey::from(model), &terms);
        let flags = rates.map(|rates| (rates.before_first_row, rates.fast_at_standard_price));
        assert_eq!(flags, Ok((before_first_row, fast_at_standard_price)), "{model}, {terms:?}");
    }
}

#[test]
fn a_day_before_the_first_row_has_its_prices() {
    let terms = Terms { date: on(2026, 9, 1), ..Terms::default() };
    let rates = PriceBook::built_in().rates(&ModelKey::from("claude-sonnet-5-5"), &terms);
    assert_eq!(rates.map(|rates| rates.line(Read, 1_000_000).to_string()), Ok("0.2".to_owned()));
}
