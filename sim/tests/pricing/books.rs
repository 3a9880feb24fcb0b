//! Price books as text: their meaning, errors of broken ones, and lossless printing.

use forkcast_sim::pricing::{
    BadBook, Category, Date, Factor, Hours, ModelKey, Money, PriceBook, ServiceTier, Span, Terms, Weekday,
};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::MODELS;
use proptest::prelude::*;

use super::providers::instant;

fn per_mtok(book: &PriceBook, model: &str, terms: &Terms) -> [String; 5] {
    let rates = book.rates(&ModelKey::from(model), terms).unwrap();
    Category::ALL.map(|category| rates.line(category, 1_000_000).to_string())
}

fn mine(text: &str) -> PriceBook {
    PriceBook::built_in().with_file("mine.toml", text).unwrap()
}

#[test]
fn the_built_in_book_is_a_book() {
    if let Err(bad) = PriceBook::parse(include_str!("../../src/pricing/prices.toml")) {
        panic!("prices.toml: {bad}");
    }
    assert!(PriceBook::built_in().rows().len() >= 100);
}

#[test]
fn a_printed_book_can_be_parsed() {
    let book = PriceBook::built_in();
    assert!(PriceBook::parse(&book.to_toml()).unwrap() == book);
}

#[test]
fn models_of_a_file_replace_all_rows_of_those_models_and_no_others() {
    let book = mine("[[price]]\nmodel = \"Claude-Sonnet-5-5-20261007\"\ninput = 1\noutput = 2.5\n");
    let usual = Terms::default();
    // No fee for writing and no price for cached tokens: both cost as input.
    assert_eq!(per_mtok(&book, "claude-sonnet-5-5", &usual), ["1", "1", "1", "1", "2.5"].map(str::to_owned));
    let old = Terms { date: Some(Date(2026, 9, 28)), ..usual };
    assert_eq!(per_mtok(&book, "claude-sonnet-5-5", &old)[0], "1");
    assert_eq!(per_mtok(&book, "claude-sonnet-5", &usual)[0], "2");
    assert_eq!(book.files(), ["mine.toml"]);
    assert!(PriceBook::built_in().files().is_empty());
}

#[test]
fn a_file_can_price_models_outside_the_table() {
    let book = mine(
        "[[price]]\nmodel = \"Our-Model\"\ninput = 1\nwrite_5m = 1.5\nread = 0.25\noutput = 4\n\
         long = { above = 1000, input = 2, output = 8 }\nbatch = { factor = 0.3 }\nfrom = 2026-01-01\n",
    );
    let usual = Terms { date: Some(Date(2026, 2, 1)), prompt_tokens: 1_000, ..Terms::default() };
    assert_eq!(per_mtok(&book, "our-model ", &usual), ["1", "1.5", "1.5", "0.25", "4"].map(str::to_owned));
    let long = Terms { prompt_tokens: 1_001, ..usual };
    assert_eq!(per_mtok(&book, "our-model", &long), ["2", "2", "2", "2", "8"].map(str::to_owned));
    let batch = Terms { tier: ServiceTier::Batch, ..long };
    assert_eq!(per_mtok(&book, "our-model", &batch)[4], "2.4");
    let rates = book.rates(&"our-model".into(), &Terms { date: Some(Date(2025, 12, 31)), ..usual }).unwrap();
    assert!(rates.before_first_row);
    let rates = book.rates(&"our-model".into(), &Terms { tier: ServiceTier::Flex, ..usual }).unwrap();
    assert!(rates.tier_at_standard_price);
}

