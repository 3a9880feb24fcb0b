//! A run of a scenario for people: the claim, the agents, their requests over time, the results in the cache, the cost,
//! the laws.

mod forks;
mod lanes;
mod tables;

use forkcast_replay::calibrate::{Generation, Quality, built_in_residual};
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::diagnosis::THINKING_AT;
use forkcast_sim::pricing::Money;
use forkcast_sim::simulation::AskedBy;

use crate::document::{Document, count, money, several, share, since_start};
use crate::report::statement_of_run;

/// The document; `failures` are the failed expectations.
pub fn document(run: &Run, failures: &[String]) -> Document {
    let mut document = Document::default();
    document.title(title(run));
    document.text(about(run));
    document.aside(made(run));
    document.heading("Agents");
    document.table(tables::agents(run));
    forks::add(run, &mut document);
    document.heading("Requests");
    document.parts.push(lanes::part(run));
    document.table(tables::requests(run));
    if run.requests.iter().any(|request| !request.line.charge.causes.is_empty()) {
        super::list::hint(&mut document);
    }
    document.text(thinking(run));
    document.text(cost(run));
    document.text(beyond_window(run).into_iter().collect());
    document.text(vec![laws(run)]);
    claims(run, failures, &mut document);
    document
}

/// `day/working-day: 30 requests of 3 agents in 7 min 12 s, $0.4321, hit rate 91.2 %`.
fn title(run: &Run) -> String {
    let totals = run.totals();
    let cost = totals.cost.map_or_else(|| "no price".to_owned(), money);
    let rate = totals.usage.hit_rate().map(|rate| format!(", hit rate {}", share(rate))).unwrap_or_default();
    let requests = several(totals.requests, "request");
    let agents = several(run.agents.len() as u64, "agent");
    let span = since_start(run.makespan);
    format!("{}: {requests} of {agents} in {span}, {cost}{rate}", run.scenario.name)
}

/// The scenario's claim, as one paragraph.
fn about(run: &Run) -> Vec<String> {
    let words: Vec<&str> = run.scenario.about.split_whitespace().collect();
    if words.is_empty() { Vec::new() } else { vec![words.join(" ")] }
}

/// The inputs of the run, so that it can be repeated.
fn made(run: &Run) -> Vec<String> {
    let (scenario, options) = (&run.scenario, &run.options);
    let settings = forkcast_scenarios::load::settings(scenario);
    let placement = settings.placement.name();
    let ttl = settings.ttl.name();
    let order = options.interleave.map_or_else(|| "FIFO".to_owned(), |seed| format!("drawn with seed {seed}"));
    let mut made = vec![
        format!("Seed {}, tasks {order}, digest {:032x}", scenario.seed, run.digest),
        format!(
            "Cache rules {}, breakpoints {placement}, {ttl}; {}",
            scenario.cache.unwrap_or_default().name,
            statement_of_run(run)
        ),
    ];
    if !options.set.is_empty() {
        made.push(format!("Options: {}", options.set.join(", ")));
    }
    if run.agents.iter().any(|agent| agent.fork.is_some()) {
        made.push(forks::made(&settings.forks));
    }
    made.extend(sizes(run));
    made.push("Time to the first byte and speed are assumptions, because providers do not publish them".to_owned());
    made
}

/// The sources of token figures: declared sizes, and the quality of the count of the rest.
fn sizes(run: &Run) -> Vec<String> {
    let declared: Vec<String> = run.declared().map(|(part, tokens)| format!("{part} {}", count(tokens))).collect();
    let mut lines = vec![if declared.is_empty() {
        "Tokens are counted, including the provider's additions for tools and messages".to_owned()
    } else {
        let declared = super::replay::listed(&declared);
        format!("Tokens declared by the scenario: {declared}; the rest is counted, without additions of a provider")
    }];
    lines.extend(run.tokenizers().into_iter().filter_map(|tokenizer| {
        super::calibration::quality(tokenizer, Quality::of(tokenizer), Generation::of(tokenizer).map(built_in_residual))
    }));
    lines
}

/// Requests with thinking that the provider does not take as it is: no cost, so before it (`design.md` 6).
fn thinking(run: &Run) -> Vec<String> {
    let of_line = |request: &Request| {
        let said = request.line.remarks.iter().find_map(|remark| remark.strip_prefix(THINKING_AT))?;
        Some(format!("request {}, thinking at {said}", request.line.index))
    };
    let found: Vec<String> = run.requests.iter().filter_map(of_line).collect();
    let Some(first) = found.first() else { return Vec::new() };
    let requests = several(found.len() as u64, "request");
    let verb = if found.len() == 1 { "sends" } else { "send" };
    vec![format!("{requests} {verb} thinking after other content than it was made after. The first: {first}")]
}

fn cost(run: &Run) -> Vec<String> {
    let totals = run.totals();
    let (Some(cost), Some(without)) = (totals.cost, totals.cost_without_cache) else { return Vec::new() };
    let mut lines = vec![format!("Cost {}; without a cache it would have been {}", money(cost), money(without))];
    lines.extend(helpers(run, cost));
    lines
}

/// Requests that only a simulated provider answers.
pub fn beyond_window(run: &Run) -> Option<String> {
    let beyond = run.beyond_window() as u64;
    let (verb, them) = if beyond == 1 { ("is", "it") } else { ("are", "them") };
    let said = || {
        let requests = several(beyond, "request");
        format!("{requests} {verb} longer than the model's window: the provider would refuse {them}")
    };
    (beyond > 0).then(said)
}

/// The price of internal forks, which no one asked for and which are easily overlooked.
fn helpers(run: &Run, whole: Money) -> Option<String> {
    let sums = run.agents.iter().zip(run.sums_of_agents()).filter(|(agent, _)| agent.asked_by == AskedBy::Runtime);
    let (requests, cost) = sums.fold((0, Money::ZERO), |(requests, cost), (_, sums)| {
        (requests + sums.requests, cost + sums.cost.unwrap_or(Money::ZERO))
    });
    let part = || share(super::replay::part_of(cost, whole));
    (requests > 0)
        .then(|| format!("Helpers of the runtime: {} requests, {}, {} of it", count(requests), money(cost), part()))
}

fn laws(run: &Run) -> String {
    let named =
        |held: bool| -> Vec<&str> { run.laws.iter().filter(|(_, is)| *is == held).map(|(law, _)| *law).collect() };
    match named(false)[..] {
        [] => format!("Laws held: {}", named(true).join(", ")),
        ref broken => format!("Laws BROKEN: {}; held: {}", broken.join(", "), named(true).join(", ")),
    }
}

fn claims(run: &Run, failures: &[String], document: &mut Document) {
    if run.ends != Ends::Finished {
        let message = run.message.as_deref().unwrap_or_default();
        document.text(vec![format!("The run ended `{}`: {message}", run.ends.word())]);
    }
    if run.ends == Ends::Interrupted {
        document.text(vec!["Expectations were not checked".to_owned()]);
    } else if failures.is_empty() {
        document.text(vec!["All expectations hold".to_owned()]);
    } else {
        document.heading("Failed expectations");
        document.text(failures.to_vec());
    }
    let pending = run.scenario.expect.pending.iter();
    document.aside(pending.map(|step| format!("Not checked yet: {} (needs {})", step.step, step.needs)).collect());
}
