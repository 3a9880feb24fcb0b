//! Compares figures with their bounds.

use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Usage;

use super::Failures;
use crate::format::expect::{Figure, Number};
use crate::run::{Run, Sums};

pub(super) fn check(failed: &mut Failures<'_>) {
    let run = failed.run;
    let expect = &run.scenario.expect;
    for figure in &expect.figures {
        check_one(figure, "", of_run(run, figure.name), failed);
    }
    for (name, figures, origin) in &expect.agents {
        let agents: Vec<usize> = run.agents_called(name).map(|(at, _)| at).collect();
        if agents.is_empty() {
            failed.add(origin, format!("no agent `{name}` took part; there were {}", took_part(run)));
            continue;
        }
        for figure in figures {
            check_one(figure, &format!(" of `{name}`"), of_agents(run, &agents, figure.name), failed);
        }
    }
}

/// All participating agents, for messages.
pub(super) fn took_part(run: &Run) -> String {
    let labels: Vec<String> = run.agents.iter().map(|agent| format!("`{}`", agent.label)).collect();
    if labels.is_empty() { "none".to_owned() } else { labels.join(", ") }
}

pub(super) fn check_one(figure: &Figure, whose: &str, found: Option<Number>, failed: &mut Failures<'_>) {
    let Some(found) = found else {
        failed.add(&figure.origin, format!("there is no figure `{}`{whose} to compare", figure.name));
        return;
    };
    let below = figure.min.is_some_and(|min| less(found, min));
    let above = figure.max.is_some_and(|max| less(max, found));
    if below || above {
        failed
            .add(&figure.origin, format!("`{}`{whose} is {}; expected {}", figure.name, shown(found), bounds(figure)));
    }
}

fn bounds(figure: &Figure) -> String {
    match (figure.min, figure.max) {
        (Some(min), Some(max)) if min == max => shown(min),
        (Some(min), Some(max)) => format!("{} to {}", shown(min), shown(max)),
        (Some(min), None) => format!("at least {}", shown(min)),
        (None, Some(max)) => format!("at most {}", shown(max)),
        (None, None) => "anything".to_owned(),
    }
}

fn less(one: Number, other: Number) -> bool {
    match (one, other) {
        (Number::Plain(one), Number::Plain(other)) => one < other,
        (Number::Money(one), Number::Money(other)) => one < other,
        _ => false,
    }
}

fn shown(number: Number) -> String {
    match number {
        Number::Plain(number) => number.to_string(),
        Number::Money(amount) => format!("{amount} USD"),
    }
}

fn of_run(run: &Run, name: &str) -> Option<Number> {
    match name {
        "turns" => Some(count(run.agents.iter().map(|agent| u64::from(agent.turns)).sum())),
        "makespan_ms" => Some(count(run.makespan.0 / 1_000_000)),
        "agents" => Some(count(run.agents.len() as u64)),
        name => of_sums(&run.totals(), name),
    }
}

fn of_agents(run: &Run, agents: &[usize], name: &str) -> Option<Number> {
    let mut sums = Sums::default();
    let of_agents = run.sums_of_agents();
    for agent in agents {
        let part = &of_agents[*agent];
        sums.requests += part.requests;
        sums.usage += part.usage;
        sums.cost = total(sums.cost, part.cost);
        sums.cost_without_cache = total(sums.cost_without_cache, part.cost_without_cache);
    }
    match name {
        "turns" => Some(count(agents.iter().map(|agent| u64::from(run.agents[*agent].turns)).sum())),
        "agents" => Some(count(agents.len() as u64)),
        "makespan_ms" => {
            let spans = agents.iter().map(|agent| &run.agents[*agent]);
            let longest = spans.filter_map(|agent| Some(agent.ended?.0 - agent.began.0)).max()?;
            Some(count(longest / 1_000_000))
        }
        name => of_sums(&sums, name),
    }
}

fn total(one: Option<Money>, other: Option<Money>) -> Option<Money> {
    one.into_iter().chain(other).reduce(|sum, cost| sum + cost)
}

fn of_sums(sums: &Sums, name: &str) -> Option<Number> {
    Some(match name {
        "requests" => count(sums.requests),
        "input_tokens" => count(sums.usage.input_tokens),
        "cache_read_input_tokens" => count(sums.usage.cache_read_input_tokens),
        "cache_creation_input_tokens" => count(sums.usage.cache_creation_input_tokens()),
        "output_tokens" => count(sums.usage.output_tokens),
        "token_equivalents" => Number::Plain(token_equivalents(&sums.usage)),
        "hit_rate" => Number::Plain(sums.usage.hit_rate()?),
        "cost_usd" => Number::Money(sums.cost?),
        "cost_without_cache_usd" => Number::Money(sums.cost_without_cache?),
        _ => return None,
    })
}

/// The input in units of plain input tokens: 1.25 per token written for five minutes, 2 for an hour, 0.1 per token read
/// (Anthropic prompt-caching page, 2026-09; the unit of the published worked examples). Hundredths are exact.
fn token_equivalents(usage: &Usage) -> f64 {
    let hundredths = usage.input_tokens * 100
        + usage.ephemeral_5m_input_tokens * 125
        + usage.ephemeral_1h_input_tokens * 200
        + usage.cache_read_input_tokens * 10;
    hundredths as f64 / 100.0
}

/// A count as a number of the format; token counts of a run are far below 2⁵³.
fn count(number: u64) -> Number {
    Number::Plain(number as f64)
}
