//! The answer of cells in one line, by the cost by which they are ranked: which of the compared options is cheapest, and
//! from which value of a number on; if nothing is compared, how the cost grows.

use std::collections::BTreeMap;

use forkcast_scenarios::fanout::breakeven::Quantity;
use forkcast_scenarios::fanout::options::differ;
use forkcast_scenarios::fanout::trial::best_option;
use forkcast_scenarios::fanout::{Cell, Options, Trial};
use forkcast_sim::pricing::Money;

use super::growth::growth;
use crate::document::{count, money};

/// Most situations in one sentence.
const SITUATIONS_MAX: usize = 3;

/// The answer along one number.
pub(crate) fn by_quantity(quantity: Quantity, rows: &[Trial]) -> Option<String> {
    let options = Options::of(rows);
    if options.is_none() {
        return growth(rows, &[quantity]);
    }
    told(quantity, rows, options).or_else(|| wins(rows, options))
}

/// `None` for too many situations, and if a row has no cost.
fn told(quantity: Quantity, rows: &[Trial], options: Options) -> Option<String> {
    let situations = grouped(rows, |cell| quantity.without(&options.without(cell)));
    if situations.len() > SITUATIONS_MAX { None } else { along(quantity, options, &situations) }
}

/// The answer of a whole grid.
pub(crate) fn of(rows: &[Trial]) -> Option<String> {
    let options = Options::of(rows);
    let numbers: Vec<Quantity> =
        Quantity::ALL.into_iter().filter(|number| differ(rows.iter().map(|row| number.of(&row.cell)))).collect();
    if options.is_none() {
        return growth(rows, &numbers);
    }
    numbers.into_iter().find_map(|number| told(number, rows, options)).or_else(|| wins(rows, options))
}

/// Rows whose cells are equal after `of`, in order of the first ones.
pub(super) fn grouped(rows: &[Trial], of: impl Fn(&Cell) -> Cell) -> Vec<Vec<&Trial>> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&Trial>> = Vec::new();
    for row in rows {
        let place = *places.entry(format!("{:?}", of(&row.cell))).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(row);
    }
    groups
}

/// The option that is best of most sets of cells that differ in options alone.
fn wins(rows: &[Trial], options: Options) -> Option<String> {
    let best = best_option(rows, options);
    let mut wins: BTreeMap<String, usize> = BTreeMap::new();
    for at in &best {
        *wins.entry(options.words(&rows[*at].cell)).or_default() += 1;
    }
    let mut wins: Vec<(String, usize)> = wins.into_iter().collect();
    wins.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let all = best.len();
    match wins.as_slice() {
        [] => None,
        [(option, _)] if all == 1 => Some(format!("Cheapest of {}: {option}", count(rows.len() as u64))),
        [(option, _)] => Some(format!("Cheapest in all {} comparisons: {option}", count(all as u64))),
        [(option, number), others @ ..] => {
            let others = if others.len() == 1 { others[0].0.clone() } else { format!("{} others", others.len()) };
            Some(format!("Cheapest: {option} in {number} of {all} comparisons, {others} in the rest"))
        }
    }
}

/// The cheapest option along a number, in each situation; with costs of the first one in which they differ.
fn along(quantity: Quantity, options: Options, situations: &[Vec<&Trial>]) -> Option<String> {
    let rankings: Vec<Ranking> =
        situations.iter().map(|rows| Ranking::of(quantity, options, rows)).collect::<Option<_>>()?;
    let first = rankings.iter().position(Ranking::differs).unwrap_or(0);
    let Place { at, least, most, .. } = *rankings[first].last();
    let last = quantity.said(at);
    let cells: Vec<&Cell> = situations.iter().filter_map(|rows| rows.first()).map(|row| &row.cell).collect();
    if !rankings[first].differs() {
        return Some(format!("All policies cost the same: {} with {last}", money(least)));
    }
    let situation = |at: usize| situation(cells[at], &cells, quantity);
    let said = rankings[first].said(quantity, true);
    let others = rankings.iter().enumerate().filter(|(at, _)| *at != first);
    let others: String =
        others.map(|(at, other)| format!("; {}{}", other.said(quantity, false), situation(at))).collect();
    Some(format!("{said}{}: {} against {} with {last}{others}", situation(first), money(least), money(most)))
}