#[test]
fn a_tier_has_a_factor_prices_or_both() {
    let book = mine(
        "[[price]]\nmodel = \"m\"\ninput = 2\nread = 1\noutput = 10\n\
         batch = { factor = 0.5, read = 0.9 }\nflex = { input = 3, output = 5 }\nfast = { factor = 1.5 }\n",
    );
    let of = |tier| Terms { tier, ..Terms::default() };
    assert_eq!(per_mtok(&book, "m", &of(ServiceTier::Batch)), ["1", "1", "1", "0.9", "5"].map(str::to_owned));
    assert_eq!(per_mtok(&book, "m", &of(ServiceTier::Flex)), ["3", "3", "3", "3", "5"].map(str::to_owned));
    let fast = Terms { fast: true, ..of(ServiceTier::Batch) };
    assert_eq!(per_mtok(&book, "m", &fast), ["1.5", "1.5", "1.5", "0.9", "7.5"].map(str::to_owned));
    // An override replaces the price of the row and a tier's own price; factors still apply.
    let book = book.with_override("m", Category::Read, "4".parse().unwrap());
    assert_eq!(per_mtok(&book, "m", &of(ServiceTier::Batch))[3], "2");
    assert_eq!(per_mtok(&book, "m", &of(ServiceTier::Flex))[3], "4");
}

#[test]
fn fees_of_a_file_replace_those_of_the_same_name() {
    let book =
        mine("[[fee]]\nvendor = \"anthropic\"\nname = \"web_search\"\nunit = \"request\"\nprice = 0.5\nper = 100\n");
    let cost = |model: &str| book.fee_line(&model.into(), "web_search", 1).unwrap().cost.to_string();
    assert_eq!(cost("claude-opus-5"), "0.005");
    assert_eq!(cost("gpt-5"), "0.01");
    assert_eq!(book.fees().len(), PriceBook::built_in().fees().len());
}

#[test]
fn a_price_that_depends_on_the_hour_reports_an_unknown_hour() {
    let book = PriceBook::built_in();
    let day = Some(Date(2026, 11, 2));
    let rates = book.rates(&"deepseek-flash".into(), &Terms { date: day, ..Terms::default() }).unwrap();
    assert!(rates.hour_unknown);
    let at = Some(instant("2026-11-02T02:00:00Z"));
    let rates = book.rates(&"deepseek-flash".into(), &Terms { date: day, at, ..Terms::default() }).unwrap();
    assert!(!rates.hour_unknown);
}

/// Text, line, column, and required parts of the message.
const BROKEN: [(&str, usize, usize, &str); 18] = [
    ("nonsense", 1, 9, "expected `=`"),
    ("[[price]]\nmodel = \"x\"\ninput = 1\noutpt = 2\n", 4, 1, "unknown field `outpt`, expected one of"),
    ("[[price]]\nmodel = \"x\"\ninput = 1\n", 1, 1, "missing field `output`"),
    ("[[price]]\ninput = 1\noutput = 1\n", 1, 1, "missing field `model`"),
    ("[[price]]\nmodel = \" \"\ninput = 1\noutput = 1\n", 2, 9, "expected a model"),
    ("[[price]]\nmodel = \"x\"\ninput = -1\noutput = 2\n", 3, 9, "`-1`, expected USD per million tokens"),
    ("[[price]]\nmodel = \"x\"\ninput = nan\noutput = 2\n", 3, 9, "expected USD per million tokens"),
    ("[[price]]\nmodel = \"x\"\ninput = 0.0000001\noutput = 2\n", 3, 9, "at most 6 decimals"),
    ("[[price]]\nmodel = \"ü\"\ninput = true\noutput = 2\n", 3, 9, "found `true`, expected USD"),
    ("[[price]]\nmodel = \"x\"\ninput = 1\noutput = 2\nfrom = \"2026-01-01\"\n", 5, 8, "expected"),
    ("[[price]]\nmodel = \"x\"\ninput = 1\noutput = 2\nfrom = 2026-01-01T00:00:00Z\n", 5, 8, "expected a day such as"),
    ("[[price]]\nmodel = \"x\"\ninput = 1\noutput = 2\nfrom = 2026-02-30\n", 5, 8, "day"),
    ("[[price]]\nmodel = \"x\"\ninput = 1\noutput = 2\nbatch = { read = 1 }\n", 5, 9, "expected `factor`, or both"),
    (
        "[[price]]\nmodel = \"x\"\ninput = 1\noutput = 2\npeak = { utc = [\"04:00-01:00\"], factor = 2 }\n",
        5,
        16,
        "found `04:00-01:00`",
    ),
    ("[[price]]\nmodel = \"x\"\ninput = 1\noutput = 2\npeak = { utc = [], factor = 2 }\n", 5, 8, "found no hours"),
    (
        "[[price]]\nmodel = \"x\"\ninput = 1\noutput = 2\n\n[[price]]\nmodel = \"X\"\ninput = 1\noutput = 3\n",
        7,
        9,
        "a second price of x without `from`",
    ),
    (
        "[[fee]]\nvendor = \"acme\"\nname = \"a\"\nunit = \"b\"\nprice = 1\n",
        2,
        10,
        "found `acme`, expected one of anthropic",
    ),
    ("[[fee]]\nvendor = \"xai\"\nname = \"a\"\nunit = \"b\"\nprice = 1\nper = 0\n", 6, 7, "found 0 units"),
];

