//! Ids of 32 bits, counted up.

/// The next number after `held`. Each numbered thing takes more than a byte, so four billion of them are a bug.
pub const fn number(held: usize) -> u32 {
    assert!(held < u32::MAX as usize, "more things than ids");
    held as u32
}
