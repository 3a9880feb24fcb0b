//! Files read side by side, as many as the machine has processors; what they gave arrives in their order, so that nothing
//! depends on who was faster.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::walk::Found;
use super::{InputFormat, Inputs, ScopeInput, load};

/// Reads `files` and hands each one's result to `take`, in the order of the files. The largest are begun first: a
/// long file that came last would leave the other processors idle.
pub(super) fn read(files: &[Found], format: InputFormat, take: &mut dyn FnMut(Inputs)) {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(files[*at].bytes), *at));
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(files.len());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..workers {
            let (sender, order, next) = (sender.clone(), &order, &next);
            scope.spawn(move || {
                while let Some(at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((*at, one(&files[*at], format))).is_err() {
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
fn in_order(results: impl Iterator<Item = (usize, Inputs)>, take: &mut dyn FnMut(Inputs)) {
    let (mut early, mut next) = (BTreeMap::new(), 0);
    for (at, result) in results {
        early.insert(at, result);
        while let Some(result) = early.remove(&next) {
            take(result);
            next += 1;
        }
    }
}

fn one(found: &Found, format: InputFormat) -> Inputs {
    let mut inputs = Inputs { scopes: vec![ScopeInput::default()], ..Inputs::default() };
    let loaded = load::open(&found.path, format == InputFormat::Auto);
    inputs.stored(&found.name, found.bytes, loaded, format);
    inputs
}
