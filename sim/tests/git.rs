//! The repository in memory answers as git does, command by command (WORKTREE-02, WORKTREE-11, G13).

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the real program is the measure")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use forkcast_fixtures::{TempDir, tempdir};
use forkcast_sim::agent::world::Files;
use forkcast_sim::agent::world::git::{Command, Done, ENVIRONMENT, Remote, Repository};

/// The real program in a folder that stands for `/repo`.
struct Real(TempDir);

impl Real {
    fn new(files: &[(&str, &str)]) -> Option<Self> {
        let real = Self(tempdir().unwrap());
        for (name, text) in files {
            real.write(name, text);
        }
        if real.git("/repo", &["init", "-q"]).0 != 0 {
            return None;
        }
        real.write(".git/info/exclude", "node_modules\n.claude/worktrees\n");
        let args = [
            &["config", "user.email", "a@example.org"][..],
            &["config", "user.name", "a"],
            &["add", "-A"],
            &["commit", "-q", "-m", "all"],
        ];
        args.iter().all(|args| real.git("/repo", args).0 == 0).then_some(real)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path.trim_start_matches("/repo").trim_start_matches('/'))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, cwd: &str, args: &[&str]) -> (i32, String) {
        let mut command = std::process::Command::new("git");
        command.current_dir(self.path(cwd)).stdin(Stdio::null()).envs(ENVIRONMENT);
        let own = |arg: &&str| if arg.starts_with("/repo/") { self.path(arg) } else { PathBuf::from(arg) };
        match command.args(args.iter().map(own)).output() {
            Ok(output) => (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned()),
            Err(_) => (-1, String::new()),
        }
    }

    /// Files below a folder, without those of git.
    fn files(&self, folder: &str) -> BTreeSet<String> {
        fn walk(at: &Path, top: &Path, found: &mut BTreeSet<String>) {
            for entry in fs::read_dir(at).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    walk(&path, top, found);
                } else {
                    found.insert(path.strip_prefix(top).unwrap().display().to_string());
                }
            }
        }
        let (mut found, top) = (BTreeSet::new(), self.path(folder));
        walk(&top, &top, &mut found);
        found
    }
}

const TOP: &str = "/repo/.claude/worktrees/agent-1";

#[test]
fn worktree_02_worktree_11_the_repository_in_memory_answers_as_git_does() {
    let begun = [("src/main.rs", "fn main() {}\n"), ("README.md", "# A\n"), ("node_modules/a/index.js", "a\n")];
    let Some(real) = Real::new(&begun) else { return };
    let files = Files::new(begun.map(|(name, text)| (format!("/repo/{name}"), text.to_owned())));
    let twin = Repository::new(&files, "/repo", &["node_modules".into()], Remote::Open);
    let both = |cwd: &str, args: &[&str]| {
        let (code, output) = real.git(cwd, args);
        let Done::Exit { code: own, output: said } = twin.run(&files, Command { cwd, args, environment: &ENVIRONMENT })
        else {
            panic!("it waits");
        };
        assert_eq!(own == 0, code == 0, "{args:?}: {output} {said}");
        (output, said)
    };
    let write = |name: &str, text: &str| {
        real.write(&format!("{TOP}/{name}"), text);
        files.write(&format!("{TOP}/{name}"), text);
    };
    let same_files = || {
        let own: BTreeSet<String> = files
            .below(TOP)
            .iter()
            .map(|path| path.trim_start_matches(TOP).trim_start_matches('/').to_owned())
            .collect();
        assert_eq!(own, real.files(TOP));
    };
    let status = |expected: &str| {
        let (theirs, own) = both(TOP, &["status", "--porcelain", "-uall"]);
        assert_eq!((&*theirs, &*own), (expected, expected));
    };
    let add = ["worktree", "add", "-B", "worktree-agent-1", TOP, "HEAD"];
    both("/repo", &["rev-parse", "HEAD"]);
    both("/repo", &add);
    same_files();
    let (theirs, own) = both(TOP, &["rev-parse", "HEAD"]);
    assert_eq!((theirs.trim().len(), own.trim().len()), (40, 40));
    status("");
    both("/repo", &add);
    write("src/main.rs", "fn start() {}\n");
    status(" M src/main.rs\n");
    write("src/new.rs", "new\n");
    write("node_modules/b/index.js", "b\n");
    status(" M src/main.rs\n?? src/new.rs\n");
    write("src/main.rs", "fn main() {}\n");
    status("?? src/new.rs\n");
    fs::remove_file(real.path(&format!("{TOP}/README.md"))).unwrap();
    files.remove(&format!("{TOP}/README.md"));
    status(" D README.md\n?? src/new.rs\n");
    same_files();
    both("/repo", &["worktree", "remove", "--force", TOP]);
    assert!(real.files(TOP).is_empty() && !files.is_folder(TOP));
    both("/repo", &["branch", "-D", "worktree-agent-1"]);
    both("/repo", &["worktree", "remove", "--force", TOP]);
    both("/repo", &add);
    same_files();
}
