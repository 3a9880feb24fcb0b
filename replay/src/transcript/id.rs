//! Ids as hashes: the id itself is of no interest, only whether two are equal.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Hash of the id of a call, which its result repeats. Never zero, which stands for "none".
pub fn call_id(id: &[u8]) -> u64 {
    xxh3_64(id).max(1)
}

/// Hash of a block's content. Never zero, which stands for "not known".
pub fn content_digest(content: &[u8]) -> u64 {
    xxh3_64(content).max(1)
}

/// Hash of the provider's id of an answer.
pub fn answer_id(id: &[u8]) -> u128 {
    xxh3_128(id)
}

/// Hash for an answer without an id: the place where it stands, so that nothing is a copy of it.
pub fn place_id(file: &str, line: u32) -> u128 {
    xxh3_128(format!("{file}\n{line}").as_bytes())
}
