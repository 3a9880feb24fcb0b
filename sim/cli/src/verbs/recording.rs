//! The sessions of a recording, to be played again or written as scenarios.

use std::path::Path;

use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::transcript::AgentKind;
use forkcast_scenarios::cast::{Cast, Content, cast};

use crate::args::TalkArgs;
use crate::exit::BadInput;
use crate::verbs::replay::complaints;

/// The casts of the sessions at `path` whose ids begin with `session`, in the order of the recording.
/// Sessions without a main conversation are left out, with a note.
pub fn casts(path: &Path, session: Option<&str>, content: Content, talk: &TalkArgs) -> anyhow::Result<Vec<Cast>> {
    let options = ReadOptions::default().with_answers();
    let inputs = Inputs::read_with(&[path], &options, &|_| true).map_err(BadInput::error)?;
    let name = path.display();
    if inputs.sessions.is_empty() {
        if inputs.requests() > 0 {
            return Err(BadInput::error(format_args!(
                "{name}: has recorded requests but no session of an agent client; replay it with `forkcast replay`"
            )));
        }
        let complaints = complaints::of_inputs(&inputs, &[]);
        return Err(complaints::or_nothing_read(complaints).into());
    }
    let mut casts = Vec::new();
    let mut known = Vec::new();
    let mut headless = Vec::new();
    for at in 0..inputs.sessions.len() {
        let Some(loaded) = inputs.sessions.load(at).transpose()? else { continue };
        known.push(loaded.id.to_string());
        if session.is_some_and(|wanted| !loaded.id.starts_with(wanted)) {
            continue;
        }
        if loaded.agents.iter().any(|agent| agent.kind == AgentKind::Main) {
            casts.push(cast(&loaded, content));
        } else {
            headless.push(format!("{}: has no main conversation, which is what can be played", loaded.source));
        }
    }
    if casts.is_empty() && !headless.is_empty() {
        return Err(BadInput(headless).into());
    }
    headless.iter().for_each(|complaint| talk.note(format_args!("forkcast: {complaint}")));
    let Some(wanted) = session.filter(|_| casts.is_empty()) else { return Ok(casts) };
    known.truncate(KNOWN_MAX);
    Err(BadInput::error(format_args!("{name}: no session `{wanted}`; there are {}", known.join(", "))))
}

/// The maximum number of sessions that an error lists.
const KNOWN_MAX: usize = 10;
