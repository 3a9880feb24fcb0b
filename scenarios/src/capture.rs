//! The requests of a run as a proxy between agents and provider would record them: for reports, the prefix guard and locks,
//! and with their answers ([`Recorder::calls`]) for an exchange log that plays them again.

mod recorder;

use std::fs;
use std::path::Path;

use crate::catalog;
use crate::format::Scenario;

pub use recorder::{Recorder, exchange};

/// The scenario at `path`: a scenario file, or the name of a built-in scenario. `None` for anything else, such as a
/// recording.
///
/// # Errors
/// If it is an invalid scenario; every mistake with its place.
pub fn scenario(path: &Path) -> Option<Result<Scenario, String>> {
    let name = path.to_string_lossy();
    if !path.exists() {
        return catalog::find(name.trim_end_matches(".yaml"))
            .map(|entry| entry.read(&[]).map_err(|problems| problems.to_string()));
    }
    let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    // Files without a scenario's extension are not read, because a pipe gives its content only once.
    let text = is_yaml.then(|| fs::read_to_string(path).ok()).flatten().filter(|text| is_scenario(text))?;
    let stem = path.file_stem().map_or_else(|| name.to_string(), |stem| stem.to_string_lossy().into_owned());
    Some(Scenario::read(&stem, &name, &text, &[]).map_err(|problems| problems.to_string()))
}

/// A scenario has `script` at the top level; recordings do not.
fn is_scenario(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("script:"))
}
