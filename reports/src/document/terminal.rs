//! Text for a terminal: aligned columns, no frames, and some colour.

use std::io::{self, Write};

use comfy_table::{Attribute, CellAlignment, ContentArrangement};
use unicode_width::UnicodeWidthStr;

use forkcast_sim::outside::{inert_line, visible};

use super::{Document, Lie, Marked, Part, Table, layout};

/// The capabilities of the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Columns.
    pub width: u16,
    /// Whether to use bold, dim and colour.
    pub colour: bool,
}

impl Default for Look {
    /// A pipe.
    fn default() -> Self {
        Self { width: WIDTH_DEFAULT, colour: false }
    }
}

/// The default width: fits the widest table with its suggestions on one or two lines.
const WIDTH_DEFAULT: u16 = 120;

/// The indentation of tables.
const INDENT: &str = "  ";

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const INVERSE: &str = "\u{1b}[7m";
const PLAIN: &str = "\u{1b}[0m";

impl Look {
    fn styled(self, style: &str, text: &str) -> String {
        if self.colour && !style.is_empty() && !text.is_empty() {
            format!("{style}{text}{PLAIN}")
        } else {
            text.to_owned()
        }
    }
}

/// Writes a document.
///
/// # Errors
/// When the target cannot be written.
pub fn write(document: &Document, look: Look, target: &mut dyn Write) -> io::Result<()> {
    let mut close = true;
    for part in &document.parts {
        if !close {
            writeln!(target)?;
        }
        // The content of a heading follows it without an empty line.
        close = matches!(part, Part::Heading(_));
        match part {
            Part::Title(text) | Part::Heading(text) => {
                headline(&visible(text), look, target)?;
            }
            Part::Text(lines) => paragraph(lines, "", look, target)?,
            Part::Aside(lines) => paragraph(lines, DIM, look, target)?,
            Part::Verbatim(lines) => verbatim(lines, look, target)?,
            Part::Table(table) => write_table(table, look, target)?,
        }
    }
    Ok(())
}

fn headline(text: &str, look: Look, target: &mut dyn Write) -> io::Result<()> {
    let width = usize::from(look.width);
    let room = if text.width() <= width { width } else { width.saturating_sub(INDENT.len()) };
    for (at, piece) in layout::wrapped(text, room).into_iter().enumerate() {
        let hang = if at == 0 { "" } else { INDENT };
        writeln!(target, "{hang}{}", look.styled(BOLD, &inert_line(&piece)))?;
    }
    Ok(())
}

fn paragraph(lines: &[String], style: &str, look: Look, target: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        let room = usize::from(look.width).saturating_sub(2 * INDENT.len());
        for (at, piece) in layout::wrapped(&visible(line), room).into_iter().enumerate() {
            let hang = if at == 0 { "" } else { INDENT };
            let piece = look.styled(style, &inert_line(&piece));
            writeln!(target, "{INDENT}{hang}{piece}")?;
        }
    }
    Ok(())
}

/// The bytes, with the marked stretch inverted or, without colour, with carets beneath it. On a narrow screen what is
/// far from the mark is left out, the same of all lines, so that they stay below one another.
fn verbatim(lines: &[Marked], look: Look, target: &mut dyn Write) -> io::Result<()> {
    let lines: Vec<[String; 3]> = lines.iter().map(inert).collect();
    let room = usize::from(look.width).saturating_sub(INDENT.len());
    let cut = lines.iter().map(|line| layout::cut_before(line, room)).fold(0, usize::max);
    for line in lines {
        let [before, mark, after] = layout::around_mark(line, cut, room);
        writeln!(target, "{INDENT}{before}{}{after}", look.styled(INVERSE, &mark))?;
        if !look.colour && !mark.is_empty() {
            let marked = mark.width().max(1);
            writeln!(target, "{INDENT}{}{}", " ".repeat(before.width()), "^".repeat(marked))?;
        }
    }
    Ok(())
}

/// Splits a line so that its parts together are no workflow command, wherever the marked stretch begins.
fn inert(line: &Marked) -> [String; 3] {
    let parts = [&line.before, &line.mark, &line.after].map(|text| visible(text).into_owned());
    let whole = parts.concat();
    match inert_line(&whole) == whole {
        true => parts,
        false => parts.map(|part| part.replace('#', "\\u{23}").replace(':', "\\u{3a}")),
    }
}

fn write_table(table: &Table, look: Look, target: &mut dyn Write) -> io::Result<()> {
    let (rows, left_out) = table.shown();
    let rows: Vec<Vec<String>> =
        rows.map(|row| row.iter().map(|cell| visible(&cell.human()).into_owned()).collect()).collect();
    let layout = layout::columns(table, &rows, usize::from(look.width) - INDENT.len().min(look.width.into()));
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(comfy_table::presets::NOTHING);
    drawn.set_content_arrangement(ContentArrangement::Disabled);
    drawn.force_no_tty();
    if look.colour {
        drawn.enforce_styling();
    }
    let dim = |title: &str| comfy_table::Cell::new(title).add_attribute(Attribute::Dim);
    drawn.set_header(layout.placed.iter().map(|placed| dim(&placed.head(table.columns[placed.column].title))));
    for row in &rows {
        drawn.add_row(
            layout.placed.iter().map(|placed| row.get(placed.column).map_or_else(String::new, |text| placed.fit(text))),
        );
    }
    for (at, placed) in layout.placed.iter().enumerate() {
        let Some(drawn) = drawn.column_mut(at) else { continue };
        drawn.set_padding((0, if at + 1 == layout.placed.len() { 0 } else { layout::GAP }));
        if placed.lie == Lie::Right {
            drawn.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in drawn.lines() {
        writeln!(target, "{INDENT}{}", inert_line(line.trim_end()))?;
    }
    let mut notes = Vec::new();
    if !layout.left_out.is_empty() {
        notes.push(format!("Too narrow for {}: see --format csv", layout.left_out.join(", ")));
    }
    if left_out > 0 {
        notes.push(table.more(left_out));
    }
    paragraph(&notes, DIM, look, target)
}
