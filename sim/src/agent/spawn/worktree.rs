//! Worktrees: an agent works in a copy of the repository (contract WORKTREE).
//!
//! It is made before the agent is registered (LIFE-01), under a name derived from the agent's id (WORKTREE-01). After the
//! agent's final state it is looked at: without changes it is removed, otherwise it is kept and the calling model is told
//! its path (WORKTREE-18, WORKTREE-19, C29). What becomes of a kept one is the model's decision (WORKTREE-22).

use std::rc::Rc;

use super::route::Refusal;
use crate::agent::event::Event;
use crate::agent::session::Session;
use crate::agent::world::files::LinkError;
use crate::agent::world::git::{Command, Done, ENVIRONMENT};

/// The longest name (WORKTREE-04).
const SLUG_MAX: usize = 64;

/// The worktree of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    agent: Rc<str>,
    /// Its folder.
    pub path: Rc<str>,
    branch: String,
    /// It was there already (WORKTREE-11).
    pub existed: bool,
}

/// Why a name is refused (WORKTREE-04..07).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSlug {
    /// It is too long.
    #[error("it is longer than 64 characters")]
    Long,
    /// It is an absolute path.
    #[error("it is an absolute path")]
    Absolute,
    /// It leaves its folder.
    #[error("it leads out of its folder")]
    Traversal,
    /// Other characters than letters, digits, `.`, `_` and `-`, or an empty part.
    #[error("its parts may have letters, digits, `.`, `_` and `-`")]
    Characters,
}

/// The folder name for `name`: a nested one is flattened, so that no folder has the name of a branch (WORKTREE-08).
///
/// # Errors
/// If it is no good name.
pub fn slug(name: &str) -> Result<String, BadSlug> {
    let drive = name.as_bytes().get(1) == Some(&b':');
    if name.chars().count() > SLUG_MAX {
        return Err(BadSlug::Long);
    }
    if name.starts_with(['/', '\\']) || drive {
        return Err(BadSlug::Absolute);
    }
    let is_plain = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || ['.', '_', '-'].contains(&c));
    for part in name.split('/') {
        match part {
            "." | ".." => return Err(BadSlug::Traversal),
            part if part.is_empty() || !is_plain(part) => return Err(BadSlug::Characters),
            _ => {}
        }
    }
    Ok(name.replace('/', "+"))
}

/// Makes the worktree of `agent`, or finds the one that it has.
///
/// # Errors
/// If there is no repository, or git fails.
pub async fn create(session: &Session, agent: &Rc<str>) -> Result<Rc<Worktree>, Refusal> {
    let slug = slug(agent).map_err(|bad| Refusal::from(format!("no worktree can be named `{agent}`: {bad}")))?;
    let root = &session.settings.cwd;
    let path: Rc<str> = format!("{root}/.claude/worktrees/{slug}").into();
    let mut worktree = Worktree { agent: agent.clone(), path, branch: format!("worktree-{slug}"), existed: false };
    if session.git.is_none() {
        return Err("there is no git repository here: leave `isolation` out".into());
    }
    let has_head = session.world.files.exists(&format!("{}/.git", worktree.path))
        && worktree.git(session, &worktree.path, "reuse", &["rev-parse", "HEAD"]).is_some();
    if has_head {
        worktree.existed = true;
        return Ok(Rc::new(worktree));
    }
    // If nothing can be fetched, what is here is used (G13).
    drop(worktree.git(session, root, "fetch", &["fetch", "origin"]));
    session.handle.sleep(session.settings.worktrees.takes).await;
    let add = ["worktree", "add", "-B", &worktree.branch, &worktree.path, "HEAD"];
    if worktree.git(session, root, "create", &add).is_none() {
        return Err(format!("git could not make the worktree {}", worktree.path).into());
    }
    link(session, &worktree);
    Ok(Rc::new(worktree))
}

/// Links folders of the repository (WORKTREE-09). What is missing or there already is skipped silently; anything else is a
/// warning, and the worktree is made all the same (WORKTREE-10).
fn link(session: &Session, worktree: &Worktree) {
    for folder in &session.settings.worktrees.linked {
        let target = format!("{}/{folder}", session.settings.cwd);
        let outcome = match session.world.files.link(&target, &format!("{}/{folder}", worktree.path)) {
            Ok(()) => "ok",
            Err(LinkError::NotFound | LinkError::Exists) => continue,
            Err(LinkError::NotFolder) => "warning",
        };
        worktree.tell(session, "link", outcome);
    }
}

/// The notice for a fork that works in a worktree (FORK-54, WORKTREE-14..16).
pub fn notice(parent: &str, path: &str) -> String {
    format!(
        "You work in a worktree: {path}. It is the same repository with the same layout, in a separate copy; your parent \
         works in {parent}. Paths from the conversation so far refer to your parent's directory: translate them. Read files \
         again before you edit them, for your parent may have changed them."
    )
}

impl Worktree {
    fn tell(&self, session: &Session, op: &'static str, outcome: &'static str) {
        session.emit(&Event::WorktreeOp { agent: self.agent.clone(), op, path: self.path.clone(), outcome });
    }

    /// Runs git without a terminal; its output if it worked.
    fn git(&self, session: &Session, cwd: &str, op: &'static str, args: &[&str]) -> Option<String> {
        let command = Command { cwd, args, environment: &ENVIRONMENT };
        let done = session.git.as_ref()?.run(&session.world.files, command);
        let (outcome, output) = match done {
            Done::Exit { code: 0, output } => ("ok", Some(output)),
            Done::Exit { .. } => ("failed", None),
            Done::AsksPassword => ("waits", None),
        };
        self.tell(session, op, outcome);
        output
    }

    /// Why it must stay: `hook` or `changes` (WORKTREE-18..20); `None` if it can go. A look that fails counts as changes.
    pub fn why_kept(&self, session: &Session) -> Option<&'static str> {
        if session.settings.worktrees.by_hook {
            return Some("hook");
        }
        let status = self.git(session, &self.path, "status", &["status", "--porcelain", "-uall"]);
        status.is_none_or(|status| !status.is_empty()).then_some("changes")
    }

    /// It stays, and why (DIAG-07).
    pub fn keep(&self, session: &Session, why: &'static str) {
        session.emit(&Event::WorktreeLeft { agent: self.agent.clone(), path: self.path.clone(), why });
    }

    /// Removes it and its branch.
    pub fn remove(&self, session: &Session) {
        let root = &session.settings.cwd;
        let gone = self.git(session, root, "remove", &["worktree", "remove", "--force", &self.path]);
        if gone.is_some() {
            drop(self.git(session, root, "branch", &["branch", "-D", &self.branch]));
        }
    }
}