#[test]
fn a_broken_book_reports_place_value_and_expectation() {
    for (text, line, column, holds) in BROKEN {
        let bad: BadBook = PriceBook::parse(text).unwrap_err();
        assert_eq!((bad.line, bad.column), (line, column), "{text}\n{bad}");
        assert!(bad.problem.contains(holds), "{text}\n{bad}");
        assert!(!bad.problem.contains('\n'), "{bad}");
    }
}

#[test]
fn hours_end_before_their_last_minute() {
    let span = Span { from_minute: 60, to_minute: 240 };
    let weekdays = Weekday::ALL[..5].to_vec();
    let hours = Hours { spans: vec![span], days: weekdays, except: vec![Date(2026, 11, 4)] };
    assert_eq!(hours.to_string(), "01:00-04:00 UTC, mon-fri, not on holidays");
    // 2026-11-02 is a Monday.
    let holds = |text: &str| hours.contain(instant(text));
    assert!(holds("2026-11-02T01:00:00Z") && holds("2026-11-02T03:59:59Z"));
    assert!(!holds("2026-11-02T00:59:59Z") && !holds("2026-11-02T04:00:00Z"));
    assert!(!holds("2026-11-01T02:00:00Z") && !holds("2026-11-04T02:00:00Z") && holds("2026-11-06T02:00:00Z"));
    assert_eq!(Weekday::of(Instant(0)), Weekday::Thu);
    assert_eq!(Weekday::of(instant("2026-11-22T12:00:00Z")), Weekday::Sun);
}

#[test]
fn factors_are_exact_and_print_all_digits() {
    let printed = [500_000, 1_000_000, 1_100_000, 2_500_000, 1, 0]
        .map(|millionths| Factor::from_millionths(millionths).to_string());
    assert_eq!(printed, ["0.5", "1", "1.1", "2.5", "0.000001", "0"].map(str::to_owned));
    assert_eq!(Factor::from_millionths(850_000).fraction(), (17, 20));
}

/// Model and month of a row, unique per row, and its content: prices and the parts it has.
type RandomRow = ((usize, u8), ([String; 3], [bool; 6]));

fn row_text(((model, month), ([input, read, output], flags)): RandomRow) -> String {
    let mut text = format!("[[price]]\nmodel = \"model-{model}\"\nfrom = 2026-{month:02}-01\n");
    text.push_str(&format!("input = {input}\noutput = {output}\n"));
    let parts = [
        format!("read = {read}\n"),
        format!("long = {{ above = 5000, input = {output}, output = {input}, write_1h = 3 }}\n"),
        format!("batch = {{ factor = 0.5, read = {read} }}\n"),
        format!("flex = {{ input = {read}, output = {input} }}\n"),
        "peak = { utc = [\"00:30-16:30\"], days = [\"tue\", \"sun\"], except = [2026-05-05], factor = 1.7 }\n"
            .to_owned(),
        "regional = 1.1\nnote = \"a \\\"quoted\\\" note\\n\\u0007 ü\"\nsource = \"s\\\\t\"\n".to_owned(),
    ];
    parts.into_iter().zip(flags).filter(|(_, given)| *given).for_each(|(part, _)| text.push_str(&part));
    text
}

