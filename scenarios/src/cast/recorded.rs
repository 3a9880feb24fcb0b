//! Casts of recordings that have the requests themselves: their answers, and what the client sent, are played byte for byte.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_replay::input::Inputs;
use forkcast_replay::recording::{RecordedSession, Recording, Verbatim, called, sessions};
use forkcast_replay::source::order::{Stream, streams};
use forkcast_sim::agent::spawn::input::Input;
use forkcast_sim::model::recorded::{Fidelity, Recorded};
use forkcast_sim::model::scripted::{Scripted, Utterance, Utterances};
use forkcast_sim::model::{Answer, Question, Script, Unscripted};
use forkcast_sim::wire::{Draft, NormalForms};
use forkcast_sim::words;
use serde_json::Value;

use super::otherwise::Otherwise;
use super::{Cast, Content, Gap, cast_otherwise};
use crate::format::Scenario;
use crate::format::set::Change;
use crate::load;
use crate::run::Voices;

words! {
    /// How questions find their recorded answers.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Play {
        /// By content: the request must be a recorded one, byte for byte in canonical form.
        Strict = "strict",
        /// By what asks: a line of the user, the result of a call, a notification.
        #[default]
        Cast = "cast",
        /// By position.
        Loose = "loose",
    }
}

/// A cast with the bytes of its recording.
#[derive(Debug)]
pub struct ExchangeCast {
    /// The cast.
    pub cast: Cast,
    /// The requests and answers.
    pub original: Original,
}

/// The requests and answers of a recorded session.
#[derive(Debug)]
pub struct Original {
    /// What the client sent.
    pub verbatim: Verbatim,
    /// The recording of the stream that the session is in.
    pub recording: Recording,
}

/// The casts of the sessions in the recorded exchanges of `inputs`. Their names are unique.
pub fn casts(inputs: &Inputs, content: Content, otherwise: &Otherwise) -> Vec<ExchangeCast> {
    let streams = streams(inputs);
    let mut casts: Vec<ExchangeCast> =
        streams.iter().flat_map(|stream| of_stream(stream, content, otherwise)).collect();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for ExchangeCast { cast, .. } in &mut casts {
        let count = known.entry(cast.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            cast.name = format!("{}.{count}", cast.name);
        }
    }
    casts
}

/// The casts of the sessions in a stream.
pub fn of_stream(stream: &Stream<'_>, content: Content, otherwise: &Otherwise) -> Vec<ExchangeCast> {
    // The recorded model takes the recording, so each session has its own.
    let recording = || Recording::of(stream, NormalForms::default());
    let first = recording();
    let mut made: Vec<ExchangeCast> = sessions(stream, &first)
        .into_iter()
        .map(|session| of_session(session, recording(), content, otherwise))
        .collect();
    if let Some(whole) = made.first_mut() {
        let file = whole.cast.file.clone();
        whole.cast.gaps.extend(missing(&first).into_iter().map(|says| Gap { file: file.clone(), line: 0, says }));
    }
    made
}

fn of_session(
    recorded: RecordedSession,
    recording: Recording,
    content: Content,
    otherwise: &Otherwise,
) -> ExchangeCast {
    let RecordedSession { session, mut verbatim, gaps, forks_without_type } = recorded;
    verbatim.sorts_tools = otherwise.sorts_tools();
    verbatim.other_models = otherwise.changes_models();
    let mut cast = cast_otherwise(&session, content, otherwise);
    if forks_without_type {
        let changes = ["features=[FORK_SUBAGENT]", "session.forks.profile=documents"];
        for change in changes.iter().filter_map(|change| change.parse::<Change>().ok()) {
            let applied = change.apply(&mut cast.tree);
            debug_assert!(applied.is_ok(), "a cast has a session");
        }
    }
    cast.gaps.extend(gaps.into_iter().map(|(file, says)| Gap { file, line: 0, says }));
    ExchangeCast { cast, original: Original { verbatim, recording } }
}

/// What the recording of a stream lacks, in counts.
fn missing(recording: &Recording) -> Vec<String> {
    let counts = [
        (recording.unread.len(), ["request is", "requests are"], "of no kind that our agents send: not played"),
        (recording.repeated_answers, ["answer is", "answers are"], "taken from the next request, which repeats it"),
        (recording.reported_answers, ["last answer is", "last answers are"], "taken from what the caller received"),
        (recording.unknown_answers, ["answer is", "answers are"], "not recorded; a text that says so is played"),
        (
            recording.unmeasured,
            ["request has", "requests have"],
            "no usage: prompts are sized by length, and answers cost nothing",
        ),
        (recording.blocks_left_out, ["block", "blocks"], "of answers cannot be played: left out"),
    ];
    let said = counts.into_iter().filter(|(count, ..)| *count > 0);
    said.map(|(count, [one, more], says)| format!("{count} {} {says}", if count == 1 { one } else { more })).collect()
}

