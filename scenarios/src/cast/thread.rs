//! One recorded conversation: which request each answer belongs to, and what each of its inputs adds to a prompt.

use std::collections::BTreeSet;

use forkcast_replay::source::Shares;
use forkcast_replay::transcript::{Agent, Answer, Input, InputOrigin, Item, Sign, What};
use forkcast_sim::time::Instant;

use super::acts::{Acts, NO_TEXT, UserLine};
use super::results::Results;
use super::spawns::Spawns;
use super::wording::{Block, Said};

/// What the model does at one request.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// What asks for it.
    pub asked_by: Option<Asking>,
    /// What happens.
    pub does: Does,
}

/// What a request follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    /// The result of this call, with which its round is complete.
    Result(String),
    /// A text of the user that contains this one.
    Text(String),
    /// The report about the task that this call started.
    Notice(String),
}

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// The answer at this index is given.
    Answers(usize),
    /// No answer comes: the user interrupts it, or the recording ends.
    Waits,
    /// The request fails.
    Fails,
}

/// A conversation as steps.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub steps: Vec<Step>,
    /// The recording ends while a request or a call is open.
    pub ends_open: bool,
    /// Tokens of the first request's input after the hidden prefix.
    pub brief_tokens: u64,
    /// What the client did that is not played.
    pub unplayed: Vec<Unplayed>,
}

/// What the client did to a conversation that is not played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unplayed {
    /// The line in the recording.
    pub line: u32,
    /// What it was, and what is played instead.
    pub says: &'static str,
}

/// Follows a conversation.
pub(super) struct Walk<'a> {
    agent: &'a Agent,
    spawns: &'a Spawns,
    shares: &'a Shares,
    results: &'a mut Results,
    acts: Option<&'a mut Acts>,
    /// Calls of the newest answer.
    open: Vec<String>,
    unanswered: BTreeSet<String>,
    asking: Option<Asking>,
    /// The newest input that later attachments belong to.
    host: Host,
    done: Steps,
    answered: bool,
    /// The model of the newest answer.
    model: Option<&'a str>,
}

/// What an attachment's tokens are added to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Host {
    #[default]
    None,
    Line,
    Result(String),
    Notice(String),
}

impl<'a> Walk<'a> {
    pub fn new(
        agent: &'a Agent,
        spawns: &'a Spawns,
        shares: &'a Shares,
        results: &'a mut Results,
        acts: Option<&'a mut Acts>,
    ) -> Self {
        let open = Vec::new();
        let unanswered = BTreeSet::new();
        let done = Steps::default();
        let host = Host::default();
        let asking = None;
        let model = None;
        Self { agent, spawns, shares, results, acts, open, unanswered, asking, host, done, answered: false, model }
    }

    /// Follows it to its end.
    pub fn steps(mut self) -> Steps {
        let agent = self.agent;
        for (at, item) in agent.thread.items.iter().enumerate() {
            match &item.what {
                What::Input(input) => self.input(at, item, input),
                What::Answer(answer) => self.answer(at, item.line, answer),
                What::Sign(sign) => self.sign(item, sign),
            }
        }
        self.end()
    }

    fn end(mut self) -> Steps {
        if let Some(acts) = &mut self.acts {
            // What was typed last was never answered: its request is not known to have been sent.
            acts.drop_line();
        }
        let is_last_round = matches!(self.asking, Some(Asking::Result(_)));
        if is_last_round {
            self.step(Does::Waits);
        }
        self.done.ends_open = is_last_round || !self.unanswered.is_empty();
        self.done
    }

    fn step(&mut self, does: Does) {
        let after_calls = || self.open.first().cloned().map(Asking::Result);
        let asked_by = self.asking.take().or_else(after_calls);
        self.done.steps.push(Step { asked_by, does });
    }

    fn answer(&mut self, at: usize, line: u32, answer: &'a Answer) {
        let is_other = self.model.replace(&answer.model).is_some_and(|model| *model != *answer.model);
        if is_other {
            let says = "another model answers; the first one's prices and cache are used";
            self.done.unplayed.push(Unplayed { line, says });
        }
        if let Some(acts) = &mut self.acts {
            acts.send_line(answer.sent_at);
        }
        self.step(Does::Answers(at));
        self.answered = true;
        self.open.clear();
        self.unanswered.clear();
        self.host = Host::None;
        for block in answer.wording.iter().map(Block::of) {
            if let Said::Call { id, tool, .. } = block.said {
                self.results.called(&id, &tool, block.at);
                self.unanswered.insert(id.clone());
                self.open.push(id);
            }
        }
    }

