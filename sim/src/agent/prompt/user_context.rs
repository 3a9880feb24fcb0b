//! The user context, which precedes the conversation in every request (`prependUserContext`, LOOP-04): instruction
//! files, date, git status.
//!
//! A session records it once per working directory and sends it unchanged from then on: the client of 2026 keeps its
//! snapshot even if files and repository change (`clients.md` 1, prefix stability, client 2.1.330, 2026-11).

use std::fmt::Write;
use std::rc::Rc;

use crate::agent::entry::reminder;
use crate::agent::session::{Context, Session};
use crate::wire::{Message, Piece, Role};

/// The messages that precede the conversation in every request of `context`.
pub fn user_context(context: &Context) -> Vec<Rc<Message>> {
    let session = &context.session;
    if session.settings.without_user_context {
        return Vec::new();
    }
    vec![session.user_contexts.of(&context.begun_in, |cwd| take_down(session, cwd))]
}

/// The most stable part comes first.
fn take_down(session: &Session, cwd: &str) -> Message {
    let surroundings = &session.settings.environment;
    let date = format!("# Date\nToday is {}.", surroundings.date);
    let git = surroundings.git_status.as_ref();
    let git = git.map(|status| format!("# Git status when the session began\n{status}"));
    let parts = instructions(session, cwd).into_iter().chain([date]).chain(git);
    let content = parts.map(|part| Piece::text(&reminder(&part))).collect();
    Message { role: Role::User, content }
}

/// The existing instruction files: the user's, then those of every directory from the root to `cwd`.
fn instructions(session: &Session, cwd: &str) -> Option<String> {
    let mut text = "# Instructions\nThey hold for this session and precede your own habits.".to_owned();
    let empty = text.len();
    for path in paths(&session.settings.home, cwd) {
        if let Some(said) = session.world.files.read(&path) {
            let _ = write!(text, "\n\nFrom {path}:\n{}", said.trim_end());
        }
    }
    (text.len() > empty).then_some(text)
}

fn paths(home: &str, cwd: &str) -> Vec<String> {
    let mut paths = vec![format!("{home}/.claude/CLAUDE.md")];
    let mut folder = String::new();
    paths.push("/CLAUDE.md".to_owned());
    for part in cwd.split('/').filter(|part| !part.is_empty()) {
        folder = format!("{folder}/{part}");
        paths.push(format!("{folder}/CLAUDE.md"));
        paths.push(format!("{folder}/.claude/CLAUDE.md"));
    }
    paths.push(format!("{folder}/CLAUDE.local.md"));
    // The user's own file can also be found below the root.
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}
