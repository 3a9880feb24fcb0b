//! What a recording shows of its client byte for byte: system prompt, tools, parameters and breakpoints of each request, and
//! the blocks of results, of lines that the user typed, and of notifications.
//!
//! A runtime decides who sends what and when, and in which place of the history each block is; this writes the recorded bytes
//! in these places. Answers are never taken from here: they are as the runtime assembled them.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::settings::shared_out;
use forkcast_sim::model::Question;
use forkcast_sim::wire::normal::ttl;
use forkcast_sim::wire::{Draft, Level, Mark, Message, Piece, Role, Ttl};

use super::calls::{NOTIFICATION, inner, messages};
use crate::formats::json::{elements, member, member_text, members, text};

/// A block of a user's or a system's message, and whether a message begins with it.
#[derive(Clone, Debug)]
pub(super) struct SentBlock {
    pub role: Role,
    pub piece: Piece,
    pub begins: bool,
}

/// Everything of one request but its conversation.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    model: Rc<str>,
    tools: Rc<[Piece]>,
    system: Rc<[Piece]>,
    parameters: Rc<[(String, String)]>,
    marks: Vec<Mark>,
    messages: usize,
}

/// Which breakpoints are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breakpoints {
    /// The recorded ones.
    #[default]
    Recorded,
    /// The recorded ones with another lifetime.
    RecordedFor(Ttl),
    /// Those of the runtime.
    Own,
}

/// The recorded bytes of a session, by what they are about.
#[derive(Debug, Default)]
pub struct Verbatim {
    /// Which breakpoints are sent.
    pub breakpoints: Breakpoints,
    /// Tools are sent in the order of their names.
    pub sorts_tools: bool,
    /// The runtime's models are sent, not the recorded ones.
    pub other_models: bool,
    /// By the call that a result answers: the result, then what the client sent after it.
    pub(super) results: BTreeMap<String, Vec<SentBlock>>,
    /// By the call that started the task of a notification.
    pub(super) notices: BTreeMap<String, Vec<SentBlock>>,
    /// By the text of a line.
    pub(super) lines: BTreeMap<String, Vec<SentBlock>>,
    /// By the call that started the agent: what its first request ends with.
    pub(super) openings: BTreeMap<String, Vec<SentBlock>>,
    /// The place of that message, by agent.
    opened: BTreeMap<Rc<str>, usize>,
    /// The requests of each agent, by the call that started it; `main` for the main agent.
    pub(super) shapes: BTreeMap<String, Vec<Shape>>,
    /// Tokens of each answer, by the number of its take.
    pub(super) answers: BTreeMap<usize, u64>,
    /// Messages that were rewritten, by the address of the runtime's own, which is kept so that no other takes its place.
    known: BTreeMap<usize, Rewritten>,
}

#[derive(Debug)]
struct Rewritten {
    _own: Rc<Message>,
    messages: Vec<Rc<Message>>,
}

/// The name of the main agent.
pub(super) const MAIN: &str = "main";

impl Verbatim {
    /// The request that the recorded client would have sent instead of the draft of `question`. `newest` is the take whose
    /// answer the agent received last.
    pub fn draft(&mut self, question: &Question, newest: Option<usize>) -> Draft {
        let own = &question.draft;
        let agent = question.started_by.as_deref().unwrap_or(MAIN);
        let opening = self.openings.get(agent).cloned();
        if question.turn == 0 {
            self.opened.insert(Rc::clone(&question.agent), own.messages.len().saturating_sub(1));
        }
        let opened = self.opened.get(&question.agent).copied();
        let mut sent: Vec<Rc<Message>> = Vec::with_capacity(own.messages.len() + 1);
        let newest_answer = own.messages.iter().rposition(|message| message.role == Role::Assistant);
        // Where each of the runtime's messages begins and how many there are instead.
        let mut places = Vec::with_capacity(own.messages.len());
        for (at, message) in own.messages.iter().enumerate() {
            let tokens = newest.filter(|_| newest_answer == Some(at)).and_then(|take| self.answers.get(&take)).copied();
            let opens = opening.as_deref().filter(|_| opened == Some(at) && message.role == Role::User);
            let rewritten = self.rewritten(message, tokens, opens);
            places.push(sent.len());
            sent.extend(rewritten);
        }
        let shapes = self.shapes.get(agent).filter(|shapes| !shapes.is_empty());
        let Some(shapes) = shapes else { return Draft { messages: sent, ..Draft::clone(own) } };
        let turn = (question.turn as usize).min(shapes.len() - 1);
        let shape = &shapes[turn];
        let mut draft = Draft {
            model: Rc::clone(if self.other_models { &own.model } else { &shape.model }),
            tools: if self.sorts_tools { sorted(&shape.tools) } else { Rc::clone(&shape.tools) },
            system: Rc::clone(&shape.system),
            messages: sent,
            parameters: Rc::clone(&shape.parameters),
            marks: Vec::new(),
        };
        draft.marks = self.marks(shape, own, &draft, &places);
        draft
    }

