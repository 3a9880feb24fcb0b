//! The executor: scheduling, cleanup after a run, and how runs stop.

mod order;
mod parts;
mod stopped;
mod tasks;
mod twin;

use std::cell::RefCell;
use std::rc::Rc;

use forkcast_sim::time::{Duration, Finished, Handle, Plan, run};

/// Lines of a log, each with its instant in milliseconds.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn note(&self, handle: &Handle, what: &str) {
        let at = Duration(handle.now().0).as_millis();
        self.0.borrow_mut().push(format!("{at} {what}"));
    }

    fn lines(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// The lines without their instants.
    fn words(&self) -> Vec<String> {
        self.lines().iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Runs a body to its end, in FIFO order.
fn finish<T: 'static, F: Future<Output = T> + 'static>(body: impl FnOnce(Handle) -> F) -> Finished<T> {
    run(&Plan::default(), body).unwrap()
}
