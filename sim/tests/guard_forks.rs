//! Forks and siblings on the wire: which requests are related, and the finding if one does not share its part.

mod briefs;
mod family;
mod inherited;
mod strangers;
