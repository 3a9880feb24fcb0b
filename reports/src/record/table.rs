//! Records as rows: of comma-separated values, and for people.

use std::io::{self, Write};

use super::{Column, Record, Shape, Value};
use crate::document::{self, Cell, Table, csv, since_start};

/// Writes the words of all columns.
///
/// # Errors
/// When the target cannot be written.
pub fn head<R: Record>(target: &mut dyn Write) -> io::Result<()> {
    csv::row(target, words::<R>())
}

/// Writes a record as a row.
///
/// # Errors
/// When the target cannot be written.
pub fn row<R: Record>(record: &R, target: &mut dyn Write) -> io::Result<()> {
    csv::row(target, cells(record))
}

/// Writes the head and a row for each record.
///
/// # Errors
/// When the target cannot be written.
pub fn rows<R: Record>(records: impl IntoIterator<Item = R>, target: &mut dyn Write) -> io::Result<()> {
    head::<R>(target)?;
    records.into_iter().try_for_each(|record| row(&record, target))
}

/// The words of the columns of a record as a row.
pub fn words<R: Record>() -> Vec<String> {
    leaves::<R>().into_iter().map(|(word, _)| word).collect()
}

/// The columns of a record as a row, with their words.
pub fn leaves<R: Record>() -> Vec<(String, &'static Column)> {
    let mut leaves = Vec::new();
    R::columns().iter().for_each(|column| add_leaves(column, "", &mut leaves));
    leaves
}

/// The values of a record in these columns.
pub fn cells<R: Record>(record: &R) -> Vec<String> {
    let mut cells = Vec::new();
    let own = R::columns().iter().zip(record.values());
    own.for_each(|(column, value)| add_cells(column, &column.value(value), &mut cells));
    cells
}

fn add_leaves(column: &'static Column, before: &str, leaves: &mut Vec<(String, &'static Column)>) {
    if column.has_no_cell {
        return;
    }
    match column.nested() {
        Some(columns) => {
            let before = if column.is_bare { before.to_owned() } else { format!("{before}{}_", column.word) };
            columns.iter().for_each(|column| add_leaves(column, &before, leaves));
        }
        None => leaves.push((format!("{before}{}", column.word), column)),
    }
}

fn add_cells(column: &Column, value: &Value, cells: &mut Vec<String>) {
    if column.has_no_cell {
        return;
    }
    match (column.nested(), value) {
        (Some(columns), Value::Fields(fields)) => {
            columns.iter().zip(fields).for_each(|(column, (_, value))| add_cells(column, value, cells));
        }
        (Some(columns), _) => columns.iter().for_each(|column| add_cells(column, &Value::Null, cells)),
        (None, value) => cells.push(value.plain().into_owned()),
    }
}

/// A table of a document with all columns, for formats that have no sentences.
pub fn whole<R: Record>(word: &'static str, records: impl IntoIterator<Item = R>) -> Table {
    let mut columns = Vec::new();
    R::columns().iter().for_each(|column| add_columns(column, &mut columns));
    let mut table = Table::new(word, columns);
    table.rows = records.into_iter().map(|record| cells(&record).into_iter().map(Cell::Text).collect()).collect();
    table
}

fn add_columns(column: &Column, columns: &mut Vec<document::Column>) {
    match column.nested() {
        _ if column.has_no_cell => {}
        Some(own) => own.iter().for_each(|column| add_columns(column, columns)),
        None => columns.push(column.head()),
    }
}

/// A table for people: the non-empty columns that have a heading, and the first rows.
pub fn people<R: Record>(word: &'static str, records: &[R], shown_max: usize) -> Table {
    let mut columns = Vec::new();
    R::columns().iter().for_each(|column| add_shown(column, &mut columns));
    let rows: Vec<Vec<Value>> = records.iter().map(values).collect();
    let is_shown = |at: &usize| columns[*at].is_shown(rows.iter().map(|row| &row[*at]));
    let mut shown: Vec<usize> = (0..columns.len()).filter(is_shown).collect();
    // Dispensable columns come last, because a narrow screen drops them from the end.
    shown.sort_by_key(|at| columns[*at].is_optional);
    let mut table = Table::new(word, shown.iter().map(|at| columns[*at].head()).collect());
    table.make(shown_max, &rows, |row| shown.iter().map(|at| columns[*at].cell(&row[*at])).collect());
    table
}

