//! The conversation as it is sent. Consecutive messages of one role become one message, its results come first, in the
//! order of their calls, and messages that were sent before stay unchanged (contract LOOP-14, LOOP-15, STREAM-16).

mod branched;

use std::rc::Rc;

use branched::Branched;

use super::entry::{Calls, Entry, History, Nature};
use super::settings::shared_out;
use crate::wire::{Message, Piece, Pieces, Role};

/// The last sent state of a conversation. It only saves work: an empty one produces the same messages.
#[derive(Clone, Default)]
pub struct Conversation {
    taken: Branched<Rc<Entry>>,
    closed: Branched<Group>,
    open: Vec<Rc<Entry>>,
    /// The open group as last sent, if it has not grown since.
    open_sent: Option<Group>,
    /// Calls of the last assistant messages, in order.
    calls: Vec<Calls>,
    /// Results that arrived before the message of their call, which was still streaming.
    early: Vec<Rc<Entry>>,
    opening: Option<Box<Opening>>,
    growth: Growth,
}

/// The declared size of a turn, answer and results together.
#[derive(Clone, Default)]
struct Growth {
    /// Tokens of a turn; `None` if they are counted.
    tokens: Option<u64>,
    /// Shares of the last answer's results, once assigned.
    results: Option<Box<[u64]>>,
}

/// A message and the number of results at its start.
#[derive(Clone)]
struct Group {
    message: Rc<Message>,
    results: usize,
}

/// The first message with the user context before it, and its parts.
#[derive(Clone)]
struct Opening {
    context: Vec<Rc<Message>>,
    first: Rc<Message>,
    joined: Rc<Message>,
}

/// Messages in request order.
pub struct Sending {
    /// The messages.
    pub messages: Vec<Rc<Message>>,
    /// The newest message that begins with results.
    pub newest_results: Option<usize>,
}

impl Conversation {
    /// The messages of `entries` after those of `context` (LOOP-04). `growth` is the declared size of a turn, if any.
    pub fn take(&mut self, context: &[Rc<Message>], entries: &History, growth: Option<u64>) -> Sending {
        if entries.same() < self.taken.len() {
            *self = Self::default();
        }
        entries.is_sent();
        self.growth.tokens = growth;
        for entry in &entries[self.taken.len()..] {
            self.taken.push(Rc::clone(entry));
            self.add(entry);
        }
        let open = self.send_open();
        let mut messages: Vec<Rc<Message>> = Vec::with_capacity(self.closed.len() + context.len() + 1);
        let mut newest_results = None;
        for (at, sent) in self.closed.iter().chain(&open).enumerate() {
            messages.push(Rc::clone(&sent.message));
            newest_results = if sent.results > 0 { Some(at) } else { newest_results };
        }
        let before = messages.len();
        self.prepend(context, &mut messages);
        let newest_results = newest_results.map(|at| at + messages.len() - before);
        Sending { messages, newest_results }
    }

    /// A second conversation that continues from here. Everything taken so far is stored once for both.
    pub fn branch(&mut self) -> Self {
        self.taken.share();
        self.closed.share();
        self.clone()
    }

    /// Whether `entries` continue this conversation, compared entry by entry.
    pub fn is_of(&self, entries: &[Rc<Entry>]) -> bool {
        self.taken.len() <= entries.len() && self.taken.iter().zip(entries).all(|(old, new)| Rc::ptr_eq(old, new))
    }

    fn add(&mut self, entry: &Rc<Entry>) {
        if entry.nature == Nature::ApiError || entry.message.content.is_empty() {
            return;
        }
        if entry.nature == Nature::Results && !self.answers_some(entry) {
            self.early.push(Rc::clone(entry));
            return;
        }
        self.group(entry);
        if !entry.tool_uses.is_empty() && !self.early.is_empty() {
            let early = std::mem::take(&mut self.early);
            let (ready, early) = early.into_iter().partition(|early| self.answers_some(early));
            self.early = early;
            let ready: Vec<Rc<Entry>> = ready;
            for result in &ready {
                self.group(result);
            }
        }
    }

    fn group(&mut self, entry: &Rc<Entry>) {
        let goes_on = self.open.first().is_some_and(|first| first.message.role == entry.message.role);
        if !goes_on {
            let sent = self.send_open();
            self.closed.extend(sent);
            self.open.clear();
            if entry.message.role == Role::Assistant {
                self.calls.clear();
                self.growth.results = None;
            }
        }
        self.open_sent = None;
        if !entry.tool_uses.is_empty() {
            self.calls.push(entry.tool_uses.clone());
        }
        if self.open.capacity() == 0 {
            self.open.reserve_exact(1);
        }
        self.open.push(Rc::clone(entry));
    }

    /// Whether `entry` holds results for calls of the last assistant messages.
    fn answers_some(&self, entry: &Entry) -> bool {
        entry.answers.iter().any(|id| self.calls.iter().any(|calls| calls.place(id).is_some()))
    }

