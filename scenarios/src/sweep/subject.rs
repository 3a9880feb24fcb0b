//! The subject of a sweep: a scenario or a fan-out.

use forkcast_sim::pricing::PriceBook;
use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::parameter;
use crate::catalog::CatalogItem;
use crate::fanout::range;
use crate::format::Scenario;
use crate::format::set::Change;

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Subject {
    /// A scenario with its full text, so that running a part needs no other file.
    Scenario {
        /// Its name.
        name: String,
        /// Its file name in messages.
        file: String,
        /// The selected variant.
        variant: Option<String>,
        /// The file's text.
        text: String,
    },
    /// A fan-out; omitted parameters are those of the published example.
    Fanout {
        /// The prices.
        price_book: String,
    },
}

impl Subject {
    /// A fan-out at the built-in prices.
    pub fn fanout() -> Self {
        Self::Fanout { price_book: PriceBook::built_in().version().to_string() }
    }

    /// A built-in scenario.
    pub fn built_in(entry: &CatalogItem) -> Self {
        let (name, variant) = named(&entry.name);
        Self::Scenario { name, file: entry.file(), variant, text: entry.text.to_owned() }
    }

    /// The display name: `fanout`, or the scenario's name.
    pub fn name(&self) -> String {
        match self {
            Self::Fanout { .. } => "fanout".to_owned(),
            Self::Scenario { name, variant: Some(variant), .. } => format!("{name}+{variant}"),
            Self::Scenario { name, variant: None, .. } => name.clone(),
        }
    }

    /// An axis with normalised numbers, so that `20k` and `20000` are one cell.
    ///
    /// # Errors
    /// If there is no such parameter, or a value is invalid.
    pub fn axis(&self, axis: Axis) -> Result<Axis, String> {
        if matches!(self, Self::Scenario { .. }) || !parameter::find(&axis.path)?.is_number {
            return Ok(axis);
        }
        let mut values = Vec::new();
        for value in &axis.values {
            let numbers = range::numbers(value).map_err(|bad| format!("`{}`: {bad}", axis.path))?;
            values.extend(numbers.iter().map(ToString::to_string));
        }
        Axis { path: axis.path, values }.once_each().map_err(|bad| bad.to_string())
    }

    /// Whether a cell can be run.
    ///
    /// # Errors
    /// Its errors, one a line.
    pub fn check(&self, set: &[String]) -> Result<(), String> {
        match self {
            Self::Fanout { .. } => parameter::cell(set).map(drop),
            Self::Scenario { .. } => self.scenario(set).map(drop),
        }
    }

    /// The scenario of a cell.
    ///
    /// # Errors
    /// Its errors, one a line; always for a fan-out.
    pub fn scenario(&self, set: &[String]) -> Result<Scenario, String> {
        let Self::Scenario { name, file, variant, text } = self else {
            return Err("a fan-out is not a scenario".to_owned());
        };
        let changes: Vec<Change> = set.iter().map(|one| one.parse()).collect::<Result<_, String>>()?;
        let scenario = Scenario::read(name, file, text, &changes).map_err(|problems| problems.to_string())?;
        let Some(called) = variant else { return Ok(scenario) };
        scenario.variant(called).cloned().ok_or_else(|| format!("{file}: there is no variant `{called}`"))
    }
}

/// Name and variant of `group/name+variant`.
fn named(name: &str) -> (String, Option<String>) {
    match name.split_once('+') {
        Some((name, variant)) => (name.to_owned(), Some(variant.to_owned())),
        None => (name.to_owned(), None),
    }
}
