//! The requests of a run as a proxy between agents and provider would record them: for the prefix guard and for locks, and
//! with their answers ([`exchanges`]) for an exchange log that plays them again.

mod recorder;

use std::fs;
use std::path::Path;

use forkcast_replay::exchange::Origin;
use forkcast_replay::source::Sink;
use forkcast_sim::guard::{Facts, Sent};

use crate::catalog;
use crate::format::Scenario;
use crate::run::Run;

pub use recorder::{exchange, exchanges};

/// The forwarded requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// Requests passed to the sink.
    pub requests: usize,
    /// Requests that were refused or cancelled before the first byte: nothing was read or written.
    pub unanswered: usize,
    /// Bodies that the sink refused: request index and reason. Bodies of the runtime should never be among them.
    pub refused: Vec<(usize, String)>,
}

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

/// Passes the requests of a run to `sink` in the order in which they were sent: bodies, agents, times of request and
/// answer, and the usage that the simulated provider reported. Agents are named by type, with a number if there are
/// several.
pub fn feed(run: &Run, sink: &mut dyn Sink) -> Capture {
    let mut capture = Capture::default();
    let scope = &*run.scenario.name;
    for (index, request) in run.requests.iter().enumerate() {
        let usage = request.line.billed().filter(|usage| usage.total_input_tokens() > 0);
        let (Some(usage), Some(agent)) = (usage, run.agents.get(request.agent)) else {
            capture.unanswered += 1;
            continue;
        };
        let parent = agent.parent.as_ref().and_then(|id| run.agents.iter().find(|known| known.id == *id));
        let draft = request.draft();
        let body = draft.body();
        let sent = Sent {
            body: &body,
            model_outside: &draft.model,
            facts: Facts {
                chain: Some(&agent.label),
                parent: parent.map(|parent| &*parent.label),
                scope,
                at: request.line.at,
                first_byte_at: request.line.first_byte_at,
                usage: Some(usage),
                ..Facts::default()
            },
            ..Sent::default()
        };
        let origin = Origin { file: scope.to_owned(), index, line: 0 };
        match sink.body(&origin, &sent) {
            Ok(()) => capture.requests += 1,
            Err(error) => capture.refused.push((index, error.to_string())),
        }
    }
    capture
}
