//! What an agent knows of a file: it may change only files that it has read and that are unchanged since (contract
//! CTX-02).

use std::rc::Rc;

use super::ToolError;
use crate::agent::session::Context;

/// The absolute path of `path` for the agent.
pub fn located(context: &Context, path: &str) -> Rc<str> {
    crate::agent::world::path::absolute(&context.cwd.borrow(), path).into()
}

/// Records the content of a file as known to the agent.
pub fn note(context: &Context, path: &Rc<str>, text: &Rc<str>) {
    context.read_files.borrow_mut().insert(path.clone(), text.clone());
}

/// Whether the agent may change the file at `path` with the content `now`.
///
/// # Errors
/// A message for the model: it never read the file, or the file has changed since.
pub fn may_change(context: &Context, path: &Rc<str>, now: &Rc<str>) -> Result<(), ToolError> {
    match context.read_files.borrow().get(path) {
        None => Err(ToolError::failed(format!("{path} has not been read yet. Read it first, then change it."))),
        // Equal pointers save comparing the texts.
        Some(known) if Rc::ptr_eq(known, now) || known == now => Ok(()),
        Some(_) => {
            Err(ToolError::failed(format!("{path} has changed since it was read. Read it again, then change it.")))
        }
    }
}
