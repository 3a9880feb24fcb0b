//! Price books as a fuzz target: `cargo test` replays `__fuzz__/books/crashes`. Random bytes with
//! `BOLERO_RANDOM_ITERATIONS=100000`; coverage-guided with `cargo bolero test -p forkcast-sim --test all
//! pricing::fuzzed::books`.

use bolero::check;
use forkcast_sim::pricing::{Category, ModelKey, PriceBook, Terms};
use forkcast_sim::wire::model::MODELS;

/// Property of any text: it is an error, or a book that reads back and never charges less for more.
fn holds(text: &str) {
    let Ok(book) = PriceBook::built_in().with_file("mine.toml", text) else { return };
    let printed = book.to_toml();
    assert_eq!(PriceBook::parse(&printed).unwrap().to_toml(), printed);
    for model in MODELS {
        let Ok(rates) = book.rates(&ModelKey::from(model.id), &Terms::default()) else { continue };
        assert!(Category::ALL.iter().all(|category| rates.line(*category, 1) <= rates.line(*category, 1 << 53)));
    }
}

#[test]
fn books() {
    check!(name = "books").with_iterations(0).for_each(|bytes: &[u8]| holds(&String::from_utf8_lossy(bytes)));
}
