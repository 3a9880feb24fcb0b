//! The price book.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::pricing::{
    Category, Date, Factor, Fee, ModelKey, Money, PriceBook, PriceRow, Prices, Tier, div_half_even, usd_per_mtok,
};
use forkcast_sim::wire::model::{ModelId, Vendor};

use super::{Layout, title};
use crate::document::{Cell, Column, Document, Table, count};
use crate::price_tables::{Comparison, PriceDifference, PriceTable};

/// Most models that a line lists; others are counted.
const NAMES_MAX: usize = 6;

/// The price book.
pub fn prices(book: &PriceBook, layout: Layout) -> Document {
    let mut document = Document::default();
    document.title(format!("Price book of {}, list prices in USD per million tokens", book.version()));
    match layout {
        Layout::Single => document.table(flat(book)),
        Layout::Flat => {
            document.table(flat(book));
            document.table(fees(book.fees()));
        }
        Layout::Grouped => {
            let vendors = Vendor::ALL.into_iter().map(|vendor| (Some(vendor), title(vendor)));
            for (vendor, title) in vendors.chain([(None, "Other models")]) {
                group(book, vendor, title, &mut document);
            }
            document.aside(vec![
                "Without a price, written and cached tokens cost as input. Sources and notes: --format json."
                    .to_owned(),
            ]);
        }
    }
    document
}

/// One vendor for people.
fn group(book: &PriceBook, vendor: Option<Vendor>, title: &str, document: &mut Document) {
    let rows: Vec<&PriceRow> = book.rows().iter().filter(|row| row.model.vendor() == vendor).collect();
    if rows.is_empty() {
        return;
    }
    document.heading(title);
    let mut table = Table::new("prices", [lead(), categories()].concat());
    table.rows = rows.iter().flat_map(|row| priced(row)).collect();
    document.table(table);
    document.text(factors(&rows));
    let fees = book.fees().iter().filter(|fee| Some(fee.vendor) == vendor && fee.price > Money::ZERO);
    let per = |per: u32| if per == 1 { String::new() } else { format!("{} ", count(per.into())) };
    let fee =
        |fee: &Fee| format!("{}: {} USD per {}{}s", fee.name.replace('_', " "), fee.price, per(fee.per), fee.unit);
    let not_billed = book.not_billed().iter().filter(|entry| Some(entry.vendor) == vendor);
    document.aside(fees.map(fee).chain(not_billed.map(|entry| format!("not billed: {}", entry.what))).collect());
}

fn lead() -> Vec<Column> {
    vec![Column::left("Model", "model").kept(), Column::left("From", "valid_from"), Column::left("For", "for")]
}

fn categories() -> Vec<Column> {
    vec![
        Column::right("Input", "input_usd_per_mtok"),
        Column::right("Write", "write_5m_usd_per_mtok"),
        Column::right("1h write", "write_1h_usd_per_mtok"),
        Column::right("Read", "read_usd_per_mtok"),
        Column::right("Output", "output_usd_per_mtok"),
    ]
}

/// A row for each set of prices that is not a factor on another.
fn priced(row: &PriceRow) -> Vec<Vec<Cell>> {
    let mut cells = vec![named(row, String::new(), &row.standard)];
    if let Some(long) = &row.long {
        cells.push(named(row, format!("over {}", count(long.above_prompt_tokens)), &long.prices));
    }
    let tiers = [("fast mode", &row.fast), ("batch", &row.batch), ("flex", &row.flex), ("priority", &row.priority)];
    for (name, tier) in tiers {
        if let Some(tier) = tier.as_ref().filter(|tier| tier.own_picousd.iter().any(Option::is_some)) {
            cells.push(tier_row(row, name, tier));
        }
    }
    if let Some((_, tier)) = &row.peak {
        cells.push(tier_row(row, "peak hours", tier));
    }
    cells
}

fn named(row: &PriceRow, what: String, prices: &Prices) -> Vec<Cell> {
    let lead = vec![Cell::Text(row.model.to_string()), from(row), Cell::Text(what)];
    let prices = Category::ALL.map(|category| Cell::Price(usd_per_mtok(prices.of(category))));
    [lead, charged(prices).to_vec()].concat()
}

/// Without prices that only follow from others: a missing fee for writing, a missing price for cached tokens.
fn charged(prices: [Cell; 5]) -> [Cell; 5] {
    let [input, write_5m, write_1h, read, output] = prices;
    let unless = |same: bool, cell: Cell| if same { Cell::Empty } else { cell };
    let long = unless(write_1h == write_5m, write_1h);
    let short = unless(write_5m == input && long == Cell::Empty, write_5m);
    let read = unless(read == input, read);
    [input, short, long, read, output]
}

