//! Terminal states are final.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::agent::Event;
use crate::simulation::Observer;
use crate::time::Instant;

/// A task that has ended does not change its state again, and its agent sends no request and calls no tool (contract
/// LIFE-02, LIFE-09). A message can start a second run, but only of an agent that has ended (MSG-09).
#[derive(Debug, Default)]
pub struct Terminal {
    ended: BTreeMap<Rc<str>, &'static str>,
}

impl Terminal {
    fn runs(&self, agent: &str, does: &str) -> Result<(), String> {
        match self.ended.get(agent) {
            Some(state) => Err(format!("`{agent}` is {state} and {does}")),
            None => Ok(()),
        }
    }
}

impl Observer for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        match event {
            Event::TaskState { task, state, .. } => {
                self.runs(task, &format!("becomes {state}"))?;
                if *state != "running" {
                    self.ended.insert(task.clone(), state);
                }
                Ok(())
            }
            Event::Resumed { agent, .. } => match self.ended.remove(agent) {
                Some(_) => Ok(()),
                None => Err(format!("`{agent}` is resumed, but has not ended")),
            },
            Event::QueryStarted { agent, .. } => self.runs(agent, "starts a loop"),
            Event::RequestSent { agent, .. } => self.runs(agent, "sends a request"),
            Event::ToolStart { agent, .. } => self.runs(agent, "calls a tool"),
            _ => Ok(()),
        }
    }
}
