//! The answer to a question about fan-outs in one sentence, with its figures: the title of a picture, and of a report.

use forkcast_scenarios::fanout::Cell;
use forkcast_scenarios::fanout::breakeven::launching::frontier;
use forkcast_scenarios::fanout::breakeven::{Answer, Curve, Panel, Point, Quantity, Question};
use forkcast_sim::pricing::Money;

use crate::document::{money, span};

/// The answer to the question.
pub(crate) fn of(answer: &Answer) -> String {
    let said = match answer.question {
        Question::Children => by_quantity(Quantity::Children, answer),
        Question::Grid(quantity) => by_quantity(quantity, answer),
        Question::ForkOrSpawn => answer.panels.first().and_then(|panel| {
            // The panels differ in how spawns start, and the answer is that of the first.
            let launch = panel.title.rsplit_once("; ").filter(|_| answer.panels.len() > 1);
            let launch = launch.map_or_else(String::new, |(_, launch)| format!(" ({launch})"));
            Some(forks(panel)? + &launch)
        }),
        Question::Ttl => lifetimes(&answer.panels),
        Question::Prime => launches(&answer.panels),
        Question::LookBack => answer.panels.first().and_then(reach),
    };
    said.unwrap_or_else(|| answer.question.about().to_owned())
}

/// What each panel is about, and the cheapest and the dearest of its policies.
pub(crate) fn panels(answer: &Answer) -> Vec<String> {
    let range = |panel: &Panel| match answer.question {
        Question::Children | Question::Grid(_) => {
            Ranking::of(panel).map(|ranking| Range { least: ranking.least, most: ranking.most })
        }
        Question::Prime => Range::of(policies(panel)?),
        Question::ForkOrSpawn | Question::Ttl | Question::LookBack => None,
    };
    // A panel is narrow, and its axis names the place.
    let place = if matches!(answer.question, Question::Grid(_)) { " at the right" } else { "" };
    let titled = |panel: &Panel| match range(panel) {
        Some(Range { least, most }) if least == most => {
            let compared = panel.curves.iter().filter(|curve| !curve.is_bound).count() > 1;
            let in_any = if compared { " in any case" } else { "" };
            format!("{}: {}{in_any}{place}", panel.title, money(least))
        }
        Some(Range { least, most }) => format!("{}: {} to {}{place}", panel.title, money(least), money(most)),
        None => panel.title.clone(),
    };
    answer.panels.iter().map(titled).collect()
}

/// The costs of some points.
struct Range {
    least: Money,
    most: Money,
}

impl Range {
    fn of(curve: &Curve) -> Option<Self> {
        let costs = || curve.points.iter().map(|point| point.cost);
        Some(Self { least: costs().min()?, most: costs().max()? })
    }
}

fn policies(panel: &Panel) -> Option<&Curve> {
    panel.curves.iter().find(|curve| !curve.is_bound)
}

/// The unit of a break-even point.
pub(crate) const fn unit(question: Question) -> &'static str {
    match question {
        Question::Children | Question::LookBack | Question::Ttl => "children",
        Question::ForkOrSpawn => "turns",
        Question::Prime => "s",
        Question::Grid(quantity) => quantity.word(),
    }
}

/// The policies of a panel at its last place.
struct Ranking<'a> {
    cheapest: Vec<&'a str>,
    /// Parts of names that all policies share.
    shared: Vec<&'a str>,
    least: Money,
    most: Money,
    /// The last place, and the first one from which on the cheapest policy is.
    last: f64,
    from: f64,
    is_cheapest_throughout: bool,
}

impl<'a> Ranking<'a> {
    fn of(panel: &'a Panel) -> Option<Self> {
        let policies = || panel.curves.iter().filter(|curve| !curve.is_bound);
        let last = policies().filter_map(|curve| curve.points.last()).map(|point| point.at).reduce(f64::max)?;
        let ends: Vec<(&Curve, Money)> = policies().filter_map(|curve| Some((curve, cost(curve, last)?))).collect();
        let (first, least) = ends.iter().min_by_key(|(_, cost)| *cost)?;
        let most = ends.iter().map(|(_, cost)| *cost).max()?;
        let is_cheapest =
            |point: &&Point| policies().filter_map(|other| cost(other, point.at)).all(|other| point.cost <= other);
        let kept = first.points.iter().rev().take_while(is_cheapest);
        let from = kept.last().map_or(last, |point| point.at);
        Some(Self {
            shared: shared_parts(policies().map(|curve| &*curve.name)),
            cheapest: ends.iter().filter(|(_, cost)| cost == least).map(|(curve, _)| &*curve.name).collect(),
            least: *least,
            most,
            last,
            is_cheapest_throughout: first.points.first().is_none_or(|point| point.at == from),
            from,
        })
    }

