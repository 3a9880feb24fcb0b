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

/// Hash for an answer without an id: the digest of its file's content and the line where it stands. Only a copy of the whole
/// file has an equal one, whatever the copy is called.
pub fn place_id(file_digest: u128, line: u32) -> u128 {
    xxh3_128(&[&file_digest.to_le_bytes()[..], &line.to_le_bytes()].concat())
}

/// The name of a file without folders and without what follows its first dot.
pub(crate) fn file_stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::file_stem;

    #[test]
    fn stems_have_no_folder_and_no_ending() {
        assert_eq!(file_stem("a/b/session.jsonl.gz"), "session");
        assert_eq!(file_stem(".hidden"), ".hidden");
    }
}
