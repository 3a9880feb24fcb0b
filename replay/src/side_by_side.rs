//! Work in parallel, on all processors of the machine; results arrive in order, so that nothing depends on timing.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// Does `work` for every number of `order`, started in that order, and passes the results to `take` by ascending number.
/// `order` has every number below its length once. The longest work should come first: started last, it would leave the
/// other processors idle. Results that wait for their turn must be small.
pub fn side_by_side<T: Send>(order: &[usize], work: &(dyn Fn(usize) -> T + Sync), take: &mut dyn FnMut(T)) {
    let order = Order { begin: order.to_vec(), weights: vec![0; order.len()], waiting_max: 0 };
    run(&order, work, take);
}

/// The same for large results: `weights` has the size of each. Started work that waits for its turn is at most one result of
/// the largest size per processor and one more, besides the next result.
pub(crate) fn in_turn<T: Send>(weights: Vec<u64>, work: &(dyn Fn(usize) -> T + Sync), take: &mut dyn FnMut(T)) {
    run(&Order::of(weights, workers()), work, take);
}

/// The same, started in the order of turns: for a `take` that does most of the work, so that it does not pay to have much more
/// than the next result.
pub(crate) fn ahead<T: Send>(weights: Vec<u64>, work: &(dyn Fn(usize) -> T + Sync), take: &mut dyn FnMut(T)) {
    let order = Order::of(weights, workers().min(2));
    run(&Order { begin: (0..order.weights.len()).collect(), ..order }, work, take);
}

fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The order in which work starts.
struct Order {
    begin: Vec<usize>,
    weights: Vec<u64>,
    /// The most weight that may wait for its turn.
    waiting_max: u64,
}

impl Order {
    /// The largest first, one for each worker; then in the order of their turns.
    fn of(weights: Vec<u64>, workers: usize) -> Self {
        let mut begin: Vec<usize> = (0..weights.len()).collect();
        begin.sort_by_key(|at| (Reverse(weights[*at]), *at));
        let large = begin.len().min(workers);
        begin[large..].sort_unstable();
        let largest = weights.iter().max().copied().unwrap_or(0);
        Self { begin, weights, waiting_max: largest.saturating_mul(workers as u64 + 1) }
    }
}

