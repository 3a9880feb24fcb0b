//! The layout of a vocabulary in the program: written by the build script, read in place, so that nothing is unpacked.
//!
//! Numbers are 32 bits, little-endian: the number of slots (a power of two), the number of tokens, the slots, the end of
//! each token's bytes, then the bytes of all tokens by id. A slot is 0 if empty; otherwise its low bits are an id and one,
//! its high bits a tag. A token is in the first free slot from the place of its hash on.

/// Bits of a slot for an id and one; the rest is the tag, which rejects most other tokens without reading their bytes.
pub const ID_BITS: u32 = 18;

/// Bytes before the slots.
pub const HEADER_BYTES: usize = 8;

/// Where the search for a token begins (as many low bits as there are slots), and its tag, shifted to its place.
pub fn place(token: &[u8]) -> (usize, u32) {
    // FNV-1a.
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = token.iter().fold(0xcbf2_9ce4_8422_2325, step);
    let mixed = hash ^ (hash >> 29);
    ((mixed & 0xffff_ffff) as usize, (hash >> 32) as u32 >> ID_BITS << ID_BITS)
}
