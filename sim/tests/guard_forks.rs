//! Forks and siblings on the wire: who is whose kin, and what is found where one does not share what it should.

mod briefs;
mod family;
mod inherited;
mod strangers;
