//! Records by column instead of by row, so that many of them need little room: each different value of a column is
//! written once.

use std::collections::{BTreeMap, HashMap};

use serde::ser::{Error, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::Value;

/// Records by column. A field of a nested record has a name with a dot: `recorded.output_tokens`.
#[derive(Debug, Default)]
pub struct Columns {
    rows: usize,
    of_name: BTreeMap<String, Column>,
}

/// The values of a column as JSON: each of them once, and its position for each row.
#[derive(Debug, Default)]
struct Column {
    distinct: Vec<Box<RawValue>>,
    places: HashMap<Box<str>, usize>,
    at: Vec<usize>,
}

/// JSON of a row without this field.
const NULL: &str = "null";

impl Columns {
    /// Adds a record as a row, without these fields.
    ///
    /// # Errors
    /// When a value cannot be written as JSON.
    pub fn take(&mut self, record: &Value, left_out: &[&str]) -> serde_json::Result<()> {
        self.add("", record, left_out)?;
        self.rows += 1;
        let rows = self.rows;
        self.of_name.values_mut().try_for_each(|column| column.fill(rows))
    }

    fn add(&mut self, before: &str, record: &Value, left_out: &[&str]) -> serde_json::Result<()> {
        let Value::Fields(fields) = record else { return Ok(()) };
        for (word, value) in fields.iter().filter(|(word, _)| !left_out.contains(word)) {
            let name = || if before.is_empty() { (*word).to_owned() } else { format!("{before}.{word}") };
            match value {
                Value::Absent | Value::Derived(_) => {}
                Value::Fields(_) if word.is_empty() => self.add(before, value, left_out)?,
                Value::Fields(_) => self.add(&name(), value, left_out)?,
                // Rows before may have nested fields there: it is null in all of these.
                Value::Null => {}
                value => self.put(name(), &serde_json::to_string(value)?)?,
            }
        }
        Ok(())
    }

    fn put(&mut self, name: String, json: &str) -> serde_json::Result<()> {
        let column = self.of_name.entry(name).or_default();
        column.fill(self.rows)?;
        column.push(json)
    }
}

impl Column {
    /// Adds nulls for rows that have none.
    fn fill(&mut self, rows: usize) -> serde_json::Result<()> {
        while self.at.len() < rows {
            self.push(NULL)?;
        }
        Ok(())
    }

    fn push(&mut self, json: &str) -> serde_json::Result<()> {
        let place = match self.places.get(json) {
            Some(place) => *place,
            None => {
                self.distinct.push(RawValue::from_string(json.to_owned())?);
                self.places.insert(json.into(), self.distinct.len() - 1);
                self.distinct.len() - 1
            }
        };
        self.at.push(place);
        Ok(())
    }
}

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rows", &self.rows)?;
        map.serialize_entry("columns", &self.of_name)?;
        map.end()
    }
}

impl Serialize for Column {
    /// `at` has the position of each row's value; without it all rows have the first one, or each has its own.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.distinct.len() * 2 > self.at.len() && self.distinct.len() > 1 {
            let own: Option<Vec<_>> = self.at.iter().map(|place| self.distinct.get(*place)).collect();
            map.serialize_entry("own", &own.ok_or_else(|| S::Error::custom("a value without a place"))?)?;
            return map.end();
        }
        map.serialize_entry("distinct", &self.distinct)?;
        if self.distinct.len() > 1 {
            map.serialize_entry("at", &self.at)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::Columns;
    use crate::record::Value;

    #[test]
    fn every_value_is_found_again() {
        let mut columns = Columns::default();
        let rows = [("a", 1_u64), ("b", 2), ("a", 3), ("a", 4), ("a", 5)];
        for (text, count) in rows {
            let nested = match count {
                3 => Value::Null,
                count => Value::Fields(vec![("count", count.into()), ("same", true.into())]),
            };
            columns.take(&Value::Fields(vec![("text", text.into()), ("in", nested)]), &[]).unwrap();
        }
        let json: serde_json::Value = serde_json::from_str(&serde_json::to_string(&columns).unwrap()).unwrap();
        assert_eq!(json["rows"], 5);
        assert_eq!(json["columns"]["text"], serde_json::json!({"distinct": ["a", "b"], "at": [0, 1, 0, 0, 0]}));
        assert_eq!(json["columns"]["in.count"], serde_json::json!({"own": [1, 2, null, 4, 5]}));
        assert_eq!(json["columns"]["in.same"], serde_json::json!({"distinct": [true, null], "at": [0, 0, 1, 0, 0]}));
    }
}
