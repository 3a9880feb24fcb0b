//! Text for a terminal: aligned columns, no frames, colour where it helps.

use std::io::{self, Write};

use comfy_table::{Attribute, CellAlignment, ColumnConstraint, ContentArrangement};

use super::{Cell, Document, Lie, Marked, Part, Table};

/// What the terminal can do.
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

/// Width where nobody says: fits the widest table with its suggestions on one or two lines.
const WIDTH_DEFAULT: u16 = 120;

/// Tables stand so far from the edge.
const INDENT: &str = "  ";

/// Between two columns.
const GAP: u16 = 2;

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const INVERSE: &str = "\u{1b}[7m";
const PLAIN: &str = "\u{1b}[0m";

impl Look {
    fn styled(self, style: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("{style}{text}{PLAIN}") } else { text.to_owned() }
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
        // What a heading is about follows it at once.
        close = matches!(part, Part::Heading(_));
        match part {
            Part::Title(text) | Part::Heading(text) => writeln!(target, "{}", look.styled(BOLD, text))?,
            Part::Text(lines) => paragraph(lines, "", look, target)?,
            Part::Aside(lines) => paragraph(lines, DIM, look, target)?,
            Part::Verbatim(lines) => verbatim(lines, look, target)?,
            Part::Table(table) => write_table(table, look, target)?,
        }
    }
    Ok(())
}

fn paragraph(lines: &[String], style: &str, look: Look, target: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        for (at, piece) in wrapped(line, usize::from(look.width).saturating_sub(INDENT.len())).into_iter().enumerate() {
            let hang = if at == 0 { "" } else { INDENT };
            let piece = if style.is_empty() { piece } else { look.styled(style, &piece) };
            writeln!(target, "{INDENT}{hang}{piece}")?;
        }
    }
    Ok(())
}

/// Breaks a line at blanks; a word that is longer than a line stays whole. Further lines leave room for an indent.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut piece = String::new();
    for word in line.split(' ') {
        let room = if pieces.is_empty() { width } else { width.saturating_sub(INDENT.len()) };
        let needed =
            unicode_width::UnicodeWidthStr::width(piece.as_str()) + 1 + unicode_width::UnicodeWidthStr::width(word);
        if !piece.is_empty() && needed > room {
            pieces.push(std::mem::take(&mut piece));
        } else if !piece.is_empty() {
            piece.push(' ');
        }
        piece.push_str(word);
    }
    pieces.push(piece);
    pieces
}

/// Bytes as they are, with the marked stretch inverted or, without colour, carets beneath it.
fn verbatim(lines: &[Marked], look: Look, target: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        writeln!(target, "{INDENT}{}{}{}", line.before, look.styled(INVERSE, &line.mark), line.after)?;
        if !look.colour && !line.mark.is_empty() {
            let before = unicode_width::UnicodeWidthStr::width(line.before.as_str());
            let marked = unicode_width::UnicodeWidthStr::width(line.mark.as_str()).max(1);
            writeln!(target, "{INDENT}{}{}", " ".repeat(before), "^".repeat(marked))?;
        }
    }
    Ok(())
}

fn write_table(table: &Table, look: Look, target: &mut dyn Write) -> io::Result<()> {
    let (rows, left_out) = table.shown();
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(comfy_table::presets::NOTHING);
    drawn.set_content_arrangement(ContentArrangement::Dynamic);
    drawn.set_width(look.width.saturating_sub(INDENT.len() as u16));
    drawn.force_no_tty();
    if look.colour {
        drawn.enforce_styling();
    }
    let dim = |title: &str| comfy_table::Cell::new(title).add_attribute(Attribute::Dim);
    drawn.set_header(table.columns.iter().map(|column| dim(column.title)));
    for row in rows {
        drawn.add_row(row.iter().map(cell));
    }
    for (at, column) in table.columns.iter().enumerate() {
        let Some(drawn) = drawn.column_mut(at) else { continue };
        drawn.set_padding((0, if at + 1 == table.columns.len() { 0 } else { GAP }));
        if column.lie == Lie::Right {
            drawn.set_cell_alignment(CellAlignment::Right);
        }
        if column.lie != Lie::Wrap {
            drawn.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    for line in drawn.lines() {
        writeln!(target, "{INDENT}{}", line.trim_end())?;
    }
    if left_out > 0 {
        writeln!(target, "{INDENT}{}", look.styled(DIM, &table.more(left_out)))?;
    }
    Ok(())
}

fn cell(cell: &Cell) -> comfy_table::Cell {
    comfy_table::Cell::new(cell.human())
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_broken_at_blanks() {
        assert_eq!(wrapped("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrapped("a-very-long-word x", 5), ["a-very-long-word", "x"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}