    fn marks(&self, shape: &Shape, own: &Draft, sent: &Draft, places: &[usize]) -> Vec<Mark> {
        let is_as_recorded = shape.messages == sent.messages.len();
        if self.breakpoints == Breakpoints::Own || !is_as_recorded {
            let translated = |mark: &Mark| translated(*mark, own, sent, places);
            return own.marks.iter().filter_map(translated).collect();
        }
        let Breakpoints::RecordedFor(ttl) = self.breakpoints else { return shape.marks.clone() };
        shape.marks.iter().map(|mark| Mark { ttl, ..*mark }).collect()
    }

    fn rewritten(&mut self, own: &Rc<Message>, tokens: Option<u64>, opening: Option<&[SentBlock]>) -> Vec<Rc<Message>> {
        let address = Rc::as_ptr(own) as usize;
        if opening.is_none()
            && let Some(known) = self.known.get(&address)
        {
            return known.messages.clone();
        }
        let messages = match (own.role, opening) {
            (_, Some(opening)) => grouped(opening.iter().cloned()),
            (Role::Assistant, None) => vec![sized(own, tokens)],
            (_, None) => self.replaced(own),
        };
        if opening.is_none() {
            self.known.insert(address, Rewritten { _own: Rc::clone(own), messages: messages.clone() });
        }
        messages
    }

    /// A message with its results first, then what followed them, then the rest.
    fn replaced(&self, own: &Rc<Message>) -> Vec<Rc<Message>> {
        let (mut results, mut after, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        let mut changed = false;
        for piece in &own.content {
            let recorded = self.recorded(piece);
            changed |= recorded.is_some();
            match (piece.answered_call(), recorded) {
                (Some(_), Some([first, others @ ..])) => {
                    results.push(first.clone());
                    after.extend(others.iter().cloned());
                }
                (_, Some(blocks)) => rest.extend(blocks.iter().cloned()),
                (answered, None) => {
                    let block = SentBlock { role: own.role, piece: piece.clone(), begins: false };
                    if answered.is_some() { results.push(block) } else { rest.push(block) }
                }
            }
        }
        if !changed {
            return vec![Rc::clone(own)];
        }
        results.extend(after);
        grouped(results.into_iter().chain(rest))
    }

    fn recorded(&self, piece: &Piece) -> Option<&[SentBlock]> {
        if let Some(call) = piece.answered_call() {
            return self.results.get(call).map(Vec::as_slice);
        }
        let json = piece.json().as_bytes();
        let text = member_text(json, "text").filter(|_| member_text(json, "type").as_deref() == Some("text"))?;
        let notice = || self.notices.get(inner(&text, "tool-use-id").filter(|_| text.starts_with(NOTIFICATION))?);
        self.lines.get(&*text).or_else(notice).map(Vec::as_slice)
    }
}

/// Tools in the order of their names.
fn sorted(tools: &Rc<[Piece]>) -> Rc<[Piece]> {
    let name = |piece: &Piece| member_text(piece.json().as_bytes(), "name").map(|name| name.into_owned());
    let mut sorted = tools.to_vec();
    sorted.sort_by_cached_key(name);
    sorted.into()
}

/// Blocks as messages: one for each run of a role, and for each block that began one.
fn grouped(blocks: impl Iterator<Item = SentBlock>) -> Vec<Rc<Message>> {
    let mut groups: Vec<(Role, Vec<Piece>)> = Vec::new();
    for block in blocks {
        match groups.last_mut() {
            Some((role, pieces)) if *role == block.role && !block.begins => pieces.push(block.piece),
            _ => groups.push((block.role, vec![block.piece])),
        }
    }
    groups.into_iter().map(|(role, content)| Rc::new(Message { role, content: content.into() })).collect()
}

/// The message with this size, shared by bytes.
fn sized(own: &Rc<Message>, tokens: Option<u64>) -> Rc<Message> {
    let Some(tokens) = tokens else { return Rc::clone(own) };
    let weights: Vec<u64> = own.content.iter().map(|piece| piece.json().len() as u64).collect();
    let shares = shared_out(tokens, &weights);
    let content = own.content.iter().cloned().zip(shares).map(|(piece, tokens)| piece.sized(tokens)).collect();
    Rc::new(Message { role: own.role, content })
}

/// A breakpoint of the runtime's draft on the block that is sent instead: counted from the end of the system prompt, and the
/// last block of a message stays the last one.
fn translated(mark: Mark, own: &Draft, sent: &Draft, places: &[usize]) -> Option<Mark> {
    match mark.level {
        Level::Tools => Some(Mark { item: sent.tools.len().checked_sub(1)?, ..mark }),
        Level::System => {
            let from_end = own.system.len().checked_sub(mark.item)?;
            Some(Mark { item: sent.system.len().checked_sub(from_end)?, ..mark })
        }
        Level::Messages => {
            let was = own.messages.get(mark.item)?.content.len();
            let next = places.get(mark.item + 1).copied().unwrap_or(sent.messages.len());
            if mark.part + 1 >= was {
                let item = next.checked_sub(1)?;
                return Some(Mark { item, part: sent.messages.get(item)?.content.len().checked_sub(1)?, ..mark });
            }
            Some(Mark { item: *places.get(mark.item)?, ..mark })
        }
    }
}

/// A parameter of a body: its name and its value as sent.
type Parameter = (String, String);

/// A body in parts. Equal parts of the bodies of one session are the same pieces.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    lists: BTreeMap<String, Rc<[Piece]>>,
    parameters: BTreeMap<Vec<Parameter>, Rc<[Parameter]>>,
}

