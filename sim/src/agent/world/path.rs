//! File names: absolute, with `/` between the parts, on every machine.

/// `path` relative to the folder `cwd`: absolute, without `.`, `..` and empty parts. A `..` at the root stays there.
pub fn absolute(cwd: &str, path: &str) -> String {
    let seen_from = if path.starts_with('/') { "" } else { cwd };
    let mut parts: Vec<&str> = Vec::new();
    for part in seen_from.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// `path` relative to `folder`: `None` outside, empty for the folder itself. Both are absolute.
pub fn below<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_and_plain() {
        let cases = [
            ("/repo", "src/main.rs", "/repo/src/main.rs"),
            ("/repo", "./a//b/", "/repo/a/b"),
            ("/repo/sub", "../a", "/repo/a"),
            ("/repo", "/etc/./x", "/etc/x"),
            ("/repo", "../../..", "/"),
            ("/", "", "/"),
        ];
        for (cwd, path, expected) in cases {
            assert_eq!(absolute(cwd, path), expected, "{path} from {cwd}");
        }
    }

    #[test]
    fn below_keeps_to_whole_names() {
        assert_eq!(below("/repo", "/repo/a/b"), Some("a/b"));
        assert_eq!(below("/repo", "/repo"), Some(""));
        assert_eq!(below("/repo", "/repository/a"), None);
        assert_eq!(below("/", "/a"), Some("a"));
    }
}
