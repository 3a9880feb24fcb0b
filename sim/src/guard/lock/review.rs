//! A lock with some changes accepted.

use super::changes::{Change, compared};
use super::matching::Match;
use super::pool::Pool;
use super::{Chain, Lock, Locked, Node};

/// The lock after a review: chains and requests with a change that `accepts` takes are those of `new`, with another change
/// those of `old`. What did not change is that of `new`.
pub fn reviewed(old: &Lock, new: &Lock, accepts: &dyn Fn(&Change) -> bool) -> Lock {
    let choice = Choice { old, new, accepts };
    let mut review = Review::default();
    let lock = &mut review.pool.lock;
    (lock.preset, lock.prices, lock.anonymous) = (new.preset.clone(), new.prices.clone(), new.anonymous);
    for compared in compared(old, new) {
        let Some((lock, chain)) = choice.of(compared.change.as_ref(), &compared.sides) else { continue };
        let requests = match compared.change {
            Some(_) => chain.requests.iter().map(|request| (lock, request)).collect(),
            None => compared.requests.iter().filter_map(|one| choice.of(one.change.as_ref(), &one.sides)).collect(),
        };
        // A rejected removal keeps the name that the chain has.
        let name = compared.sides.new.map_or(&chain.name, |chain| &chain.name);
        review.chain(requests, chain.parent.clone(), name);
    }
    review.pool.lock
}

/// Decides for one of two locks.
struct Choice<'a> {
    old: &'a Lock,
    new: &'a Lock,
    accepts: &'a dyn Fn(&Change) -> bool,
}

impl<'a> Choice<'a> {
    /// The side that is kept, with its lock; `None` if there is nothing on that side.
    fn of<T>(&self, change: Option<&Change>, sides: &Match<'a, T>) -> Option<(&'a Lock, &'a T)> {
        match change.is_none_or(self.accepts) {
            true => sides.new.map(|new| (self.new, new)),
            false => sides.old.map(|old| (self.old, old)),
        }
    }
}

#[derive(Default)]
struct Review {
    pool: Pool,
    requests: usize,
}

impl Review {
    /// Keeps a chain under the name that it has now. A number may name another chain now, and a name is used once.
    fn chain(&mut self, requests: Vec<(&Lock, &Locked)>, parent: Option<String>, name: &str) {
        let mut name = name.to_owned();
        while self.pool.lock.chain(&name).is_some() {
            name.push_str(" (old)");
        }
        let requests: Vec<Locked> = requests.into_iter().map(|(lock, request)| self.request(lock, request)).collect();
        if !requests.is_empty() {
            self.pool.lock.chains.push(Chain { name, parent, requests });
        }
    }

    fn request(&mut self, lock: &Lock, request: &Locked) -> Locked {
        let mut end = None;
        for placed in lock.prompt(request) {
            let block = self.pool.block(placed.block.clone());
            end = Some(self.pool.node(Node { parent: end, block, place: placed.place, tokens: placed.tokens }));
        }
        self.requests += 1;
        Locked { request: self.requests - 1, end, excluded: Vec::new(), ..request.clone() }
    }
}
