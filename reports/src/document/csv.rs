//! Comma-separated values by RFC 4180, with plain line feeds.

use std::borrow::Cow;
use std::io::{self, Write};

use forkcast_sim::outside::visible;

use super::{Document, Part, Table};

/// Writes the tables of a document one after the other, separated by an empty line. The first column names the table.
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
    let mut line = csv::WriterBuilder::new().buffer_capacity(ROW_BYTES).from_writer(Vec::new());
    for value in values {
        line.write_field(inert(value.as_ref()).as_ref())?;
    }
    line.write_record(None::<&[u8]>)?;
    target.write_all(&line.into_inner().map_err(csv::IntoInnerError::into_error)?)
}

/// Most rows are shorter.
const ROW_BYTES: usize = 1 << 10;

/// Beginnings of cells that a spreadsheet treats as a formula (OWASP, "CSV Injection", 2026), also in wide forms.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// The value with hidden characters written out, after an apostrophe if a spreadsheet would treat it as a formula.
fn inert(value: &str) -> Cow<'_, str> {
    let value = visible(value);
    match value.trim_start().starts_with(FORMULA) && !is_number(&value) {
        true => Cow::Owned(format!("'{value}")),
        false => value,
    }
}

fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) && value.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn a_text_is_no_formula() {
        let written = |value: &str| {
            let mut text = Vec::new();
            row(&mut text, [value]).unwrap();
            String::from_utf8(text).unwrap()
        };
        for formula in ["=1+1", "+cmd", "-2+3", "@SUM", " =1", "＝1", "-"] {
            assert_eq!(written(formula), format!("'{formula}\n"));
        }
        assert_eq!(written("=a,b"), "\"'=a,b\"\n");
        assert_eq!(written("\t=1"), "\\t=1\n");
        for number in ["-1", "+2.5", "-1e-7", "0.25"] {
            assert_eq!(written(number), format!("{number}\n"));
        }
    }

    #[test]
    fn values_that_hold_commas_or_quotes_are_quoted() {
        let mut text = Vec::new();
        row(&mut text, ["a", "b,c", "say \"x\"", "two\nlines", ""]).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "a,\"b,c\",\"say \"\"x\"\"\",two\\nlines,\n");
    }
}
