//! Money and days.

use forkcast_sim::pricing::{Date, Money, NotMoney, div_half_even};
use forkcast_sim::time::Instant;
use proptest::prelude::*;

/// 10⁻¹² USD, as a JSON number, for people.
const SHOWN: [(i128, &str, &str); 21] = [
    (0, "0", "$0.0000"),
    (1, "0.000000000001", "<$0.0001"),
    (-1, "-0.000000000001", "-<$0.0001"),
    (123_000_000, "0.000123", "$0.0001"),
    (49_999_999, "0.000049999999", "<$0.0001"),
    (50_000_000, "0.00005", "<$0.0001"),
    (50_000_001, "0.000050000001", "$0.0001"),
    (150_000_000, "0.00015", "$0.0002"),
    (250_000_000, "0.00025", "$0.0002"),
    (12_340_000_000, "0.01234", "$0.0123"),
    (100_000_000_000, "0.1", "$0.1000"),
    (999_950_000_000, "0.99995", "$1.0000"),
    (1_000_000_000_000, "1", "$1.0000"),
    (10_000_000_000_000, "10", "$10.0000"),
    (12_345_678_901_234, "12.345678901234", "$12.3457"),
    (-500_000_000_000, "-0.5", "-$0.5000"),
    (-1_000_000_000_000, "-1", "-$1.0000"),
    (-12_345_678_901_234, "-12.345678901234", "-$12.3457"),
    (1_234_567_000_000_000_000, "1234567", "$1234567.0000"),
    (i128::MAX, "170141183460469231731687303.715884105727", "$170141183460469231731687303.7159"),
    (i128::MIN, "-170141183460469231731687303.715884105728", "-$170141183460469231731687303.7159"),
];

#[test]
fn amounts_are_shown_and_read_with_all_their_digits() {
    for (picousd, shown, human) in SHOWN {
        let money = Money::from_picousd(picousd);
        assert_eq!(money.picousd(), picousd);
        assert_eq!(money.to_string(), shown);
        assert_eq!(money.human(), human, "{shown}");
        assert_eq!(shown.parse(), Ok(money));
    }
}

#[test]
fn redundant_zeros_are_accepted() {
    for (text, picousd) in [
        ("0.500", 500_000_000_000),
        ("00.1", 100_000_000_000),
        ("-0", 0),
        ("3.00", 3_000_000_000_000),
        ("0.0000000000010", 1),
        ("12.500", 12_500_000_000_000),
    ] {
        assert_eq!(text.parse(), Ok(Money::from_picousd(picousd)), "{text}");
    }
}

#[test]
fn invalid_amounts_are_refused() {
    let refused = [
        "",
        "-",
        ".",
        "1.",
        ".5",
        "-.5",
        "--1",
        "+1",
        "1e-3",
        "$1",
        "1,000",
        " 1",
        "1 ",
        "1.2.3",
        "0x1",
        "1.+2",
        "NaN",
        "0.0000000000001",
        "170141183460469231731687303.715884105728",
        "170141183460469231731687304",
        "999999999999999999999999999999999999999999",
        "-170141183460469231731687303.715884105729",
        "١",
    ];
    for text in refused {
        assert_eq!(text.parse::<Money>(), Err(NotMoney { text: text.to_owned() }));
    }
    let message = NotMoney { text: "1e3".to_owned() }.to_string();
    assert_eq!(message, "`1e3` is not an amount in USD: expected digits, and at most 12 decimals after a point");
}

#[test]
fn a_sum_out_of_range_panics() {
    let (max, min, one) = (Money::from_picousd(i128::MAX), Money::from_picousd(i128::MIN), Money::from_picousd(1));
    let fails = |sum: fn(Money, Money) -> Money, first: Money| std::panic::catch_unwind(|| sum(first, one)).is_err();
    assert!(fails(|max, one| max + one, max));
    assert!(fails(|min, one| min - one, min));
    assert!(fails(|min, _| -min, min));
    assert!(fails(|max, one| [max, one].into_iter().sum(), max));
    assert!(fails(|_, _| Money::of(2, i128::MAX, 4), max));
}

#[test]
fn an_empty_sum_is_zero() {
    let one = Money::from_picousd(1);
    assert_eq!(-one, Money::from_picousd(-1));
    assert_eq!(std::iter::empty::<Money>().sum::<Money>(), Money::ZERO);
    assert_eq!(Money::default(), Money::ZERO);
    assert_eq!(Money::ZERO.picousd(), 0);
}

#[test]
fn sums_are_exact() {
    let (three, five) = (Money::from_picousd(3), Money::from_picousd(5));
    assert_eq!((three + five, three - five), (Money::from_picousd(8), Money::from_picousd(-2)));
    let mut running = three;
    running += five;
    assert_eq!(running, Money::from_picousd(8));
    running -= three;
    assert_eq!(running, five);
    assert_eq!([three, five, five].into_iter().sum::<Money>(), Money::from_picousd(13));
}

