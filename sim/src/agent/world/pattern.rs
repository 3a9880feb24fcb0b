//! Patterns of commands and files.

use globset::{GlobBuilder, GlobMatcher};

/// A text in which `*` matches any text, even an empty one, and `\*` matches a star.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<String>);

impl Pattern {
    /// Parses a pattern.
    pub fn new(text: &str) -> Self {
        let mut parts = vec![String::new()];
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            match character {
                '*' => parts.push(String::new()),
                '\\' if rest.next_if_eq(&'*').is_some() => push(&mut parts, '*'),
                character => push(&mut parts, character),
            }
        }
        Self(parts)
    }

    /// Whether it matches only one text.
    pub const fn is_literal(&self) -> bool {
        self.0.len() == 1
    }

    /// Whether it matches `text`.
    pub fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.0.as_slice() else {
            return self.0.iter().all(|only| only == text);
        };
        let inside = text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str()));
        // The earliest match of each part leaves the most text for the parts after it.
        let behind = |rest: &'_ str, part: &String| rest.find(part.as_str()).map(|at| at + part.len());
        inside.is_some_and(|inside| {
            let mut from = 0;
            middle.iter().all(|part| behind(&inside[from..], part).map(|end| from += end).is_some())
        })
    }
}

fn push(parts: &mut [String], character: char) {
    if let Some(last) = parts.last_mut() {
        last.push(character);
    }
}

/// The paths that a glob matches: `*` and `?` stay within a name, `**` crosses folders, `{a,b}` and `[a-z]` choose.
///
/// # Errors
/// The error in the glob.
pub fn paths(glob: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        let cases = [
            ("cargo test", "cargo test", true),
            ("cargo test", "cargo test -p x", false),
            ("cargo *", "cargo test", true),
            ("cargo *", "cargo", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
            (r"rm \*.o", "rm *.o", true),
            (r"rm \*.o", "rm a.o", false),
            ("*x*x*", "x", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn a_star_in_a_path_stays_within_a_name() {
        let meant = |glob: &str, path: &str| paths(glob).expect("a glob").is_match(path);
        assert!(meant("src/*.rs", "src/main.rs"));
        assert!(!meant("src/*.rs", "src/a/main.rs"));
        assert!(meant("src/**/*.rs", "src/a/b/main.rs"));
        assert!(paths("src/[").is_err());
    }
}
