//! Answers that follow from the rows of a grid: cost along a number that varies, and cost against makespan. The cost is
//! the one by which rows are ranked.

use std::collections::BTreeMap;

use forkcast_sim::pricing::Money;

use super::{Answer, BOUND, Crossing, Curve, Panel, Point, Quantity, Question, bound_with_parent, children, crossing};
use crate::fanout::cell::Cell;
use crate::fanout::options::{Options, differ};
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
    if rows.iter().any(|row| row.ranked_cost().is_none()) {
        return Vec::new();
    }
    let varied = Varied::of(rows);
    let quantities = Quantity::ALL.into_iter().filter(|quantity| varied.numbers.contains(quantity));
    let mut drawn: Vec<Answer> = quantities.filter_map(|quantity| by_quantity(quantity, rows, &varied)).collect();
    drawn.extend(by_time(rows, varied.options));
    if drawn.is_empty() {
        drawn.extend(all_by_time(rows, &varied));
    }
    drawn
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

/// Cost by a quantity: a panel for each setting and a curve for each of the options compared, if that is readable. Else, and if only few
/// parameters vary, one panel with a curve for each combination of the others.
fn by_quantity(quantity: Quantity, rows: &[Trial], varied: &Varied) -> Option<Answer> {
    let settings = settings(rows.iter(), |cell| quantity.without(&varied.options.without(cell)));
    let panel = |(cell, rows): &Setting<'_>| curves(quantity, titled(cell, &settings), rows, varied.options);
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

fn curves(quantity: Quantity, title: String, rows: &[&Trial], options: Options) -> Panel {
    let mut curves: Vec<Curve> = Vec::new();
    for row in rows {
        let name = options.name(&row.cell);
        let Some(cost) = point(quantity, row) else { continue };
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(cost),
            None => curves.push(Curve { name, is_bound: false, points: vec![cost] }),
        }
    }
    curves.iter_mut().for_each(in_order);
    let crossings = turning_point(&curves).into_iter().collect();
    curves.extend(bound(quantity, rows));
    Panel { title, curves, crossings }
}

/// The name of such bounds where named agents, which have none, are drawn too.
const BOUND_OF_FORKS: &str = "bound of forks, with the cheapest parent";

/// A bound of the forks among these rows at every place; `None` if none has one.
fn bound(quantity: Quantity, rows: &[&Trial]) -> Option<Curve> {
    let mut places: BTreeMap<u64, Vec<&Trial>> = BTreeMap::new();
    rows.iter().for_each(|row| places.entry(quantity.of(&row.cell)).or_default().push(row));
    let least = |(at, here): (u64, Vec<&Trial>)| {
        Some(Point { at: at as f64, cost: bound_with_parent(here.into_iter())?, label: String::new() })
    };
    let points: Vec<Point> = places.into_iter().filter_map(least).collect();
    let has_spawns = rows.iter().any(|row| row.cell.spawn.is_some());
    let name = if has_spawns { BOUND_OF_FORKS } else { BOUND };
    (!points.is_empty()).then_some(Curve { name: name.to_owned(), is_bound: true, points })
}

/// Where the cheaper one of two becomes the dearer one, if that is between the first and the last place.
fn turning_point(curves: &[Curve]) -> Option<Crossing> {
    let [one, other] = curves else { return None };
    let cost = |curve: &Curve| curve.points.first().map(|point| point.cost);
    let (first, second) = if cost(one) <= cost(other) { (one, other) } else { (other, one) };
    let (at, cost) = crossing(first, second)?;
    let is_between = first.points.first().is_some_and(|point| at > point.at);
    let name = format!("{} is cheaper until", first.name);
    is_between.then_some(Crossing { name, at: Some(at), cost, with_parent: Some(at), formula: None })
}

fn point(quantity: Quantity, row: &Trial) -> Option<Point> {
    Some(Point { at: quantity.of(&row.cell) as f64, cost: row.ranked_cost()?, label: String::new() })
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
    cheapest.sort_by_key(|row| row.ranked_cost());
    cheapest.truncate(NAMED_MAX);
    let title = match rows.len() {
        all if all > NAMED_MAX => format!("the cheapest {NAMED_MAX} of {all} cells"),
        all => format!("{all} cells"),
    };
    let panel = time_panel(title, &cheapest, &|cell| varied.full_name(cell));
    Some(Answer { question: Question::Prime, rows: rows.to_vec(), panels: vec![panel] })
}

/// Cost against makespan of the widest fan-outs, if several options are compared.
fn by_time(rows: &[Trial], options: Options) -> Option<Answer> {
    let widest = rows.iter().map(|row| row.cell.children).max()?;
    let rows: Vec<Trial> = rows.iter().filter(|row| row.cell.children == widest).cloned().collect();
    let settings = settings(rows.iter(), |cell| options.without(cell));
    let is_readable = |(_, rows): &Setting<'_>| (2..=POINTS_MAX).contains(&rows.len());
    if settings.len() > PANELS_MAX || !settings.iter().all(is_readable) {
        return None;
    }
    let title = |cell: &Cell| format!("{}, {widest} children", titled(cell, &settings));
    let label = |cell: &Cell| options.short(cell);
    let panels = settings.iter().map(|(cell, rows)| time_panel(title(cell), rows, &label)).collect();
    Some(Answer { question: Question::Prime, rows: rows.clone(), panels })
}

fn time_panel(title: String, rows: &[&Trial], label: &dyn Fn(&Cell) -> String) -> Panel {
    let seconds = |row: &Trial| row.outcome.makespan.0 as f64 / 1e9;
    let point = |row: &&Trial| Some(Point { at: seconds(row), cost: row.ranked_cost()?, label: label(&row.cell) });
    let mut points: Vec<Point> = rows.iter().filter_map(point).collect();
    points.sort_by(|one, other| one.at.total_cmp(&other.at).then(one.cost.cmp(&other.cost)));
    let ends = [points.first(), points.last()].into_iter().flatten();
    // Different settings have different bounds; none is one for all.
    let is_one = !differ(rows.iter().map(|row| row.outcome.bound));
    let least: Option<Money> = bound_with_parent(rows.iter().copied()).filter(|_| is_one);
    let bound = ends.filter_map(|end| Some(Point { at: end.at, cost: least?, label: String::new() })).collect();
    let mut curves = vec![Curve { name: "policy".to_owned(), is_bound: false, points }];
    curves.extend(least.map(|_| Curve { name: BOUND.to_owned(), is_bound: true, points: bound }));
    Panel { title, curves, crossings: Vec::new() }
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

/// The parameters that vary in a grid.
struct Varied {
    /// Those that are compared.
    options: Options,
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
        let options = Options::of(rows);
        Self { options, numbers: numbers.collect(), has_parents, words: words.copied().collect() }
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
