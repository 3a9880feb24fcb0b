//! The outline of scenarios, from which their schema is made, and their reader agree: what is planted against the outline
//! in scenarios, at each field once, both refuse.

use std::collections::BTreeSet;

use forkcast_reports::format::SCENARIO;
use forkcast_scenarios::catalog;
use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::format::outline::{self, Field, Object, Shape};
use forkcast_scenarios::format::tree::Node;
use serde_json::{Value, json};

use crate::written::validator;

/// Scenarios with fields that no scenario of the catalog uses.
const RARE: [(&str, &str); 2] =
    [("seldom", include_str!("outline/seldom.yaml")), ("sized", include_str!("outline/sized.yaml"))];

/// A field in a scenario, with the pointer to its object.
struct Place {
    pointer: String,
    object: &'static Object,
    field: &'static Field,
}

impl Place {
    /// Every field below a value of this shape.
    fn all(value: &Value, shape: &Shape, pointer: &str, found: &mut Vec<Self>) {
        let inner = |step: &str| format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"));
        match (*shape, value) {
            (Shape::Object(object), Value::Object(fields)) => {
                for field in object.fields.iter().filter(|field| fields.contains_key(field.name)) {
                    found.push(Self { pointer: pointer.to_owned(), object, field });
                    Self::all(&fields[field.name], &field.shape, &inner(field.name), found);
                }
            }
            (Shape::List(of), Value::Array(items)) => {
                let items = items.iter().enumerate();
                items.for_each(|(at, item)| Self::all(item, of, &inner(&at.to_string()), found));
            }
            (Shape::Map { of, .. }, Value::Object(fields)) => {
                fields.iter().for_each(|(name, value)| Self::all(value, of, &inner(name), found));
            }
            (Shape::AnyOf(shapes), value) => shapes.iter().for_each(|shape| Self::all(value, shape, pointer, found)),
            _ => {}
        }
    }

    /// The scenario with another value of this field, or without it.
    fn with(&self, scenario: &Value, value: Option<Value>) -> Value {
        let mut planted = scenario.clone();
        let fields = planted.pointer_mut(&self.pointer).unwrap().as_object_mut().unwrap();
        match value {
            Some(value) => fields.insert(self.field.name.to_owned(), value),
            None => fields.remove(self.field.name),
        };
        planted
    }
}

/// Every field that a value of this shape can have, with its object.
fn known(shape: &Shape, found: &mut BTreeSet<(&'static str, &'static str)>) {
    match *shape {
        Shape::Object(object) => {
            for field in object.fields.iter().filter(|field| !matches!(field.shape, Shape::Never)) {
                found.insert((object.name, field.name));
                known(&field.shape, found);
            }
        }
        Shape::List(of) | Shape::Map { of, .. } => known(of, found),
        Shape::AnyOf(shapes) => shapes.iter().for_each(|shape| known(shape, found)),
        _ => {}
    }
}

/// Values that a shape does not have.
fn wrong(shape: &Shape) -> Vec<Value> {
    match *shape {
        Shape::Name => vec![json!(""), json!(7)],
        Shape::Text | Shape::Object(_) | Shape::List(_) | Shape::Map { .. } => vec![json!(7)],
        Shape::Pattern(_) | Shape::Words(_) | Shape::Explained { .. } | Shape::Truth => vec![json!("no such word")],
        Shape::Yes => vec![json!(false)],
        Shape::Count { least } => vec![below(least), json!("many")],
        Shape::Between { least, most } => vec![below(least), json!(most + 1)],
        Shape::AnyOf(_) => vec![json!(true)],
        Shape::Fields { least: 1.. } => vec![json!({})],
        // The other shapes are of other formats, or have every value.
        _ => Vec::new(),
    }
}

/// The number before this one.
fn below(least: u64) -> Value {
    least.checked_sub(1).map_or(json!(-1), |number| json!(number))
}

/// The least and the greatest numbers that a shape has.
fn outermost(shape: &Shape) -> Vec<Value> {
    match *shape {
        Shape::Count { least } => vec![json!(least)],
        Shape::Between { least, most } => vec![json!(least), json!(most)],
        _ => Vec::new(),
    }
}

/// What the reader says to a scenario.
fn complaints(scenario: &Value) -> String {
    let read = Scenario::read("planted", "planted.yaml", &scenario.to_string(), &[]);
    read.err().map(|problems| problems.to_string()).unwrap_or_default()
}

/// What contradicts the outline at one field of a scenario.
fn contradictions(place: &Place, scenario: &Value) -> Vec<Value> {
    let mut planted: Vec<Value> =
        wrong(&place.field.shape).into_iter().map(|value| place.with(scenario, Some(value))).collect();
    if place.field.is_required {
        planted.push(place.with(scenario, None));
    }
    if place.object.others.is_none() {
        let mut unknown = scenario.clone();
        unknown.pointer_mut(&place.pointer).unwrap()["no such field"] = json!(1);
        planted.push(unknown);
    }
    planted
}

#[test]
fn what_contradicts_the_outline_is_refused_by_the_schema_and_by_the_reader() {
    let validator = validator(SCENARIO);
    let mut seen = BTreeSet::new();
    let catalog = catalog::all().iter().map(|entry| (entry.name.as_str(), entry.text));
    for (name, text) in catalog.chain(RARE) {
        let scenario = Node::read(text).unwrap().json();
        assert_eq!(complaints(&scenario), "", "{name}");
        let mut places = Vec::new();
        Place::all(&scenario, &Shape::Object(&outline::SCENARIO), "", &mut places);
        for place in places.iter().filter(|place| seen.insert((place.object.name, place.field.name))) {
            let field = format!("{} of {} in {name}", place.field.name, place.object.name);
            for planted in contradictions(place, &scenario) {
                let at = planted.pointer(&place.pointer).unwrap();
                assert!(!validator.is_valid(&planted), "the schema takes {field}: {at}");
                assert!(!complaints(&planted).is_empty(), "the reader takes {field}: {at}");
            }
            for value in outermost(&place.field.shape) {
                let planted = place.with(&scenario, Some(value.clone()));
                assert!(validator.is_valid(&planted), "the schema refuses {value} as {field}");
                let said = complaints(&planted);
                assert!(!said.contains("expected a whole number"), "the reader refuses {value} as {field}: {said}");
            }
        }
    }
    let mut fields = BTreeSet::new();
    known(&Shape::Object(&outline::SCENARIO), &mut fields);
    let unseen: Vec<_> = fields.difference(&seen).collect();
    assert!(unseen.is_empty(), "no scenario uses these, so that nothing was planted there: {unseen:?}");
    assert!(seen.len() > 300, "{} fields", seen.len());
}