/// What distinguishes a situation from the others, besides the number: ` (cold parent, 50k of context)`.
fn situation(cell: &Cell, all: &[&Cell], besides: Quantity) -> String {
    let parent = |cell: &Cell| if cell.is_cold { "cold parent" } else { "warm parent" }.to_owned();
    let numbers = Quantity::ALL.into_iter().filter(|number| *number != besides);
    let numbers = numbers.filter(|number| differ(all.iter().map(|cell| number.of(cell))));
    let parts = differ(all.iter().map(|cell| cell.is_cold)).then(|| parent(cell)).into_iter();
    let parts = parts.chain(differ(all.iter().map(|cell| &cell.model)).then(|| cell.model.to_string()));
    let parts: Vec<String> = parts.chain(numbers.map(|number| number.said(number.of(cell)))).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// The options at one value of a number.
struct Place {
    at: u64,
    least: Money,
    most: Money,
    /// Names of the cheapest.
    cheapest: Vec<String>,
}

impl Place {
    fn of(at: u64, options: Options, rows: &[&Trial]) -> Option<Self> {
        let costs: Vec<Money> = rows.iter().map(|row| row.ranked_cost()).collect::<Option<_>>()?;
        let (least, most) = (*costs.iter().min()?, *costs.iter().max()?);
        let cheapest = rows.iter().zip(&costs).filter(|(_, cost)| **cost == least);
        Some(Self { at, least, most, cheapest: cheapest.map(|(row, _)| options.name(&row.cell)).collect() })
    }

    fn has(&self, name: &str) -> bool {
        self.cheapest.iter().any(|cheapest| cheapest == name)
    }
}

/// The options of one situation along a number.
struct Ranking {
    /// From the least to the largest value; at least one.
    places: Vec<Place>,
    /// Parts of names that all options share.
    shared: Vec<String>,
}

impl Ranking {
    /// `None` if a row has no cost.
    fn of(quantity: Quantity, options: Options, rows: &[&Trial]) -> Option<Self> {
        let mut places: BTreeMap<u64, Vec<&Trial>> = BTreeMap::new();
        rows.iter().for_each(|row| places.entry(quantity.of(&row.cell)).or_default().push(row));
        let places = places.into_iter().map(|(at, rows)| Place::of(at, options, &rows)).collect::<Option<_>>()?;
        Some(Self { places, shared: shared(rows.iter().map(|row| options.name(&row.cell))) })
    }

    fn last(&self) -> &Place {
        &self.places[self.places.len() - 1]
    }

    /// Whether options differ in cost, at the last place.
    fn differs(&self) -> bool {
        self.last().least != self.last().most
    }

    /// Such as `burst is cheapest up to 3 children, primed from 4 children on`; `has_verb` if no sentence precedes it.
    fn said(&self, quantity: Quantity, has_verb: bool) -> String {
        let last = self.last();
        let first = last.cheapest.first().map_or("", String::as_str);
        let kept = self.places.iter().rev().take_while(|place| place.has(first)).count();
        let (before, after) = self.places.split_at(self.places.len() - kept);
        let verb = |names: usize| match names {
            _ if !has_verb => "",
            1 => " is cheapest",
            _ => " are cheapest",
        };
        let (names, all) = (self.names(&last.cheapest), verb(last.cheapest.len()));
        let (Some(end), Some(from)) = (before.last(), after.first()) else {
            return format!("{names}{all} throughout");
        };
        let from = quantity.said(from.at);
        match end.cheapest.iter().find(|name| before.iter().all(|place| place.has(name))) {
            Some(other) => {
                let until = if before.len() == 1 { "with" } else { "up to" };
                let (other, end) = (self.short(other), quantity.said(end.at));
                format!("{other}{} {until} {end}, {names} from {from} on", verb(1))
            }
            None => format!("{names}{all} from {from} on"),
        }
    }

    /// The cheapest; equal ones together. The legend has the parts that all options share.
    fn names(&self, cheapest: &[String]) -> String {
        match cheapest {
            [] => String::new(),
            [one] => self.short(one),
            [one, other] => format!("{} and {}", self.short(one), self.short(other)),
            [one, others @ ..] => format!("{} and {} others", self.short(one), others.len()),
        }
    }

    /// A name without the shared parts, if any part remains: `both + primed`.
    fn short(&self, name: &str) -> String {
        let parts: Vec<&str> = name.split(", ").collect();
        let own: Vec<&str> =
            parts.iter().copied().filter(|part| !self.shared.iter().any(|shared| shared == part)).collect();
        if own.is_empty() { parts.join(" + ") } else { own.join(" + ") }
    }
}

/// The parts that all names have; none if they are all one.
fn shared(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names.dedup();
    let [first, others @ ..] = &names[..] else { return Vec::new() };
    let is_shared = |part: &&str| others.iter().all(|other| other.split(", ").any(|own| own == *part));
    if others.is_empty() { Vec::new() } else { first.split(", ").filter(is_shared).map(str::to_owned).collect() }
}
