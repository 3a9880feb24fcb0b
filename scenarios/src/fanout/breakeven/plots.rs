//! Answers that follow from the rows of a grid: cost along a number that varies, and cost against makespan.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Answer, Curve, Panel, Point, Quantity, Question, children};
use crate::fanout::cell::Cell;
use crate::fanout::outcome::Outcome;
use crate::fanout::trial::Trial;

/// Maximum numbers of panels, of curves in a panel, and of points on a frontier; more would be unreadable.
const PANELS_MAX: usize = 2;
const CURVES_MAX: usize = 6;
const POINTS_MAX: usize = 12;

/// Parameters that vary, up to which there always is a plot.
const FEW: usize = 3;

/// Points of a plot of all cells.
const NAMED_MAX: usize = 60;

/// The plots that fit a grid: at least one if at most three parameters vary. Empty if answers are missing, or if there is
/// no price.
pub fn plots(rows: &[Trial]) -> Vec<Answer> {
    if rows.iter().any(|row| !row.is_answered() || row.outcome.cost.is_none()) {
        return Vec::new();
    }
    let rows = &*comparable(rows);
    let varied = Varied::of(rows);
    let quantities = Quantity::ALL.into_iter().filter(|quantity| varied.numbers.contains(quantity));
    let mut drawn: Vec<Answer> = quantities.filter_map(|quantity| by_quantity(quantity, rows, &varied)).collect();
    drawn.extend(by_time(rows));
    if drawn.is_empty() {
        drawn.extend(all_by_time(rows, &varied));
    }
    drawn
}

/// If forks and named agents are compared, the cost of the message that starts them is part of every cost.
fn comparable(rows: &[Trial]) -> Cow<'_, [Trial]> {
    if !differ(rows.iter().map(|row| row.cell.spawn.is_some())) {
        return Cow::Borrowed(rows);
    }
    let started = |row: &Trial| {
        let bound = row.outcome.bound.zip(row.outcome.launch_cost).map(|(bound, launch)| bound + launch);
        let cost = row.outcome.started_cost();
        Trial { outcome: Outcome { cost, bound, ..row.outcome.clone() }, ..row.clone() }
    };
    Cow::Owned(rows.iter().map(started).collect())
}

/// A setting, and the rows that differ only in policy and in the parameter that the figure varies.
type Setting<'a> = (Cell, Vec<&'a Trial>);

/// Groups rows by what `of` keeps of their cells, in order of first occurrence.
fn settings<'a>(rows: impl Iterator<Item = &'a Trial>, of: impl Fn(&Cell) -> Cell) -> Vec<Setting<'a>> {
    let mut settings: Vec<Setting<'a>> = Vec::new();
    for row in rows {
        let cell = of(&row.cell);
        match settings.iter_mut().find(|(known, _)| *known == cell) {
            Some((_, rows)) => rows.push(row),
            None => settings.push((cell, vec![row])),
        }
    }
    settings
}

fn without_policy(cell: &Cell) -> Cell {
    Cell { spawn: None, ..cell.without_policy() }
}

/// Cost by a quantity: a panel for each setting and a curve for each policy, if that is readable. Else, and if only few
/// parameters vary, one panel with a curve for each combination of the others.
fn by_quantity(quantity: Quantity, rows: &[Trial], varied: &Varied) -> Option<Answer> {
    let settings = settings(rows.iter(), |cell| quantity.without(&without_policy(cell)));
    let panel = |(cell, rows): &Setting<'_>| curves(quantity, titled(cell, &settings), rows);
    let panels: Vec<Panel> = settings.iter().take(PANELS_MAX + 1).map(panel).collect();
    let answer = |panels| Some(Answer { question: quantity.question(), rows: rows.to_vec(), panels });
    if panels.len() <= PANELS_MAX && panels.iter().all(is_readable) {
        return answer(panels);
    }
    let panels = combined(quantity, rows, varied);
    let is_curved = panels.iter().flat_map(|panel| &panel.curves).all(|curve| curve.points.len() > 1);
    if varied.number() <= FEW && is_curved { answer(panels) } else { None }
}

fn is_readable(panel: &Panel) -> bool {
    let policies = panel.curves.iter().filter(|curve| !curve.is_bound).count();
    policies <= CURVES_MAX && panel.curves.iter().all(|curve| curve.points.len() > 1)
}

