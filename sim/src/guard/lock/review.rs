//! A lock with some changes accepted.

use super::matching::{self, Match};
use super::pool::Pool;
use super::{Chain, Lock, Locked, Node};

/// The lock after a review: chains that `accepts` names are those of `new`, the others those of `old`. A chain is the
/// unit, because its requests repeat each other.
pub fn reviewed(old: &Lock, new: &Lock, accepts: &dyn Fn(&str) -> bool) -> Lock {
    let mut review = Review::default();
    let lock = &mut review.pool.lock;
    (lock.preset, lock.prices, lock.anonymous) = (new.preset.clone(), new.prices.clone(), new.anonymous);
    for Match { old: before, new: after } in matching::chains(old, new) {
        let Some(name) = after.or(before).map(|chain| &chain.name) else { continue };
        let kept = if accepts(name) { after.map(|chain| (new, chain)) } else { before.map(|chain| (old, chain)) };
        if let Some((lock, chain)) = kept {
            review.chain(lock, chain, name);
        }
    }
    review.pool.lock
}

#[derive(Default)]
struct Review {
    pool: Pool,
    requests: usize,
}

impl Review {
    /// Keeps a chain under the name that it has now. A number may name another chain now, and a name is used once.
    fn chain(&mut self, lock: &Lock, chain: &Chain, name: &str) {
        let mut name = name.to_owned();
        while self.pool.lock.chain(&name).is_some() {
            name.push_str(" (old)");
        }
        let requests = chain.requests.iter().map(|request| self.request(lock, request)).collect();
        self.pool.lock.chains.push(Chain { name, parent: chain.parent.clone(), requests });
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
