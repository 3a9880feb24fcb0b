//! The interface for async code: the clock, sleeping, spawning. No other part of a runtime is used.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::executor::Core;
use super::part::Part;
use super::task::{self, Task};
use super::tasks::Turns;
use super::waiting::{Waiting, What};
use super::{Duration, Instant};

/// Another runtime that can be used through the same handle, so that the same agents can run in real time.
///
/// It must use a single thread. Spawned tasks run in spawning order, and timers of one instant fire in the order in
/// which they were set; otherwise runs differ from those on the executor of this module.
pub trait Runtime {
    /// The time since the run began.
    fn now(&self) -> Instant;

    /// Ends at the instant, or at once if that has passed.
    fn sleep_until(&self, at: Instant) -> Turns;

    /// Runs a task. Its result and cancellation are handled inside the future.
    fn spawn(&self, name: &str, task: Turns);
}

/// The clock and the tasks of one run, for the code that runs in it.
#[derive(Clone)]
pub struct Handle(On);

#[derive(Clone)]
enum On {
    Own(Rc<Core>),
    Other(Rc<dyn Runtime>),
}

impl Handle {
    /// A handle of the executor of this module.
    pub(super) fn own(core: Rc<Core>) -> Self {
        Self(On::Own(core))
    }

    /// A handle of another runtime. There [`Self::waiting_for`] does nothing.
    pub fn on(other: Rc<dyn Runtime>) -> Self {
        Self(On::Other(other))
    }

    /// The current instant: nanoseconds since the run began.
    pub fn now(&self) -> Instant {
        match &self.0 {
            On::Own(core) => core.now(),
            On::Other(runtime) => runtime.now(),
        }
    }

    /// Ends after the span; at once if it is zero.
    pub fn sleep(&self, span: Duration) -> Sleep {
        self.sleep_until(self.now() + span)
    }

    /// Ends at the instant; at once if it has passed.
    pub fn sleep_until(&self, at: Instant) -> Sleep {
        Sleep(match &self.0 {
            On::Own(core) => Asleep::Own { core: Rc::clone(core), at, timer: None },
            On::Other(runtime) => Asleep::Other(runtime.sleep_until(at)),
        })
    }

    /// Starts a task at the end of the queue. The name is used in reports and need not be unique.
    pub fn spawn<T: 'static>(&self, name: impl Into<Rc<str>>, future: impl Future<Output = T> + 'static) -> Task<T> {
        let name = name.into();
        let (task, job) = task::split(self.clone(), Rc::clone(&name), future);
        match &self.0 {
            On::Own(core) => core.spawn(name, Box::pin(job)),
            On::Other(runtime) => runtime.spawn(&name, Box::pin(job)),
        }
        task
    }

    /// A part of the current task: see [`Part`].
    pub fn part<T: 'static>(&self, step: impl FnMut(&mut Context<'_>) -> Poll<T> + 'static) -> Part<T> {
        let core = match &self.0 {
            On::Own(core) => Some(Rc::clone(core)),
            On::Other(_) => None,
        };
        Part::new(core, Box::new(step))
    }

    /// While the guard lives, reports of a stopped run say that the current task waits for `what`: a noun, as in "the
    /// reply to request 7".
    pub fn waiting_for(&self, what: &str) -> Waiting {
        self.wait_for(|| What::Said(what.into()))
    }

    /// The same, with a reason that is only built if it is recorded.
    pub(super) fn wait_for(&self, what: impl FnOnce() -> What) -> Waiting {
        let core = match &self.0 {
            On::Own(core) => Some(core),
            On::Other(_) => None,
        };
        Waiting::begin(core, what)
    }

    /// Gives every ready task a turn first.
    pub fn yield_now(&self) -> YieldNow {
        YieldNow(false)
    }
}

/// Waits for an instant. Dropping it cancels the timer, which then neither fires nor moves the clock.
#[must_use = "a future does nothing until it is awaited"]
pub struct Sleep(Asleep);

enum Asleep {
    Own { core: Rc<Core>, at: Instant, timer: Option<u32> },
    Other(Turns),
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Asleep::Own { core, at, .. } if core.now() >= *at => return Poll::Ready(()),
            Asleep::Own { core, timer: Some(timer), .. } => core.redirect_timer(*timer, cx.waker()),
            Asleep::Own { core, at, timer } => *timer = Some(core.set_timer(*at, cx.waker())),
            Asleep::Other(sleep) => return sleep.as_mut().poll(cx),
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        // All timers of an instant fire before anything else happens in it, so a timer whose instant has come is no
        // longer set.
        if let Asleep::Own { core, at, timer: Some(timer) } = &self.0
            && core.now() < *at
        {
            core.cancel_timer(*timer);
        }
    }
}

/// Gives up one turn.
#[must_use = "a future does nothing until it is awaited"]
pub struct YieldNow(bool);

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
