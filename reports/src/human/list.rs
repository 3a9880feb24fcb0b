//! What is built in: models, prices, cache rules, formats.

use forkcast_replay::input::FORMATS;
use forkcast_sim::cache::{LifetimeClock, PRESETS, Refresh, Rules, VisibleFrom, minimum_tokens};
use forkcast_sim::pricing::{Category, Money, PriceBook, Prices, Row};
use forkcast_sim::wire::model::{MODELS, Model, Vendor};

use crate::document::{Cell, Column, Document, Table};

/// Prices are kept per token and read per million tokens.
const TOKENS_PER_MTOK: i128 = 1_000_000;

/// The model table with the minimum of each model.
pub fn models() -> Document {
    let mut table = Table::new(
        "models",
        vec![
            Column::left("Vendor", "vendor"),
            Column::left("Model", "id"),
            Column::left("Name", "name"),
            Column::right("Window", "window_tokens"),
            Column::right("Cached from", "minimum_tokens"),
            Column::left("Tokenizer", "tokenizer"),
            Column::left("Keeps thinking", "keeps_thinking"),
            Column::left("Since", "first_date"),
        ],
    );
    table.rows = MODELS.iter().map(model).collect();
    let mut document = Document::default();
    document
        .title("Models, in tokens; any common spelling of them is understood (dated ids, Bedrock, Vertex, OpenRouter)");
    document.table(table);
    document
}

fn model(model: &Model) -> Vec<Cell> {
    // Only the marked family of caches has its minimums here.
    let marked = model.vendor == Vendor::Anthropic;
    let minimum = if marked { Cell::Count(minimum_tokens(Some(model.model))) } else { Cell::Empty };
    let first = model.first_date.map(|(year, month, day)| format!("{year:04}-{month:02}-{day:02}"));
    vec![
        Cell::text(model.vendor.word()),
        Cell::text(model.id),
        Cell::text(model.name),
        model.window_tokens.map_or(Cell::Empty, Cell::Count),
        minimum,
        Cell::text(model.tokenizer.word()),
        model.keeps_thinking.map_or(Cell::Empty, |keeps| Cell::text(yes(keeps))),
        first.map_or(Cell::Empty, Cell::Text),
    ]
}

const fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}

/// The price book.
pub fn prices() -> Document {
    let book = PriceBook::built_in();
    let mut table = Table::new(
        "prices",
        vec![
            Column::left("Model", "model"),
            Column::left("From", "valid_from"),
            Column::left("For", "tier"),
            Column::right("Input", "input_usd_per_mtok"),
            Column::right("5m write", "write_5m_usd_per_mtok"),
            Column::right("1h write", "write_1h_usd_per_mtok"),
            Column::right("Read", "read_usd_per_mtok"),
            Column::right("Output", "output_usd_per_mtok"),
            Column::left("Source", "source").optional(),
            Column::left("Copied", "dated").optional(),
        ],
    );
    table.rows = book.rows().iter().flat_map(tiers).collect();
    let mut document = Document::default();
    document.title(format!("Price book of {}, in USD per million tokens; batches cost half", book.version()));
    document.table(table);
    document
}

/// A row for each set of prices of a row of the book.
fn tiers(row: &Row) -> Vec<Vec<Cell>> {
    let long = row.long.as_ref().map(|tier| (format!("prompts over {}", tier.above_prompt_tokens), &tier.prices));
    let fast = row.fast.as_ref().map(|prices| ("fast mode".to_owned(), prices));
    let standard = Some((String::new(), &row.standard));
    standard.into_iter().chain(long).chain(fast).map(|(tier, prices)| tier_row(row, tier, prices)).collect()
}

fn tier_row(row: &Row, tier: String, prices: &Prices) -> Vec<Cell> {
    let mut cells = vec![
        Cell::Text(row.model.to_string()),
        row.valid_from.map_or(Cell::Empty, |date| Cell::Text(date.to_string())),
        Cell::Text(tier),
    ];
    let price = |category: Category| Money::from_picousd(i128::from(prices.of(category)) * TOKENS_PER_MTOK);
    cells.extend(Category::ALL.map(|category| Cell::Price(price(category))));
    cells.extend([Cell::text(row.source.tag), Cell::text(row.source.dated)]);
    cells
}

/// The presets of cache rules, the default first.
pub fn profiles() -> Document {
    let mut table = Table::new(
        "profiles",
        vec![
            Column::left("Preset", "name"),
            Column::right("Look-back", "look_back_positions"),
            Column::left("Counts", "look_back_counts"),
            Column::left("A hit refreshes", "refresh").optional(),
            Column::left("Readable from", "visible_from").optional(),
            Column::left("Lifetime from", "lifetime_from").optional(),
            Column::right("Slack, s", "slack_seconds"),
            Column::wrap("Source", "source"),
        ],
    );
    table.rows = PRESETS.iter().map(profile).collect();
    let mut document = Document::default();
    document.title("Presets of the marked family; recordings before 2026-09-22 take the last, others the first");
    document.table(table);
    document
}

fn profile(rules: &Rules) -> Vec<Cell> {
    let refresh = match rules.refresh {
        Refresh::Chain => "all shorter ones",
        Refresh::HitOnly => "itself",
    };
    let visible = match rules.visible_from {
        VisibleFrom::FirstByte => "first byte",
        VisibleFrom::RequestStart => "request",
        VisibleFrom::ResponseEnd => "end of answer",
    };
    let clock = match rules.lifetime_clock {
        LifetimeClock::RequestStart => "request",
        LifetimeClock::ResponseEnd => "end of answer",
    };
    vec![
        Cell::text(rules.name),
        Cell::Count(u64::from(rules.look_back.reach)),
        Cell::text(rules.look_back.count.name()),
        Cell::text(refresh),
        Cell::text(visible),
        Cell::text(clock),
        Cell::Count(rules.slack.as_millis() / 1_000),
        Cell::text(rules.source),
    ]
}

/// The formats of recordings.
pub fn formats() -> Document {
    let mut table = Table::new(
        "formats",
        vec![
            Column::left("Format", "name"),
            Column::wrap("What it is", "what"),
            Column::wrap("Recognised by", "detected_by"),
        ],
    );
    let row = |format: &forkcast_replay::input::FormatInfo| {
        vec![Cell::text(format.name), Cell::text(format.what), Cell::text(format.detected_by)]
    };
    table.rows = FORMATS.iter().map(row).collect();
    let mut document = Document::default();
    document.title("Formats of recordings, found out by content; gzip, zlib and zstd are unpacked");
    document.table(table);
    document
}

/// The JSON Schemas.
pub fn schemas() -> Document {
    let mut table = Table::new(
        "schemas",
        vec![
            Column::left("Format", "name"),
            Column::right("Version", "version"),
            Column::left("File", "file"),
            Column::wrap("What it holds", "what"),
        ],
    );
    for schema in crate::format::schemas::schemas() {
        let (name, version) = schema.name.split_once('/').unwrap_or((schema.name, ""));
        table.rows.push(vec![
            Cell::text(name),
            version.parse().map_or(Cell::Empty, Cell::Count),
            Cell::Text(schema.file_name()),
            Cell::Text(schema.description()),
        ]);
    }
    let mut document = Document::default();
    document.title("JSON Schemas of what --format json and --out write; `forkcast list schemas --out DIR` writes them");
    document.table(table);
    document
}
