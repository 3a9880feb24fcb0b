//! Compares the whole book with the published table, row by row.

use forkcast_sim::pricing::{Category, Date, ModelKey, Money, PriceBook, PriceRow, Prices, Tier};
use forkcast_sim::wire::model::Vendor;

/// Model, first day, kind of price, USD per million tokens (input, 5m write, 1h write, read, output), source.
const BOOK: &str = "
    claude-3-5-haiku   -           standard   0.8  1      1.6  0.08  4     PC-N
    claude-haiku-4-5   -           standard   1    1.25   2    0.1   5     PC-N
    claude-haiku-5-5   2026-10-07  standard   0.1  0.125  0.2  0.01  0.5   OV-H55
    claude-haiku-5-5   2026-10-07  >100000    0.5  0.625  1    0.05  2.5   OV-H55
    claude-3-5-sonnet  -           standard   3    3.75   6    0.3   15    docs.anthropic.com
    claude-3-7-sonnet  -           standard   3    3.75   6    0.3   15    docs.anthropic.com
    claude-sonnet-4    -           standard   3    3.75   6    0.3   15    PC-N
    claude-sonnet-4    -           >200000    6    7.5    12   0.6   22.5  PC-N
    claude-sonnet-4-5  -           standard   3    3.75   6    0.3   15    PC-N
    claude-sonnet-4-5  -           >200000    6    7.5    12   0.6   22.5  PC-N
    claude-sonnet-4-6  -           standard   3    3.75   6    0.3   15    PC-A
    claude-sonnet-4-6  -           >200000    6    7.5    12   0.6   22.5  PC-A
    claude-sonnet-4-6  2026-03-13  standard   3    3.75   6    0.3   15    PC-N
    claude-sonnet-5    -           standard   2    2.5    4    0.2   10    PC-N
    claude-sonnet-5-5  2026-09-28  standard   2    2.5    4    0.2   10    OV-S55
    claude-sonnet-5-5  2026-10-07  standard   2    2.5    4    0.1   10    kurofune/claudit
    claude-opus-4      -           standard   15   18.75  30   1.5   75    PC-N
    claude-opus-4-1    -           standard   15   18.75  30   1.5   75    PC-N
    claude-opus-4-5    -           standard   5    6.25   10   0.5   25    PC-N
    claude-opus-4-6    -           standard   5    6.25   10   0.5   25    PC-A
    claude-opus-4-6    -           >200000    10   12.5   20   1     37.5  PC-A
    claude-opus-4-6    2026-03-13  standard   5    6.25   10   0.5   25    PC-N
    claude-opus-4-7    -           standard   5    6.25   10   0.5   25    PC-N
    claude-opus-4-8    2026-05-28  standard   5    6.25   10   0.5   25    PC-N
    claude-opus-4-8    2026-05-28  fast       10   12.5   20   1     50    PC-N
    claude-opus-5      2026-07-24  standard   5    6.25   10   0.5   25    PC-N
    claude-opus-5      2026-07-24  fast       10   12.5   20   1     50    PC-N
    claude-opus-5-5    2026-09-22  standard   4    5      8    0.2   20    OV-O55
    claude-opus-5-5    2026-09-22  fast       8    10     16   0.4   40    OV-O55
    claude-mythos-5    -           standard   10   12.5   20   1     50    PC-N
    claude-mythos-5-1  -           standard   10   12.5   20   0.25  50    PC-N
    claude-mythos-5-2  2026-11-09  standard   8    10     16   0.2   40    WN-52
    claude-fable-5     2026-06-09  standard   10   12.5   20   1     50    PC-N
    claude-fable-5-1   -           standard   10   12.5   20   0.25  50    PC-N
    claude-fable-5-2   2026-11-09  standard   8    10     16   0.2   40    WN-52
";

fn printed(row: &PriceRow, kind: &str, picousd: [u64; 5]) -> Vec<String> {
    let from = row.valid_from.map_or("-".to_owned(), |date| date.to_string());
    let tag = row.source.tag.split(' ').next().unwrap_or_default();
    let per_mtok = picousd.map(|picousd| Money::from_picousd(i128::from(picousd) * 1_000_000).to_string());
    let mut cells = vec![row.model.to_string(), from, kind.to_owned()];
    cells.extend(per_mtok);
    cells.push(tag.to_owned());
    cells
}

fn own(tier: &Tier) -> [u64; 5] {
    tier.own_picousd.map(Option::unwrap)
}

#[test]
fn the_rows_of_claude_are_the_published_table() {
    let book = PriceBook::built_in();
    let of = |prices: &Prices| Category::ALL.map(|category| prices.of(category));
    let mut actual = Vec::new();
    for row in book.rows().iter().filter(|row| row.model.vendor() == Some(Vendor::Anthropic)) {
        actual.push(printed(row, "standard", of(&row.standard)));
        if let Some(tier) = &row.long {
            actual.push(printed(row, &format!(">{}", tier.above_prompt_tokens), of(&tier.prices)));
        }
        if let Some(tier) = &row.fast {
            actual.push(printed(row, "fast", own(tier)));
        }
    }
    let expected: Vec<Vec<String>> = BOOK
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect();
    assert_eq!(actual, expected);
}

