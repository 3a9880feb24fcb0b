//! The events of a run in order, with a digest over all of them.

use std::cell::RefCell;
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use xxhash_rust::xxh3::Xxh3;

use super::alarm::Cause;
use super::roster::{Agent, Roster};
use super::service::Service;
use crate::agent::{Event, Session, Sink};
use crate::time::Instant;

/// One event of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// When.
    pub at: Instant,
    /// What.
    pub event: Event,
}

/// Takes the events of a run: digests them, passes them to the observers, and keeps them if requested.
pub struct Log {
    service: Rc<RefCell<Service>>,
    state: RefCell<State>,
    asked: Notify,
}

struct State {
    digest: Box<Xxh3>,
    digests: bool,
    line: Vec<u8>,
    events: u64,
    kept: Option<Vec<Logged>>,
    roster: Roster,
    /// Permission requests that the user has not answered: number and tool.
    unanswered: Vec<(u64, Rc<str>)>,
}

impl Log {
    /// A log that passes events to the observers of `service`; it `digests` and keeps them if requested.
    pub fn new(service: Rc<RefCell<Service>>, keeps_events: bool, digests: bool) -> Self {
        let state = State {
            digest: Box::new(Xxh3::new()),
            digests,
            line: Vec::new(),
            events: 0,
            kept: keeps_events.then(Vec::new),
            roster: Roster::default(),
            unanswered: Vec::new(),
        };
        Self { service, state: RefCell::new(state), asked: Notify::new() }
    }

    /// Digest over (instant, event), in order.
    pub fn digest(&self) -> u128 {
        self.state.borrow().digest.digest128()
    }

    /// Number of events.
    pub fn events(&self) -> u64 {
        self.state.borrow().events
    }

    /// The events, if they were kept.
    pub fn take(&self) -> Vec<Logged> {
        self.state.borrow_mut().kept.take().unwrap_or_default()
    }

    /// The agents in the order in which they began.
    pub fn take_agents(&self) -> Vec<Agent> {
        std::mem::take(&mut self.state.borrow_mut().roster).into_agents()
    }

    /// The type of agent `id`.
    pub(super) fn type_of(&self, id: &str) -> Option<Rc<str>> {
        self.state.borrow().roster.type_of(id).cloned()
    }

    /// Ready when permission is requested after this call.
    pub(super) fn asked(&self) -> Notified<'_> {
        self.asked.notified()
    }

    /// The request that an answer belongs to: the oldest open one, else the oldest one that ended without an answer. It
    /// counts as answered from now on.
    pub(super) fn request_to_answer(&self, session: &Session, tool: Option<&str>) -> Option<u64> {
        let open = session.permissions.open_requests();
        let unanswered = &mut self.state.borrow_mut().unanswered;
        let fits = |(_, asked): &(u64, Rc<str>)| tool.is_none_or(|tool| **asked == *tool);
        let is_open = |(request, _): &(u64, Rc<str>)| open.iter().any(|asked| asked.request == *request);
        let oldest = unanswered.iter().position(|asked| fits(asked) && is_open(asked));
        let at = oldest.or_else(|| unanswered.iter().position(fits))?;
        Some(unanswered.remove(at).0)
    }
}

/// An event consists of strings, numbers and lists of them: writing it into memory cannot fail.
fn write(event: &Event, line: &mut Vec<u8>) {
    let written = serde_json::to_writer(line, event);
    debug_assert!(written.is_ok(), "an event is always writable");
}

impl Sink for Log {
    fn take(&self, at: Instant, event: &Event) {
        let mut state = self.state.borrow_mut();
        let State { digest, digests, line, events, kept, roster, unanswered } = &mut *state;
        line.clear();
        if *digests {
            write(event, line);
            digest.update(&at.0.to_le_bytes());
            digest.update(line);
            digest.update(b"\n");
        }
        let number = *events;
        *events += 1;
        if let Some(kept) = kept {
            kept.push(Logged { at, event: event.clone() });
        }
        roster.take(at, event);
        if let Event::PermissionRequest { request, tool, .. } = event {
            unanswered.push((*request, tool.clone()));
            self.asked.notify_waiters();
        }
        let mut service = self.service.borrow_mut();
        let service = &mut *service;
        match event {
            Event::ForkBuilt { agent, parent, .. } | Event::InternalStarted { agent, parent, .. } => {
                service.forked(agent, parent);
            }
            Event::InternalEnded { agent, .. } => service.task_ended(agent),
            Event::TaskState { task, kind: "agent" | "teammate", state, .. } if *state != "running" => {
                service.task_ended(task);
            }
            _ => {}
        }
        for observer in &mut service.observers {
            if let Err(why) = observer.event(at, event) {
                line.clear();
                write(event, line);
                let why = format!("{why} (event {number}: {})", String::from_utf8_lossy(line));
                service.alarm.ring(Cause::BrokenLaw { law: observer.name(), at, why });
            }
        }
    }
}
