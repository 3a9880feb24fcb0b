//! Which ready task runs next: FIFO, or drawn with a random seed.
//!
//! Wakers are the standard library's, so that every channel and lock that is independent of a runtime works here. They
//! must be `Send`, hence the mutex; it is never contended, because a run has one thread.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Tasks that were woken and not yet taken over by their run, in the order of waking.
#[derive(Default)]
struct Woken(Mutex<VecDeque<u32>>);

impl Woken {
    fn lock(&self) -> MutexGuard<'_, VecDeque<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waker of one task. Waking a task that is already queued does nothing.
pub struct Signal {
    task: u32,
    queued: AtomicBool,
    /// The task itself was woken, not only one of its parts.
    is_whole: AtomicBool,
    /// Parts of the task that were woken since its last turn.
    parts: Mutex<Vec<u64>>,
    woken: Arc<Woken>,
}

impl Signal {
    /// The task gets its turn and may be queued again. Returns whether it was itself woken.
    pub fn turn(&self) -> bool {
        self.queued.store(false, Ordering::Relaxed);
        self.is_whole.swap(false, Ordering::Relaxed)
    }

    /// The task has ended: wakers that still exist wake nothing, not even the next task in its slot.
    pub fn silence(&self) {
        self.queued.store(true, Ordering::Relaxed);
    }

    /// Queues the task because one of its parts was woken.
    pub fn wake_part(&self, part: u64) {
        self.parts().push(part);
        self.queue();
    }

    /// The parts that were woken, in the order of waking.
    pub fn parts(&self) -> MutexGuard<'_, Vec<u64>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.woken.lock().push_back(self.task);
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_whole.store(true, Ordering::Relaxed);
        self.queue();
    }
}

/// The queue of one run.
pub struct Ready {
    woken: Arc<Woken>,
    batch: VecDeque<u32>,
    draws: Option<ChaCha8Rng>,
}

impl Ready {
    /// An empty queue; with a seed, each next task is drawn from all ready tasks.
    pub fn new(interleave: Option<u64>) -> Self {
        let draws = interleave.map(|seed| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&seed.to_le_bytes());
            ChaCha8Rng::from_seed(key)
        });
        Self { woken: Arc::default(), batch: VecDeque::new(), draws }
    }

    /// A signal for a new task, which is queued at once.
    pub fn admit(&self, task: u32) -> Arc<Signal> {
        let signal = Arc::new(Signal {
            task,
            queued: AtomicBool::default(),
            is_whole: AtomicBool::default(),
            parts: Mutex::default(),
            woken: Arc::clone(&self.woken),
        });
        signal.wake_by_ref();
        signal
    }

    /// Takes the next task.
    pub fn next(&mut self) -> Option<u32> {
        let Some(draws) = &mut self.draws else {
            if self.batch.is_empty() {
                std::mem::swap(&mut self.batch, &mut self.woken.lock());
            }
            return self.batch.pop_front();
        };
        self.batch.append(&mut self.woken.lock());
        let ready = self.batch.len() as u64;
        let place = (u64::from(draws.next_u32()) * ready) >> 32;
        // Below the length of the batch, so it fits.
        self.batch.swap_remove_back(place as usize)
    }
}