fn curves(quantity: Quantity, title: String, rows: &[&Trial]) -> Panel {
    let mut curves: Vec<Curve> = Vec::new();
    let has_spawns = rows.iter().any(|row| row.cell.spawn.is_some());
    let name = if has_spawns { "bound of forks" } else { "bound" };
    let mut bound = Curve { name: name.to_owned(), is_bound: true, points: Vec::new() };
    for row in rows {
        let at = quantity.of(&row.cell) as f64;
        if let Some(cost) = row.outcome.bound {
            match bound.points.iter_mut().find(|point| point.at == at) {
                // A head of an hour outlives a cold parent, so its bound is lower.
                Some(least) => least.cost = least.cost.min(cost),
                None => bound.points.push(Point { at, cost, label: String::new() }),
            }
        }
        let name = policy(&row.cell);
        let Some(cost) = point(quantity, row) else { continue };
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(cost),
            None => curves.push(Curve { name, is_bound: false, points: vec![cost] }),
        }
    }
    curves.extend((!bound.points.is_empty()).then_some(bound));
    curves.iter_mut().for_each(in_order);
    Panel { title, curves, crossings: Vec::new() }
}

fn point(quantity: Quantity, row: &Trial) -> Option<Point> {
    Some(Point { at: quantity.of(&row.cell) as f64, cost: row.outcome.cost?, label: String::new() })
}

fn in_order(curve: &mut Curve) {
    curve.points.sort_by(|one, other| one.at.total_cmp(&other.at));
}

/// A panel each for warm and for cold parents.
fn combined(quantity: Quantity, rows: &[Trial], varied: &Varied) -> Vec<Panel> {
    let by_parent = settings(rows.iter(), |cell| Cell { is_cold: cell.is_cold, ..Cell::default() });
    let panel = |(parent, rows): &Setting<'_>| {
        let panel = combined_panel(quantity, rows, varied);
        match by_parent.len() {
            1 => panel,
            _ => Panel { title: format!("{}, {}", children::title(parent.is_cold), panel.title), ..panel },
        }
    };
    by_parent.iter().map(panel).collect()
}

/// A curve for each combination of all that varies but the quantity; of many some from the first to the last.
fn combined_panel(quantity: Quantity, rows: &[&Trial], varied: &Varied) -> Panel {
    let all = settings(rows.iter().copied(), |cell| quantity.without(cell));
    let drawn = all.len().min(CURVES_MAX);
    let kept = (0..drawn).map(|at| &all[at * (all.len() - 1) / (drawn - 1).max(1)]);
    let curve = |(cell, rows): &Setting<'_>| {
        let name = varied.name(cell, Some(quantity));
        let points = rows.iter().filter_map(|row| point(quantity, row)).collect();
        let mut curve = Curve { name, is_bound: false, points };
        in_order(&mut curve);
        curve
    };
    let title = match all.len() {
        all if all > drawn => format!("{drawn} of {all} curves"),
        all => format!("{all} curves"),
    };
    Panel { title, curves: kept.map(curve).collect(), crossings: Vec::new() }
}

/// Cost against makespan of all cells, named by what distinguishes them; of many the cheapest.
fn all_by_time(rows: &[Trial], varied: &Varied) -> Option<Answer> {
    if rows.len() < 2 || varied.number() > FEW {
        return None;
    }
    let mut cheapest: Vec<&Trial> = rows.iter().collect();
    cheapest.sort_by_key(|row| row.outcome.cost);
    cheapest.truncate(NAMED_MAX);
    let title = match rows.len() {
        all if all > NAMED_MAX => format!("the cheapest {NAMED_MAX} of {all} cells"),
        all => format!("{all} cells"),
    };
    let panel = time_panel(title, &cheapest, &|cell| varied.full_name(cell));
    Some(Answer { question: Question::Prime, rows: rows.to_vec(), panels: vec![panel] })
}

/// Cost against makespan of the widest fan-outs, if several policies are compared.
fn by_time(rows: &[Trial]) -> Option<Answer> {
    let widest = rows.iter().map(|row| row.cell.children).max()?;
    let rows: Vec<Trial> = rows.iter().filter(|row| row.cell.children == widest).cloned().collect();
    let settings = settings(rows.iter(), without_policy);
    let is_readable = |(_, rows): &Setting<'_>| (2..=POINTS_MAX).contains(&rows.len());
    if settings.len() > PANELS_MAX || !settings.iter().all(is_readable) {
        return None;
    }
    let title = |cell: &Cell| format!("{}, {widest} children", titled(cell, &settings));
    let panels = settings.iter().map(|(cell, rows)| time_panel(title(cell), rows, &policies(rows))).collect();
    Some(Answer { question: Question::Prime, rows: rows.clone(), panels })
}

