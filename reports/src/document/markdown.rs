//! Markdown: headings, pipe tables, code blocks.

use std::io::{self, Write};

use super::{Cell, Document, Lie, Part, Table};

/// Writes a document.
///
/// # Errors
/// When the target cannot be written.
pub fn write(document: &Document, target: &mut dyn Write) -> io::Result<()> {
    for (at, part) in document.parts.iter().enumerate() {
        if at > 0 {
            writeln!(target)?;
        }
        match part {
            Part::Title(text) => writeln!(target, "# {text}")?,
            Part::Heading(text) => writeln!(target, "## {text}")?,
            Part::Text(lines) | Part::Aside(lines) => writeln!(target, "{}", lines.join("  \n"))?,
            Part::Verbatim(lines) => {
                writeln!(target, "```text")?;
                for line in lines {
                    writeln!(target, "{}{}{}", line.before, line.mark, line.after)?;
                }
                writeln!(target, "```")?;
            }
            Part::Table(table) => write_table(table, target)?,
        }
    }
    Ok(())
}

fn write_table(table: &Table, target: &mut dyn Write) -> io::Result<()> {
    let head: Vec<&str> = table.columns.iter().map(|column| column.title).collect();
    writeln!(target, "| {} |", head.join(" | "))?;
    let rule: Vec<&str> =
        table.columns.iter().map(|column| if column.lie == Lie::Right { "---:" } else { "---" }).collect();
    writeln!(target, "|{}|", rule.join("|"))?;
    let (rows, left_out) = table.shown();
    for row in rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        writeln!(target, "| {} |", cells.join(" | "))?;
    }
    if left_out > 0 {
        writeln!(target, "\n{}", table.more(left_out))?;
    }
    Ok(())
}

fn cell(cell: &Cell) -> String {
    cell.human().replace('|', "\\|").replace('\n', " ")
}