fn run<T: Send>(order: &Order, work: &(dyn Fn(usize) -> T + Sync), take: &mut dyn FnMut(T)) {
    let begun = AtomicUsize::new(0);
    let next = || order.begin.get(begun.fetch_add(1, Ordering::Relaxed)).copied();
    let gate = Gate { waiting_max: order.waiting_max, ..Gate::default() };
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 1..workers().min(order.begin.len()) {
            let (sender, next, gate) = (sender.clone(), &next, &gate);
            scope.spawn(move || {
                let _open = OpensWhenBroken(gate);
                while let Some(at) = next() {
                    gate.enter(at, order.weights[at]);
                    if sender.send((at, work(at))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let _open = OpensWhenBroken(&gate);
        let mut turns = Turns { order, gate: &gate, take, early: BTreeMap::new(), next: 0 };
        // This thread works too. If it only waited, waking it for each result would cost more than many results do.
        while let Some(at) = next() {
            while !gate.try_enter(at, order.weights[at]) {
                // The next in turn is under way elsewhere, unless that thread panicked.
                let Ok((done, result)) = results.recv() else { return };
                turns.put(done, result);
            }
            turns.put(at, work(at));
            results.try_iter().for_each(|(at, result)| turns.put(at, result));
        }
        results.into_iter().for_each(|(at, result)| turns.put(at, result));
    });
}

/// Passes results on in order of their numbers, keeping those that are too early.
struct Turns<'a, T> {
    order: &'a Order,
    gate: &'a Gate,
    take: &'a mut dyn FnMut(T),
    early: BTreeMap<usize, T>,
    next: usize,
}

impl<T> Turns<'_, T> {
    fn put(&mut self, at: usize, result: T) {
        self.early.insert(at, result);
        while let Some(result) = self.early.remove(&self.next) {
            (self.take)(result);
            self.gate.leave(self.next, self.order.weights[self.next]);
            self.next += 1;
        }
    }
}

/// Lets work start while not too much waits for its turn. The next in turn may always start, so there is no deadlock.
#[derive(Default)]
struct Gate {
    waiting_max: u64,
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    weight: u64,
    next: usize,
    open: bool,
    /// Threads before the gate: without any, no thread needs to be woken.
    threads: usize,
}

impl Gate {
    fn is_closed(&self, state: &Waiting, at: usize, weight: u64) -> bool {
        !state.open && at != state.next && state.weight > 0 && state.weight + weight > self.waiting_max
    }

    fn enter(&self, at: usize, weight: u64) {
        let mut state = self.state();
        while self.is_closed(&state, at, weight) {
            state.threads += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.threads -= 1;
        }
        state.weight += weight;
    }

    /// Enters unless it would have to wait.
    fn try_enter(&self, at: usize, weight: u64) -> bool {
        let mut state = self.state();
        let is_open = !self.is_closed(&state, at, weight);
        state.weight += if is_open { weight } else { 0 };
        is_open
    }

    fn leave(&self, at: usize, weight: u64) {
        let mut state = self.state();
        state.weight -= weight;
        state.next = at + 1;
        if state.threads > 0 {
            self.changed.notify_all();
        }
    }

    /// Numbers and a flag are valid even if a thread panicked.
    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// If one thread panics, the others must not wait for its result.
struct OpensWhenBroken<'a>(&'a Gate);

impl Drop for OpensWhenBroken<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.state().open = true;
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread::{self, ThreadId};

    use super::{ahead, in_turn, side_by_side, workers};

    #[test]
    fn results_come_in_the_order_of_their_numbers() {
        let order: Vec<usize> = (0..1_000).rev().collect();
        let mut results = Vec::new();
        side_by_side(&order, &|at| at * at, &mut |square| results.push(square));
        assert_eq!(results, (0..1_000).map(|at| at * at).collect::<Vec<_>>());
    }

    #[test]
    fn results_that_wait_are_bounded_by_the_largest() {
        let weights: Vec<u64> = (0..5_000).map(|at| if at == 700 { 50 } else { 1 + at % 7 }).collect();
        let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let work = |at: usize| {
            let now = held.fetch_add(weights[at], Ordering::SeqCst) + weights[at];
            most.fetch_max(now, Ordering::SeqCst);
            if at == 0 {
                // The others could all be done while the first one is still at work.
                thread::sleep(std::time::Duration::from_millis(50));
            }
            at
        };
        let mut results = Vec::new();
        in_turn(weights.clone(), &work, &mut |at| {
            held.fetch_sub(weights[at], Ordering::SeqCst);
            results.push(at);
        });
        assert_eq!(results, (0..5_000).collect::<Vec<_>>());
        assert!(most.into_inner() <= 50 * (workers() as u64 + 1) + 50);
    }

    #[test]
    fn work_begins_in_the_order_of_turns() {
        let (begun, mut results) = (AtomicU64::new(0), Vec::new());
        let weights: Vec<u64> = (0..1_000).collect();
        let work = |at: usize| Begun { at, turn: begun.fetch_add(1, Ordering::SeqCst), thread: thread::current().id() };
        ahead(weights, &work, &mut |result| results.push(result));
        assert!(results.iter().map(|result| result.at).eq(0..1_000));
        // A thread that is kept waiting falls behind the others by any number of turns, but never behind itself.
        let mut last = HashMap::new();
        for result in results {
            assert!(last.insert(result.thread, result.turn) < Some(result.turn), "not the largest first");
        }
    }

    struct Begun {
        at: usize,
        turn: u64,
        thread: ThreadId,
    }

    #[test]
    fn one_that_breaks_ends_all() {
        let broken = std::panic::catch_unwind(|| {
            let work = |at: usize| assert!(at != 3, "broken on purpose");
            in_turn(vec![1; 1_000], &work, &mut |()| {});
        });
        assert!(broken.is_err());
    }
}
