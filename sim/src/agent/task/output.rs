//! The path of a task's readable output (contract TRANSCRIPT-04), also for synchronous runs.

use std::rc::Rc;

use super::Task;
use crate::agent::settings::Settings;
use crate::agent::world::Files;

/// The output file of task `id`: below the system's temporary folder, by directory and session, as in the client of
/// 2026 (`clients.md` 1).
pub fn path(settings: &Settings, id: &str) -> Rc<str> {
    format!("/tmp/claude/{}/{}/tasks/{id}.output", folder(&settings.cwd), settings.session).into()
}

/// A directory as a single folder name: `/repo/app` becomes `-repo-app`.
pub fn folder(cwd: &str) -> String {
    cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Appends `text` to a task's output file.
pub fn append(files: &Files, task: &Task, text: &str) {
    files.append(&task.output_file, text);
}
