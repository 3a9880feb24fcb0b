//! Work done side by side, on as many processors as the machine has; results arrive in order, so that nothing depends on
//! who was faster.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Does `work` for every number of `order`, begun in that order, and hands the results to `take` by ascending number.
/// `order` holds every number below its length once. The longest work should come first: begun last, it would
/// leave the other processors idle.
pub(crate) fn side_by_side<T: Send>(order: &[usize], work: &(dyn Fn(usize) -> T + Sync), take: &mut dyn FnMut(T)) {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(order.len());
    let begun = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..workers {
            let (sender, begun) = (sender.clone(), &begun);
            scope.spawn(move || {
                while let Some(at) = order.get(begun.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((*at, work(*at))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        in_order(results.into_iter(), take);
    });
}

/// Hands results on in order of their numbers, keeping those that came too early.
fn in_order<T>(results: impl Iterator<Item = (usize, T)>, take: &mut dyn FnMut(T)) {
    let (mut early, mut next) = (BTreeMap::new(), 0);
    for (at, result) in results {
        early.insert(at, result);
        while let Some(result) = early.remove(&next) {
            take(result);
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn results_come_in_the_order_of_their_numbers() {
        let order: Vec<usize> = (0..1_000).rev().collect();
        let mut results = Vec::new();
        side_by_side(&order, &|at| at * at, &mut |square| results.push(square));
        assert_eq!(results, (0..1_000).map(|at| at * at).collect::<Vec<_>>());
    }
}