impl Shapes {
    /// The shape of a body, whose tools and system prompt have `head_tokens` together.
    pub fn of(&mut self, body: &[u8], model: &str, head_tokens: u64) -> Shape {
        let mut marks = Vec::new();
        let mut tools = list(member(body, "tools"), Level::Tools, &mut marks);
        let mut system = list(member(body, "system"), Level::System, &mut marks);
        let weights: Vec<u64> = tools.iter().chain(&system).map(|piece| piece.json().len() as u64).collect();
        let shares = shared_out(head_tokens, &weights);
        for (piece, tokens) in tools.iter_mut().chain(&mut system).zip(shares) {
            *piece = piece.clone().sized(tokens);
        }
        let all = messages(body);
        for (item, message) in all.iter().enumerate() {
            for (part, block) in contents(message).iter().enumerate() {
                marks.extend(lifetime(block).map(|ttl| Mark { level: Level::Messages, item, part, ttl }));
            }
        }
        let own = |key: &str| ["model", "messages", "system", "tools"].contains(&key);
        let fields = members(body).map_while(Result::ok).filter_map(|(key, value)| {
            let key = text(key)?.into_owned();
            (!own(&key)).then(|| (key, String::from_utf8_lossy(value).into_owned()))
        });
        let fields: Vec<(String, String)> = fields.collect();
        let parameters = self.parameters.entry(fields.clone()).or_insert_with(|| fields.into());
        Shape {
            model: model.into(),
            parameters: Rc::clone(parameters),
            tools: self.shared(tools),
            system: self.shared(system),
            marks,
            messages: all.len(),
        }
    }

    fn shared(&mut self, pieces: Vec<Piece>) -> Rc<[Piece]> {
        let key: Vec<String> =
            pieces.iter().map(|piece| format!("{:?} {}", piece.declared_tokens(), piece.json())).collect();
        Rc::clone(self.lists.entry(key.join("\n")).or_insert_with(|| pieces.into()))
    }
}

/// The elements of `tools` or `system`, without breakpoints.
fn list(list: Option<&[u8]>, level: Level, marks: &mut Vec<Mark>) -> Vec<Piece> {
    let Some(raw) = list else { return Vec::new() };
    if let Some(whole) = text(raw) {
        return vec![Piece::text(&whole)];
    }
    let mut pieces = Vec::new();
    for (item, element) in elements(raw).enumerate() {
        marks.extend(lifetime(element).map(|ttl| Mark { level, item, part: 0, ttl }));
        pieces.push(piece(element));
    }
    pieces
}

/// The blocks of a message; a string is one block.
pub(super) fn contents(message: &[u8]) -> Vec<&[u8]> {
    match member(message, "content") {
        Some(content) if content.first() == Some(&b'[') => elements(content).collect(),
        content => content.into_iter().collect(),
    }
}

/// A recorded block without its breakpoint; a string is a text block.
pub(super) fn piece(raw: &[u8]) -> Piece {
    if let Some(whole) = text(raw) {
        return Piece::text(&whole);
    }
    if lifetime(raw).is_none() && member(raw, "cache_control").is_none() {
        return Piece::new(String::from_utf8_lossy(raw).into_owned());
    }
    let fields = members(raw).map_while(Result::ok).filter(|(key, _)| *key != b"\"cache_control\"");
    let fields: Vec<String> = fields
        .map(|(key, value)| format!("{}:{}", String::from_utf8_lossy(key), String::from_utf8_lossy(value)))
        .collect();
    Piece::new(format!("{{{}}}", fields.join(",")))
}

fn lifetime(block: &[u8]) -> Option<Ttl> {
    ttl(member(block, "cache_control")?)
}
