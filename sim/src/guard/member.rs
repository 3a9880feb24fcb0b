//! A request that later ones are compared with.

use std::sync::Arc;

use super::identity::{Relative, Sender};
use crate::diagnosis::Subject;
use crate::pricing::Rates;
use crate::time::Instant;
use crate::wire::Request;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The request.
    pub subject: Arc<Subject>,
    /// Its sender.
    pub sender: Sender,
    /// Its prices.
    pub rates: Option<Rates>,
    /// When the first byte of its answer came, or when it was sent; `None` if neither is known.
    pub first_byte_at: Option<Instant>,
}

impl Relative for Arc<Member> {
    fn request(&self) -> &Request {
        &self.subject.request
    }

    fn sender(&self) -> &Sender {
        &self.sender
    }
}
