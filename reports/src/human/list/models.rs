//! The model table.

use forkcast_sim::cache::minimum_tokens;
use forkcast_sim::wire::model::{MODELS, Model, Vendor};

use super::{Layout, title};
use crate::document::{Cell, Column, Document, Table, TableOf};

/// The model table with the minimum of each model.
pub fn models(layout: Layout) -> Document {
    let mut document = Document::default();
    document.title("Models, in tokens; any common spelling is understood (dated, Bedrock, Vertex, Azure, OpenRouter)");
    match layout {
        Layout::Flat | Layout::Single => {
            let table = Table::of("models", MODELS);
            document
                .table(columns(table.with(Column::left("Vendor", "vendor"), |model| Cell::text(model.vendor.word()))));
        }
        Layout::Grouped => {
            for vendor in Vendor::ALL {
                document.heading(title(vendor));
                let models: Vec<Model> = MODELS.iter().filter(|model| model.vendor == vendor).copied().collect();
                document.table(columns(Table::of("models", &models)));
            }
        }
    }
    document
}

fn columns(table: TableOf<'_, Model>) -> Table {
    // Only minimums of the marked family of caches are known.
    let minimum = |model: &Model| match model.vendor {
        Vendor::Anthropic => Cell::Count(minimum_tokens(Some(model.model))),
        _ => Cell::Empty,
    };
    let first = |(year, month, day)| Cell::Text(format!("{year:04}-{month:02}-{day:02}"));
    let keeps = |keeps| Cell::text(if keeps { "kept" } else { "dropped" });
    table
        .with(Column::left("Model", "id").kept(), |model| Cell::text(model.id))
        .with(Column::left("Name", "name").optional(), |model| Cell::text(model.name))
        .with(Column::right("Window", "window_tokens"), |model| model.window_tokens.map_or(Cell::Empty, Cell::Count))
        .with(Column::right("Cached from", "minimum_tokens"), minimum)
        .with(Column::left("Tokenizer", "tokenizer").optional(), |model| Cell::text(model.tokenizer.word()))
        .with(Column::left("Thinking", "keeps_thinking"), |model| model.keeps_thinking.map_or(Cell::Empty, keeps))
        .with(Column::left("Since", "first_date"), |model| model.first_date.map_or(Cell::Empty, first))
        .whole()
}
