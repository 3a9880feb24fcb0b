//! Where breakpoints stand (`design.md` 5). Each name marks what it says and nothing else.

/// A placement of breakpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Nothing.
    None,
    /// The last system block.
    System,
    /// The end of what siblings share, before the directive.
    Shared,
    /// The end of the prompt.
    Tail,
    /// `shared` and `tail`.
    Both,
    /// `tail` and the last block of the previous request; for a fork, the parent's.
    TailPrevious,
    /// The last block before the newest run of tool results.
    BeforeResults,
    /// Two system blocks and the tail, as the client of 2026 (`clients.md` 1).
    #[default]
    Client2026,
}
