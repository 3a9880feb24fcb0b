//! What runs, in front and behind: states, names, output files (contract LIFE-02, LIFE-09, TRANSCRIPT-04, TRANSCRIPT-08).

/// The tasks of a session.
#[derive(Debug, Default)]
pub struct Tasks {}