    /// The position of call `id` among those of the last assistant messages; the first one if two share an id.
    fn rank(&self, id: &str) -> Option<usize> {
        let mut before = 0;
        self.calls.iter().find_map(|calls| {
            let place = calls.place(id).map(|at| before + at);
            before += calls.len();
            place
        })
    }

    /// The open group as one message.
    fn send_open(&mut self) -> Option<Group> {
        if self.open_sent.is_none() {
            self.open_sent = self.join();
        }
        self.open_sent.clone()
    }

    fn join(&mut self) -> Option<Group> {
        let first = self.open.first()?;
        let role = first.message.role;
        let is_sized = self.growth.tokens.is_some() && role == Role::User;
        if self.open.len() == 1 && (first.answers.len() <= 1 && !is_sized || self.is_whole_as_it_is(first, is_sized)) {
            return Some(Group { message: Rc::clone(&first.message), results: first.answers.len() });
        }
        let mut results = Vec::new();
        let mut rest = Vec::new();
        for entry in &self.open {
            let mut pieces = entry.message.content.iter().cloned();
            results.extend(entry.answers.iter().zip(pieces.by_ref().take(entry.answers.len())));
            rest.extend(pieces);
        }
        results.sort_by_cached_key(|(id, _)| self.rank(id));
        let mut content: Vec<Piece> = results.into_iter().map(|(_, piece)| piece).collect();
        let count = content.len();
        if is_sized {
            self.growth.share_out(&mut self.closed, &mut content);
        }
        content.extend(rest);
        Some(Group { message: Rc::new(Message { role, content: content.into() }), results: count })
    }

    /// Whether `entry` answers all calls of the single message before it in order, and no block of either needs a size.
    /// Then nothing has to be joined, sorted or shared out. This is the usual case for forks.
    fn is_whole_as_it_is(&self, entry: &Entry, is_sized: bool) -> bool {
        let [calls] = self.calls.as_slice() else { return false };
        let are_declared = |message: &Message| message.content.are_declared();
        let has_sizes =
            || are_declared(&entry.message) && self.closed.last().is_some_and(|sent| are_declared(&sent.message));
        calls.is_answered_by(&entry.answers) && (!is_sized || has_sizes())
    }

    /// Puts the user context first: into the first message if that is a user message too.
    fn prepend(&mut self, context: &[Rc<Message>], messages: &mut Vec<Rc<Message>>) {
        if context.is_empty() {
            return;
        }
        let of_user = |message: &Rc<Message>| message.role == Role::User;
        let joins = messages.first().is_some_and(of_user) && context.iter().all(of_user);
        if !joins {
            messages.splice(0..0, context.iter().cloned());
            return;
        }
        let first = Rc::clone(&messages[0]);
        let known = self.opening.take().filter(|known| known.is_of(context, &first));
        let opening = known.unwrap_or_else(|| Box::new(Opening::new(context, first)));
        messages[0] = Rc::clone(&opening.joined);
        self.opening = Some(opening);
    }
}

impl Growth {
    /// Assigns an answer and its results their shares, by the bytes of their blocks. The answer gets its share once,
    /// because it is sent unchanged from then on. Blocks with a declared size keep it, and the rest share the whole.
    fn share_out(&mut self, closed: &mut Branched<Group>, results: &mut [Piece]) {
        let answer = closed.last().filter(|sent| sent.message.role == Role::Assistant).cloned();
        let Some((tokens, mut answer)) = self.tokens.zip(answer) else { return };
        let shares = self.results.get_or_insert_with(|| {
            let nothing = Pieces::default();
            let is_declared = answer.message.content.are_declared();
            let said = if is_declared { &nothing } else { &answer.message.content };
            let weights: Vec<u64> = said.iter().chain(&*results).map(Piece::written_bytes).collect();
            let mut shares = shared_out(tokens, &weights);
            let of_results = shares.split_off(said.len());
            if !is_declared {
                let content = said.iter().zip(shares).map(|(piece, tokens)| piece.clone().sized(tokens)).collect();
                answer.message = Rc::new(Message { role: Role::Assistant, content });
                closed.replace_last(answer);
            }
            of_results.into()
        });
        let shared = results.iter_mut().zip(shares).filter(|(result, _)| result.declared_tokens().is_none());
        for (result, tokens) in shared {
            *result = result.clone().sized(*tokens);
        }
    }
}

impl Opening {
    fn new(context: &[Rc<Message>], first: Rc<Message>) -> Self {
        let pieces = context.iter().chain([&first]).flat_map(|message| message.content.iter().cloned());
        let joined = Rc::new(Message { role: Role::User, content: pieces.collect() });
        Self { context: context.to_vec(), first, joined }
    }

    /// A session records the user context once per directory, so equal contexts are the same object.
    fn is_of(&self, context: &[Rc<Message>], first: &Rc<Message>) -> bool {
        let same = |(old, new): (&Rc<Message>, &Rc<Message>)| Rc::ptr_eq(old, new);
        Rc::ptr_eq(&self.first, first)
            && self.context.len() == context.len()
            && self.context.iter().zip(context).all(same)
    }
}
