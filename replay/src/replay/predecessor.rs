//! A request that later ones of its scope may go on from.

use std::rc::Rc;

use forkcast_sim::diagnosis::Previous;
use forkcast_sim::guard::{Relative, Sender};
use forkcast_sim::wire::Request;

/// The request, what its breakpoints cover, and whose it is.
#[derive(Clone, Debug)]
pub(super) struct Predecessor(Rc<Kept>);

#[derive(Debug)]
struct Kept {
    previous: Previous,
    sender: Sender,
}

impl Predecessor {
    pub fn new(previous: Previous, sender: Sender) -> Self {
        Self(Rc::new(Kept { previous, sender }))
    }

    /// What the explanation of the next request needs of it.
    pub fn previous(&self) -> &Previous {
        &self.0.previous
    }
}

impl Relative for Predecessor {
    fn request(&self) -> &Request {
        &self.0.previous.request
    }

    fn sender(&self) -> &Sender {
        &self.0.sender
    }
}
