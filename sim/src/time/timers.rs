//! Pending timers, earliest first; within one instant, in the order in which they were set.
//!
//! A timer is one key of 128 bits in a heap: instant (64), sequence (32), slot (32). A cancelled timer frees its slot
//! at once; its key stays in the heap until it reaches the top or until half of the heap is such keys.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::task::Waker;

use super::Instant;
use super::tasks::last;

/// Number of dead keys that are not worth a sweep.
const DEAD_TOLERATED: usize = 64;

/// Pending timers of one run.
#[derive(Default)]
pub struct Timers {
    heap: BinaryHeap<Reverse<u128>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The next sequence number.
    sequence: u32,
    /// Keys in the heap whose timer was cancelled.
    dead: usize,
}

/// The target of a key. A key is live while the sequence matches and a waker is set.
struct Slot {
    sequence: u32,
    waker: Option<Waker>,
}

impl Timers {
    /// Sets a timer. The slot belongs to the caller until the timer fires or is cancelled.
    pub fn set(&mut self, at: Instant, waker: Waker) -> u32 {
        if self.sequence == u32::MAX {
            self.renumber();
        }
        let sequence = self.sequence;
        let waker = Some(waker);
        self.sequence += 1;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Slot { sequence, waker };
                slot
            }
            None => {
                self.slots.push(Slot { sequence, waker });
                last(self.slots.len())
            }
        };
        self.heap.push(Reverse(key(at, sequence, slot)));
        slot
    }

    /// Makes a set timer wake another task; returns the old waker if that changed.
    pub fn redirect(&mut self, slot: u32, waker: &Waker) -> Option<Waker> {
        let set = &mut self.slots[slot as usize].waker;
        match set {
            Some(old) if old.will_wake(waker) => None,
            _ => set.replace(waker.clone()),
        }
    }

    /// Cancels a set timer: it neither fires nor moves the clock. The waker is returned, to be dropped elsewhere.
    pub fn cancel(&mut self, slot: u32) -> Option<Waker> {
        let waker = self.slots[slot as usize].waker.take();
        self.free.push(slot);
        self.dead += 1;
        if self.dead > DEAD_TOLERATED && self.dead * 2 > self.heap.len() {
            self.sweep();
        }
        waker
    }

    /// The instant of the earliest timer.
    pub fn next_at(&mut self) -> Option<Instant> {
        while let Some(&Reverse(key)) = self.heap.peek() {
            if is_live(&self.slots, key) {
                return Some(at_of(key));
            }
            self.heap.pop();
            self.dead -= 1;
        }
        None
    }

    /// Takes the next timer of this instant, in the order in which the timers were set.
    pub fn fire(&mut self, at: Instant) -> Option<Waker> {
        while self.next_at() == Some(at) {
            let Reverse(key) = self.heap.pop()?;
            let slot = slot_of(key);
            self.free.push(slot);
            let waker = self.slots[slot as usize].waker.take();
            if waker.is_some() {
                return waker;
            }
        }
        None
    }

    /// Drops the keys of cancelled timers.
    fn sweep(&mut self) {
        let slots = &self.slots;
        self.heap.retain(|&Reverse(key)| is_live(slots, key));
        self.dead = 0;
    }

    /// Renumbers the pending timers in order, starting at zero; needed every four billion timers.
    fn renumber(&mut self) {
        self.sweep();
        let mut keys: Vec<u128> = std::mem::take(&mut self.heap).into_iter().map(|Reverse(key)| key).collect();
        keys.sort_unstable();
        self.sequence = 0;
        for old in &mut keys {
            let slot = slot_of(*old);
            *old = key(at_of(*old), self.sequence, slot);
            self.slots[slot as usize].sequence = self.sequence;
            self.sequence += 1;
        }
        self.heap = keys.into_iter().map(Reverse).collect();
    }
}

fn key(at: Instant, sequence: u32, slot: u32) -> u128 {
    u128::from(at.0) << 64 | u128::from(sequence) << 32 | u128::from(slot)
}

#[allow(clippy::cast_possible_truncation)] // Cutting the key into its fields is the purpose.
fn at_of(key: u128) -> Instant {
    Instant((key >> 64) as u64)
}

#[allow(clippy::cast_possible_truncation)]
fn slot_of(key: u128) -> u32 {
    key as u32
}

#[allow(clippy::cast_possible_truncation)]
fn is_live(slots: &[Slot], key: u128) -> bool {
    let slot = &slots[slot_of(key) as usize];
    slot.waker.is_some() && slot.sequence == (key >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fired(timers: &mut Timers) -> Vec<u64> {
        let mut at = Vec::new();
        while let Some(next) = timers.next_at() {
            assert!(timers.fire(next).is_some());
            at.push(next.0);
        }
        at
    }

    #[test]
    fn cancelled_timers_leave_the_heap() {
        let mut timers = Timers::default();
        timers.set(Instant(7), Waker::noop().clone());
        for _ in 0..100_000 {
            let slot = timers.set(Instant(1_000), Waker::noop().clone());
            timers.cancel(slot);
        }
        assert!(timers.heap.len() <= 2 * DEAD_TOLERATED + 2, "{} keys", timers.heap.len());
        assert_eq!(timers.slots.len(), 2);
        assert_eq!(fired(&mut timers), [7]);
    }

    #[test]
    fn a_reused_slot_ignores_its_old_key() {
        let mut timers = Timers::default();
        let slot = timers.set(Instant(5), Waker::noop().clone());
        timers.cancel(slot);
        assert_eq!(timers.set(Instant(9), Waker::noop().clone()), slot);
        assert_eq!(fired(&mut timers), [9]);
    }

    #[test]
    fn sequence_numbers_start_again_without_changing_the_order() {
        let mut timers = Timers { sequence: u32::MAX - 3, ..Timers::default() };
        let slots: Vec<u32> = (0..6).map(|_| timers.set(Instant(5), Waker::noop().clone())).collect();
        timers.cancel(slots[1]);
        assert!(timers.sequence < 10);
        let mut keys: Vec<u128> = timers.heap.iter().map(|Reverse(key)| *key).collect();
        keys.retain(|key| is_live(&timers.slots, *key));
        keys.sort_unstable();
        let order: Vec<u32> = keys.into_iter().map(slot_of).collect();
        assert_eq!(order, [0, 2, 3, 4, 5]);
    }
}
