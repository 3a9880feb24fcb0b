//! Call ids: a result names its call by id, so ids are unique within a conversation.

use std::collections::BTreeSet;

use forkcast_sim::model::{Event, Opened};

use super::Scenario;
use super::history::Past;
use super::reading::{Notes, Origin};
use super::script::{AgentScript, Content, Reply};

/// The agent whose conversation starts with `prompt.history`.
const MAIN: &str = "main";

/// An id given to a call, and its place.
struct GivenId<'a> {
    id: &'a str,
    origin: &'a Origin,
}

/// Checks the call ids given in a scenario.
pub(super) fn are_unique(scenario: &Scenario, notes: &Notes) {
    let mut past = BTreeSet::new();
    past_ids(scenario).for_each(|given| hold(&given, &mut past, notes));
    if some_have_none(scenario) {
        let all = past_ids(scenario).chain(scenario.script.iter().flat_map(|script| &script.replies).flat_map(ids));
        all.for_each(|given| is_not_generated(&given, notes));
    }
    for script in &scenario.script {
        let begins = if &*script.agent == MAIN { past.clone() } else { BTreeSet::new() };
        check_list(script, &begins, notes);
    }
}

fn past_ids(scenario: &Scenario) -> impl Iterator<Item = GivenId<'_>> {
    let turns = scenario.prompt.history.iter();
    let calls = turns.flat_map(|past| match past {
        Past::User(_) => &[][..],
        Past::Said { tools, .. } => tools,
    });
    calls.filter_map(|answered| Some(GivenId { id: answered.call.id.as_deref()?, origin: &answered.call.origin }))
}

/// Replies of one list follow each other in one conversation. A reply with a condition may replace others, and a reply
/// with a fault is requested again; these are only compared with their own ids and those before the list.
fn check_list<'a>(script: &'a AgentScript, begins: &BTreeSet<&'a str>, notes: &Notes) {
    let mut in_turn = begins.clone();
    for reply in &script.replies {
        let mut alone = begins.clone();
        let is_in_turn = reply.when.is_none() && reply.fault.is_none();
        let seen = if is_in_turn { &mut in_turn } else { &mut alone };
        for given in ids(reply) {
            hold(&given, seen, notes);
            if reply.times > 1 {
                let says =
                    "this reply can be used more than once, and each time the call would have this id; leave `id` out";
                notes.at(given.origin, says);
            }
        }
    }
}

fn ids(reply: &Reply) -> Vec<GivenId<'_>> {
    match &reply.content {
        Content::Message { tools, .. } => {
            tools.iter().filter_map(|call| Some(GivenId { id: call.id.as_deref()?, origin: &call.origin })).collect()
        }
        Content::Events(raw) => {
            let opened = raw.events.iter().zip(&raw.origins).filter_map(|(event, origin)| match event {
                Event::BlockStart { block: Opened::ToolUse { id, .. }, .. } => Some(GivenId { id, origin }),
                _ => None,
            });
            opened.collect()
        }
    }
}

fn hold<'a>(given: &GivenId<'a>, seen: &mut BTreeSet<&'a str>, notes: &Notes) {
    let id = given.id;
    if !seen.insert(id) {
        let says =
            format!("an earlier call in this conversation has the id `{id}`; give each call its own id, or none");
        notes.at(given.origin, says);
    }
}

/// Whether ids are generated in this scenario: a cast of one of our own runs has all of them.
fn some_have_none(scenario: &Scenario) -> bool {
    let mut said = scenario.script.iter().flat_map(|script| &script.replies).filter_map(|reply| match &reply.content {
        Content::Message { tools, .. } => Some(tools),
        Content::Events(_) => None,
    });
    let mut past = scenario.prompt.history.iter().flat_map(|past| match past {
        Past::User(_) => &[][..],
        Past::Said { tools, .. } => tools,
    });
    said.any(|tools| tools.iter().any(|call| call.id.is_none())) || past.any(|answered| answered.call.id.is_none())
}

fn is_not_generated(given: &GivenId<'_>, notes: &Notes) {
    if is_generated(given.id) {
        let says = format!("calls without an id get ids like `{}`; choose another, such as `toolu_first`", given.id);
        notes.at(given.origin, says);
    }
}

/// Whether generated ids could have this form: `toolu_`, an agent or `past`, and two numbers.
fn is_generated(id: &str) -> bool {
    let Some(rest) = id.strip_prefix("toolu_") else { return false };
    let mut parts = rest.rsplitn(3, '_');
    let mut is_number =
        || parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    is_number() && is_number() && parts.next().is_some_and(|agent| !agent.is_empty())
}
