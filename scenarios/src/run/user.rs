//! The scripted user: does at each instant what the scenario says, through what a session offers to a user.

use std::rc::Rc;

use forkcast_sim::agent::queue::Item;
use forkcast_sim::agent::session::Session;
use forkcast_sim::time::Instant;

use super::asked::Keeper;
use crate::format::user::{Act, Arrival, Does};

/// Acts in order of time, then leaves.
pub async fn acts(session: Rc<Session>, acts: Vec<Act>, keeper: Keeper) {
    for act in acts {
        session.handle.sleep_until(Instant::from_millis(act.at_ms)).await;
        does(&session, &act.does, &keeper);
    }
    session.front.leave(&session);
}

fn does(session: &Rc<Session>, does: &Does, keeper: &Keeper) {
    match does {
        Does::Types(text) => drop(session.front.type_line(session, text)),
        Does::Escape => session.front.escape(session),
        Does::Background(None) => drop(session.tasks.background_all()),
        Does::Background(Some(name)) => {
            let _ = tasks_called(session, name, keeper).iter().any(|id| session.tasks.background(id));
        }
        Does::Answers { allow, tool } => answer(session, *allow, tool.as_deref(), keeper),
        Does::Flips(flags) => flags.iter().for_each(|(flag, value)| session.set_flag(flag, *value)),
        Does::Kills(name) => {
            let _ = tasks_called(session, name, keeper).iter().any(|id| session.tasks.kill(id).is_ok());
        }
        Does::KillsAll => drop(session.tasks.kill_all()),
        Does::Dialog { open } => session.front.set_dialog(session, *open),
        Does::Arrives(arrival) => arrives(session, arrival, keeper),
    }
}

/// Ids of tasks that a name means: an id, a name that was given, or a type of agents.
fn tasks_called(session: &Session, name: &str, keeper: &Keeper) -> Vec<Rc<str>> {
    let given = session.tasks.names.get(name);
    let known = session.tasks.all().into_iter().map(|task| task.id.clone());
    let called = known.filter(|id| **id == *name || Some(id) == given.as_ref() || keeper.is_type(id, name));
    called.collect()
}

/// Answers the oldest open request of this tool. Where none is open any more, the answer is late: it goes to the newest
/// that there was (contract PERM-16).
fn answer(session: &Session, allow: bool, tool: Option<&str>, keeper: &Keeper) {
    let open = session.permissions.open_requests();
    let fitting = open.iter().find(|asked| tool.is_none_or(|tool| *asked.tool == *tool));
    if let Some(request) = fitting.map(|asked| asked.request).or_else(|| keeper.last_request(tool)) {
        session.permissions.answer(session, request, allow);
    }
}

fn arrives(session: &Session, arrival: &Arrival, keeper: &Keeper) {
    let agent = arrival
        .agent
        .as_ref()
        .map(|name| tasks_called(session, name, keeper).into_iter().next().unwrap_or_else(|| name.clone()));
    session.queue.enqueue(session, Item::new(arrival.mode, arrival.priority, agent, &arrival.text, arrival.source));
}
