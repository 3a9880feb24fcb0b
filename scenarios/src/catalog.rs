//! The built-in scenarios: the files in `catalog/`, by name.

use std::iter;
use std::sync::LazyLock;

use crate::format::problem::Problems;
use crate::format::set::Change;
use crate::format::{Scenario, variant};

/// A built-in scenario or one of its variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogItem {
    /// `group/name`, or `group/name+variant` for a variant.
    pub name: String,
    /// Its file's text.
    pub text: &'static str,
    /// The scenario's name.
    scenario: &'static str,
    /// The variant's name.
    variant: Option<String>,
}

/// The scenario that `forkcast run` runs without a path.
pub const DEFAULT: &str = "forks/fan-out";

/// A scenario to start from, with comments: what `forkcast new` writes.
pub const STARTER: &str = include_str!("../starter.yaml");

/// The scenarios without their variants: the name and the text of each file.
pub fn files() -> &'static [(&'static str, &'static str)] {
    FILES
}

/// Names and texts of the files.
static FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

static CATALOG: LazyLock<Vec<CatalogItem>> = LazyLock::new(|| {
    let variants = |&(scenario, text): &(&'static str, &'static str)| {
        let called = variant::names(text).into_iter().map(Some);
        iter::once(None).chain(called).map(move |variant| CatalogItem::of(scenario, text, variant))
    };
    FILES.iter().flat_map(variants).collect()
});

/// All scenarios, ordered by name, each before its variants.
pub fn all() -> &'static [CatalogItem] {
    &CATALOG
}

/// The scenario called `name`. The group may be left out if the name is unique. Other files are not read.
///
/// ```
/// use forkcast_scenarios::catalog;
///
/// assert_eq!(catalog::find("fan-out").map(|item| item.name).as_deref(), Some("forks/fan-out"));
/// assert!(catalog::find(catalog::DEFAULT).is_some());
/// ```
pub fn find(name: &str) -> Option<CatalogItem> {
    let (called, variant) = name.split_once('+').map_or((name, None), |(called, variant)| (called, Some(variant)));
    let item = |&(scenario, text): &(&'static str, &'static str)| {
        let is_there = variant.is_none_or(|variant| variant::names(text).iter().any(|known| known == variant));
        is_there.then(|| CatalogItem::of(scenario, text, variant.map(str::to_owned)))
    };
    let exact = FILES.iter().filter(|(scenario, _)| *scenario == called).find_map(item);
    let without_group = FILES.iter().filter(|(scenario, _)| scenario.rsplit('/').next() == Some(called));
    exact.or_else(|| {
        let mut items = without_group.filter_map(item);
        items.next().filter(|_| items.next().is_none())
    })
}

impl CatalogItem {
    fn of(scenario: &'static str, text: &'static str, variant: Option<String>) -> Self {
        let name = variant.as_ref().map_or_else(|| scenario.to_owned(), |called| variant::name(scenario, called));
        Self { name, text, scenario, variant }
    }

    /// The file name for messages.
    pub fn file(&self) -> String {
        format!("scenarios/catalog/{}.yaml", self.scenario)
    }

    /// Reads the scenario.
    ///
    /// # Errors
    /// What is wrong with it, or with the changes.
    pub fn read(&self, changes: &[Change]) -> Result<Scenario, Problems> {
        let scenario = Scenario::read(self.scenario, &self.file(), self.text, changes)?;
        let variant = self.variant.as_ref().and_then(|called| scenario.variant(called).cloned());
        Ok(variant.unwrap_or(scenario))
    }

    /// The first sentence of its description.
    pub fn claim(&self) -> String {
        let about = self.read(&[]).map(|scenario| scenario.about);
        debug_assert!(about.is_ok(), "the catalog can be read: {about:?}");
        let about = about.unwrap_or_default();
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        about.split_once(". ").map_or(about.clone(), |(first, _)| format!("{first}."))
    }
}
