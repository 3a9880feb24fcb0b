//! Price options.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use forkcast_reports::folder::reading::{RecordedBook, RecordedPrice};
use forkcast_scenarios::sweep::prices::{BookFile, PlannedPrice, Prices};
use forkcast_sim::pricing::{Category, Date, Factor, Money, PriceBook, Terms};

use super::TalkArgs;
use crate::clock;
use crate::exit::BadInput;

/// List prices of a day, and the user's own prices.
#[derive(Clone, Debug, ClapArgs)]
pub struct PriceArgs {
    /// Prices of this day (YYYY-MM-DD) instead of the day of each request
    #[arg(long = "prices", value_name = "DATE", value_parser = super::date, help_heading = "Prices")]
    pub day: Option<Date>,

    /// The user's own prices
    #[command(flatten)]
    own: OwnPriceArgs,
}

/// The user's own prices instead of list prices.
#[derive(Clone, Debug, ClapArgs)]
pub struct OwnPriceArgs {
    /// Your own price book, in the format of `forkcast list prices --out DIR`; it replaces the
    /// prices of its models
    #[arg(long = "price-book", value_name = "FILE", help_heading = "Prices")]
    books: Vec<PathBuf>,

    /// One price in USD per million tokens, such as my-model:input=2.50; CATEGORY is input, write_5m, write_1h, read or
    /// output
    #[arg(long = "price", value_name = "MODEL:CATEGORY=USD", value_parser = price, help_heading = "Prices")]
    prices: Vec<PlannedPrice>,

    /// Your discount on these prices, for all tokens
    #[arg(long, value_name = "PERCENT", value_parser = remaining, help_heading = "Prices")]
    discount: Option<Factor>,
}

impl PriceArgs {
    /// The user's prices of a recorded run.
    pub fn of_run(day: Option<Date>, book: &RecordedBook) -> Result<Self, String> {
        let one = |recorded: &RecordedPrice| {
            price(&format!("{}:{}={}", recorded.model, recorded.category, recorded.usd_per_mtok.get()))
        };
        let own = OwnPriceArgs {
            books: book.files.iter().map(PathBuf::from).collect(),
            prices: book.overrides.iter().map(one).collect::<Result<_, _>>()?,
            discount: book.discount_percent.as_ref().map(|percent| remaining(percent.get())).transpose()?,
        };
        Ok(Self { day, own })
    }

    /// Whether the user gave any of these options.
    pub fn is_given(&self) -> bool {
        self.day.is_some() || self.own.is_given()
    }

    /// The built-in book with the user's own prices. Old prices are mentioned, unless the user gave a day or own ones.
    pub fn book(&self, talk: &TalkArgs) -> anyhow::Result<PriceBook> {
        if self.day.is_some() { self.own.merged() } else { self.own.book(talk) }
    }
}

/// Prices older than this may have changed: in autumn 2026 some vendor changed one every two weeks.
const PRICES_FRESH_DAYS: u64 = 14;

impl OwnPriceArgs {
    const fn is_given(&self) -> bool {
        !self.books.is_empty() || !self.prices.is_empty() || self.discount.is_some()
    }

    /// The built-in book with the user's own prices. Old prices are mentioned, unless the user gave own ones.
    pub fn book(&self, talk: &TalkArgs) -> anyhow::Result<PriceBook> {
        let age_days = PriceBook::age_days(clock::now());
        if age_days > PRICES_FRESH_DAYS && !self.is_given() {
            let version = PriceBook::VERSION;
            talk.note(format_args!(
                "forkcast: the price book is {age_days} days old ({version}); `forkcast list prices --check FILE` compares it"
            ));
        }
        self.merged()
    }

    fn merged(&self) -> anyhow::Result<PriceBook> {
        let book = self.prices()?.book().map_err(|problem| {
            BadInput::error(format_args!("{problem}; `forkcast list prices --out DIR` writes an example"))
        })?;
        for PlannedPrice { model, .. } in &self.prices {
            book.rates(&model.as_str().into(), &Terms::default()).map_err(|unpriced| {
                BadInput::error(format_args!(
                    "--price: {unpriced}; a model without a price book needs all five categories"
                ))
            })?;
        }
        Ok(book)
    }

    /// The same, including the texts of its files, for machines without these files.
    pub fn planned(&self) -> anyhow::Result<Prices> {
        self.merged()?;
        self.prices()
    }

    fn prices(&self) -> anyhow::Result<Prices> {
        Ok(Prices {
            files: self.files()?,
            prices: self.prices.clone(),
            remaining_millionths: self.discount.map(Factor::millionths),
        })
    }

    fn files(&self) -> anyhow::Result<Vec<BookFile>> {
        let read = |path: &PathBuf| {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path)
                .map_err(|error| BadInput::error(format_args!("--price-book {name}: {error}")))?;
            Ok(BookFile { name, text })
        };
        self.books.iter().map(read).collect()
    }
}

/// A dollar per token: the most that a price book accepts.
const USD_PER_MTOK_MAX: Money = Money::from_picousd(1_000_000_000_000_000_000);

fn price(text: &str) -> Result<PlannedPrice, String> {
    let expected = || "expected MODEL:CATEGORY=USD such as my-model:input=2.50".to_owned();
    let (name, usd) = text.rsplit_once('=').ok_or_else(expected)?;
    let (model, word) = name.rsplit_once(':').filter(|(model, _)| !model.trim().is_empty()).ok_or_else(expected)?;
    let category = Category::named(word).ok_or_else(|| {
        let words = Category::ALL.map(Category::word).join(", ");
        format!("no category `{word}`, expected one of: {words}")
    })?;
    let usd_per_mtok: Money = usd.parse().map_err(|error: forkcast_sim::pricing::NotMoney| error.to_string())?;
    if usd_per_mtok < Money::ZERO {
        return Err(format!("`{usd}` is negative, expected a price of 0 or more"));
    }
    if usd_per_mtok > USD_PER_MTOK_MAX {
        return Err(format!("`{usd}` is more than {USD_PER_MTOK_MAX} USD per million tokens"));
    }
    let category = category.word().to_owned();
    Ok(PlannedPrice { model: model.to_owned(), category, usd_per_mtok: usd_per_mtok.to_string() })
}

/// A discount in percent, as the remaining factor.
fn remaining(text: &str) -> Result<Factor, String> {
    /// 10⁻¹² percent in a millionth.
    const PICOPERCENT_PER_MILLIONTH: i128 = 100_000_000;
    let percent: Option<Money> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    let picopercent = percent.map(Money::picousd).filter(|percent| percent % PICOPERCENT_PER_MILLIONTH == 0);
    let millionths = picopercent.and_then(|percent| u64::try_from(percent / PICOPERCENT_PER_MILLIONTH).ok());
    let left = millionths.and_then(|taken| Factor::ONE.millionths().checked_sub(taken));
    left.map(Factor::from_millionths)
        .ok_or_else(|| "expected a percentage from 0 to 100 with at most four decimals, such as 12.5".to_owned())
}
