//! The file: its schema, and its rows in groups.

use std::io::{self, Write};
use std::sync::Arc;

use forkcast_sim::pricing::Money;
use jiff::Timestamp;
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::super::requests::{self, RequestRow};
use crate::record::table::leaves;
use crate::record::{Column, Shape};
use crate::report::Report;

/// Rows that are in memory at a time.
const GROUP: usize = 20_000;

/// Writes a row for each request, with the columns of `requests.csv`. An empty cell is null.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, target: &mut (dyn Write + Send)) -> io::Result<()> {
    let columns: Vec<(String, Kind)> =
        leaves::<RequestRow<'_>>().iter().map(|(name, column)| (name.clone(), Kind::of(column))).collect();
    let mut file = File { writer: begun(&columns, target).map_err(io::Error::other)?, columns, rows: Vec::new() };
    requests::each(report, &mut |row| file.take(row))?;
    file.close()
}

/// A column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Truth,
    Count,
    Usd,
    Number,
    Instant,
    Text,
}

impl Kind {
    fn of(column: &Column) -> Self {
        match (column.shape)() {
            Shape::Truth => Self::Truth,
            Shape::Count { .. } => Self::Count,
            Shape::Number | Shape::Positive if column.unit == Some("USD") => Self::Usd,
            Shape::Number | Shape::Positive | Shape::Share => Self::Number,
            Shape::Text if column.word == "at" => Self::Instant,
            _ => Self::Text,
        }
    }

    /// In the language of Parquet's schemas. A request that costs a million dollars has no place in it.
    const fn word(self) -> [&'static str; 2] {
        match self {
            Self::Truth => ["BOOLEAN", ""],
            Self::Count => ["INT64", ""],
            Self::Usd => ["INT64", " (DECIMAL(18,12))"],
            Self::Number => ["DOUBLE", ""],
            Self::Instant => ["INT64", " (TIMESTAMP(MILLIS,true))"],
            Self::Text => ["BYTE_ARRAY", " (STRING)"],
        }
    }
}

type Writer<'t> = SerializedFileWriter<&'t mut (dyn Write + Send)>;

fn begun<'t>(columns: &[(String, Kind)], target: &'t mut (dyn Write + Send)) -> Result<Writer<'t>> {
    let field = |(name, kind): &(String, Kind)| {
        let [stored, meant] = kind.word();
        format!("OPTIONAL {stored} {name}{meant};")
    };
    let schema = format!("message requests {{ {} }}", columns.iter().map(field).collect::<Vec<_>>().join(" "));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("forkcast {}", env!("CARGO_PKG_VERSION")))
        .build();
    SerializedFileWriter::new(target, Arc::new(parse_message_type(&schema)?), Arc::new(properties))
}

struct File<'t> {
    writer: Writer<'t>,
    columns: Vec<(String, Kind)>,
    rows: Vec<Vec<String>>,
}

impl File<'_> {
    fn take(&mut self, row: Vec<String>) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.len() < GROUP { Ok(()) } else { self.flush() }
    }

    fn close(mut self) -> io::Result<()> {
        self.flush()?;
        self.writer.close().map(drop).map_err(io::Error::other)
    }

    /// Writes the rows so far as a group.
    fn flush(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let mut group = self.writer.next_row_group().map_err(io::Error::other)?;
        for (at, (name, kind)) in self.columns.iter().enumerate() {
            let cells: Vec<&str> = rows.iter().filter_map(|row| row.get(at)).map(String::as_str).collect();
            if let Some(mut column) = group.next_column().map_err(io::Error::other)? {
                put(*kind, &cells, &mut column).map_err(|error| io::Error::other(format!("{name}: {error}")))?;
                column.close().map_err(io::Error::other)?;
            }
        }
        group.close().map(drop).map_err(io::Error::other)
    }
}

/// Writes the cells of a column.
fn put(kind: Kind, cells: &[&str], column: &mut SerializedColumnWriter<'_>) -> io::Result<()> {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_empty())).collect();
    let levels = Some(&levels[..]);
    let written = match kind {
        Kind::Truth => column.typed::<BoolType>().write_batch(&values(cells, |cell| cell.parse().ok())?, levels, None),
        Kind::Count => column.typed::<Int64Type>().write_batch(&values(cells, |cell| cell.parse().ok())?, levels, None),
        Kind::Usd => column.typed::<Int64Type>().write_batch(&values(cells, picousd)?, levels, None),
        Kind::Number => {
            column.typed::<DoubleType>().write_batch(&values(cells, |cell| cell.parse().ok())?, levels, None)
        }
        Kind::Instant => column.typed::<Int64Type>().write_batch(&values(cells, millis)?, levels, None),
        Kind::Text => column.typed::<ByteArrayType>().write_batch(
            &values(cells, |cell| Some(ByteArray::from(cell)))?,
            levels,
            None,
        ),
    };
    written.map(drop).map_err(io::Error::other)
}

/// The values of the cells that have one.
fn values<T>(cells: &[&str], of: impl Fn(&str) -> Option<T>) -> io::Result<Vec<T>> {
    let there = cells.iter().filter(|cell| !cell.is_empty());
    there.map(|cell| of(cell).ok_or_else(|| io::Error::other(format!("{cell} does not fit")))).collect()
}

fn picousd(cell: &str) -> Option<i64> {
    let picousd = i64::try_from(cell.parse::<Money>().ok()?.picousd()).ok()?;
    Some(picousd).filter(|picousd| picousd.unsigned_abs() < 10_u64.pow(18))
}

fn millis(cell: &str) -> Option<i64> {
    cell.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use forkcast_replay::input::Inputs;
    use forkcast_replay::replay::{Options, replay};
    use forkcast_sim::pricing::Money;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::{millis, picousd, requests, write};
    use crate::names::Names;
    use crate::report::Report;

    fn is_same(field: &Field, cell: &str) -> bool {
        match field {
            Field::Null => cell.is_empty(),
            Field::Bool(holds) => cell.parse() == Ok(*holds),
            Field::Long(count) => cell.parse() == Ok(*count),
            Field::Double(number) => cell.parse() == Ok(*number),
            Field::Str(text) => text == cell,
            Field::TimestampMillis(at) => millis(cell) == Some(*at),
            Field::Decimal(amount) => {
                let picousd = i64::from_be_bytes(amount.data().try_into().unwrap());
                (amount.precision(), amount.scale()) == (18, 12)
                    && cell.parse() == Ok(Money::from_picousd(picousd.into()))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn amounts_have_eighteen_digits() {
        assert_eq!(picousd("999999.999999999999"), Some(999_999_999_999_999_999));
        assert_eq!(picousd("1000000"), None);
    }

    #[test]
    fn a_reader_finds_the_cells_of_the_table() {
        let (inputs, options) = (Inputs::sample(), Options::default());
        let replay = replay(&inputs, &options);
        let report = Report::new(&inputs, &replay, &options, Names::Plain);
        let mut file = tempfile::tempfile().unwrap();
        write(&report, &mut file).unwrap();
        let mut expected = Vec::new();
        requests::each(&report, &mut |row| {
            expected.push(row);
            Ok(())
        })
        .unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 14);
        for (row, cells) in reader.get_row_iter(None).unwrap().zip(expected) {
            let row = row.unwrap();
            assert_eq!(row.len(), cells.len());
            for ((name, field), cell) in row.get_column_iter().zip(&cells) {
                assert!(is_same(field, cell), "{name}: {field:?} and {cell}");
            }
        }
    }
}
