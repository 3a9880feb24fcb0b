//! One recorded conversation: which request each answer belongs to, and what each of its inputs adds to a prompt.

use std::collections::BTreeSet;

use forkcast_replay::source::Shares;
use forkcast_replay::transcript::{Agent, Answer, Input, InputOrigin, Item, Sign, What};
use forkcast_sim::time::{Duration, Instant};

use super::acts::{Acts, NO_TEXT, UserLine};
use super::otherwise::Otherwise;
use super::results::Results;
use super::rules::CastRule;
use super::spawns::Spawns;
use super::wording::{Block, Said};

/// What is said of an answer that nothing asks for.
pub(super) const UNASKED: &str = "what asked for this answer is not recorded; a line that says so is typed";

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
    /// When the newest input was recorded.
    pub input_at: Option<Instant>,
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
    otherwise: &'a Otherwise,
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
    /// When the newest answer ended.
    ended_at: Option<Instant>,
    /// When the newest input was recorded.
    input_at: Option<Instant>,
    /// Where the conversation began, or began again.
    begun: usize,
    /// A compaction whose summary is still to come.
    compaction: Option<Compaction>,
    /// Calls whose agents have reported.
    noticed: BTreeSet<String>,
}

/// A compaction of the main history.
#[derive(Clone, Copy, Debug)]
struct Compaction {
    line: u32,
    at: Option<Instant>,
    takes: Option<Duration>,
}

/// What an attachment's tokens are added to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Host {
    #[default]
    None,
    Line,
    Result(String),
    Notice(String),
    Summary,
}

impl<'a> Walk<'a> {
    pub fn new(
        agent: &'a Agent,
        otherwise: &'a Otherwise,
        spawns: &'a Spawns,
        shares: &'a Shares,
        results: &'a mut Results,
        acts: Option<&'a mut Acts>,
    ) -> Self {
        Self {
            agent,
            otherwise,
            spawns,
            shares,
            results,
            acts,
            open: Vec::new(),
            unanswered: BTreeSet::new(),
            asking: None,
            host: Host::default(),
            done: Steps::default(),
            answered: false,
            ended_at: None,
            input_at: None,
            begun: 0,
            compaction: None,
            noticed: BTreeSet::new(),
        }
    }

    /// Follows it to its end.
    pub fn steps(mut self) -> Steps {
        let agent = self.agent;
        for (at, item) in agent.thread.items.iter().enumerate() {
            match &item.what {
                What::Input(input) => self.input(at, item, input),
                What::Answer(answer) => self.answer(at, item.line, answer),
                What::Sign(sign) => self.sign(at, item, sign),
            }
        }
        self.end()
    }

    fn end(mut self) -> Steps {
        if let Some(acts) = &mut self.acts {
            // What was typed last was never answered: its request is not known to have been sent.
            acts.drop_line();
        }
        if let Some(Compaction { line, .. }) = self.compaction {
            let says = "the history was replaced by a summary that is not recorded; it is played on with all of it";
            self.done.unplayed.push(Unplayed { line, says });
        }
        let is_last_round = matches!(self.asking, Some(Asking::Result(_)));
        if is_last_round {
            self.step(Does::Waits);
        }
        self.ends_unheard();
        self.done.input_at = self.input_at;
        self.done.ends_open = is_last_round || !self.unanswered.is_empty();
        self.done
    }

    /// Agents whose end the recording does not have are stopped after it. Nobody answers to that.
    fn ends_unheard(&mut self) {
        if self.acts.is_none() || !self.otherwise.has(CastRule::Unheard) {
            return;
        }
        let unheard =
            self.spawns.of_call.iter().filter(|(_, spawn)| spawn.by_main && spawn.background && !spawn.notified);
        let steps = unheard.map(|(call, _)| Step { asked_by: Some(Asking::Notice(call.clone())), does: Does::Waits });
        self.done.steps.extend(steps);
    }

    fn step(&mut self, does: Does) {
        let after_calls = || self.open.first().cloned().map(Asking::Result);
        let asked_by = self.asking.take().or_else(after_calls);
        self.done.steps.push(Step { asked_by, does });
    }

