//! The tasks of one run: a slot for each, with a name and a position in spawning order.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

use super::ready::Signal;

/// A task as seen by its runtime: something to poll. Its result is returned in another way.
pub type Turns = Pin<Box<dyn Future<Output = ()>>>;

/// An unfinished task.
struct Slot {
    /// Absent while the task has its turn.
    turns: Option<(Turns, Waker)>,
    signal: Arc<Signal>,
    name: Rc<str>,
    /// The task's number in spawning order.
    number: u64,
}

/// A task that has its turn.
pub struct RunningTask {
    pub turns: Turns,
    pub waker: Waker,
    /// It was itself woken, not only one of its parts.
    pub is_whole: bool,
    /// The task's number in spawning order.
    pub number: u64,
    pub signal: Arc<Signal>,
}

/// The index of the last of `slots` slots. A slot takes more memory than its index could count.
pub const fn last(slots: usize) -> u32 {
    assert!(slots <= u32::MAX as usize, "more slots than numbers");
    (slots - 1) as u32
}

/// The tasks of one run.
#[derive(Default)]
pub struct Tasks {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    spawned: u64,
}

impl Tasks {
    /// A slot for a new task, empty until it is filled.
    pub fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            last(self.slots.len())
        })
    }

    /// Fills a reserved slot.
    pub fn fill(&mut self, task: u32, name: Rc<str>, signal: Arc<Signal>, turns: Turns) {
        let turns = Some((turns, Waker::from(Arc::clone(&signal))));
        self.slots[task as usize] = Some(Slot { turns, signal, name, number: self.spawned });
        self.spawned += 1;
    }

    /// Takes a task out for its turn.
    pub fn take(&mut self, task: u32) -> Option<RunningTask> {
        let slot = self.slots[task as usize].as_mut()?;
        let (turns, waker) = slot.turns.take()?;
        let is_whole = slot.signal.turn();
        Some(RunningTask { turns, waker, is_whole, number: slot.number, signal: Arc::clone(&slot.signal) })
    }

    /// Puts a task back after a turn that was not its last.
    pub fn put_back(&mut self, task: u32, taken: RunningTask) {
        if let Some(slot) = &mut self.slots[task as usize] {
            slot.turns = Some((taken.turns, taken.waker));
        }
    }

    /// Removes a task. Its remains are returned, to be dropped elsewhere.
    pub fn release(&mut self, task: u32) -> Option<Turns> {
        let slot = self.slots[task as usize].take()?;
        slot.signal.silence();
        self.free.push(task);
        slot.turns.map(|(turns, _)| turns)
    }

    /// The name of a task.
    pub fn name(&self, task: u32) -> Option<Rc<str>> {
        self.slots.get(task as usize)?.as_ref().map(|slot| Rc::clone(&slot.name))
    }

    /// Number, slot and name of every unfinished task, in spawning order.
    pub fn in_order(&self) -> Vec<(u64, u32, Rc<str>)> {
        let numbered = self.slots.iter().zip(0..).filter_map(|(slot, task)| {
            let slot = slot.as_ref()?;
            Some((slot.number, task, Rc::clone(&slot.name)))
        });
        let mut order: Vec<_> = numbered.collect();
        order.sort_unstable_by_key(|(number, ..)| *number);
        order
    }
}
