//! What precedes the conversation in every request (`prependUserContext`, LOOP-04): instruction files, date, git status.
//!
//! A session takes it down once for each working directory and sends it as it was from then on: the client of 2026 keeps
//! its snapshot though files and repository change (`clients.md` 1, prefix stability, client 2.1.330, 2026-11).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

use crate::agent::context::Context;
use crate::agent::session::Session;
use crate::wire::{Message, Piece, Role};

/// What the agents of a session were told, by working directory.
#[derive(Default)]
pub struct UserContexts(RefCell<BTreeMap<Rc<str>, Rc<Message>>>);

/// The messages that precede the conversation in every request of `context`.
pub fn user_context(context: &Context) -> Vec<Rc<Message>> {
    let session = &context.session;
    if session.settings.without_user_context {
        return Vec::new();
    }
    let cwd = context.begun_in.clone();
    let mut known = session.user_contexts.0.borrow_mut();
    let message = known.entry(cwd).or_insert_with_key(|cwd| Rc::new(take_down(session, cwd)));
    vec![message.clone()]
}

/// Puts `message`, the same with other sizes, in the place of what precedes the conversation of `context`.
pub(in crate::agent) fn replace_user_context(context: &Context, message: Rc<Message>) {
    context.session.user_contexts.0.borrow_mut().insert(context.begun_in.clone(), message);
}

/// What changes least stands first.
fn take_down(session: &Session, cwd: &str) -> Message {
    let surroundings = &session.settings.environment;
    let date = format!("# Date\nToday is {}.", surroundings.date);
    let git = surroundings.git_status.as_ref();
    let git = git.map(|status| format!("# Git status when the session began\n{status}"));
    let parts = instructions(session, cwd).into_iter().chain([date]).chain(git);
    let content = parts.map(|part| Piece::text(&reminder(&part))).collect();
    Message { role: Role::User, content }
}

/// A text of the system in a user's message.
pub(in crate::agent) fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>")
}

/// The instruction files that there are: the user's, then those of every directory from the root to `cwd`.
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
    // The user's own file lies below the root too.
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}
