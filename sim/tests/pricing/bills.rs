//! Bills: lines, sums, differences.

use forkcast_sim::pricing::{BillLine, Category, Date, ModelKey, Money, PriceBook, Rate, ServiceTier, Terms, Unpriced};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::{MODELS, ModelId};
use forkcast_sim::wire::{TOKENS_MAX, Usage};
use proptest::prelude::*;

const USAGE: Usage = Usage {
    input_tokens: 10,
    cache_read_input_tokens: 80_000,
    ephemeral_5m_input_tokens: 2_000,
    ephemeral_1h_input_tokens: 300,
    output_tokens: 512,
};

#[test]
fn a_bill_has_a_line_per_category_and_their_sum() -> Result<(), Unpriced> {
    let terms = Terms::of(&USAGE);
    let bill = PriceBook::built_in().rates(&ModelId::Opus48.into(), &terms)?.bill(&USAGE, &[]);
    let lines = bill.lines.map(|line| (line.category, line.tokens, line.cost.to_string()));
    let expected = [
        (Category::Input, 10, "0.00005"),
        (Category::Write5m, 2_000, "0.0125"),
        (Category::Write1h, 300, "0.003"),
        (Category::Read, 80_000, "0.04"),
        (Category::Output, 512, "0.0128"),
    ];
    assert_eq!(lines, expected.map(|(category, tokens, usd)| (category, tokens, usd.to_owned())));
    assert_eq!(bill.total.to_string(), "0.06835");
    Ok(())
}

#[test]
fn terms_of_a_usage_contain_its_whole_prompt() {
    let expected = Terms {
        date: None,
        at: None,
        prompt_tokens: 82_310,
        tier: ServiceTier::Standard,
        fast: false,
        geo_us: false,
        regional: false,
    };
    assert_eq!(Terms::of(&USAGE), expected);
}

#[test]
fn a_difference_is_the_extra_cost_in_another_category() -> Result<(), Unpriced> {
    let terms = Terms { tier: ServiceTier::Batch, ..Terms::default() };
    let rates = PriceBook::built_in().rates(&ModelId::Opus5.into(), &terms)?;
    let usd = |from, to, tokens| rates.difference(from, to, tokens).to_string();
    assert_eq!(usd(Category::Input, Category::Read, 1_000), "0.00225");
    assert_eq!(usd(Category::Write5m, Category::Read, 1_000), "0.002875");
    assert_eq!(usd(Category::Read, Category::Write1h, 1_000), "-0.00475");
    assert_eq!(usd(Category::Output, Category::Output, 1_000), "0");
    Ok(())
}

#[test]
fn a_rate_is_exact() -> Result<(), Unpriced> {
    let terms = Terms { tier: ServiceTier::Batch, geo_us: true, ..Terms::default() };
    let rates = PriceBook::built_in().rates(&ModelId::Opus5.into(), &terms)?;
    let Rate { numerator, denominator } = rates.per_token(Category::Write5m);
    assert!(denominator > 0);
    assert_eq!(numerator * 20, 6_250_000 * 11 * denominator);
    Ok(())
}

#[test]
fn the_largest_usage_neither_panics_nor_wraps() -> Result<(), Unpriced> {
    let usage = Usage {
        input_tokens: TOKENS_MAX,
        cache_read_input_tokens: TOKENS_MAX,
        ephemeral_5m_input_tokens: TOKENS_MAX,
        ephemeral_1h_input_tokens: TOKENS_MAX,
        output_tokens: TOKENS_MAX,
    };
    let bill = PriceBook::built_in().rates(&ModelId::Opus41.into(), &Terms::of(&usage))?.bill(&usage, &[]);
    let (input, output) = (15_000_000 * i128::from(TOKENS_MAX), 75_000_000 * i128::from(TOKENS_MAX));
    assert_eq!(
        bill.lines[0],
        BillLine { category: Category::Input, tokens: TOKENS_MAX, cost: Money::from_picousd(input) }
    );
    assert_eq!(bill.lines[4].cost, Money::from_picousd(output));
    assert_eq!(bill.total, Money::from_picousd(140_250_000 * i128::from(TOKENS_MAX)));
    Ok(())
}

fn terms() -> impl Strategy<Value = Terms> {
    let date = prop::option::of((2024..2028_i32, 1..=12_u8, 1..=28_u8));
    (date, any::<Option<u64>>(), 0..400_000_u64, 0..4_usize, any::<[bool; 3]>()).prop_map(|parts| {
        let (date, at, prompt_tokens, tier, [fast, geo_us, regional]) = parts;
        let date = date.map(|(year, month, day)| Date(year, month, day));
        let (at, tier) = (at.map(Instant), ServiceTier::ALL[tier]);
        Terms { date, at, prompt_tokens, tier, fast, geo_us, regional }
    })
}

proptest! {
    #[test]
    fn the_lines_sum_to_the_total(at in 0..MODELS.len(), terms in terms(), tokens in any::<[u32; 5]>()) {
        let [input_tokens, cache_read_input_tokens, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, output_tokens] =
            tokens.map(u64::from);
        let usage = Usage {
            input_tokens, cache_read_input_tokens, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, output_tokens,
        };
        let key = ModelKey::from(MODELS[at].model);
        if let Ok(rates) = PriceBook::built_in().rates(&key, &terms) {
            let bill = rates.bill(&usage, &[]);
            let sum: i128 = bill.lines.iter().map(|line| line.cost.picousd()).sum();
            prop_assert_eq!(bill.total.picousd(), sum);
            prop_assert_eq!(bill.lines.map(|line| line.tokens).iter().sum::<u64>(),
                usage.total_input_tokens() + usage.output_tokens);
        }
    }

    #[test]
    fn built_in_prices_are_whole_so_lines_split_exactly(
        at in 0..MODELS.len(), terms in terms(), a in any::<u32>(), b in any::<u32>(),
    ) {
        if let Ok(rates) = PriceBook::built_in().rates(&MODELS[at].model.into(), &terms) {
            let (a, b) = (u64::from(a), u64::from(b));
            for category in Category::ALL {
                prop_assert_eq!(rates.line(category, a) + rates.line(category, b), rates.line(category, a + b));
                let apart = rates.line(category, a) - rates.line(Category::Read, a);
                prop_assert_eq!(rates.difference(category, Category::Read, a), apart);
            }
        }
    }
}
