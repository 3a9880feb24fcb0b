//! Checks that need more than one field: agents without a script, missing tools, streams and acts out of order,
//! expectations that cannot hold.

use std::collections::BTreeSet;
use std::rc::Rc;

use forkcast_sim::agent::spawn::fork;
use forkcast_sim::agent::spawn::fork::gate::{Meant, meant};
use forkcast_sim::outside::{found, word};
use forkcast_sim::simulation::Does;
use forkcast_sim::wire;

use super::expect::{Ends, Figure, Number};
use super::problem::{alternatives, nearest};
use super::reading::{At, Notes, Origin};
use super::script::{Content, Reply, ToolCall};
use super::tools::ServerText;
use super::{Scenario, call_ids};
use crate::fanout::cell::TOKENS_MAX;
use crate::load;

/// The agent that exists from the start.
const MAIN: &str = "main";

/// Half of the ledger's limit per prompt; the other half is left for counted, undeclared tokens.
const PROMPT_TOKENS_MAX: u128 = wire::TOKENS_MAX as u128 / 2;

/// Checks a scenario as a whole.
pub fn whole(scenario: &Scenario, notes: &Notes) {
    let lists: BTreeSet<&str> = scenario.script.iter().map(|script| base(&script.agent)).collect();
    for script in &scenario.script {
        for reply in &script.replies {
            check_reply(reply, scenario, &lists, notes);
        }
    }
    call_ids::are_unique(scenario, notes);
    main_is_scripted(scenario, notes);
    acts_are_in_order(scenario, notes);
    acts_mean_somebody(scenario, notes);
    claims_can_hold(scenario, notes);
}

/// All requests together must fit into sums of tokens and money: each as large as the declared parts allow, as many as
/// the scenario may have answers.
pub fn sizes_add_up(scenario: &Scenario, at: &At<'_>) -> Option<()> {
    let sizes = scenario.prompt.sizes?;
    let turns = u128::from(scenario.limits.turns.unwrap_or(load::TURNS_MAX));
    let once: u128 = sizes.declared().map(|(_, tokens)| u128::from(tokens)).sum();
    let gathered = u128::from(sizes.agents.map_or(0, |agents| agents.gathered));
    // Counts have at most 64 bits, so sums of products of two fit into 128.
    let grown = u128::from(sizes.growth.unwrap_or(0)) * turns;
    let prompt = once + gathered + grown;
    if prompt > PROMPT_TOKENS_MAX {
        at.wrong(format_args!(
            "with these sizes a prompt could have {prompt} tokens; the limit is {PROMPT_TOKENS_MAX}; lower \
             the sizes or `limits.turns`"
        ));
        return Some(());
    }
    let all = turns * prompt;
    if all > TOKENS_MAX {
        at.wrong(format_args!(
            "with these sizes {turns} answers could take {all} tokens; the limit is {TOKENS_MAX}; \
             lower the sizes or `limits.turns`"
        ));
    }
    Some(())
}

fn check_reply(reply: &Reply, scenario: &Scenario, lists: &BTreeSet<&str>, notes: &Notes) {
    match &reply.content {
        Content::Events(raw) if reply.fault.is_none() => {
            if let Some((origin, expected)) = raw.out_of_order() {
                notes.at(
                    origin,
                    format_args!("no stream has this event here; expected {expected} (contract STREAM-01)"),
                );
            }
        }
        Content::Events(_) => {}
        Content::Message { tools, .. } => {
            tools.iter().for_each(|call| check_call(call, scenario, lists, notes));
        }
    }
}

fn check_call(call: &ToolCall, scenario: &Scenario, lists: &BTreeSet<&str>, notes: &Notes) {
    let own = scenario.own_tools();
    let declared = scenario.tools.iter().map(|tool| &*tool.name);
    let of_servers: Vec<Rc<str>> = scenario.servers.iter().flat_map(ServerText::tool_names).collect();
    let tools = own.all().iter().map(|tool| tool.name()).chain(declared).chain(of_servers.iter().map(|name| &**name));
    let tools: Vec<&str> = tools.collect();
    let known = tools.contains(&&*call.tool);
    if !known && !call.missing {
        let meant = match nearest(&call.tool, tools.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are {}", alternatives(tools)),
        };
        let tool = found(&call.tool);
        let says =
            format!("there is no tool {tool}; {meant} If the model should call a missing tool, add `missing: true`");
        notes.at(&call.origin, says);
    }
    if known && call.missing {
        notes.at(&call.origin, format_args!("`missing: true` is set for `{}`, which exists; leave it out", call.tool));
    }
    if &*call.tool == "Agent" {
        child_is_scripted(call, scenario, lists, notes);
    }
}

/// A called agent needs a script. Which list applies is known only at run time, so one of the `lists` for its type or its name
/// is enough.
fn child_is_scripted(call: &ToolCall, scenario: &Scenario, lists: &BTreeSet<&str>, notes: &Notes) {
    let said = |field: &str| call.input.get(field).and_then(|value| value.as_str());
    let is_fork = meant(&load::settings(scenario), said("subagent_type")) == Meant::Fork;
    let agent = if is_fork { fork::TYPE } else { said("subagent_type").unwrap_or("general-purpose") };
    let is_listed = |name: Option<&str>| name.is_some_and(|name| lists.contains(name));
    let named = is_listed(said("name")) || is_listed(call.id.as_deref()) || lists.contains("*");
    let exists = is_fork || scenario.kinds().get(agent).is_some();
    if exists && !named && !lists.iter().any(|list| list.eq_ignore_ascii_case(agent)) {
        let agent = word(agent).unwrap_or("…");
        let says = format!(
            "this call starts an agent of type `{agent}`, but its model has no script; add a list \
             `{agent}:` under `script`, such as `{agent}: [{{say: Done.}}]`, or an empty one if it never comes to ask"
        );
        notes.at(&call.origin, says);
    }
}

