//! Names that repeat on every line, kept once per file.

use std::borrow::Cow;
use std::sync::Arc;

use forkcast_sim::wire::Index;

/// Names by how they are written.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    known: Index<&'a [u8], Arc<str>>,
}

impl<'a> Names<'a> {
    /// The name that stands between quotes as `raw`.
    pub fn get(&mut self, raw: &'a [u8]) -> Arc<str> {
        self.known.get_or_insert_with(raw, || Arc::from(&*unescaped(raw))).clone()
    }
}

/// What stands between the quotes of a string; bytes that are not UTF-8 are replaced.
pub(super) fn unescaped(raw: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', raw).is_none() {
        return String::from_utf8_lossy(raw);
    }
    let quoted = format!("\"{}\"", String::from_utf8_lossy(raw));
    Cow::Owned(serde_json::from_str(&quoted).unwrap_or(quoted))
}

/// A version in three numbers, for comparing.
pub(super) type Version = (u32, u32, u32);

/// The numbers of `2.1.37`; what is missing or no number is zero.
pub(super) fn version(text: &str) -> Version {
    let mut numbers = text.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next())
}

/// Whose machine a working directory is on: three components from the root (`/Users/name`, `C:\Users\name`, `D:\work`).
pub(super) fn user(cwd: &str) -> &str {
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

#[cfg(test)]
mod tests {
    use super::{unescaped, user, version};

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
            assert_eq!(user(cwd), name);
        }
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(version("2.1.9") < version("2.1.37"));
        assert_eq!(version("2.1.300-beta.1"), (2, 1, 300));
        assert_eq!(version("unknown"), (0, 0, 0));
    }

    #[test]
    fn escapes_are_undone_and_broken_bytes_are_replaced() {
        assert_eq!(unescaped(b"D:\\\\work"), "D:\\work");
        assert_eq!(unescaped(b"caf\xff"), "caf\u{fffd}");
    }
}