fn tier_row(row: &PriceRow, what: &str, tier: &Tier) -> Vec<Cell> {
    let lead = vec![Cell::Text(row.model.to_string()), from(row), Cell::text(what)];
    [lead, charged(Category::ALL.map(|category| served(row, tier, category))).to_vec()].concat()
}

fn from(row: &PriceRow) -> Cell {
    row.valid_from.map_or(Cell::Empty, |date| Cell::Text(date.to_string()))
}

/// The price in a tier of a prompt of ordinary length.
fn served(row: &PriceRow, tier: &Tier, category: Category) -> Cell {
    let own = tier.own_picousd[category as usize].map(usd_per_mtok);
    let standard = usd_per_mtok(row.standard.of(category));
    Cell::Price(own.unwrap_or_else(|| times(standard, tier.factor.unwrap_or(Factor::ONE))))
}

fn times(price: Money, factor: Factor) -> Money {
    let (above, below) = factor.fraction();
    Money::from_picousd(div_half_even(price.picousd() * above, below))
}

type FactorOf = fn(&PriceRow) -> Option<Factor>;

/// The object of a factor, and its place in a row.
const FACTORS: [(&str, FactorOf); 6] = [
    ("batch", |row| row.batch.as_ref().and_then(|tier| tier.factor)),
    ("flex", |row| row.flex.as_ref().and_then(|tier| tier.factor)),
    ("priority", |row| row.priority.as_ref().and_then(|tier| tier.factor)),
    ("fast mode", |row| row.fast.as_ref().and_then(|tier| tier.factor)),
    ("inference in the US", |row| row.us),
    ("regional endpoints", |row| row.regional),
];

/// A line for each kind of factor: `batch × 0.5`, with its models if not all have it; and one for peak hours.
fn factors(rows: &[&PriceRow]) -> Vec<String> {
    let models: Vec<&ModelKey> = models(rows.iter().copied());
    let mut lines: Vec<String> =
        FACTORS.iter().filter_map(|(what, of)| factor_line(what, *of, rows, &models)).collect();
    let mut hours: BTreeMap<String, Vec<&PriceRow>> = BTreeMap::new();
    for row in rows {
        if let Some((when, _)) = &row.peak {
            hours.entry(when.to_string()).or_default().push(row);
        }
    }
    for (when, rows) in hours {
        lines.push(format!("peak hours {when}: {}", names(&self::models(rows.into_iter()))));
    }
    lines
}

fn factor_line(what: &str, of: FactorOf, rows: &[&PriceRow], all: &[&ModelKey]) -> Option<String> {
    let mut found: BTreeMap<Factor, Vec<&PriceRow>> = BTreeMap::new();
    for row in rows {
        if let Some(factor) = of(row) {
            found.entry(factor).or_default().push(row);
        }
    }
    let parts: Vec<String> = found
        .into_iter()
        .map(|(factor, rows)| {
            let models = models(rows.into_iter());
            let which = if models.len() == all.len() { "all".to_owned() } else { names(&models) };
            format!("× {factor} for {which}")
        })
        .collect();
    (!parts.is_empty()).then(|| format!("{what} {}", parts.join(", ")))
}

/// Each model once.
fn models<'a>(rows: impl Iterator<Item = &'a PriceRow>) -> Vec<&'a ModelKey> {
    let mut models: Vec<&ModelKey> = rows.map(|row| &row.model).collect();
    models.dedup();
    models
}

fn names(models: &[&ModelKey]) -> String {
    if models.len() > NAMES_MAX {
        return format!("{} models", models.len());
    }
    models.iter().map(|model| model.to_string()).collect::<Vec<_>>().join(", ")
}

/// The book beside another project's table, on one day.
pub fn compared(book: &PriceBook, table: &PriceTable, comparison: &Comparison, day: Date) -> Document {
    let mut document = Document::default();
    let both = comparison.models.len();
    let agree = comparison.agreeing();
    document.title(format!(
        "Price book of {} beside {}, prices of {day}: {agree} of {both} models agree",
        book.version(),
        table.kind
    ));
    if !comparison.differences.is_empty() {
        document.table(differences(&comparison.differences));
    }
    let alone = |what: &str, models: &BTreeSet<ModelId>| {
        let names: Vec<String> = models.iter().map(ToString::to_string).collect();
        (!names.is_empty()).then(|| format!("only in {what}: {}", names.join(", ")))
    };
    let in_table = alone("the table", &comparison.in_table_alone);
    document.aside(in_table.into_iter().chain(alone("the book", &comparison.in_book_alone)).collect());
    document
}