/// The columns that such a table leaves out because their value is the same in all rows: `prefix 46,000`.
pub fn same<R: Record>(records: &[R]) -> Vec<String> {
    let mut columns = Vec::new();
    R::columns().iter().for_each(|column| add_shown(column, &mut columns));
    let rows: Vec<Vec<Value>> = records.iter().map(values).collect();
    let Some(first) = rows.first() else { return Vec::new() };
    let same = columns.iter().enumerate().filter(|(at, column)| {
        let is_none = first[*at] == Value::Null || column.must_count && first[*at] == Value::Count(0);
        column.must_vary && !is_none && !column.is_shown(rows.iter().map(|row| &row[*at]))
    });
    same.map(|(at, column)| format!("{} {}", column.heading.unwrap_or(column.word), column.cell(&first[at]).human()))
        .collect()
}

fn add_shown(column: &Column, columns: &mut Vec<Column>) {
    match column.nested() {
        Some(_) if !column.is_bare => {}
        Some(own) => own.iter().for_each(|column| add_shown(column, columns)),
        None => columns.extend(column.heading.is_some().then(|| column.clone())),
    }
}

/// The values of a record in the columns for people.
fn values<R: Record>(record: &R) -> Vec<Value> {
    let mut values = Vec::new();
    let own = R::columns().iter().zip(record.values());
    own.for_each(|(column, value)| add_values(column, column.value(value), &mut values));
    values
}

fn add_values(column: &Column, value: Value, values: &mut Vec<Value>) {
    match (column.nested(), value) {
        (Some(_), _) if !column.is_bare => {}
        (Some(columns), Value::Fields(fields)) => {
            columns.iter().zip(fields).for_each(|(column, (_, value))| add_values(column, value, values));
        }
        (Some(columns), _) => columns.iter().for_each(|column| add_values(column, Value::Null, values)),
        (None, value) => values.extend(column.heading.is_some().then_some(value)),
    }
}

impl Column {
    /// Whether it has content for people.
    fn is_shown<'v>(&self, mut values: impl Iterator<Item = &'v Value> + Clone) -> bool {
        if self.must_vary {
            let first = values.clone().next();
            return values.any(|value| Some(value) != first);
        }
        let says = |value: &Value| match value {
            Value::Null => !self.must_count && !self.missing.is_empty(),
            Value::Count(0) => !self.must_count,
            _ => true,
        };
        values.any(says)
    }

    /// The column of a document.
    pub fn head(&self) -> document::Column {
        let title = self.heading.unwrap_or(self.word);
        let column = match (self.shape)() {
            Shape::Count { .. } | Shape::Number | Shape::Positive | Shape::Share => {
                document::Column::right(title, self.word)
            }
            _ => document::Column::left(title, self.word),
        };
        let column = if self.is_kept { column.kept() } else { column };
        if self.is_optional { column.optional() } else { column }
    }

    /// The cell of a value for people.
    pub fn cell(&self, value: &Value) -> Cell {
        match value {
            Value::Absent | Value::Null => Cell::Missing(self.missing),
            Value::Derived(value) => self.cell(value),
            Value::Count(count) => Cell::Count(*count),
            Value::Number(number) if (self.shape)() == Shape::Share => Cell::Share(Some(*number)),
            Value::Usd(amount) if self.is_difference => Cell::MoneyDifference(Some(*amount)),
            Value::Usd(amount) => Cell::Money(Some(*amount)),
            Value::Millis(instant) => Cell::text(since_start(*instant)),
            // Rounded to whole tokens; the machine formats have all digits.
            Value::Millionths(millionths) => {
                Cell::Count(u64::try_from((millionths + 500_000) / 1_000_000).unwrap_or(u64::MAX))
            }
            Value::List(values) => Cell::text(values.iter().map(Value::plain).collect::<Vec<_>>().join(", ")),
            value => Cell::text(value.plain()),
        }
    }
}