/// The rows of a book of random prices as texts: three models, rows of different months.
fn rows() -> impl Strategy<Value = Vec<String>> {
    let price = || (0..50_000_000_u64).prop_map(|micro| format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000));
    let row = ([price(), price(), price()], any::<[bool; 6]>());
    let rows = prop::collection::btree_map((0..3_usize, 1..13_u8), row, 1..12);
    rows.prop_map(|rows| rows.into_iter().map(row_text).collect())
}

proptest! {
    #[test]
    fn printing_and_reading_changes_nothing(rows in rows()) {
        let book = PriceBook::parse(&rows.concat()).unwrap();
        let again = PriceBook::parse(&book.to_toml()).unwrap();
        prop_assert!(book == again, "{}", book.to_toml());
    }

    #[test]
    fn the_order_of_rows_does_not_matter(rows in rows(), seed in any::<u64>()) {
        let mut shuffled = rows.clone();
        let drawn = |row: &String| row.bytes().fold(seed, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        shuffled.sort_by_key(drawn);
        prop_assert!(PriceBook::parse(&rows.concat()).unwrap() == PriceBook::parse(&shuffled.concat()).unwrap());
    }

    #[test]
    fn discount_batch_and_region_commute(
        at in 0..MODELS.len(), millionths in 0..=1_000_000_u64, tokens in 0..10_000_000_u64, prompt in 0..400_000_u64,
    ) {
        let left = Factor::from_millionths(millionths);
        let (list, book) = (PriceBook::built_in(), PriceBook::built_in().with_remaining(left));
        let terms = Terms { tier: ServiceTier::Batch, regional: true, prompt_tokens: prompt, ..Terms::default() };
        let key = ModelKey::from(MODELS[at].model);
        if let Ok(rates) = list.rates(&key, &terms) {
            let discounted = book.rates(&key, &terms).unwrap();
            for category in Category::ALL {
                let (first, then) = (rates.per_token(category), discounted.per_token(category));
                let (above, below) = left.fraction();
                prop_assert_eq!(first.numerator * above * then.denominator, then.numerator * first.denominator * below);
                let exact = Money::of(tokens, first.numerator * above, first.denominator * below);
                prop_assert_eq!(discounted.line(category, tokens), exact);
            }
        }
    }

    #[test]
    fn a_cliff_is_exactly_at_its_boundary(at in 0..PriceBook::built_in().rows().len()) {
        let book = PriceBook::built_in();
        let row = &book.rows()[at];
        if let Some(long) = &row.long {
            let of = |prompt_tokens| Terms { date: row.valid_from, prompt_tokens, ..Terms::default() };
            for (prompt, prices) in [
                (0, &row.standard), (long.above_prompt_tokens, &row.standard),
                (long.above_prompt_tokens + 1, &long.prices), (u64::MAX, &long.prices),
            ] {
                let rates = book.rates(&row.model, &Terms { date: row.valid_from.or(Some(Date(1970, 1, 1))), ..of(prompt) }).unwrap();
                for category in Category::ALL {
                    prop_assert_eq!(rates.line(category, 1).picousd(), i128::from(prices.of(category)));
                }
            }
        }
    }

    #[test]
    fn any_text_is_a_book_or_an_error(text in "\\PC{0,60}", middle in "[a-z_ =0-9.\"\\[\\]{}\n-]{0,80}") {
        let _ = PriceBook::parse(&text);
        let _ = PriceBook::parse(&format!("[[price]]\nmodel = \"x\"\n{middle}\ninput = 1\noutput = 1\n"));
    }
}
