//! Prices set by the user instead of the book's, and models without prices.

use forkcast_sim::pricing::{Category, Date, ModelKey, Money, PriceBook, ServiceTier, Terms, Unpriced};
use forkcast_sim::wire::model::ModelId;
use forkcast_sim::wire::{TOKENS_MAX, Usage};

const fn usd(cents: i128) -> Money {
    Money::from_picousd(cents * 10_000_000_000)
}

#[test]
fn models_without_a_row_are_unpriced() {
    let book = PriceBook::built_in();
    for model in ["claude-3-opus-20240229", "claude-3-haiku", "claude-mythos-preview", "qwen3-max", "", "opus"] {
        let key = ModelKey::from(model);
        let expected = Unpriced { model: key.clone(), missing: Category::ALL.to_vec() };
        assert_eq!(book.rates(&key, &Terms::default()), Err(expected), "{model}");
    }
}

#[test]
fn unpriced_reports_model_and_categories() {
    let book = PriceBook::built_in().with_override("My-Model", Category::Input, usd(100));
    let message = |model: &str| book.rates(&model.into(), &Terms::default()).map_err(|error| error.to_string());
    assert_eq!(message("my-model"), Err("no price for my-model (write_5m, write_1h, read, output)".to_owned()));
    let all = "no price for claude-3-opus (input, write_5m, write_1h, read, output)";
    assert_eq!(message("claude-3-opus-20240229"), Err(all.to_owned()));
}

#[test]
fn an_override_replaces_one_price_at_every_date_length_and_speed() -> Result<(), Unpriced> {
    let book = PriceBook::built_in().with_override("us.anthropic.claude-haiku-5-5-v1:0", Category::Input, usd(300));
    let key = ModelKey::from(ModelId::Haiku55);
    for terms in [
        Terms::default(),
        Terms { prompt_tokens: 100_001, ..Terms::default() },
        Terms { fast: true, ..Terms::default() },
        Terms { date: Some(Date(2020, 1, 1)), ..Terms::default() },
    ] {
        assert_eq!(book.rates(&key, &terms)?.line(Category::Input, 1_000).to_string(), "0.003", "{terms:?}");
    }
    let rates = book.rates(&key, &Terms { prompt_tokens: 100_001, ..Terms::default() })?;
    assert_eq!(rates.line(Category::Output, 1_000).to_string(), "0.0025");
    assert!(rates.row.is_some());
    Ok(())
}

#[test]
fn batch_and_region_apply_to_an_override_of_a_known_model() -> Result<(), Unpriced> {
    let book = PriceBook::built_in().with_override(ModelId::Opus5, Category::Read, usd(100));
    let terms = Terms { tier: ServiceTier::Batch, geo_us: true, ..Terms::default() };
    assert_eq!(book.rates(&ModelId::Opus5.into(), &terms)?.line(Category::Read, 1_000_000).to_string(), "0.55");
    Ok(())
}

#[test]
fn the_last_override_of_a_price_wins_and_others_stay() -> Result<(), Unpriced> {
    let book = PriceBook::built_in()
        .with_override(ModelId::Opus5, Category::Read, usd(100))
        .with_override("claude-opus-5", Category::Output, usd(700))
        .with_override("anthropic/claude-opus-5", Category::Read, usd(200));
    let rates = book.rates(&ModelId::Opus5.into(), &Terms::default())?;
    let lines = Category::ALL.map(|category| rates.line(category, 1_000_000).to_string());
    assert_eq!(lines, ["5", "6.25", "10", "2", "7"].map(str::to_owned));
    let other = book.rates(&ModelId::Opus48.into(), &Terms::default())?;
    assert_eq!(other.line(Category::Read, 1_000_000).to_string(), "0.5");
    Ok(())
}

fn priced(model: &str) -> PriceBook {
    let cents = [100, 0, 300, 25, 1_000];
    Category::ALL
        .into_iter()
        .zip(cents)
        .fold(PriceBook::built_in(), |book, (category, cents)| book.with_override(model, category, usd(cents)))
}