fn time_panel(title: String, rows: &[&Trial], label: &dyn Fn(&Cell) -> String) -> Panel {
    let seconds = |row: &Trial| row.outcome.makespan.0 as f64 / 1e9;
    let point = |row: &&Trial| Some(Point { at: seconds(row), cost: row.outcome.cost?, label: label(&row.cell) });
    let mut points: Vec<Point> = rows.iter().filter_map(point).collect();
    points.sort_by(|one, other| one.at.total_cmp(&other.at).then(one.cost.cmp(&other.cost)));
    let ends = [points.first(), points.last()].into_iter().flatten();
    // Different settings have different bounds; none is one for all.
    let is_one = !differ(rows.iter().map(|row| row.outcome.bound));
    let least = rows.iter().find_map(|row| row.outcome.bound).filter(|_| is_one);
    let bound = ends.filter_map(|end| Some(Point { at: end.at, cost: least?, label: String::new() })).collect();
    let mut curves = vec![Curve { name: "policy".to_owned(), is_bound: false, points }];
    curves.extend(least.map(|_| Curve { name: "bound".to_owned(), is_bound: true, points: bound }));
    Panel { title, curves, crossings: Vec::new() }
}

/// Names of the policies of some rows: the launch alone if the breakpoints are the same.
fn policies(rows: &[&Trial]) -> impl Fn(&Cell) -> String + use<> {
    let kinds: BTreeSet<(String, bool)> =
        rows.iter().map(|row| (row.cell.marking(), row.cell.spawn.is_some())).collect();
    move |cell| if kinds.len() > 1 { policy(cell) } else { cell.launch.name() }
}

/// Such as `both, primed`, or `spawn, both, primed`.
fn policy(cell: &Cell) -> String {
    match cell.spawn {
        Some(_) => format!("spawn, {}, {}", cell.marking(), cell.launch.name()),
        None => format!("{}, {}", cell.marking(), cell.launch.name()),
    }
}

/// The parent, and everything else that distinguishes a setting from the others.
fn titled(cell: &Cell, settings: &[Setting<'_>]) -> String {
    let words = WORDS.iter().filter(|word| differ(settings.iter().map(|(cell, _)| word(cell)))).map(|word| word(cell));
    std::iter::once(children::title(cell.is_cold)).chain(words).collect::<Vec<_>>().join(", ")
}

/// What distinguishes settings besides the parent.
const WORDS: [fn(&Cell) -> String; 8] = [
    |cell| cell.model.to_string(),
    |cell| Quantity::Prefix.said(cell.prefix),
    |cell| Quantity::Tail.said(cell.tail),
    |cell| Quantity::Directive.said(cell.directive),
    |cell| Quantity::Turns.said(cell.turns.into()),
    |cell| Quantity::Growth.said(cell.growth),
    |cell| Quantity::Waiting.said(cell.waiting.into()),
    |cell| format!("lifetime {}", cell.ttl.name()),
];

fn differ<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// The parameters that vary in a grid.
struct Varied {
    numbers: Vec<Quantity>,
    /// Some parents are warm and some cold.
    has_parents: bool,
    /// The others, each with its word.
    words: Vec<fn(&Cell) -> String>,
}

/// The parameters that are no numbers, besides the parent.
const CHOICES: [fn(&Cell) -> String; 5] = [
    |cell| cell.model.to_string(),
    |cell| cell.ttl.name().to_owned(),
    |cell| if cell.spawn.is_some() { "spawn" } else { "fork" }.to_owned(),
    Cell::marking,
    |cell| cell.launch.name(),
];

impl Varied {
    fn of(rows: &[Trial]) -> Self {
        let numbers =
            Quantity::ALL.into_iter().filter(|quantity| differ(rows.iter().map(|row| quantity.of(&row.cell))));
        let words = CHOICES.iter().filter(|word| differ(rows.iter().map(|row| word(&row.cell))));
        let has_parents = differ(rows.iter().map(|row| row.cell.is_cold));
        Self { numbers: numbers.collect(), has_parents, words: words.copied().collect() }
    }

    /// How many there are.
    fn number(&self) -> usize {
        self.numbers.len() + usize::from(self.has_parents) + self.words.len()
    }

    /// The name of a cell among all.
    fn full_name(&self, cell: &Cell) -> String {
        let parent = self.has_parents.then(|| children::title(cell.is_cold));
        let name = Some(self.name(cell, None)).filter(|name| !name.is_empty());
        parent.into_iter().chain(name).collect::<Vec<_>>().join(", ")
    }

    /// The name of a cell among those with the same parent and quantity.
    fn name(&self, cell: &Cell, besides: Option<Quantity>) -> String {
        let numbers = self
            .numbers
            .iter()
            .filter(|quantity| Some(**quantity) != besides)
            .map(|quantity| quantity.said(quantity.of(cell)));
        numbers.chain(self.words.iter().map(|word| word(cell))).collect::<Vec<_>>().join(", ")
    }
}