    /// The cheapest; equal ones together. The legend has the parts that all policies share.
    fn names(&self) -> String {
        match self.cheapest[..] {
            [] => String::new(),
            [one] => self.short(one, ", "),
            [one, other] => format!("{} and {}", self.short(one, " + "), self.short(other, " + ")),
            [one, ref others @ ..] => format!("{} and {} others", self.short(one, " + "), others.len()),
        }
    }

    /// A name without the shared parts, if any part remains.
    fn short(&self, name: &str, between: &str) -> String {
        let own: Vec<&str> = name.split(", ").filter(|part| !self.shared.contains(part)).collect();
        if own.is_empty() { name.to_owned() } else { own.join(between) }
    }
}

/// The parts that all names have; none if there is only one name.
fn shared_parts<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let names: Vec<Vec<&str>> = names.map(|name| name.split(", ").collect()).collect();
    match &names[..] {
        [first, others @ ..] if !others.is_empty() => {
            first.iter().filter(|part| others.iter().all(|other| other.contains(part))).copied().collect()
        }
        _ => Vec::new(),
    }
}

fn differ<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.any(|value| Some(value) != first)
}

fn cost(curve: &Curve, at: f64) -> Option<Money> {
    curve.points.iter().find(|point| point.at == at).map(|point| point.cost)
}

/// The cheapest policy; if no policies are compared, the cheapest and the dearest cell.
fn by_quantity(quantity: Quantity, answer: &Answer) -> Option<String> {
    let without_policy = |cell: &Cell| Cell { spawn: None, ..quantity.without(cell).without_policy() };
    let mut settings: Vec<Cell> = Vec::new();
    for cell in answer.rows.iter().map(|row| without_policy(&row.cell)) {
        // More settings than panels are not one comparison.
        if settings.len() <= answer.panels.len() && !settings.contains(&cell) {
            settings.push(cell);
        }
    }
    let curves = answer.panels.iter().flat_map(|panel| &panel.curves).filter(|curve| !curve.is_bound);
    let compares_policies = settings.len() <= answer.panels.len() && curves.count() > answer.panels.len();
    if compares_policies { policies_by(quantity, &answer.panels) } else { extremes(quantity, &answer.panels) }
}

/// The cheapest and the dearest point of all curves.
fn extremes<'a>(quantity: Quantity, panels: &'a [Panel]) -> Option<String> {
    let curves = || {
        let of = |panel: &'a Panel| panel.curves.iter().map(move |curve| (panel, curve));
        panels.iter().flat_map(of).filter(|(_, curve)| !curve.is_bound)
    };
    // What all have in common is in no place of the sentence.
    let are_named = differ(curves().map(|(_, curve)| &*curve.name));
    let points = || curves().flat_map(|(panel, curve)| curve.points.iter().map(move |point| (panel, curve, point)));
    let words = |(panel, curve, point): (&Panel, &Curve, &Point)| {
        let place = quantity.said(point.at as u64);
        let name = if are_named { format!(" and {}", curve.name) } else { String::new() };
        let panel = if panels.len() > 1 { format!(" ({})", panel.title) } else { String::new() };
        format!("{} with {place}{name}{panel}", money(point.cost))
    };
    let least = points().min_by_key(|(.., point)| point.cost)?;
    let most = points().max_by_key(|(.., point)| point.cost)?;
    Some(format!("From {} to {}", words(least), words(most)))
}