impl Original {
    /// The answers of the recording for `scenario`, which is that of `cast` or a variant of it.
    pub fn voices(self, cast: &Cast, scenario: &Scenario, play: Play) -> Voices {
        let takes: BTreeMap<Rc<str>, usize> = cast
            .takes
            .iter()
            .filter_map(|take| Some((Rc::from(&*take.reply), (take.line as usize).checked_sub(1)?)))
            .collect();
        let answers = self.recording.takes.iter().map(|take| take.answer.clone()).collect();
        let (source, utterances) = match play {
            Play::Cast => {
                let script = load::script(scenario);
                let utterances = script.utterances();
                (Source::Bound(script), utterances)
            }
            Play::Strict => (Source::Recorded(Box::new(self.recording.play(Fidelity::Strict))), Utterances::default()),
            Play::Loose => (Source::Recorded(Box::new(self.recording.play(Fidelity::Loose))), Utterances::default()),
        };
        let player = Player {
            source,
            verbatim: self.verbatim,
            answers,
            takes,
            utterances: utterances.clone(),
            played: BTreeMap::new(),
        };
        Voices { script: Box::new(player), utterances }
    }
}

/// Where answers come from.
enum Source {
    /// The replies of the cast, each bound to what asks for it.
    Bound(Scripted),
    /// The recorded model.
    Recorded(Box<Recorded>),
}

/// Plays recorded answers, and sends what the recorded client sent.
struct Player {
    source: Source,
    verbatim: Verbatim,
    /// The answers of all takes.
    answers: Vec<Answer>,
    /// The take of each reply.
    takes: BTreeMap<Rc<str>, usize>,
    utterances: Utterances,
    /// The take that each agent was answered with last.
    played: BTreeMap<Rc<str>, usize>,
}

impl Script for Player {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        match &mut self.source {
            Source::Bound(script) => {
                let answer = script.answer(question)?;
                let reply = self.utterances.borrow().last().and_then(|said| said.reply.clone());
                let take = reply.and_then(|reply| self.takes.get(&reply)).copied();
                let Some(take) = take else { return Ok(answer) };
                self.played.insert(Rc::clone(&question.agent), take);
                let recorded = &self.answers[take];
                let is_playable = recorded.fault.is_none() && plays(recorded, &answer);
                let events = if is_playable { recorded.events.clone() } else { answer.events };
                let arrivals = if is_playable { recorded.arrivals.clone() } else { answer.arrivals };
                Ok(Answer { events, arrivals, ..answer })
            }
            Source::Recorded(recorded) => {
                let draft = self.verbatim.draft(question, self.played.get(&question.agent).copied());
                let answer = recorded.answer(&Question { draft: Rc::new(draft), ..question.clone() })?;
                let take = recorded.last_played();
                let reply = take.and_then(|take| self.takes.iter().find(|(_, known)| **known == take));
                let reply = reply.map(|(reply, _)| Rc::clone(reply));
                let (agent, turn) = (Rc::clone(&question.agent), question.turn);
                self.utterances.borrow_mut().push(Utterance { agent, turn, reply });
                take.into_iter().for_each(|take| {
                    self.played.insert(Rc::clone(&question.agent), take);
                });
                Ok(answer)
            }
        }
    }

    fn verbatim(&mut self, question: &Question) -> Option<Draft> {
        Some(self.verbatim.draft(question, self.played.get(&question.agent).copied()))
    }
}

/// Whether the runtime can make the calls of an answer as they were made. It has no worktrees and teams, calls that started
/// no agent in the recording must start none, and an agent that a client moved to the background is in the background from
/// its start: `scripted` has the calls as the cast makes them.
fn plays(recorded: &Answer, scripted: &Answer) -> bool {
    let input = |text: &str| Input::read(&serde_json::from_str(text).unwrap_or(Value::Null), false).ok();
    let agents = called(scripted).into_iter().filter(|call| &*call.name == "Agent");
    let starts: BTreeMap<Rc<str>, Option<Input>> = agents.map(|call| (call.id, input(&call.input))).collect();
    called(recorded).into_iter().all(|call| match &*call.name {
        "Task" => false,
        "Agent" => input(&call.input).map_or(!starts.contains_key(&call.id), |input| {
            let plain =
                [input.isolation.is_some(), input.team_name.is_some(), input.mode.is_some(), input.cwd.is_some()];
            let Some(scripted) = starts.get(&call.id) else { return false };
            let wanted = scripted.as_ref().and_then(|scripted| scripted.run_in_background);
            !plain.contains(&true) && wanted.is_none_or(|wanted| wanted == input.run_in_background.unwrap_or(false))
        }),
        _ => true,
    })
}