#[test]
fn five_overrides_price_a_model_that_has_no_row() -> Result<(), Unpriced> {
    let usage = Usage {
        input_tokens: 1_000_000,
        cache_read_input_tokens: 4_000_000,
        ephemeral_5m_input_tokens: 9,
        ephemeral_1h_input_tokens: 2_000_000,
        output_tokens: 100_000,
    };
    for (overridden, asked) in [("My-Model ", "my-model"), ("claude-3-opus", "claude-3-opus-20240229")] {
        // Batch or regional prices of such a model are unknown, so its prices are used as given.
        let terms = Terms { tier: ServiceTier::Batch, fast: true, geo_us: true, regional: true, ..Terms::of(&usage) };
        let rates = priced(overridden).rates(&asked.into(), &terms)?;
        let bill = rates.bill(&usage, &[]);
        let lines = bill.lines.map(|line| line.cost.to_string());
        assert_eq!(lines, ["1", "0", "6", "1", "1"].map(str::to_owned));
        assert_eq!(bill.total.to_string(), "9");
        assert_eq!((rates.row, rates.before_first_row, rates.fast_at_standard_price), (None, false, false));
    }
    Ok(())
}

#[test]
fn prices_that_are_no_whole_number_per_token_round_once_per_line() -> Result<(), Unpriced> {
    let half_picousd_per_token = Money::from_picousd(500_000);
    let book = PriceBook::built_in().with_override(ModelId::Opus5, Category::Read, half_picousd_per_token);
    let rates = book.rates(&ModelId::Opus5.into(), &Terms::default())?;
    let picousd = [1, 2, 3, 5, 7].map(|tokens| rates.line(Category::Read, tokens).picousd());
    assert_eq!(picousd, [0, 1, 2, 2, 4]);
    Ok(())
}

#[test]
fn a_price_too_large_for_sums_is_unpriced() -> Result<(), Unpriced> {
    let terms = Terms { geo_us: true, ..Terms::default() };
    let usd = |usd: i128| Money::from_picousd(usd * 1_000_000_000_000);
    let priced = |price: Money| {
        PriceBook::built_in().with_override(ModelId::Opus5, Category::Read, price).rates(&ModelId::Opus5.into(), &terms)
    };
    for absurd in [Money::from_picousd(i128::MAX), Money::from_picousd(i128::MIN), usd(10_000_000_000)] {
        assert_eq!(priced(absurd).unwrap_err().missing, Category::ALL);
    }
    // The highest price that an option accepts, with all decimals, for the maximum tokens of a request.
    let rates = priced(usd(1_000_000) - Money::from_picousd(1))?;
    assert!(rates.line(Category::Read, TOKENS_MAX) > usd(10_000_000_000));
    assert!(rates.difference(Category::Input, Category::Read, 4 * TOKENS_MAX) < Money::ZERO);
    Ok(())
}

#[test]
fn overrides_are_listed_in_order() {
    let book = PriceBook::built_in()
        .with_override("zeta", Category::Output, usd(3))
        .with_override(ModelId::Opus5, Category::Output, usd(2))
        .with_override(ModelId::Opus5, Category::Input, usd(1));
    let listed: Vec<_> =
        book.overrides().map(|(model, category, price)| (model.to_string(), category, price)).collect();
    let expected = [
        ("claude-opus-5".to_owned(), Category::Input, usd(1)),
        ("claude-opus-5".to_owned(), Category::Output, usd(2)),
        ("zeta".to_owned(), Category::Output, usd(3)),
    ];
    assert_eq!(listed, expected);
    assert!(book != PriceBook::built_in());
}

#[test]
fn a_key_is_the_model_or_otherwise_the_name() {
    assert_eq!(ModelKey::from("Claude-Opus-4-8[1m]"), ModelKey::Known(ModelId::Opus48));
    assert_eq!(ModelKey::from(ModelId::Opus48), ModelKey::Known(ModelId::Opus48));
    assert_eq!(ModelKey::from(" Qwen3-Max\n"), ModelKey::Named("qwen3-max".to_owned()));
    assert_eq!(ModelKey::from("qwen3-max").to_string(), "qwen3-max");
    assert_eq!(ModelKey::from("claude-fable-5").to_string(), "claude-fable-5");
}
