//! A run as text, stored as a golden file next to its scenario: digest, agents, requests, laws. It shows changed
//! behaviour line by line.

use std::fmt::Write;

use forkcast_scenarios::run::{Request, Run};

/// The text of a run.
pub fn text(run: &Run) -> String {
    let mut text = String::new();
    let written = write_all(run, &mut text);
    debug_assert!(written.is_ok(), "a string takes everything");
    text
}

fn write_all(run: &Run, text: &mut String) -> std::fmt::Result {
    writeln!(text, "scenario {}", run.scenario.name)?;
    writeln!(text, "seed {}", run.scenario.seed)?;
    writeln!(text, "digest {:032x}", run.digest)?;
    writeln!(text, "ends {}, {} events, {} ms", run.ends.word(), run.events.len(), millis(run.makespan.0))?;
    if let Some(message) = &run.message {
        writeln!(text, "message {message}")?;
    }
    writeln!(text, "\nagents: type, calls above it, turns, state, reason")?;
    for agent in &run.agents {
        let reason = agent.reason.unwrap_or("-");
        writeln!(text, "  {} {} {} {} {reason}", agent.label, agent.depth, agent.turns, agent.state)?;
    }
    writeln!(
        text,
        "\nrequests: agent, turn, sent ms, first byte ms, input, read, 5m, 1h, output, USD, verdict, causes"
    )?;
    for request in &run.requests {
        write_request(run, request, text)?;
    }
    let totals = run.totals();
    let cost = totals.cost.map_or_else(|| "no price".to_owned(), |cost| cost.to_string());
    let without = totals.cost_without_cache.map_or_else(|| "no price".to_owned(), |cost| cost.to_string());
    writeln!(text, "\ntotal {} requests, {cost} USD, without a cache {without} USD", totals.requests)?;
    let laws: Vec<String> =
        run.laws.iter().map(|(law, held)| if *held { (*law).to_owned() } else { format!("{law} BROKEN") }).collect();
    writeln!(text, "laws {}", laws.join(", "))
}

fn write_request(run: &Run, request: &Request, text: &mut String) -> std::fmt::Result {
    let line = &request.line;
    let usage = request.usage();
    let agent = run.agents.get(request.agent).map_or("-", |agent| agent.label.as_str());
    let at = line.at.map_or_else(|| "-".to_owned(), |at| millis(at.0));
    let first = line.first_byte_at.map_or_else(|| "-".to_owned(), |at| millis(at.0));
    let cost = request.cost().map_or_else(|| "-".to_owned(), |cost| cost.to_string());
    let causes: Vec<String> =
        request.causes().iter().map(|(cause, tokens)| format!("{}={tokens}", cause.word())).collect();
    let tokens = [
        usage.input_tokens,
        usage.cache_read_input_tokens,
        usage.ephemeral_5m_input_tokens,
        usage.ephemeral_1h_input_tokens,
        usage.output_tokens,
    ]
    .map(|tokens| tokens.to_string());
    let turn =
        if request.attempt == 0 { request.turn.to_string() } else { format!("{}+{}", request.turn, request.attempt) };
    let said = format!(
        "  {agent} {turn} {at} {first} {} {cost} {} {}",
        tokens.join(" "),
        request.verdict.word(),
        causes.join(" ")
    );
    writeln!(text, "{}", said.trim_end())
}

/// Milliseconds with up to six decimals.
fn millis(nanos: u64) -> String {
    let decimals = format!("{:06}", nanos % 1_000_000);
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{}{point}{decimals}", nanos / 1_000_000)
}
