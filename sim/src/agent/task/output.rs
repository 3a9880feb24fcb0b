//! Where a task's readable output lies (contract TRANSCRIPT-04): on synchronous runs too.

use std::rc::Rc;

use super::Task;
use crate::agent::settings::Settings;
use crate::agent::world::Files;

/// The output file of task `id`: below the system's temporary folder, by directory and session, as the client of 2026
/// lays them (`clients.md` 1).
pub fn path(settings: &Settings, id: &str) -> Rc<str> {
    format!("/tmp/claude/{}/{}/tasks/{id}.output", folder(&settings.cwd), settings.session).into()
}

/// A directory as one name of a folder: `/repo/app` is `-repo-app`.
pub fn folder(cwd: &str) -> String {
    cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Adds `text` at the end of a task's output file.
pub fn append(files: &Files, task: &Task, text: &str) {
    files.append(&task.output_file, text);
}
