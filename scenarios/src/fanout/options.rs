//! The options that the cells of a grid compare: launch, breakpoints, lifetime, forks or named agents; models only if
//! nothing else is compared. Warm and cold parents, and all sizes, are situations, not options.

use forkcast_sim::wire::Ttl;

use super::cell::Cell;
use super::trial::Trial;

/// The options that differ among some cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    has_kinds: bool,
    has_launches: bool,
    has_markings: bool,
    has_lifetimes: bool,
    has_models: bool,
}

impl Options {
    /// Those that differ among the cells of these rows.
    pub fn of(rows: &[Trial]) -> Self {
        let cells = || rows.iter().map(|row| &row.cell);
        let options = Self {
            has_kinds: differ(cells().map(|cell| cell.spawn.is_some())),
            has_launches: differ(cells().map(|cell| cell.launch.name())),
            has_markings: differ(cells().map(Cell::marking)),
            has_lifetimes: differ(cells().map(|cell| cell.ttl)),
            has_models: false,
        };
        Self { has_models: options.is_none() && differ(cells().map(|cell| &cell.model)), ..options }
    }

    /// Whether nothing is compared.
    pub const fn is_none(self) -> bool {
        !(self.has_kinds || self.has_launches || self.has_markings || self.has_lifetimes || self.has_models)
    }

    /// The situation of a cell: equal for cells that differ in options alone.
    pub fn without(self, cell: &Cell) -> Cell {
        let mut cell = Cell { spawn: None, ttl: Ttl::FiveMinutes, ..cell.without_policy() };
        if self.has_models {
            cell.model = Cell::default().model;
        }
        cell
    }

    /// The policy of a cell, and every other option that differs: `both, primed`, `spawn, both, primed, 1h`.
    pub fn name(self, cell: &Cell) -> String {
        let policy = [cell.marking(), cell.launch.name()];
        let kind = self.has_kinds.then(|| kind(cell).to_owned());
        let rest =
            [self.has_lifetimes.then(|| cell.ttl.name().to_owned()), self.has_models.then(|| cell.model.to_string())];
        kind.into_iter().chain(policy).chain(rest.into_iter().flatten()).collect::<Vec<_>>().join(", ")
    }

    /// The options of a cell that differ, without words for them: `primed`, `both, primed`.
    pub fn short(self, cell: &Cell) -> String {
        let parts = [
            self.has_kinds.then(|| kind(cell).to_owned()),
            self.has_markings.then(|| cell.marking()),
            self.has_launches.then(|| cell.launch.name()),
            self.has_lifetimes.then(|| cell.ttl.name().to_owned()),
            self.has_models.then(|| cell.model.to_string()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The options of a cell that differ, each with its word: `launch primed with breakpoints both`.
    pub fn words(self, cell: &Cell) -> String {
        let parts = [
            self.has_kinds.then(|| kind(cell).to_owned()),
            self.has_launches.then(|| format!("launch {}", cell.launch.name())),
            self.has_markings.then(|| format!("breakpoints {}", cell.marking())),
            self.has_lifetimes.then(|| format!("ttl {}", cell.ttl.name())),
            self.has_models.then(|| format!("model {}", cell.model)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match &parts[..] {
            [first, rest @ ..] if !rest.is_empty() => format!("{first} with {}", rest.join(" and ")),
            parts => parts.concat(),
        }
    }
}

const fn kind(cell: &Cell) -> &'static str {
    if cell.spawn.is_some() { "spawn" } else { "fork" }
}

/// Whether some of these values are not equal.
pub fn differ<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.any(|value| Some(value) != first)
}
