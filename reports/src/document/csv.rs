//! Comma-separated values as RFC 4180 has them, with plain line feeds.

use std::io::{self, Write};

use super::{Document, Part, Table};

/// Writes the tables of a document one after the other, an empty line between them. The first column names the table;
/// sentences are left out.
///
/// # Errors
/// When the target cannot be written.
pub fn write(document: &Document, target: &mut dyn Write) -> io::Result<()> {
    let tables = document.parts.iter().filter_map(|part| match part {
        Part::Table(table) => Some(table),
        _ => None,
    });
    for (at, table) in tables.enumerate() {
        if at > 0 {
            writeln!(target)?;
        }
        write_table(table, target)?;
    }
    Ok(())
}

fn write_table(table: &Table, target: &mut dyn Write) -> io::Result<()> {
    row(target, std::iter::once("table").chain(table.columns.iter().map(|column| column.word)))?;
    for cells in &table.rows {
        row(target, std::iter::once(table.word.to_owned()).chain(cells.iter().map(super::Cell::machine)))?;
    }
    Ok(())
}

/// Writes one row.
///
/// # Errors
/// When the target cannot be written.
pub fn row(target: &mut dyn Write, values: impl IntoIterator<Item = impl AsRef<str>>) -> io::Result<()> {
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            target.write_all(b",")?;
        }
        let value = value.as_ref();
        if value.contains(['"', ',', '\n', '\r']) {
            write!(target, "\"{}\"", value.replace('"', "\"\""))?;
        } else {
            target.write_all(value.as_bytes())?;
        }
    }
    target.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn values_that_hold_commas_or_quotes_are_quoted() {
        let mut text = Vec::new();
        row(&mut text, ["a", "b,c", "say \"x\"", "two\nlines", ""]).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "a,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",\n");
    }
}
