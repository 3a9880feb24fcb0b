//! What tools act on: files in memory and a scripted shell. Nothing here ever touches the machine.

/// The simulated world of a session.
#[derive(Debug, Default)]
pub struct World {}
