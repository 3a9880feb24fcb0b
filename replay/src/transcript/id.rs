//! Hashes of ids: only equality matters.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Hash of the id of a call, which its result repeats. Never zero, which means "none".
pub fn call_id(id: &[u8]) -> u64 {
    xxh3_64(id).max(1)
}

/// Hash of a block's content. Never zero, which means "unknown".
pub fn content_digest(content: &[u8]) -> u64 {
    xxh3_64(content).max(1)
}

/// Hash of the provider's id of an answer.
pub fn answer_id(id: &[u8]) -> u128 {
    xxh3_128(id)
}

/// Hash for an answer without an id: of the digest of its file's content and its line. Only a copy of the whole file, under any
/// name, has an equal one.
pub fn place_id(file_digest: u128, line: u32) -> u128 {
    xxh3_128(&[&file_digest.to_le_bytes()[..], &line.to_le_bytes()].concat())
}

/// The name of a file without folders, up to its first dot.
pub(crate) fn file_stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name)
}

/// The user of a working directory: its first three components (`/Users/name`, `C:\Users\name`, `D:\work`).
pub(crate) fn user_of(cwd: &str) -> &str {
    let parts: Vec<usize> = cwd.match_indices(['/', '\\']).map(|(at, _)| at).collect();
    let drive = usize::from(!cwd.starts_with(['/', '\\']));
    let home = cwd.get(parts.first().map_or(0, |at| at + 1)..).unwrap_or_default();
    let of_windows = drive == 1 && home.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("users"));
    let end = match (drive, of_windows) {
        (1, false) => parts.get(1),
        _ => parts.get(2),
    };
    end.map_or(cwd, |end| &cwd[..*end])
}

/// A version in three numbers, for comparing.
pub type Version = (u32, u32, u32);

/// The numbers of `2.1.37`; missing and invalid ones are zero.
pub fn version(text: &str) -> Version {
    let mut numbers = text.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next())
}

#[cfg(test)]
mod tests {
    use super::{file_stem, user_of, version};

    #[test]
    fn stems_have_no_folder_and_no_ending() {
        assert_eq!(file_stem("a/b/session.jsonl.gz"), "session");
        assert_eq!(file_stem(".hidden"), ".hidden");
    }

    #[test]
    fn a_user_is_the_head_of_the_working_directory() {
        for (cwd, name) in [
            ("/Users/ann/code/cli", "/Users/ann"),
            ("/home/ann", "/home/ann"),
            ("/srv", "/srv"),
            ("C:\\Users\\ann\\work", "C:\\Users\\ann"),
            ("D:\\work\\.claude\\worktrees\\x", "D:\\work"),
            ("relative/path/below", "relative/path"),
            ("", ""),
        ] {
            assert_eq!(user_of(cwd), name);
        }
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(version("2.1.9") < version("2.1.37"));
        assert_eq!(version("2.1.300-beta.1"), (2, 1, 300));
        assert_eq!(version("unknown"), (0, 0, 0));
    }
}
