//! Prints a price book in the format of [`read`](super::read).

use crate::outside::toml_string;
use crate::pricing::book::PriceBook;
use crate::pricing::fees::Fee;
use crate::pricing::hours::{Hours, Span, Weekday};
use crate::pricing::money::Money;
use crate::pricing::rates::Category;
use crate::pricing::row::{PriceRow, Prices, Tier};

const HEAD: &str = "\
# A price book of forkcast: USD per million tokens, list prices, days and hours in UTC.
#
# forkcast replay --price-book FILE uses FILE for the models it names, and the built-in book for all others.
# Defaults: write_5m costs as input (no fee for writing), write_1h as write_5m, read as input (no price for cached
# tokens). write_5m is the short lifetime, including OpenAI's 30 minutes.
# long holds for the whole request if the prompt is longer; batch, flex, priority and fast (Anthropic's speed) are a
# factor, prices, or both; peak are hours with other prices; us and regional are factors of places.
";

pub(super) fn book(book: &PriceBook) -> String {
    let mut text = HEAD.to_owned();
    for row in book.rows() {
        text.push_str(&price(row));
    }
    for fee in book.fees() {
        text.push_str(&self::fee(fee));
    }
    for entry in book.not_billed() {
        text.push_str(&format!(
            "\n[[not_billed]]\nvendor = \"{}\"\nwhat = {}\n",
            entry.vendor,
            toml_string(&entry.what)
        ));
    }
    text
}

fn price(row: &PriceRow) -> String {
    let mut text = format!("\n[[price]]\nmodel = {}\n", toml_string(&row.model.to_string()));
    if let Some(day) = row.valid_from {
        text.push_str(&format!("from = {day}\n"));
    }
    for part in prices(&row.standard) {
        text.push_str(&format!("{part}\n"));
    }
    if let Some(long) = &row.long {
        let parts = prices(&long.prices).join(", ");
        text.push_str(&format!("long = {{ above = {}, {parts} }}\n", long.above_prompt_tokens));
    }
    let tiers = [("fast", &row.fast), ("batch", &row.batch), ("flex", &row.flex), ("priority", &row.priority)];
    for (name, tier) in tiers {
        if let Some(tier) = tier {
            text.push_str(&format!("{name} = {{ {} }}\n", tier_parts(tier).join(", ")));
        }
    }
    if let Some((hours, tier)) = &row.peak {
        let parts = [hours_parts(hours), tier_parts(tier)].concat();
        text.push_str(&format!("peak = {{ {} }}\n", parts.join(", ")));
    }
    for (name, factor) in [("us", row.us), ("regional", row.regional)] {
        if let Some(factor) = factor {
            text.push_str(&format!("{name} = {factor}\n"));
        }
    }
    text.push_str(&source(&row.source.tag, &row.source.dated, row.note.as_deref()));
    text
}

fn source(tag: &str, dated: &str, note: Option<&str>) -> String {
    let lines = [("source", tag), ("dated", dated), ("note", note.unwrap_or_default())];
    let given = lines.into_iter().filter(|(_, text)| !text.is_empty());
    given.map(|(name, text)| format!("{name} = {}\n", toml_string(text))).collect()
}

/// The prices, without those that reading fills in.
fn prices(prices: &Prices) -> Vec<String> {
    let filled = Prices::filled(prices.input_picousd, None, None, None, prices.output_picousd);
    let short = Prices { write_1h_picousd: prices.write_5m_picousd, ..filled };
    let left_out = |category: Category| match category {
        Category::Input | Category::Output => false,
        Category::Write1h => prices.of(category) == short.of(category),
        Category::Write5m | Category::Read => prices.of(category) == filled.of(category),
    };
    let written = Category::ALL.into_iter().filter(|category| !left_out(*category));
    written.map(|category| format!("{category} = {}", per_mtok(prices.of(category)))).collect()
}

fn tier_parts(tier: &Tier) -> Vec<String> {
    let own = Category::ALL.into_iter().zip(tier.own_picousd);
    let own = own.filter_map(|(category, own)| Some(format!("{category} = {}", per_mtok(own?))));
    tier.factor.map(|factor| format!("factor = {factor}")).into_iter().chain(own).collect()
}

fn hours_parts(hours: &Hours) -> Vec<String> {
    let list = |entries: Vec<String>| format!("[{}]", entries.join(", "));
    let spans = hours.spans.iter().map(Span::to_string);
    let mut parts = vec![format!("utc = {}", list(spans.map(|span| toml_string(&span)).collect()))];
    if hours.days != Weekday::ALL {
        parts.push(format!("days = {}", list(hours.days.iter().map(|day| toml_string(day.word())).collect())));
    }
    if !hours.except.is_empty() {
        parts.push(format!("except = {}", list(hours.except.iter().map(|day| day.to_string()).collect())));
    }
    parts
}

fn fee(fee: &Fee) -> String {
    let vendor = toml_string(fee.vendor.word());
    let name = toml_string(&fee.name);
    let unit = toml_string(&fee.unit);
    let mut text = format!("\n[[fee]]\nvendor = {vendor}\nname = {name}\nunit = {unit}\nprice = {}\n", fee.price);
    text.push_str(&format!("per = {}\n", fee.per));
    text.push_str(&source(&fee.source.tag, &fee.source.dated, fee.note.as_deref()));
    text
}

/// USD per million tokens from 10⁻¹² USD per token.
fn per_mtok(picousd: u64) -> Money {
    Money::from_picousd(i128::from(picousd) * 1_000_000)
}