    fn input(&mut self, at: usize, item: &Item, input: &Input) {
        for (part, wording) in input.wording.iter().enumerate() {
            let block = Block::of(wording);
            let tokens = self.shares.of_block(at, part);
            if !self.answered {
                self.done.brief_tokens += tokens;
            }
            match (&block.said, input.origin) {
                (Said::Result { id, .. }, _) => self.result(id, &block, tokens),
                (Said::Text(text), InputOrigin::Notification) => self.notification(text, item, tokens),
                (Said::Text(text), InputOrigin::Interruption) => {
                    self.interruption(item.at);
                    self.attached(tokens);
                    debug_assert!(!text.is_empty(), "an interruption is recognised by its text");
                }
                (Said::Text(text), InputOrigin::Attachment) => self.queued(text, item, tokens),
                (Said::Text(text), _) => self.line(text, item.at, tokens),
                _ => self.attached(tokens),
            }
        }
    }

    fn result(&mut self, id: &str, block: &Block, tokens: u64) {
        self.results.answered(id, block, tokens);
        self.unanswered.remove(id);
        self.host = Host::Result(id.to_owned());
        if self.unanswered.is_empty()
            && let Some(first) = self.open.first()
        {
            self.asking = Some(Asking::Result(first.clone()));
        }
    }

    fn notification(&mut self, text: &str, item: &Item, tokens: u64) {
        let played = self.spawns.notified_call(text);
        if let Some(acts) = &mut self.acts {
            // Whatever waits is sent before it.
            acts.notified(text, item.at, played.is_none().then_some(tokens));
        }
        let asking = match played {
            Some(call) => {
                self.results.noticed(&call, tokens);
                self.host = Host::Notice(call.clone());
                Asking::Notice(call)
            }
            None => Asking::Text(text.to_owned()),
        };
        if self.open.is_empty() {
            self.asking = Some(asking);
        }
    }

    fn interruption(&mut self, at: Option<Instant>) {
        if let Some(acts) = &mut self.acts {
            acts.send_line(None);
            acts.escape(at);
        }
        let open = std::mem::take(&mut self.unanswered);
        open.iter().for_each(|call| self.results.interrupted(call));
        if self.results.is_cut_off(&self.open, at) {
            self.asking = None;
        } else if self.asking.is_some() {
            self.step(Does::Waits);
        }
    }

    /// An attachment with a text: a line or a notification that reached the agent between two rounds.
    fn queued(&mut self, text: &str, item: &Item, tokens: u64) {
        match &mut self.acts {
            Some(acts) => acts.in_turn(text, item.at, tokens),
            None => self.attached(tokens),
        }
    }

    fn line(&mut self, text: &str, at: Option<Instant>, tokens: u64) {
        let text = if text.is_empty() { NO_TEXT } else { text };
        if self.acts.is_some() && self.open.is_empty() {
            self.asking = Some(Asking::Text(text.to_owned()));
        }
        if self.acts.is_some() && !self.unanswered.is_empty() {
            // The client was restarted while calls were open.
            self.interruption(at);
        }
        let is_in_round = !self.open.is_empty() && matches!(self.asking, Some(Asking::Result(_)));
        match &mut self.acts {
            // A text that the client adds to the results of a round, such as the instructions of a skill.
            Some(acts) if is_in_round && !acts.was_interrupted() => self.attached(tokens),
            Some(acts) => {
                acts.line(UserLine { text: text.to_owned(), at, tokens, has_waited: false });
                self.host = Host::Line;
            }
            None => self.attached(tokens),
        }
    }

    fn attached(&mut self, tokens: u64) {
        match (&self.host, &mut self.acts) {
            (Host::Result(call), _) => self.results.grows(call, tokens),
            (Host::Notice(call), _) => self.results.noticed(call, tokens),
            (Host::Line | Host::None, Some(acts)) => acts.grows(tokens),
            (Host::Line | Host::None, None) => {}
        }
    }

    fn sign(&mut self, item: &Item, sign: &Sign) {
        let is_busy = self.asking.is_some() || !self.open.is_empty();
        if let Some(says) = unplayed(sign) {
            self.done.unplayed.push(Unplayed { line: item.line, says });
        }
        match sign {
            Sign::Queue(step) => {
                if let Some(acts) = &mut self.acts {
                    acts.queue(step, item.at, is_busy);
                }
            }
            Sign::Synthetic if self.asking.is_some() => {
                if let Some(acts) = &mut self.acts {
                    acts.send_line(None);
                }
                self.step(Does::Fails);
                self.open.clear();
            }
            _ => {}
        }
    }
}

/// What of a sign is not played, and what is played instead.
const fn unplayed(sign: &Sign) -> Option<&'static str> {
    match sign {
        Sign::Compacted { .. } => Some("the history was replaced by a summary; it is played on with all of it"),
        Sign::MicroCompacted { .. } => Some("old results were cleared; they are played on"),
        Sign::Cleared => Some("the conversation was cleared; it is played on with all of it"),
        Sign::Rewound { .. } => Some("the conversation was rewound; it is played on with all of it"),
        _ => None,
    }
}
