//! Abort signals: one per agent, so that stopping one agent leaves the others running (contract ASYNC-11, CTX-18).

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};

/// A signal that is given at most once per turn and seen by every holder.
#[derive(Clone, Debug, Default)]
pub struct Abort(Rc<State>);

/// A signal is passed on to its descendants when it is given. Checking it then takes constant time at any depth: agents
/// may be nested thousands deep, and each checks at every turn.
#[derive(Debug, Default)]
struct State {
    given: Cell<bool>,
    /// An ancestor was given.
    inherited: Cell<bool>,
    children: RefCell<Vec<Weak<State>>>,
    /// Waiters with their numbers, in the order in which they began to wait.
    waiting: RefCell<Vec<(u64, Waker)>>,
    /// Number of waits so far on this signal, its ancestors and its descendants.
    waits: Rc<Cell<u64>>,
}

impl Abort {
    /// A signal that is given together with its parent: a synchronous child stops with its parent.
    pub fn child(&self) -> Self {
        let child = Rc::new(State {
            inherited: Cell::new(self.is_given()),
            waits: Rc::clone(&self.0.waits),
            ..State::default()
        });
        let mut children = self.0.children.borrow_mut();
        if children.len() == children.capacity() {
            children.retain(|child| child.strong_count() > 0);
        }
        children.push(Rc::downgrade(&child));
        Self(child)
    }

    /// Gives the signal. Waiters of this signal and its descendants wake in the order in which they began to wait.
    pub fn give(&self) {
        self.0.given.set(true);
        let mut waiting = self.0.waiting.take();
        for below in self.0.hand_down() {
            waiting.append(&mut below.waiting.borrow_mut());
        }
        waiting.sort_unstable_by_key(|(number, _)| *number);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Resets the signal when the main agent's next turn begins. No waiter may be left.
    pub fn clear(&self) {
        self.0.given.set(false);
        self.0.hand_down();
    }

    /// Whether this signal or an ancestor was given.
    pub fn is_given(&self) -> bool {
        self.0.is_given()
    }

    /// Ready when this signal or an ancestor is given.
    pub async fn given(&self) {
        if self.is_given() {
            return;
        }
        let wait = Wait::begin(&self.0);
        std::future::poll_fn(|context| wait.poll(context.waker())).await;
    }
}

impl State {
    fn is_given(&self) -> bool {
        self.given.get() || self.inherited.get()
    }

    /// Updates all descendants, parents before children, and returns them.
    fn hand_down(&self) -> Vec<Rc<Self>> {
        let mut told = self.tell_children();
        let mut at = 0;
        while let Some(next) = told.get(at).cloned() {
            told.extend(next.tell_children());
            at += 1;
        }
        told
    }

    fn tell_children(&self) -> Vec<Rc<Self>> {
        let children: Vec<Rc<Self>> = self.children.borrow().iter().filter_map(Weak::upgrade).collect();
        for child in &children {
            child.inherited.set(self.is_given());
        }
        children
    }
}

/// A wait for a signal, until dropped.
struct Wait<'a> {
    state: &'a State,
    number: u64,
}

impl<'a> Wait<'a> {
    fn begin(state: &'a State) -> Self {
        let number = state.waits.get();
        state.waits.set(number + 1);
        let mut waiting = state.waiting.borrow_mut();
        // Thousands of agents wait once each, and a list grows to four places at once.
        if waiting.capacity() == 0 {
            waiting.reserve_exact(1);
        }
        waiting.push((number, Waker::noop().clone()));
        drop(waiting);
        Self { state, number }
    }

    fn poll(&self, waker: &Waker) -> Poll<()> {
        match self.place() {
            Some(at) => {
                self.state.waiting.borrow_mut()[at].1.clone_from(waker);
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }

    /// Its place among the waiters; `None` once the signal was given.
    fn place(&self) -> Option<usize> {
        self.state.waiting.borrow().binary_search_by_key(&self.number, |(number, _)| *number).ok()
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(at) = self.place() {
            self.state.waiting.borrow_mut().remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::Abort;
    use crate::time::{Plan, run};

    #[test]
    fn a_signal_reaches_all_descendants_and_can_be_reset() {
        let top = Abort::default();
        let middle = top.child();
        let bottom = middle.child();
        let given = || [&top, &middle, &bottom].map(Abort::is_given);
        middle.give();
        assert_eq!(given(), [false, true, true]);
        top.give();
        middle.clear();
        assert_eq!(given(), [true, true, true]);
        top.clear();
        assert_eq!(given(), [false, false, false]);
        top.give();
        assert!(bottom.child().is_given());
    }

    /// As with a single signal: the wake-up order must not depend on the nesting.
    #[test]
    fn waiters_wake_in_the_order_in_which_they_began_to_wait() {
        let top = Abort::default();
        let one = top.child();
        let other = top.child();
        let order = Rc::new(RefCell::new(Vec::new()));
        let went = order.clone();
        let waiting = [("other", &other), ("top", &top), ("one", &one), ("top again", &top)];
        let waiting = waiting.map(|(name, abort)| (name, abort.clone()));
        run(&Plan::default(), |handle| async move {
            let tasks = waiting.map(|(name, abort)| {
                let went = went.clone();
                handle.spawn(name, async move {
                    abort.given().await;
                    went.borrow_mut().push(name);
                })
            });
            handle.yield_now().await;
            top.give();
            for task in tasks {
                task.await.unwrap();
            }
        })
        .unwrap();
        assert_eq!(*order.borrow(), ["other", "top", "one", "top again"]);
    }

    #[test]
    fn signals_can_be_nested_deeper_than_the_stack_allows() {
        let top = Abort::default();
        let mut all = vec![top.clone()];
        for at in 0..100_000 {
            all.push(all[at].child());
        }
        assert!(!all[100_000].is_given());
        top.give();
        assert!(all[100_000].is_given());
        drop(top);
    }

    #[test]
    fn dropped_signals_take_no_space() {
        let top = Abort::default();
        for _ in 0..10_000 {
            drop(top.child());
        }
        assert!(top.0.children.borrow().capacity() < 16);
    }
}
