//! The model table.

use forkcast_sim::cache::minimum_tokens;
use forkcast_sim::wire::model::{MODELS, Model, Vendor};

use super::{Layout, title};
use crate::document::{Cell, Column, Document, Table};

/// The model table with the minimum of each model.
pub fn models(layout: Layout) -> Document {
    let mut document = Document::default();
    document.title("Models, in tokens; any common spelling is understood (dated, Bedrock, Vertex, Azure, OpenRouter)");
    match layout {
        Layout::Flat | Layout::Single => {
            let rows = MODELS.iter().map(|row| [vec![Cell::text(row.vendor.word())], model(row)].concat());
            let columns = [vec![Column::left("Vendor", "vendor")], columns()].concat();
            document.table(Table { rows: rows.collect(), ..Table::new("models", columns) });
        }
        Layout::Grouped => {
            for vendor in Vendor::ALL {
                document.heading(title(vendor));
                let rows = MODELS.iter().filter(|row| row.vendor == vendor).map(model);
                document.table(Table { rows: rows.collect(), ..Table::new("models", columns()) });
            }
        }
    }
    document
}

fn columns() -> Vec<Column> {
    vec![
        Column::left("Model", "id").kept(),
        Column::left("Name", "name").optional(),
        Column::right("Window", "window_tokens"),
        Column::right("Cached from", "minimum_tokens"),
        Column::left("Tokenizer", "tokenizer").optional(),
        Column::left("Thinking", "keeps_thinking"),
        Column::left("Since", "first_date"),
    ]
}

fn model(model: &Model) -> Vec<Cell> {
    // Only minimums of the marked family of caches are known.
    let marked = model.vendor == Vendor::Anthropic;
    let first = model.first_date.map(|(year, month, day)| format!("{year:04}-{month:02}-{day:02}"));
    vec![
        Cell::text(model.id),
        Cell::text(model.name),
        model.window_tokens.map_or(Cell::Empty, Cell::Count),
        if marked { Cell::Count(minimum_tokens(Some(model.model))) } else { Cell::Empty },
        Cell::text(model.tokenizer.word()),
        model.keeps_thinking.map_or(Cell::Empty, |keeps| Cell::text(if keeps { "kept" } else { "dropped" })),
        first.map_or(Cell::Empty, Cell::Text),
    ]
}
