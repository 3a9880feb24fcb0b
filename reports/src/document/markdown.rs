//! Markdown: headings, pipe tables, code blocks.

mod inline;

use std::io::{self, Write};

use forkcast_sim::outside::visible;

use super::{Document, Lie, Part, Table};

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
            Part::Title(text) => writeln!(target, "# {}", inline::text(text))?,
            Part::Heading(text) => writeln!(target, "## {}", inline::text(text))?,
            Part::Text(lines) | Part::Aside(lines) => {
                let lines: Vec<String> = lines.iter().map(|line| inline::line(line)).collect();
                writeln!(target, "{}", lines.join("  \n"))?;
            }
            Part::Verbatim(lines) => {
                let lines: Vec<String> =
                    lines.iter().map(|line| format!("{}{}{}", line.before, line.mark, line.after)).collect();
                let fence = inline::fence(&lines);
                writeln!(target, "{fence}text")?;
                for line in lines {
                    writeln!(target, "{}", visible(&line))?;
                }
                writeln!(target, "{fence}")?;
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
        let cells: Vec<String> = row.iter().map(|cell| inline::cell(&cell.human())).collect();
        writeln!(target, "| {} |", cells.join(" | "))?;
    }
    if left_out > 0 {
        writeln!(target, "\n{}", table.more(left_out))?;
    }
    Ok(())
}