    fn answer(&mut self, at: usize, line: u32, answer: &'a Answer) {
        self.lose_results(line, answer.sent_at);
        self.begin_unasked(line, answer);
        if let Some(acts) = &mut self.acts {
            acts.send_line(answer.sent_at);
        }
        self.step(Does::Answers(at));
        self.answered = true;
        self.ended_at = answer.ended_at.or(answer.sent_at);
        self.open.clear();
        self.unanswered.clear();
        self.host = Host::None;
        for block in answer.wording.iter().map(Block::of) {
            if let Said::Call { id, tool, .. } = block.said {
                let is_answered = self.results.calls.contains_key(&id);
                self.results.called(&id, &tool, block.at);
                if !is_answered {
                    self.unanswered.insert(id.clone());
                }
                self.open.push(id);
            }
        }
        self.ends_round();
    }

    fn input(&mut self, at: usize, item: &Item, input: &Input) {
        self.input_at = item.at.or(self.input_at);
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
                (Said::Text(text), InputOrigin::Summary) if self.compaction.is_some() => self.summary(text, tokens),
                // A skill's instructions may be recorded before the results of the other calls of its message.
                (Said::Text(_), InputOrigin::Injected) if self.is_in_round() => self.attached(tokens),
                (Said::Text(text), InputOrigin::Attachment) => self.queued(text, item, tokens),
                (Said::Text(text), _) => self.line(text, item.at, tokens),
                _ => self.attached(tokens),
            }
        }
    }

    /// Whether calls are open, or their results were not sent yet.
    fn is_in_round(&self) -> bool {
        !self.open.is_empty() && self.acts.as_ref().is_none_or(|acts| !acts.was_interrupted())
    }

    fn result(&mut self, id: &str, block: &Block, tokens: u64) {
        self.results.answered(id, block, tokens);
        self.unanswered.remove(id);
        self.host = Host::Result(id.to_owned());
        self.ends_round();
    }

    /// With the last result of a round the next request is sent.
    fn ends_round(&mut self) {
        if let Some(first) = self.open.first().filter(|_| self.unanswered.is_empty()) {
            self.asking = Some(Asking::Result(first.clone()));
        }
    }

    fn notification(&mut self, text: &str, item: &Item, tokens: u64) {
        let mut is_repeated =
            |call: &String| !self.noticed.insert(call.clone()) && self.otherwise.has(CastRule::RepeatedNotices);
        let played = self.spawns.notified_call(text).filter(|call| !is_repeated(call));
        if let Some(acts) = &mut self.acts {
            // Whatever waits is sent before it.
            acts.notified(text, self.spawns.came_at(text, item.at), played.is_none().then_some(tokens));
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
        if self.otherwise.has(CastRule::CutOff) && self.results.is_cut_off(&self.open, at) {
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
        match &mut self.acts {
            Some(acts) => {
                acts.line(UserLine { text: text.to_owned(), at, tokens });
                self.host = Host::Line;
            }
            None => self.attached(tokens),
        }
    }

    fn attached(&mut self, tokens: u64) {
        match (&self.host, &mut self.acts) {
            (Host::Result(call), _) => self.results.grows(call, tokens),
            (Host::Notice(call), _) => self.results.noticed(call, tokens),
            (Host::Summary, Some(acts)) => acts.summary_grows(tokens),
            (Host::Line | Host::None, Some(acts)) => acts.grows(tokens),
            (Host::Summary | Host::Line | Host::None, None) => {}
        }
    }

    /// The main history is to be replaced by the summary that follows. A compaction that the client begins in a turn
    /// happens before the next request, and takes its time.
    fn compacts(&mut self, item: &Item, automatic: bool) -> bool {
        self.lose_results(item.line, self.ended_at);
        let Some(acts) = &mut self.acts else { return false };
        let at = item.at;
        let is_waiting = acts.has_line() || matches!(self.asking, Some(Asking::Result(_)));
        let waiting_since = self.input_at.max(self.ended_at);
        let takes = at.zip(waiting_since).map_or(Duration(0), |(at, input)| at.since(input));
        let in_turn = automatic && is_waiting && self.otherwise.has(CastRule::TurnCompaction);
        if in_turn {
            acts.send_line(None);
        }
        let at = if in_turn { self.ended_at } else { at };
        self.compaction = Some(Compaction { line: item.line, at, takes: in_turn.then_some(takes) });
        self.forget_round();
        true
    }

    fn summary(&mut self, text: &str, tokens: u64) {
        let Some((acts, compaction)) = self.acts.as_mut().zip(self.compaction.take()) else { return };
        acts.compacts(compaction.at, compaction.takes, text, tokens);
        if compaction.takes.is_some() {
            self.asking = Some(Asking::Text(text.to_owned()));
        }
        self.host = Host::Summary;
    }

    /// The conversation continues after the item `to`: before the first text that was dropped. What was typed and never
    /// sent is forgotten.
    fn rewinds(&mut self, at: usize, instant: Option<Instant>, to: Option<u32>) -> bool {
        if self.acts.is_some() && !self.unanswered.is_empty() {
            self.interruption(instant);
        }
        let Some(acts) = &mut self.acts else { return false };
        let items = &self.agent.thread.items;
        let from = to.map_or(0, |to| to as usize + 1).max(self.begun);
        let dropped = &items[from.min(at)..at];
        if dropped.iter().all(|item| matches!(item.what, What::Sign(_))) {
            return true;
        }
        let is_sent = dropped.iter().any(|item| item.answer().is_some());
        if !is_sent && acts.has_line() {
            acts.drop_line();
        } else {
            let Some(text) = dropped.iter().find_map(typed) else { return false };
            acts.send_line(None);
            acts.rewinds(instant, &text);
        }
        self.forget_round();
        true
    }

    /// The conversation begins again. One that has not begun has nothing to be cleared.
    fn clears(&mut self, at: usize, instant: Option<Instant>) -> bool {
        let is_played = !self.answered || self.rewinds(at, instant, None);
        self.begun = at + 1;
        is_played
    }

    /// Begins a turn for an answer of the main agent that nothing recorded asks for.
    fn begin_unasked(&mut self, line: u32, answer: &Answer) {
        let is_asked = self.asking.is_some() || !self.open.is_empty() || !self.otherwise.has(CastRule::Unasked);
        let Some(acts) = self.acts.as_mut().filter(|acts| !is_asked && !acts.has_line()) else { return };
        let text = format!("(The recording does not have what asked for the answer in line {line}.)");
        acts.line(UserLine { text: text.clone(), at: answer.sent_at, tokens: 0 });
        self.asking = Some(Asking::Text(text));
        self.done.unplayed.push(Unplayed { line, says: UNASKED });
    }

    /// The conversation goes on without the results of calls: they came, but are not recorded.
    fn lose_results(&mut self, line: u32, at: Option<Instant>) {
        if !self.otherwise.has(CastRule::LostResults) {
            return;
        }
        for call in std::mem::take(&mut self.unanswered) {
            self.results.lost(&call, at);
            let says = "the result of a call is not recorded; a text that says so is played";
            self.done.unplayed.push(Unplayed { line, says });
            self.ends_round();
        }
    }

    fn forget_round(&mut self) {
        self.open.clear();
        self.unanswered.clear();
        self.asking = None;
        self.host = Host::None;
    }

    fn sign(&mut self, at: usize, item: &Item, sign: &Sign) {
        let is_played = match sign {
            Sign::Compacted { automatic, .. } => self.compacts(item, *automatic),
            Sign::Rewound { to } => self.rewinds(at, item.at, *to),
            Sign::Cleared => self.clears(at, item.at),
            _ => false,
        };
        if let Some(says) = unplayed(sign).filter(|_| !is_played) {
            self.done.unplayed.push(Unplayed { line: item.line, says });
        }
        match sign {
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

/// The text of a line, if the item is one.
fn typed(item: &Item) -> Option<String> {
    let What::Input(input) = &item.what else { return None };
    let is_line = matches!(input.origin, InputOrigin::Prompt | InputOrigin::Injected | InputOrigin::Command);
    let mut texts = input.wording.iter().filter_map(|wording| match Block::of(wording).said {
        Said::Text(text) if !text.is_empty() => Some(text),
        _ => None,
    });
    texts.next().filter(|_| is_line)
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
