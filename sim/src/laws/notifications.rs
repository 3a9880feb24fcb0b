//! A task that ends in the background is reported exactly once.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::agent::Event;
use crate::service::Entry;
use crate::simulation::Observer;
use crate::time::Instant;

/// Each task that ends in the background gets one notification after it ends, with its final state (contract NOTIFY-10,
/// ASYNC-09), unless a blocking read consumed the result first, which shows as a suppressed notification. Foreground
/// tasks get none (LIFE-07). A second run of an agent ends with its own notification (MSG-12). A
/// teammate writes to its leader instead (SWARM-03).
#[derive(Debug, Default)]
pub struct Notifications {
    /// How each run of a task ended, by task.
    ended: BTreeMap<Rc<str>, Vec<Ending>>,
}

#[derive(Clone, Copy, Debug)]
struct Ending {
    state: &'static str,
    background: bool,
    notified: u32,
    suppressed: u32,
}

impl Notifications {
    fn notified(&mut self, task: &Rc<str>, status: &str) -> Result<(), String> {
        let Some(told) = self.ended.get_mut(task).and_then(|runs| reported_now(runs)) else {
            return Err(format!("a notification of the end of `{task}`, which has not ended"));
        };
        told.notified += 1;
        match *told {
            Ending { notified: 2.., .. } => Err(format!("a second notification of `{task}`")),
            Ending { background: false, .. } => Err(format!("a notification of `{task}`, which ran in the foreground")),
            Ending { state, .. } if state != status => {
                Err(format!("`{task}` is {state}, its notification says {status}"))
            }
            _ => Ok(()),
        }
    }
}

/// The run whose end is reported now: the first one that was not reported, else the last one.
fn reported_now(runs: &mut [Ending]) -> Option<&mut Ending> {
    let at = runs.iter().position(|told| told.notified + told.suppressed == 0);
    let last = runs.len().checked_sub(1)?;
    runs.get_mut(at.unwrap_or(last))
}

impl Observer for Notifications {
    fn name(&self) -> &'static str {
        "notifications"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        match event {
            Event::TaskState { task, state, background, kind } if *state != "running" && *kind != "teammate" => {
                let told = Ending { state, background: *background, notified: 0, suppressed: 0 };
                self.ended.entry(task.clone()).or_default().push(told);
                Ok(())
            }
            Event::Notified { task, status, .. } => self.notified(task, status),
            Event::NotifySuppressed { task } => {
                if let Some(told) = self.ended.get_mut(task).and_then(|runs| reported_now(runs)) {
                    told.suppressed += 1;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, _at: Instant, _entries: &[Entry]) -> Result<(), String> {
        let untold = |told: &Ending| told.background && told.notified + told.suppressed == 0;
        let mut endings = self.ended.iter().flat_map(|(task, runs)| runs.iter().map(move |told| (task, told)));
        match endings.find(|(_, told)| untold(told)) {
            Some((task, told)) => Err(format!("`{task}` was {} in the background, but was never reported", told.state)),
            None => Ok(()),
        }
    }
}
