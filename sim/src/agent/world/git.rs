//! Git as worktrees use it (contract WORKTREE-02, WORKTREE-11, WORKTREE-12, G13): commands, and a repository in memory
//! that answers them. A test holds it to the real program.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::files::Files;
use super::path;

/// The environment of every command: git can never wait for a password (WORKTREE-12).
pub const ENVIRONMENT: [(&str, &str); 2] = [("GIT_TERMINAL_PROMPT", "0"), ("GIT_ASKPASS", "")];

/// Folders that are not part of the repository.
pub const OUTSIDE: [&str; 2] = [".git", ".claude/worktrees"];

/// A command, without a terminal: its input is ignored.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Where it runs.
    pub cwd: &'a str,
    /// Its arguments.
    pub args: &'a [&'a str],
    /// What is added to its environment.
    pub environment: &'a [(&'a str, &'a str)],
}

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// It ended.
    Exit {
        /// Its exit code.
        code: i32,
        /// Its output.
        output: String,
    },
    /// It waits for a password, for ever.
    AsksPassword,
}

/// Where `fetch` goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remote {
    /// It can be read.
    #[default]
    Open,
    /// It wants a password.
    Private,
}

/// A repository in memory. Its one commit holds the files of its beginning.
#[derive(Debug)]
pub struct Repository {
    root: Rc<str>,
    remote: Remote,
    ignored: Vec<Rc<str>>,
    head: BTreeMap<Rc<str>, Rc<str>>,
    worktrees: RefCell<BTreeSet<String>>,
}

impl Repository {
    /// The repository at `root`, with these folders ignored.
    pub fn new(files: &Files, root: &str, ignored: &[Rc<str>], remote: Remote) -> Self {
        let tracked = |path: &Rc<str>| {
            let name = path::below(root, path)?;
            let is_in = |folder: &str| path::below(folder, name).is_some();
            let is_tracked = !OUTSIDE.iter().any(|folder| is_in(folder)) && !ignored.iter().any(|folder| is_in(folder));
            Some((Rc::from(name), files.read(path).filter(|_| is_tracked)?))
        };
        let head = files.below(root).iter().filter_map(tracked).collect();
        Self { root: root.into(), remote, ignored: ignored.to_vec(), head, worktrees: RefCell::default() }
    }

    /// The folder of a repository or worktree that holds `cwd`.
    fn top(&self, files: &Files, cwd: &str) -> Option<String> {
        let worktrees = self.worktrees.borrow();
        let inside = worktrees.iter().find(|top| path::below(top, cwd).is_some());
        match inside {
            Some(top) => files.exists(&format!("{top}/.git")).then(|| top.clone()),
            None => path::below(&self.root, cwd).map(|_| self.root.to_string()),
        }
    }

    fn sha(&self) -> String {
        // FNV-1a over names and texts: the same for the same files.
        let bytes = self.head.iter().flat_map(|(name, text)| name.bytes().chain([0]).chain(text.bytes()).chain([0]));
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        format!("{hash:040x}")
    }

    fn add(&self, files: &Files, branch: &str, top: &str) -> Done {
        if files.is_folder(top) || files.exists(top) {
            return fails(&format!("fatal: '{top}' already exists"));
        }
        for (name, text) in &self.head {
            files.write(&format!("{top}/{name}"), text.clone());
        }
        let slug = top.rsplit_once('/').map_or(top, |(_, name)| name);
        files.write(&format!("{top}/.git"), format!("gitdir: {}/.git/worktrees/{slug}\n", self.root));
        self.worktrees.borrow_mut().insert(top.to_owned());
        works(format!("branch {branch}\n"))
    }

    fn remove(&self, files: &Files, top: &str) -> Done {
        if !self.worktrees.borrow_mut().remove(top) {
            return fails(&format!("fatal: '{top}' is not a working tree"));
        }
        for (link, _) in files.links_below(top) {
            files.remove(&link);
        }
        for path in files.below(top) {
            files.remove(&path);
        }
        works(String::new())
    }

    /// Changed, missing and new files, as `git status --porcelain` lists them with every file by itself.
    fn status(&self, files: &Files, top: &str) -> String {
        let is_ignored = |name: &str| {
            let folders = OUTSIDE.into_iter().chain(self.ignored.iter().map(|folder| &**folder));
            folders.into_iter().any(|folder| path::below(folder, name).is_some())
        };
        let mut lines = Vec::new();
        for (name, text) in &self.head {
            match files.read(&format!("{top}/{name}")) {
                Some(now) if now == *text => {}
                Some(_) => lines.push((name.clone(), " M")),
                None => lines.push((name.clone(), " D")),
            }
        }
        let found = files.below(top);
        let new = found.iter().filter_map(|path| path::below(top, path)).filter(|name| !self.head.contains_key(*name));
        let mut new: Vec<Rc<str>> = new.filter(|name| !is_ignored(name)).map(Rc::from).collect();
        new.sort();
        lines.sort();
        let lines = lines.into_iter().chain(new.into_iter().map(|name| (name, "??")));
        lines.map(|(name, state)| format!("{state} {name}\n")).collect()
    }

    /// Runs a command on these files.
    pub fn run(&self, files: &Files, command: Command<'_>) -> Done {
        let Some(top) = self.top(files, command.cwd) else { return fails("fatal: not a git repository") };
        match command.args {
            ["rev-parse", "HEAD"] => works(format!("{}\n", self.sha())),
            ["fetch", ..] if self.remote == Remote::Private => {
                let is_quiet = ENVIRONMENT.iter().all(|wanted| command.environment.contains(wanted));
                if is_quiet {
                    fails("fatal: could not read Username: terminal prompts disabled")
                } else {
                    Done::AsksPassword
                }
            }
            ["fetch", ..] => works(String::new()),
            ["worktree", "add", "-B", branch, top, "HEAD"] => self.add(files, branch, top),
            ["worktree", "remove", "--force", top] => self.remove(files, top),
            ["status", "--porcelain", ..] => works(self.status(files, &top)),
            ["branch", "-D", _] => works(String::new()),
            args => fails(&format!("git: unknown command {}", args.join(" "))),
        }
    }
}

fn works(output: String) -> Done {
    Done::Exit { code: 0, output }
}

fn fails(output: &str) -> Done {
    Done::Exit { code: 128, output: output.to_owned() }
}
