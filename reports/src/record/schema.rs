//! The JSON Schema of a record, in the words of JSON Schema 2020-12.
//!
//! Without `schemars`: it derives schemas from types, so each list of fields would need a second type beside it. Built by hand,
//! its `Schema` would need the same cases as here, and sort the fields of each record by name.

use std::collections::BTreeMap;

use super::{Column, Description, Record, Shape, Value};

/// The schema of a format.
pub fn schema<R: Record>(format: &'static str, about: &'static str) -> Value {
    let mut definitions = Definitions::default();
    let Shape::Record(record) = Shape::record::<R>() else { return Value::Null };
    let mut fields: Vec<(&'static str, Value)> = vec![
        ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
        ("$id", format!("forkcast:{format}").into()),
        ("title", format.into()),
        ("description", about.into()),
    ];
    fields.extend(definitions.object(&record));
    if !definitions.0.is_empty() {
        let named = definitions.0.into_iter().map(|(name, (_, schema))| (name.into(), schema));
        fields.push(("$defs", Value::Map(named.collect())));
    }
    Value::Fields(fields)
}

/// Definitions that several fields refer to, by name.
#[derive(Default)]
struct Definitions(BTreeMap<&'static str, (Shape, Value)>);

impl Definitions {
    fn object(&mut self, record: &Description) -> Vec<(&'static str, Value)> {
        let columns = flat(record.columns);
        let required = columns.iter().filter(|column| column.absent.is_none()).map(|column| column.word.into());
        let required = Value::List(required.collect());
        let properties = columns.iter().map(|column| (column.word.into(), self.property(column)));
        let properties = Value::Map(properties.collect());
        vec![
            ("type", "object".into()),
            ("additionalProperties", false.into()),
            ("properties", properties),
            ("required", required),
        ]
    }

    fn property(&mut self, column: &Column) -> Value {
        let mut fields = self.shape((column.shape)());
        if column.null.is_some() {
            fields = or_null(fields);
        }
        let unless = |when: Option<&str>, what| when.map(|when| format!(" {what} {when}.")).unwrap_or_default();
        let (null, absent) = (unless(column.null, "Null"), unless(column.absent, "Absent"));
        fields.push(("description", format!("{}{null}{absent}", column.meaning).into()));
        fields.extend(column.unit.map(|unit| ("unit", unit.into())));
        Value::Fields(fields)
    }

    fn shape(&mut self, shape: Shape) -> Vec<(&'static str, Value)> {
        let kind = |kind: &'static str| ("type", Value::from(kind));
        let least = |least: u64| ("minimum", Value::Count(least));
        match shape {
            Shape::Truth => vec![kind("boolean")],
            Shape::Text => vec![kind("string")],
            Shape::Pattern(pattern) => vec![kind("string"), ("pattern", pattern.into())],
            Shape::Constant(word) => vec![("const", word.into())],
            Shape::Words { name: None, words, .. } => vec![("enum", words.into())],
            Shape::Words { name: Some(name), ref words, by } => {
                let explained = by.map(|by| ("description", format!("Each word is explained by `{by}`.").into()));
                let definition = explained.into_iter().chain([("enum", words.clone().into())]).collect();
                self.refer(name, shape, |_| definition)
            }
            Shape::Count { least: count } => vec![kind("integer"), least(count)],
            Shape::Number => vec![kind("number")],
            Shape::Positive => vec![kind("number"), least(0)],
            Shape::Share => vec![kind("number"), least(0), ("maximum", Value::Count(1))],
            Shape::Maybe(of) => or_null(self.shape(*of)),
            Shape::List(of) => vec![kind("array"), ("items", Value::Fields(self.shape(*of)))],
            Shape::Pair(of) => {
                let two = [("minItems", Value::Count(2)), ("maxItems", Value::Count(2))];
                [kind("array"), ("items", Value::Fields(self.shape(*of)))].into_iter().chain(two).collect()
            }
            Shape::Map(of) => vec![kind("object"), ("additionalProperties", Value::Fields(self.shape(*of)))],
            Shape::Record(ref record) => {
                let record = record.clone();
                self.refer(record.name, shape, |definitions| definitions.object(&record))
            }
        }
    }

    /// A name has one meaning.
    fn refer(
        &mut self,
        name: &'static str,
        shape: Shape,
        define: impl FnOnce(&mut Self) -> Vec<(&'static str, Value)>,
    ) -> Vec<(&'static str, Value)> {
        match self.0.get(name) {
            Some((known, _)) => assert!(*known == shape, "{name} has two shapes"),
            None => {
                let definition = Value::Fields(define(self));
                self.0.insert(name, (shape, definition));
            }
        }
        vec![("$ref", format!("#/$defs/{name}").into())]
    }
}

/// The columns of a record, including those of flat records.
fn flat(columns: &[Column]) -> Vec<Column> {
    let own = |column: &Column| match (column.shape)() {
        Shape::Record(record) if column.is_flat => {
            let mut own = flat(record.columns);
            own.iter_mut().for_each(|field| field.null = field.null.or(column.null));
            own
        }
        _ => vec![column.clone()],
    };
    columns.iter().filter(|column| !column.is_derived).flat_map(own).collect()
}

/// The same, or null.
fn or_null(mut fields: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
    match &mut fields[0] {
        ("type", kind) => *kind = Value::List(vec![std::mem::replace(kind, Value::Null), "null".into()]),
        ("enum", Value::List(words)) => words.push(Value::Null),
        _ => {
            let null = Value::Fields(vec![("type", "null".into())]);
            return vec![("anyOf", Value::List(vec![Value::Fields(fields), null]))];
        }
    }
    fields
}
