//! Documents as parts of a page: headings, paragraphs, tables.

use forkcast_sim::outside::visible;
use maud::{Markup, html};

use super::{Cell, Document, Lie, Part, Table};

/// A document without its title, which is the heading of the whole page.
pub fn markup(document: &Document) -> Markup {
    html! {
        @for part in &document.parts {
            @match part {
                Part::Title(_) => {},
                Part::Heading(text) => h3 { (visible(text)) },
                Part::Text(lines) => p { (lines_of(lines)) },
                Part::Aside(lines) => p.aside { (lines_of(lines)) },
                Part::Verbatim(lines) => pre tabindex="0" {
                    @for line in lines {
                        (visible(&line.before)) mark { (visible(&line.mark)) } (visible(&line.after)) "\n"
                    }
                },
                Part::Table(table) => (table_of(table)),
            }
        }
    }
}

fn lines_of(lines: &[String]) -> Markup {
    html! {
        @for (at, line) in lines.iter().enumerate() {
            @if at > 0 { br; }
            (visible(line))
        }
    }
}

/// A narrow screen scrolls it by itself, also with the keyboard.
fn table_of(table: &Table) -> Markup {
    let (rows, left_out) = table.shown();
    let class = |at: usize| match table.columns.get(at).map(|column| column.lie) {
        Some(Lie::Right) => Some("number"),
        Some(Lie::Name) => Some("name"),
        Some(Lie::Wrap) => Some("wrap"),
        Some(Lie::Left) | None => None,
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.word.replace('_', " ")) {
            table data-table=(table.word) {
                thead { tr { @for (at, column) in table.columns.iter().enumerate() {
                    th scope="col" class=[class(at)] { (column.title) }
                } } }
                tbody { @for row in rows { tr { @for (at, cell) in row.iter().enumerate() {
                    td class=[class(at)] { (cell_of(cell)) }
                } } } }
            }
        }
        @if left_out > 0 { p.aside { (table.more(left_out)) } }
    }
}

fn cell_of(cell: &Cell) -> Markup {
    match cell {
        Cell::Text(text) => html! { bdi { (visible(text)) } },
        cell => html! { (visible(&cell.human())) },
    }
}