fn policies_by(quantity: Quantity, panels: &[Panel]) -> Option<String> {
    let rankings: Vec<(&Panel, Ranking<'_>)> =
        panels.iter().filter_map(|panel| Some((panel, Ranking::of(panel)?))).collect();
    let differs = rankings.iter().find(|(_, ranking)| ranking.least != ranking.most);
    let (panel, ranking) = differs.or(rankings.first())?;
    let last = quantity.said(ranking.last as u64);
    if ranking.least == ranking.most {
        return Some(format!("All policies cost the same: {} with {last}", money(ranking.least)));
    }
    let place = if panels.len() > 1 { format!(" ({})", panel.title) } else { String::new() };
    let verb = if ranking.cheapest.len() > 1 { "are" } else { "is" };
    let from = match ranking.is_cheapest_throughout {
        true => "throughout".to_owned(),
        false => format!("from {} on", quantity.said(ranking.from as u64)),
    };
    Some(format!(
        "{} {verb} cheapest {from}{place}: {} against {} with {last}",
        ranking.names(),
        money(ranking.least),
        money(ranking.most)
    ))
}

/// Up to how many whole turns forks are cheaper, by context; the first curve are the agents of their own.
fn forks(panel: &Panel) -> Option<String> {
    let last = panel.curves.first()?.points.last()?.at;
    let mut limits: Vec<String> = Vec::new();
    for (crossing, curve) in panel.crossings.iter().zip(panel.curves.iter().skip(1)) {
        let context = curve.name.strip_prefix("fork, ").unwrap_or(&curve.name);
        let context = if limits.is_empty() { context } else { short(context) };
        let unit = if limits.is_empty() { " turns" } else { "" };
        limits.push(match crossing.at {
            Some(at) if at < 1.0 => format!("never with {context}"),
            Some(at) => format!("{:.0}{unit} with {context}", at.floor()),
            None => format!("{last:.0}{unit} and more with {context}"),
        });
    }
    let limits = limits.join(", ");
    match limits.strip_prefix("never") {
        Some(rest) => Some(format!("Forks are never cheaper{rest}")),
        None => (!limits.is_empty()).then(|| format!("Forks are cheaper up to {limits}")),
    }
}

/// A size of context in a list.
fn short(context: &str) -> &str {
    context.strip_suffix(" of context").unwrap_or(context)
}

/// From how many waiting children on an hour is cheaper than five minutes.
fn lifetimes(panels: &[Panel]) -> Option<String> {
    let mut limits: Vec<String> = Vec::new();
    for panel in panels {
        let at = panel.crossings.first()?.at;
        let last = panel.curves.first()?.points.last()?.at;
        // At the turning point itself, both cost the same.
        let waits = at.map_or_else(|| format!("more than {last:.0}"), |at| format!("{:.0}", at.max(0.0).floor() + 1.0));
        let context = panel.title.split(", ").next()?;
        limits.push(match limits.len() {
            0 => format!("{waits} children wait with {context}"),
            _ => format!("{waits} with {}", short(context)),
        });
    }
    (!limits.is_empty()).then(|| format!("An hour is cheaper once {}", limits.join(", ")))
}

/// The cheapest launch and the fastest one.
fn launches(panels: &[Panel]) -> Option<String> {
    let panel = panels.first()?;
    let curve = policies(panel)?;
    let kept = frontier(&curve.points);
    let (fast, cheap) = (kept.first()?, kept.last()?);
    let said = |point: &Point| format!("{} in {}", money(point.cost), span((point.at * 1_000.0).round() as u64));
    let range = Range::of(curve)?;
    Some(match (fast, cheap) {
        _ if range.least == range.most => {
            format!("All cost the same; {} is fastest: {} ({})", fast.label, said(fast), panel.title)
        }
        _ if fast.label == cheap.label => {
            format!("{} is both fastest and cheapest: {} ({})", fast.label, said(fast), panel.title)
        }
        _ => format!("{} costs {}, {} {} ({})", cheap.label, said(cheap), fast.label, said(fast), panel.title),
    })
}

/// The policies that lose the parent's prefix first, and what a child then costs.
fn reach(panel: &Panel) -> Option<String> {
    let last = panel.curves.first()?.points.last()?.at;
    let lost = || panel.crossings.iter().zip(&panel.curves).filter_map(|(crossing, curve)| Some((crossing.at?, curve)));
    let Some(first) = lost().map(|(at, _)| at).reduce(f64::min) else {
        return Some(format!("Up to {last:.0} children no policy loses the prefix"));
    };
    let (names, mut costs): (Vec<&str>, Vec<Money>) = lost()
        .filter(|(at, _)| *at == first)
        .filter_map(|(_, curve)| Some((&*curve.name, cost(curve, first)?)))
        .unzip();
    costs.dedup();
    let least = panel.curves.iter().filter_map(|curve| cost(curve, first)).min()?;
    let verb = if names.len() > 1 { "lose" } else { "loses" };
    Some(format!(
        "From {first:.0} children on {} {verb} the prefix: {} a child, not {}",
        rules_once(&names),
        costs.into_iter().map(money).collect::<Vec<_>>().join(" and "),
        money(least)
    ))
}

/// `tail and client-2026 (every block counts)` of names that end alike.
fn rules_once(names: &[&str]) -> String {
    let parts: Option<Vec<(&str, &str)>> = names.iter().map(|name| name.split_once(", ")).collect();
    match parts.as_deref() {
        Some([(_, rule), ..]) if parts.iter().flatten().all(|(_, other)| other == rule) => {
            let policies: Vec<&str> = parts.iter().flatten().map(|(policy, _)| *policy).collect();
            format!("{} ({rule})", policies.join(" and "))
        }
        _ => names.join("; "),
    }
}
