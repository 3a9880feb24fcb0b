//! The project of a working directory.

/// The repository of a working directory. A worktree counts as its repository, if its path names it:
///
/// * `shop/.worktrees/fix`, `shop/.claude/worktrees/fix`: folders in the repository.
/// * `shop-worktrees/fix`, `shop.worktrees/fix`, `shop__worktrees/fix`: folders beside it.
/// * `code/wt/shop/fix`: a folder for the worktrees of several repositories beside it.
/// * `~/.cursor/worktrees/shop/fix`, `~/.codex/worktrees/1a2b/shop`: folders of a program. They do not name the folder of
///   the repository: its worktrees are one project, `~/.cursor/worktrees/shop`.
pub(super) fn repository(path: &str) -> String {
    let separator = if path.contains('/') { "/" } else { "\\" };
    let parts: Vec<&str> = path.split(separator).collect();
    let found = (1..parts.len().saturating_sub(1)).find_map(|at| repository_parts(&parts, at));
    found.map_or_else(|| path.to_owned(), |parts| parts.join(separator))
}

/// The path of the repository, if the part at `at` is a folder of worktrees.
fn repository_parts<'p>(parts: &[&'p str], at: usize) -> Option<Vec<&'p str>> {
    let folder = *parts.get(at)?;
    let within = parts.get(at - 1).copied().unwrap_or_default();
    let up_to = |end: usize| parts.iter().take(end).copied();
    if folder == "wt" && at > 1 && parts.len() > at + 2 {
        return Some(up_to(at).chain([parts[at + 1]]).collect());
    }
    let stem = folder.strip_suffix("worktrees")?;
    match (stem, within) {
        // Not a folder of the root.
        (".", _) if at > 1 => Some(up_to(at).collect()),
        ("", ".claude" | ".git") if at > 2 => Some(up_to(at - 1).collect()),
        ("", ".codex") => Some(up_to(at + 1).chain([*parts.get(at + 2)?]).collect()),
        ("", _) if within.len() > 1 && within.starts_with('.') => Some(up_to(at + 2).collect()),
        _ => {
            let name = stem.trim_end_matches(['-', '_', '.']);
            (name != stem && !name.is_empty()).then(|| up_to(at).chain([name]).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::repository;

    #[test]
    fn worktrees_count_as_their_repository() {
        for path in [
            "/home/u/shop",
            "/home/u/shop/.worktrees/3",
            "/home/u/shop/.worktrees/ann/fix/cmd",
            "/home/u/shop/.claude/worktrees/a/sub",
            "/home/u/shop-worktrees/fix",
            "/home/u/shop.worktrees/fix/src",
            "/home/u/shop__worktrees/fix/.shop/results",
            "/home/u/wt/shop/fix",
            "/home/u/wt/shop/fix/cmd",
        ] {
            assert_eq!(repository(path), "/home/u/shop", "{path}");
        }
        assert_eq!(repository("D:\\work\\.claude\\worktrees\\a"), "D:\\work");
        assert_eq!(repository("D:\\work-worktrees\\a"), "D:\\work");
    }

    #[test]
    fn worktrees_in_the_folder_of_a_program_are_one_project() {
        assert_eq!(repository("/home/u/.cursor/worktrees/shop/a1/src"), "/home/u/.cursor/worktrees/shop");
        assert_eq!(repository("/home/u/.codex/worktrees/1a2b/shop/src"), "/home/u/.codex/worktrees/shop");
    }

    #[test]
    fn other_folders_are_projects_of_their_own() {
        for path in [
            "",
            "/",
            "/.worktrees/3",
            "/worktrees/shop",
            "/home/u/worktrees/shop",
            "/home/u/shop-worktrees",
            "/home/u/wt/shop",
            "/wt/shop/fix",
            "/home/u/.codex/worktrees/1a2b",
            "/home/u/-worktrees/shop",
            "relative/shop",
        ] {
            assert_eq!(repository(path), path);
        }
    }
}
