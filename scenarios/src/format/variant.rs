//! Variants: the scenario with some fields changed, and with its own expectations.
//!
//! Compared cases are in one file, and common parts are written once. A variant is read like a separate scenario, with
//! the same strictness; `set` uses the paths of `--set`.

use super::reading::{At, Notes};
use super::set::Change;
use super::tree::{Key, Node, Value};
use super::{Scenario, check, outline};

/// Fields that a variant defines itself.
const OWN: [&str; 3] = ["about", "covers", "expect"];

/// The variants of `scenario`, whose text is `tree`, after `changes`: those of the command line are stronger than a variant's own.
pub fn all(scenario: &Scenario, tree: &Node, changes: &[Change], notes: &Notes) -> Vec<Scenario> {
    let root = At::root(tree, notes);
    if !root.has_fields() {
        return Vec::new();
    }
    let whole = Whole { scenario, tree, changes };
    let of = |name: &str, at: &At<'_>| one(name, at, &whole, notes);
    let variants = root.named(|name, at| (name == "variants").then(|| at.named(of)).flatten());
    variants.unwrap_or_default().into_iter().flat_map(|(_, variants)| variants).map(|(_, variant)| variant).collect()
}

/// The full name of a variant.
pub fn name(scenario: &str, variant: &str) -> String {
    format!("{scenario}+{variant}")
}

/// Names of the variants in a text, without reading their content.
pub fn names(text: &str) -> Vec<String> {
    let Ok(Node { value: Value::Map(fields), .. }) = Node::read(text) else { return Vec::new() };
    match fields.into_iter().find(|(key, _)| key.name == "variants") {
        Some((_, Node { value: Value::Map(variants), .. })) => variants.into_iter().map(|(key, _)| key.name).collect(),
        _ => Vec::new(),
    }
}

/// What a variant is made from.
struct Whole<'a> {
    scenario: &'a Scenario,
    tree: &'a Node,
    changes: &'a [Change],
}

fn one(called: &str, at: &At<'_>, whole: &Whole<'_>, notes: &Notes) -> Option<Scenario> {
    let Whole { scenario, tree, changes } = *whole;
    if called.contains(['+', '/']) {
        at.wrong("a variant's name must not contain `+` or `/`: its full name is `scenario+variant`");
    }
    let fields = at.fields(&outline::VARIANT)?;
    fields.must("about", At::text)?;
    let set = fields.must("set", |at| at.named(|_, at| Some(at.clone())))?;
    if set.is_empty() {
        at.wrong("a variant must change something: write `set: {session.ttl: 1h}` or similar");
    }
    let mut tree = without_own(tree);
    set.iter().for_each(|(path, at)| change(path, at, &mut tree));
    for change in changes {
        // One whose place the variant took away changes nothing in it.
        drop(change.apply(&mut tree));
    }
    for field in fields.among(&OWN) {
        let node = fields.get(field)?.node();
        if let Value::Map(map) = &mut tree.value {
            map.push((Key { place: node.place, name: field.to_owned() }, node.clone()));
        }
    }
    let mut variant = Scenario::of(&name(&scenario.name, called), &scenario.file, &At::root(&tree, notes));
    variant.variant_of = Some(Box::new(scenario.clone()));
    check::whole(&variant, notes);
    Some(variant)
}

fn without_own(tree: &Node) -> Node {
    let mut tree = tree.clone();
    if let Value::Map(fields) = &mut tree.value {
        fields.retain(|(key, _)| !is_own(&key.name));
    }
    tree
}

/// Whether a variant does not have this field from its scenario.
fn is_own(field: &str) -> bool {
    OWN.contains(&field) || field == "variants"
}

fn change(path: &str, at: &At<'_>, tree: &mut Node) {
    if let Some(own) = path.split(['.', '[']).next().filter(|field| is_own(field)) {
        at.wrong(format_args!("a variant's `{own}` belongs next to `set`, not inside it"));
        return;
    }
    if let Err(says) = Change::to_node(path, at.node()).apply(tree) {
        at.wrong(says);
    }
}