#[test]
fn ties_go_to_the_even_number() {
    for (numerator, denominator, rounded) in [
        (1, 2, 0),
        (3, 2, 2),
        (5, 2, 2),
        (7, 2, 4),
        (-1, 2, 0),
        (-3, 2, -2),
        (-5, 2, -2),
        (-7, 2, -4),
        (10, 4, 2),
        (11, 4, 3),
        (9, 4, 2),
        (14, 4, 4),
        (-9, 4, -2),
        (-11, 4, -3),
        (1, 3, 0),
        (2, 3, 1),
        (-1, 3, 0),
        (-2, 3, -1),
        (0, 7, 0),
        (21, 7, 3),
        (-21, 7, -3),
        (5, 1, 5),
        (5, 0, 5),
        (5, -2, 5),
        (i128::MAX, 1, i128::MAX),
        (i128::MIN, 1, i128::MIN),
        (i128::MAX, i128::MAX, 1),
        (i128::MIN, 2, i128::MIN / 2),
        (i128::MAX - 1, i128::MAX, 1),
        (i128::MAX, 2, i128::MAX / 2 + 1),
    ] {
        assert_eq!(div_half_even(numerator, denominator), rounded, "{numerator} / {denominator}");
    }
}

#[test]
fn a_count_times_a_price_is_rounded_once() {
    assert_eq!(Money::of(3, 5, 2), Money::from_picousd(8));
    assert_eq!(Money::of(1, 5, 2), Money::from_picousd(2));
    assert_eq!(Money::of(3, -5, 2), Money::from_picousd(-8));
    assert_eq!(Money::of(0, i128::MAX, 1), Money::ZERO);
}

/// The nearest integer by search: the neighbour of the quotient with the smallest distance, or the even one of two.
fn nearest(numerator: i128, denominator: i128) -> i128 {
    let about = numerator / denominator;
    let mut best = about - 2;
    for candidate in about - 1..=about + 2 {
        let distance = |quotient: i128| (numerator - quotient * denominator).abs();
        let closer = distance(candidate) < distance(best);
        if closer || (distance(candidate) == distance(best) && candidate % 2 == 0) {
            best = candidate;
        }
    }
    best
}

proptest! {
    #[test]
    fn rounding_agrees_with_a_search(numerator in -5_000_i128..5_000, denominator in 1_i128..60) {
        prop_assert_eq!(div_half_even(numerator, denominator), nearest(numerator, denominator));
    }

    #[test]
    fn rounding_agrees_with_a_search_on_large_numbers(
        count in any::<u64>(), price in -(1_i128 << 50)..(1_i128 << 50), denominator in 1_i128..100_000,
    ) {
        let expected = nearest(i128::from(count) * price, denominator);
        prop_assert_eq!(Money::of(count, price, denominator).picousd(), expected);
    }

    #[test]
    fn every_amount_survives_being_written(picousd in any::<i128>(), shift in 0..127_u32) {
        let money = Money::from_picousd(picousd >> shift);
        let text = money.to_string();
        prop_assert!(!text.contains(['e', 'E', '+']) && !text.ends_with('.'));
        prop_assert_eq!(text.parse(), Ok(money));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = text.parse::<Money>();
    }

    #[test]
    fn days_follow_one_another(day in 0..213_503_u64) {
        let noon = |day: u64| Date::of(Instant::from_millis(day * 86_400_000 + 43_200_000));
        let (today, tomorrow) = (noon(day), noon(day + 1));
        prop_assert!(today < tomorrow);
        let follows = tomorrow == Date(today.0, today.1, today.2 + 1)
            || tomorrow == Date(today.0, today.1 + 1, 1)
            || tomorrow == Date(today.0 + 1, 1, 1);
        prop_assert!(follows, "{} then {}", today, tomorrow);
    }
}

/// Seconds since the Unix epoch and the day in UTC.
const DAYS: [(u64, &str); 18] = [
    (0, "1970-01-01"),
    (86_399, "1970-01-01"),
    (86_400, "1970-01-02"),
    (2_678_399, "1970-01-31"),
    (2_678_400, "1970-02-01"),
    (31_535_999, "1970-12-31"),
    (31_536_000, "1971-01-01"),
    (68_169_600, "1972-02-29"),
    (68_256_000, "1972-03-01"),
    (94_694_400, "1973-01-01"),
    (951_782_400, "2000-02-29"),
    (951_868_800, "2000-03-01"),
    (1_767_615_451, "2026-01-05"),
    (1_773_359_999, "2026-03-12"),
    (1_773_360_000, "2026-03-13"),
    (1_791_331_199, "2026-10-06"),
    (1_791_331_200, "2026-10-07"),
    (4_107_542_400, "2100-03-01"),
];

#[test]
fn an_instant_has_a_day() {
    for (seconds, day) in DAYS {
        assert_eq!(Date::of(Instant(seconds * 1_000_000_000)).to_string(), day, "{seconds}");
    }
    assert_eq!(Date::of(Instant(1_791_331_200_000_000_000 - 1)), Date(2026, 10, 6));
    assert_eq!(Date::of(Instant(u64::MAX)), Date(2554, 7, 21));
}

#[test]
fn every_month_has_its_days() {
    let mut ends = Vec::new();
    for day in 0..365_u64 {
        let date = |day: u64| Date::of(Instant::from_millis((20_454 + day) * 86_400_000));
        if date(day).1 != date(day + 1).1 {
            ends.push(date(day).to_string());
        }
    }
    let expected = [
        "2026-01-31",
        "2026-02-28",
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
        "2026-06-30",
        "2026-07-31",
        "2026-08-31",
        "2026-09-30",
        "2026-10-31",
        "2026-11-30",
        "2026-12-31",
    ];
    assert_eq!(ends, expected);
}

#[test]
fn days_are_ordered_by_time() {
    assert!(Date(2025, 12, 31) < Date(2026, 1, 1));
    assert!(Date(2026, 9, 30) < Date(2026, 10, 1));
    assert!(Date(2026, 10, 6) < Date(2026, 10, 7));
}
