//! What happened, in order, with a digest over all of it.

use std::cell::RefCell;
use std::rc::Rc;

use xxhash_rust::xxh3::Xxh3;

use super::alarm::Cause;
use super::service::Service;
use crate::agent::{Event, Sink};
use crate::time::Instant;

/// One event of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// When.
    pub at: Instant,
    /// What.
    pub event: Event,
}

/// Takes the events of a run: digests them, shows them to the observers, keeps them where somebody wants to read them.
pub struct Log {
    service: Rc<RefCell<Service>>,
    state: RefCell<State>,
}

struct State {
    digest: Box<Xxh3>,
    line: Vec<u8>,
    events: u64,
    kept: Option<Vec<Logged>>,
}

impl Log {
    /// A log beside `service`, whose observers it tells.
    pub fn new(service: Rc<RefCell<Service>>, keeps_events: bool) -> Self {
        let kept = keeps_events.then(Vec::new);
        let state = State { digest: Box::new(Xxh3::new()), line: Vec::new(), events: 0, kept };
        Self { service, state: RefCell::new(state) }
    }

    /// Digest over (instant, event), in order.
    pub fn digest(&self) -> u128 {
        self.state.borrow().digest.digest128()
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.state.borrow().events
    }

    /// The events, where they were kept.
    pub fn take(&self) -> Vec<Logged> {
        self.state.borrow_mut().kept.take().unwrap_or_default()
    }
}

impl Sink for Log {
    fn take(&self, at: Instant, event: &Event) {
        let mut state = self.state.borrow_mut();
        let State { digest, line, events, kept } = &mut *state;
        line.clear();
        // An event holds strings, numbers and lists of them: writing it into memory cannot fail.
        let written = serde_json::to_writer(&mut *line, event);
        debug_assert!(written.is_ok(), "an event is always writable");
        digest.update(&at.0.to_le_bytes());
        digest.update(line);
        digest.update(b"\n");
        *events += 1;
        if let Some(kept) = kept {
            kept.push(Logged { at, event: event.clone() });
        }
        drop(state);
        let mut service = self.service.borrow_mut();
        let service = &mut *service;
        for observer in &mut service.observers {
            if let Err(why) = observer.event(at, event) {
                service.alarm.ring(Cause::BrokenLaw { law: observer.name(), at, why });
            }
        }
    }
}
