//! The sessions of a recording, to be played again or written as scenarios.

use std::path::{Path, PathBuf};

use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::replay::{Options, SessionReplays};
use forkcast_replay::transcript::{AgentKind, Session};
use forkcast_scenarios::cast::otherwise::Otherwise;
use forkcast_scenarios::cast::recorded::{self, ExchangeCast, Original};
use forkcast_scenarios::cast::{Cast, Content, cast_foreseen};

use crate::args::TalkArgs;
use crate::exit::BadInput;
use crate::verbs::replay::complaints;

/// A recorded session as a scenario.
pub struct RecordedCast {
    /// The scenario.
    pub cast: Cast,
    /// Its requests and answers, if the recording has them; a transcript has not.
    pub original: Option<Original>,
    /// Its place among the transcripts.
    at: Option<usize>,
}

/// Recordings of a file or a folder.
pub struct Recordings {
    path: PathBuf,
    inputs: Inputs,
    /// What is foreseen of their requests.
    replays: SessionReplays,
}

impl Recordings {
    /// Reads what is at `path`, with its content.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let options = ReadOptions::default().with_answers();
        let inputs = Inputs::read_with(&[path], &options, &|_| true).map_err(BadInput::error)?;
        let replays = SessionReplays::new(&inputs, Options::default());
        Ok(Self { path: path.to_owned(), inputs, replays })
    }

    /// The casts of the sessions whose ids begin with `session`, in the order of the recording. Sessions without a main
    /// conversation are left out, with a note.
    pub fn casts(
        &self,
        session: Option<&str>,
        content: Content,
        otherwise: &Otherwise,
        talk: &TalkArgs,
    ) -> anyhow::Result<Vec<RecordedCast>> {
        let inputs = &self.inputs;
        let name = self.path.display();
        let is_wanted = |id: &str| session.is_none_or(|wanted| id.starts_with(wanted));
        let mut casts = Vec::new();
        let mut known = Vec::new();
        let mut headless = Vec::new();
        for ExchangeCast { cast, original } in recorded::casts(inputs, content, otherwise) {
            known.push(cast.name.clone());
            if is_wanted(&cast.name) {
                casts.push(RecordedCast { cast, original: Some(original), at: None });
            }
        }
        for at in 0..inputs.sessions.len() {
            let Some(loaded) = inputs.sessions.load(at).transpose()? else { continue };
            known.push(loaded.id.to_string());
            if !is_wanted(&loaded.id) {
                continue;
            }
            if loaded.agents.iter().any(|agent| agent.kind == AgentKind::Main) {
                let cast = self.cast(at, &loaded, content, otherwise);
                casts.push(RecordedCast { cast, original: None, at: Some(at) });
            } else {
                headless.push(format!("{}: has no main conversation, which is what can be played", loaded.source));
            }
        }
        if known.is_empty() {
            return Err(self.nothing());
        }
        if casts.is_empty() && !headless.is_empty() {
            return Err(BadInput(headless).into());
        }
        headless.iter().for_each(|complaint| talk.note(format_args!("forkcast: {complaint}")));
        let Some(wanted) = session.filter(|_| casts.is_empty()) else { return Ok(casts) };
        known.truncate(KNOWN_MAX);
        Err(BadInput::error(format_args!("{name}: no session `{wanted}`; there are {}", known.join(", "))))
    }

    /// The cast of the session of `recorded`, with agents that are built otherwise.
    pub fn again(&self, recorded: &RecordedCast, otherwise: &Otherwise) -> anyhow::Result<Option<RecordedCast>> {
        let content = Content::Full;
        let Some(at) = recorded.at else {
            let mut casts = recorded::casts(&self.inputs, content, otherwise).into_iter();
            let same = casts.find(|again| again.cast.name == recorded.cast.name);
            return Ok(same.map(|again| RecordedCast { cast: again.cast, original: Some(again.original), at: None }));
        };
        let Some(loaded) = self.inputs.sessions.load(at).transpose()? else { return Ok(None) };
        let cast = self.cast(at, &loaded, content, otherwise);
        Ok(Some(RecordedCast { cast, original: None, at: Some(at) }))
    }

    /// The cast of the session `at`. What other sessions show of the cache is known to it, as to `replay`.
    fn cast(&self, at: usize, session: &Session, content: Content, otherwise: &Otherwise) -> Cast {
        cast_foreseen(session, content, otherwise, self.replays.foresee(at, session))
    }

    /// The error if no session was found.
    fn nothing(&self) -> anyhow::Error {
        if self.inputs.requests() > 0 {
            let name = self.path.display();
            return BadInput::error(format_args!(
                "{name}: its recorded requests are none that our agents send; replay them with `forkcast replay`"
            ));
        }
        let complaints = complaints::of_inputs(&self.inputs, &[]);
        complaints::or_nothing_read(complaints).into()
    }
}

/// The maximum number of sessions that an error lists.
const KNOWN_MAX: usize = 10;
