//! Forks and siblings on the wire: which requests are related, and what is found if one does not share its part.

mod briefs;
mod family;
mod inherited;
mod strangers;