fn differences(found: &[PriceDifference]) -> Table {
    Table::of("differences", found)
        .with(Column::left("Model", "model").kept(), |one| Cell::Text(one.model.to_string()))
        .with(Column::left("Price", "category"), |one| Cell::text(one.category.word()))
        .with(Column::right("Book", "book_usd_per_mtok"), |one| Cell::Price(one.book_usd_per_mtok))
        .with(Column::right("Table", "table_usd_per_mtok"), |one| Cell::Price(one.table_usd_per_mtok))
        .with(Column::left("Name in the table", "table_name"), |one| Cell::text(one.name.as_str()))
        .whole()
}

/// Everything for machines: a row for each row of the book and service tier, with the prices there.
fn flat(book: &PriceBook) -> Table {
    let mut columns = vec![
        Column::left("Vendor", "vendor"),
        Column::left("Model", "model").kept(),
        Column::left("From", "valid_from"),
        Column::left("Tier", "tier"),
        Column::right("Above", "above_prompt_tokens"),
    ];
    columns.extend(categories());
    columns.extend([
        Column::right("US", "us_factor"),
        Column::right("Regional", "regional_factor"),
        Column::left("Hours", "hours"),
        Column::left("Source", "source"),
        Column::left("Copied", "dated"),
        Column::left("Note", "note"),
    ]);
    Table { rows: book.rows().iter().flat_map(flat_rows).collect(), ..Table::new("prices", columns) }
}

fn flat_rows(row: &PriceRow) -> Vec<Vec<Cell>> {
    let of = |prices: &Prices| Category::ALL.map(|category| Cell::Price(usd_per_mtok(prices.of(category)))).to_vec();
    let in_tier = |tier: &Tier| Category::ALL.map(|category| served(row, tier, category)).to_vec();
    let mut found = vec![("standard", Cell::Empty, of(&row.standard), Cell::Empty)];
    if let Some(long) = &row.long {
        found.push(("long", Cell::Count(long.above_prompt_tokens), of(&long.prices), Cell::Empty));
    }
    let tiers = [("fast", &row.fast), ("batch", &row.batch), ("flex", &row.flex), ("priority", &row.priority)];
    for (name, tier) in tiers {
        if let Some(tier) = tier {
            found.push((name, Cell::Empty, in_tier(tier), Cell::Empty));
        }
    }
    if let Some((hours, tier)) = &row.peak {
        found.push(("peak", Cell::Empty, in_tier(tier), Cell::Text(hours.to_string())));
    }
    let factor = |factor: Option<Factor>| {
        factor.map_or(Cell::Empty, |factor| Cell::Price(times(Money::from_picousd(1_000_000_000_000), factor)))
    };
    let text = |text: &str| if text.is_empty() { Cell::Empty } else { Cell::text(text) };
    let cells = found.into_iter().map(|(tier, above, prices, hours)| {
        let mut cells = vec![
            row.model.vendor().map_or(Cell::Empty, |vendor| Cell::text(vendor.word())),
            Cell::Text(row.model.to_string()),
            from(row),
            Cell::text(tier),
            above,
        ];
        cells.extend(prices);
        cells.extend([factor(row.us), factor(row.regional), hours]);
        cells.extend([text(&row.source.tag), text(&row.source.dated), text(row.note.as_deref().unwrap_or_default())]);
        cells
    });
    cells.collect()
}

fn fees(fees: &[Fee]) -> Table {
    Table::of("fees", fees)
        .with(Column::left("Vendor", "vendor"), |fee| Cell::text(fee.vendor.word()))
        .with(Column::left("Fee", "name"), |fee| Cell::text(fee.name.as_str()))
        .with(Column::left("Unit", "unit"), |fee| Cell::text(fee.unit.as_str()))
        .with(Column::right("Price", "price_usd"), |fee| Cell::Price(fee.price))
        .with(Column::right("Per", "per"), |fee| Cell::Count(fee.per.into()))
        .with(Column::left("Source", "source"), |fee| Cell::text(fee.source.tag.as_str()))
        .with(Column::left("Copied", "dated"), |fee| Cell::text(fee.source.dated.as_str()))
        .with(Column::left("Note", "note"), |fee| fee.note.as_deref().map_or(Cell::Empty, Cell::text))
        .whole()
}