/// Models whose first price with a source is newer or older than their first day: o3 cost more in its first weeks.
const OTHER_FIRST_PRICE: [&str; 1] = ["o3"];

#[test]
fn rows_are_sorted_and_begin_with_their_model() {
    let book = PriceBook::built_in();
    assert!(book.rows().is_sorted_by(|a, b| (&a.model, a.valid_from) < (&b.model, b.valid_from)));
    for rows in book.rows().chunk_by(|a, b| a.model == b.model) {
        let ModelKey::Known(model) = rows[0].model else { panic!("{} is in no table", rows[0].model) };
        let first_date = model.row().first_date.map(|(year, month, day)| Date(year, month, day));
        if !OTHER_FIRST_PRICE.contains(&model.row().id) {
            assert_eq!(rows[0].valid_from, first_date, "{model}");
        }
    }
}

#[test]
fn every_row_has_its_source_and_date() {
    let book = PriceBook::built_in();
    let dated = |tag: &str| match tag {
        "PC-N" => Some("2026-09-22..2026-09-28"),
        "PC-A" => Some("2026-08-21"),
        "OV-H55" | "OV-S55" | "OV-O55" => Some("2026-10"),
        "docs.anthropic.com pricing" => Some("2025-08..2025-09"),
        "WN-52" => Some("2026-11-09"),
        "kurofune/claudit v1.9.2" => Some("2026-10-24"),
        "OAI" => Some("2026-08-21..2026-09-03"),
        _ => None,
    };
    for row in book.rows() {
        assert!(!row.source.tag.is_empty() && row.source.dated.starts_with("202"), "{row:?}");
        assert!(dated(&row.source.tag).is_none_or(|dated| dated == row.source.dated), "{row:?}");
    }
}

#[test]
fn the_book_has_a_version() {
    assert_eq!(PriceBook::built_in().version(), "2026-11-23");
    assert!(PriceBook::default() == PriceBook::built_in() && !PriceBook::default().rows().is_empty());
    assert_eq!(PriceBook::built_in().overrides().count(), 0);
}

#[test]
fn categories_have_words_in_the_order_of_the_table() {
    let words = Category::ALL.map(|category| (category.word(), category.to_string()));
    let expected = ["input", "write_5m", "write_1h", "read", "output"].map(|word| (word, word.to_owned()));
    assert_eq!(words, expected);
}

#[test]
fn prices_are_found_by_category() {
    let prices = Prices::new(1, 2, 3, 4, 5);
    assert_eq!(Category::ALL.map(|category| prices.of(category)), [1, 2, 3, 4, 5]);
}

/// Vendor, name, unit, count, USD, source. PC-A pricing page (2026-08-21); OAI and docs.x.ai pricing pages (autumn 2026).
const FEES: [(Vendor, &str, &str, u64, &str, &str); 14] = [
    (Vendor::Anthropic, "web_search", "request", 1, "0.01", "PC-A"),
    (Vendor::Anthropic, "web_search", "request", 1_000, "10", "PC-A"),
    (Vendor::Anthropic, "web_search", "request", 0, "0", "PC-A"),
    (Vendor::Anthropic, "web_fetch", "request", 1_000, "0", "PC-A"),
    (Vendor::Anthropic, "code_execution", "second", 3_600, "0.05", "PC-A"),
    (Vendor::Anthropic, "code_execution", "second", 1, "0.000013888889", "PC-A"),
    (Vendor::Anthropic, "code_execution", "second", 9, "0.000125", "PC-A"),
    (Vendor::Anthropic, "managed_session", "second", 3_600, "0.08", "PC-A"),
    (Vendor::Anthropic, "managed_session", "second", 1, "0.000022222222", "PC-A"),
    (Vendor::Anthropic, "managed_session", "second", 45, "0.001", "PC-A"),
    (Vendor::OpenAi, "web_search", "request", 3, "0.03", "OAI"),
    (Vendor::OpenAi, "file_search", "request", 4, "0.01", "OAI"),
    (Vendor::Xai, "web_search", "request", 2, "0.01", "docs.x.ai pricing"),
    (Vendor::Xai, "code_execution", "request", 1_000, "5", "docs.x.ai pricing"),
];

#[test]
fn fees_have_a_table() {
    let book = PriceBook::built_in();
    for (vendor, name, unit, count, usd, tag) in FEES {
        let found = book.fees().iter().find(|fee| fee.vendor == vendor && fee.name == name);
        let actual = found.map(|fee| (fee.unit.as_str(), fee.cost(count).to_string(), fee.source.tag.as_str()));
        assert_eq!(actual, Some((unit, usd.to_owned(), tag)), "{count} of {name}");
    }
    assert_eq!(book.fees().len(), 8);
}

#[test]
fn a_fee_is_the_makers() {
    let book = PriceBook::built_in();
    let line =
        |model: &str| book.fee_line(&model.into(), "web_search", 5).map(|line| (line.count, line.cost.to_string()));
    assert_eq!(line("claude-opus-5"), Some((5, "0.05".to_owned())));
    assert_eq!(line("openai/gpt-5"), Some((5, "0.05".to_owned())));
    assert_eq!(line("gemini-2.5-flash"), None);
    assert_eq!(line("my-model"), None);
}
