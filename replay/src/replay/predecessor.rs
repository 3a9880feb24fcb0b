//! A request that later ones of its scope may go on from.

use std::rc::Rc;

use forkcast_sim::diagnosis::Subject;
use forkcast_sim::guard::{Relative, Sender};
use forkcast_sim::wire::Request;

/// The request with its sizes, and whose it is.
#[derive(Clone, Debug)]
pub(super) struct Predecessor(Rc<Kept>);

#[derive(Debug)]
struct Kept {
    previous: Rc<Subject>,
    sender: Sender,
}

impl Predecessor {
    pub fn new(previous: Rc<Subject>, sender: Sender) -> Self {
        Self(Rc::new(Kept { previous, sender }))
    }

    /// What the explanation of the next request needs of it.
    pub fn previous(&self) -> &Subject {
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
