//! The JSON Schema of a record or an outline, in the words of JSON Schema 2020-12.
//!
//! Without `schemars`: it derives schemas from types, so each list of fields would need a second type beside it. Built by hand,
//! its `Schema` would need the same cases as here, and sort the fields of each record by name.

use std::collections::BTreeMap;

use forkcast_scenarios::format::outline::{self, Field, Object, Rule};

use super::{Column, Description, Record, Shape, Value};

/// The parts of a schema, in their order.
type Parts = Vec<(&'static str, Value)>;

/// The schema of a format that is written.
pub fn schema<R: Record>(format: &'static str, about: &'static str) -> Value {
    let record = Description { name: R::NAME, columns: R::columns() };
    let mut definitions = Definitions::default();
    let object = definitions.record(&record);
    definitions.whole(format, about, object)
}

/// The schema of a format that is read.
pub fn of_outline(format: &'static str, object: &'static Object) -> Value {
    let mut definitions = Definitions::default();
    let outlined = definitions.outlined(object);
    definitions.whole(format, object.meaning, outlined)
}

/// A field of an object, with its possible values as a schema.
struct Property {
    word: &'static str,
    values: Parts,
    meaning: String,
    unit: Option<&'static str>,
    is_required: bool,
}

/// Definitions that several fields refer to, by name.
#[derive(Default)]
struct Definitions(BTreeMap<&'static str, (Shape, Value)>);

impl Definitions {
    fn whole(self, format: &'static str, about: &'static str, object: Parts) -> Value {
        let mut parts: Parts = vec![
            ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
            ("$id", format!("forkcast:{format}").into()),
            ("title", format.into()),
            ("description", about.into()),
        ];
        parts.extend(object);
        if !self.0.is_empty() {
            let named = self.0.into_iter().map(|(name, (_, schema))| (name.into(), schema));
            parts.push(("$defs", Value::Map(named.collect())));
        }
        Value::Fields(parts)
    }

    fn record(&mut self, record: &Description) -> Parts {
        let properties = flat(record.columns).iter().map(|column| self.of_column(column)).collect();
        object(properties, false.into())
    }

    fn outlined(&mut self, outline: &Object) -> Parts {
        let properties = outline.fields.iter().map(|field| self.of_field(field)).collect();
        let others = match outline.others {
            Some(outline::Shape::Anything) => true.into(),
            Some(others) => self.value(others.into()),
            None => false.into(),
        };
        let mut parts = object(properties, others);
        parts.extend(rule(outline.rule));
        parts
    }

    fn of_column(&mut self, column: &Column) -> Property {
        let unless = |when: Option<&str>, what| when.map(|when| format!(" {what} {when}.")).unwrap_or_default();
        let (null, absent) = (unless(column.null, "Null"), unless(column.absent, "Absent"));
        let values = self.shape((column.shape)());
        Property {
            word: column.word,
            values: if column.null.is_some() { or_null(values) } else { values },
            meaning: format!("{}{null}{absent}", column.meaning),
            unit: column.unit,
            is_required: column.absent.is_none(),
        }
    }

    fn of_field(&mut self, field: &Field) -> Property {
        let values = self.shape((&field.shape).into());
        let null = field.null.map(|when| format!(" Null {when}.")).unwrap_or_default();
        Property {
            word: field.name,
            values: if field.null.is_some() { or_null(values) } else { values },
            meaning: format!("{}{null}", field.meaning),
            unit: field.unit,
            is_required: field.is_required,
        }
    }

    fn value(&mut self, shape: Shape) -> Value {
        Value::Fields(self.shape(shape))
    }

    fn shape(&mut self, shape: Shape) -> Parts {
        match shape {
            Shape::Truth => vec![kind("boolean")],
            Shape::Text => vec![kind("string")],
            Shape::Name => vec![kind("string"), count("minLength", 1)],
            Shape::Pattern(pattern) => vec![kind("string"), ("pattern", pattern.into())],
            Shape::Constant(word) => vec![("const", word.into())],
            Shape::Yes => vec![("const", true.into())],
            Shape::Null => vec![kind("null")],
            Shape::Anything => vec![],
            Shape::Never => vec![("not", Value::Fields(vec![]))],
            Shape::Words { name: None, words, .. } => vec![("enum", words.into())],
            Shape::Words { name: Some(name), ref words, by } => {
                let explained = by.map(|by| ("description", format!("Each word is explained by `{by}`.").into()));
                let definition = explained.into_iter().chain([("enum", words.clone().into())]).collect();
                self.refer(name, shape, |_| definition)
            }
            Shape::Count { least } => vec![kind("integer"), count("minimum", least)],
            Shape::Between { least, most } => vec![kind("integer"), count("minimum", least), count("maximum", most)],
            Shape::Number => vec![kind("number")],
            Shape::Positive => vec![kind("number"), count("minimum", 0)],
            Shape::Share => vec![kind("number"), count("minimum", 0), count("maximum", 1)],
            Shape::Maybe(of) => or_null(self.shape(*of)),
            Shape::List(of) => vec![kind("array"), self.items(*of)],
            Shape::Different(of) => {
                vec![kind("array"), self.items(*of), count("minItems", 1), ("uniqueItems", true.into())]
            }
            Shape::Pair(of) => vec![kind("array"), self.items(*of), count("minItems", 2), count("maxItems", 2)],
            Shape::Map(of) => vec![kind("object"), ("additionalProperties", self.value(*of))],
            Shape::Named(names, of) => {
                let names = Value::Fields(vec![("pattern", names.into())]);
                vec![kind("object"), ("propertyNames", names), ("additionalProperties", self.value(*of))]
            }
            Shape::Fields(0) => vec![kind("object")],
            Shape::Fields(least) => vec![kind("object"), count("minProperties", least)],
            Shape::AnyOf(shapes) => any_of(shapes.into_iter().map(|shape| self.shape(shape)).collect()),
            Shape::Record(ref record) => {
                let record = record.clone();
                self.refer(record.name, shape, |definitions| definitions.record(&record))
            }
            Shape::Outlined(object) => self.refer(object.name, shape, |definitions| {
                [("description", object.meaning.into())].into_iter().chain(definitions.outlined(object)).collect()
            }),
        }
    }

    fn items(&mut self, of: Shape) -> (&'static str, Value) {
        ("items", self.value(of))
    }

    /// A name has one meaning.
    fn refer(&mut self, name: &'static str, shape: Shape, define: impl FnOnce(&mut Self) -> Parts) -> Parts {
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

impl Property {
    /// An object says its meaning where it is defined, a field that says more says it itself.
    fn value(self) -> Value {
        let mut parts = self.values;
        if !self.meaning.is_empty() {
            parts.push(("description", self.meaning.into()));
        }
        parts.extend(self.unit.map(|unit| ("unit", unit.into())));
        Value::Fields(parts)
    }
}

/// An object with these properties, and with such others.
fn object(properties: Vec<Property>, others: Value) -> Parts {
    let required = properties.iter().filter(|property| property.is_required).map(|property| property.word.into());
    let required: Vec<Value> = required.collect();
    let properties = properties.into_iter().map(|property| (property.word.into(), property.value()));
    let mut parts: Parts =
        vec![kind("object"), ("additionalProperties", others), ("properties", Value::Map(properties.collect()))];
    if !required.is_empty() {
        parts.push(("required", Value::List(required)));
    }
    parts
}

/// Which fields of an object are given together.
fn rule(rule: Rule) -> Parts {
    match rule {
        Rule::Any => vec![],
        Rule::Given { least, most } => {
            let most = most.map(|most| count("maxProperties", most));
            [count("minProperties", least)].into_iter().chain(most).collect()
        }
        Rule::OneOf(groups) => {
            let group = |group: &&[&'static str]| Value::Fields(vec![("required", group.to_vec().into())]);
            vec![("oneOf", Value::List(groups.iter().map(group).collect()))]
        }
    }
}

fn kind(kind: &'static str) -> (&'static str, Value) {
    ("type", kind.into())
}

fn count(what: &'static str, count: u64) -> (&'static str, Value) {
    (what, Value::Count(count))
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
fn or_null(mut fields: Parts) -> Parts {
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

/// Any of these; types without further conditions as one list.
fn any_of(alternatives: Vec<Parts>) -> Parts {
    let bare = |parts: &Parts| match &parts[..] {
        [("type", kind)] => Some(kind.clone()),
        _ => None,
    };
    match alternatives.iter().map(bare).collect::<Option<Vec<Value>>>() {
        Some(kinds) => vec![("type", Value::List(kinds))],
        None => vec![("anyOf", Value::List(alternatives.into_iter().map(Value::Fields).collect()))],
    }
}
