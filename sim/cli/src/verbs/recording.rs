//! The sessions of a recording, to be played again or written as scenarios.

use std::path::Path;

use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::transcript::AgentKind;
use forkcast_scenarios::cast::recorded::{self, ExchangeCast, Original};
use forkcast_scenarios::cast::{Cast, Content, cast};

use crate::args::TalkArgs;
use crate::exit::BadInput;
use crate::verbs::replay::complaints;

/// A recorded session as a scenario.
pub struct RecordedCast {
    /// The scenario.
    pub cast: Cast,
    /// Its requests and answers, if the recording has them; a transcript has not.
    pub original: Option<Original>,
}

/// The casts of the sessions at `path` whose ids begin with `session`, in the order of the recording.
/// Sessions without a main conversation are left out, with a note.
pub fn casts(
    path: &Path,
    session: Option<&str>,
    content: Content,
    talk: &TalkArgs,
) -> anyhow::Result<Vec<RecordedCast>> {
    let options = ReadOptions::default().with_answers();
    let inputs = Inputs::read_with(&[path], &options, &|_| true).map_err(BadInput::error)?;
    let name = path.display();
    let is_wanted = |id: &str| session.is_none_or(|wanted| id.starts_with(wanted));
    let mut casts = Vec::new();
    let mut known = Vec::new();
    let mut headless = Vec::new();
    for ExchangeCast { cast, original } in recorded::casts(&inputs, content) {
        known.push(cast.name.clone());
        if is_wanted(&cast.name) {
            casts.push(RecordedCast { cast, original: Some(original) });
        }
    }
    for at in 0..inputs.sessions.len() {
        let Some(loaded) = inputs.sessions.load(at).transpose()? else { continue };
        known.push(loaded.id.to_string());
        if !is_wanted(&loaded.id) {
            continue;
        }
        if loaded.agents.iter().any(|agent| agent.kind == AgentKind::Main) {
            casts.push(RecordedCast { cast: cast(&loaded, content), original: None });
        } else {
            headless.push(format!("{}: has no main conversation, which is what can be played", loaded.source));
        }
    }
    if known.is_empty() {
        if inputs.requests() > 0 {
            return Err(BadInput::error(format_args!(
                "{name}: its recorded requests are none that our agents send; replay them with `forkcast replay`"
            )));
        }
        let complaints = complaints::of_inputs(&inputs, &[]);
        return Err(complaints::or_nothing_read(complaints).into());
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
