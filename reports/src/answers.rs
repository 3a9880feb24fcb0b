//! The answer to a question about fan-outs in one sentence, with its figures: the title of a picture, and of a report.

use forkcast_scenarios::fanout::breakeven::launching::frontier;
use forkcast_scenarios::fanout::breakeven::{Answer, Curve, Panel, Point, Quantity, Question};
use forkcast_sim::pricing::Money;

use crate::document::{money, span};

pub(crate) mod grid;
mod growth;

/// The answer to the question.
pub(crate) fn of(answer: &Answer) -> String {
    let said = match answer.question {
        Question::Children => grid::by_quantity(Quantity::Children, &answer.rows),
        Question::Grid(quantity) => grid::by_quantity(quantity, &answer.rows),
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
        Question::Children | Question::Grid(_) => Range::at_last(panel),
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

    /// Those of all policies at the last place.
    fn at_last(panel: &Panel) -> Option<Self> {
        let policies = || panel.curves.iter().filter(|curve| !curve.is_bound);
        let last = policies().filter_map(|curve| curve.points.last()).map(|point| point.at).reduce(f64::max)?;
        let costs = || policies().filter_map(|curve| cost(curve, last));
        Some(Self { least: costs().min()?, most: costs().max()? })
    }
}

fn policies(panel: &Panel) -> Option<&Curve> {
    panel.curves.iter().find(|curve| !curve.is_bound)
}

/// A break-even point: `7.4 turns`, `34,600 of context`.
pub(crate) fn place(question: Question, at: f64) -> String {
    match question {
        Question::Grid(size @ (Quantity::Prefix | Quantity::Tail | Quantity::Directive | Quantity::Growth)) => {
            size.said(at.round() as u64)
        }
        _ if at.fract() == 0.0 => format!("{at:.0} {}", unit(question)),
        _ => format!("{at:.1} {}", unit(question)),
    }
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

fn cost(curve: &Curve, at: f64) -> Option<Money> {
    curve.points.iter().find(|point| point.at == at).map(|point| point.cost)
}

/// Up to how many whole turns forks are cheaper, by context, as `economics.md` 3.3 counts: without the parent's requests; the first curve are the agents of their own.
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
        Some(rest) => Some(format!("Without the parent, forks are never cheaper{rest}")),
        None => (!limits.is_empty()).then(|| format!("Without the parent, forks are cheaper up to {limits}")),
    }
}

/// A size of context in a list.
fn short(context: &str) -> &str {
    context.strip_suffix(" of context").unwrap_or(context)
}

/// From how many waiting children on an hour is cheaper than five minutes, as `economics.md` 3.5 counts: without the
/// parent's requests.
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
    (!limits.is_empty()).then(|| format!("Without the parent, an hour is cheaper once {}", limits.join(", ")))
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