/// `reviewer` for `reviewer#2`.
fn base(agent: &str) -> &str {
    agent.split('#').next().unwrap_or(agent)
}

fn main_is_scripted(scenario: &Scenario, notes: &Notes) {
    let scripted = scenario.script.iter().any(|script| &*script.agent == MAIN);
    let asked = !scenario.user.is_empty();
    if asked && !scripted && !scenario.script.is_empty() {
        let origin = Origin { path: "script".into(), ..scenario.script[0].origin.clone() };
        notes.at(
            &Origin { found: Rc::from(""), ..origin },
            "the main agent's model has no script; add a list `main:` under `script`",
        );
    }
}

/// Acts must be in order of time, so that a scenario reads as it runs.
fn acts_are_in_order(scenario: &Scenario, notes: &Notes) {
    for pair in scenario.user.windows(2) {
        if pair[1].at_ms < pair[0].at_ms {
            let earlier = pair[1].at_ms;
            let later = pair[0].at_ms;
            let says =
                format!("this happens at {earlier} ms, but is listed after an act at {later} ms; sort by `at_ms`");
            notes.at(&pair[1].origin, says);
        }
    }
}

/// Only the history of an agent that sends requests can be rewritten.
fn acts_mean_somebody(scenario: &Scenario, notes: &Notes) {
    for act in &scenario.user {
        match &act.does {
            Does::Rewrites { agent, .. } if &**agent != MAIN && !is_called_so(agent, scenario) => {
                agent_can_be(agent, scenario, &act.origin, notes);
            }
            _ => {}
        }
    }
}

/// Whether a call in the script starts an agent with this name or description.
fn is_called_so(agent: &str, scenario: &Scenario) -> bool {
    let replies = scenario.script.iter().flat_map(|script| &script.replies);
    let calls = replies.flat_map(|reply| match &reply.content {
        Content::Message { tools, .. } => &tools[..],
        Content::Events(_) => &[],
    });
    let mut said = calls.flat_map(|call| ["name", "description"].map(|field| call.input.get(field)));
    said.any(|said| said.and_then(|said| said.as_str()) == Some(agent))
}

fn claims_can_hold(scenario: &Scenario, notes: &Notes) {
    let expect = &scenario.expect;
    for figure in &expect.figures {
        figure_can_hold(figure, notes);
    }
    for (agent, figures, origin) in &expect.agents {
        agent_can_be(agent, scenario, origin, notes);
        figures.iter().for_each(|figure| figure_can_hold(figure, notes));
    }
    for pattern in &expect.events {
        if pattern.max.is_some_and(|max| max < pattern.min) {
            notes.at(
                &pattern.origin,
                "no number is both at least `min` and at most `max`; `min` must not be above `max`",
            );
        }
    }
    for claim in &expect.requests {
        for which in claim.named() {
            agent_can_be(&which.agent, scenario, &claim.origin, notes);
        }
        if claim.unchanged && scenario.variant_of.is_none() {
            notes.at(
                &claim.origin,
                "`unchanged` compares a variant with its scenario; this is not a variant, so leave it out",
            );
        }
        if let Some(both) = claim.has.iter().find(|text| claim.lacks.contains(text)) {
            notes.at(
                &claim.origin,
                format_args!("a request cannot both contain and lack {both:?}; remove it from one of the two"),
            );
        }
    }
    if let (Ends::Finished, Some((_, origin))) = (expect.ends, &expect.message) {
        notes.at(
            origin,
            "a run that finishes has no message; say `ends: stalled`, `limit` or `unscripted`, or leave it out",
        );
    }
}

fn figure_can_hold(figure: &Figure, notes: &Notes) {
    if let Some((min, max)) = figure.min.zip(figure.max)
        && above(min, max)
    {
        let says = "no figure is both at least `min` and at most `max`; `min` must not be above `max`";
        notes.at(&figure.origin, says);
    }
    let share = |bound: Option<Number>| matches!(bound, Some(Number::Plain(share)) if share > 1.0);
    if figure.name == "hit_rate" && (share(figure.min) || share(figure.max)) {
        notes.at(&figure.origin, "a hit rate is a share from 0 to 1; write 0.85 for 85 %");
    }
}

fn above(one: Number, other: Number) -> bool {
    match (one, other) {
        (Number::Plain(one), Number::Plain(other)) => one > other,
        (Number::Money(one), Number::Money(other)) => one > other,
        _ => false,
    }
}

/// An agent without a script sends no requests, so there can be no expectations about them.
fn agent_can_be(agent: &str, scenario: &Scenario, origin: &Origin, notes: &Notes) {
    let named: Vec<&str> = scenario.script.iter().map(|script| base(&script.agent)).collect();
    if named.iter().any(|known| known.eq_ignore_ascii_case(base(agent))) || scenario.script.is_empty() {
        return;
    }
    let agent = found(agent);
    let named = named.into_iter().map(|name| word(name).unwrap_or("…"));
    let says = format!(
        "agent {agent} cannot send requests, because `script` has no list for it; there are lists for {}",
        alternatives(named)
    );
    notes.at(origin, says);
}
