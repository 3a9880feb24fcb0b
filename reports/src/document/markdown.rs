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
            Part::Title(text) => writeln!(target, "# {}", plain(text))?,
            Part::Heading(text) => writeln!(target, "## {}", plain(text))?,
            Part::Text(lines) | Part::Aside(lines) => {
                let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
                writeln!(target, "{}", lines.join("  \n"))?;
            }
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
    plain(&cell.human()).replace('|', "\\|").replace('\n', " ")
}

/// Text that means what it says: no tags, no emphasis. What stands between backticks is code already.
fn plain(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| {
        let is_code = at % 2 == 1;
        if is_code { part.to_owned() } else { escaped(part) }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Underscores inside of words are harmless.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if matches!(c, '*' | '<') || c == '_' && !before.is_alphanumeric() {
            escaped.push('\\');
        }
        escaped.push(c);
        before = c;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn text_is_neither_a_tag_nor_emphasis() {
        assert_eq!(plain("<LOCATION>/a*b*/__init__"), "\\<LOCATION>/a\\*b\\*/\\_\\_init_\\_");
        assert_eq!(plain("tool `a<b>__c`, <$0.0001"), "tool `a<b>__c`, \\<$0.0001");
        assert_eq!(plain("no_break__point"), "no_break_\\_point");
    }
}
