//! What happens to an agent's prompts unseen by the agent: its client sends a part of them in another form.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::diagnosis::Subject;
use crate::service::FRAME_TOKENS;
use crate::wire::{Draft, Level, Message, Piece, Place};

/// The changes in the prompts of each agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    of: BTreeMap<Rc<str>, Vec<Change>>,
    made: u64,
}

/// What a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// The content: from here on, nothing is the prompt that was sent before.
    Content,
    /// The breakpoint of this message is here, not at its end.
    Breakpoint,
}

/// A change in a prompt. Its place counts the pieces of earlier changes.
#[derive(Clone, Debug)]
struct Change {
    what: Changed,
    place: Place,
    /// Pieces before the one at its place.
    before: Vec<Piece>,
    /// Tokens that remain to the piece at its place, if its beginning is unchanged.
    rest_tokens: Option<u64>,
    /// The part of the last draft that it changed, and the result.
    latest: Option<Latest>,
}

/// The part of a draft that a change is in, before and after it. It only saves work.
#[derive(Clone, Debug)]
enum Latest {
    System { old: Rc<[Piece]>, new: Rc<[Piece]> },
    Message { old: Rc<Message>, new: Rc<Message> },
}

impl Changes {
    /// `draft` as the client of `agent` sends it.
    pub fn apply<'d>(&mut self, agent: &str, draft: &'d Draft) -> Cow<'d, Draft> {
        let Some(changes) = self.of.get_mut(agent).filter(|changes| !changes.is_empty()) else {
            return Cow::Borrowed(draft);
        };
        let mut draft = draft.clone();
        changes.retain_mut(|change| change.apply(&mut draft));
        Cow::Owned(draft)
    }

    /// From now on the prompt is changed after `tokens`; `sent` is `draft` as it would be sent without this change.
    pub fn add(&mut self, agent: &Rc<str>, draft: &Draft, sent: &Subject, tokens: u64, what: Changed) {
        self.made += 1;
        if let Some(change) = Change::after(draft, sent, tokens, what, self.made) {
            self.of.entry(agent.clone()).or_default().push(change);
        }
    }

    /// From now on the prompt has `dropped` tokens fewer: the pieces of messages after `after` tokens lose them, the first ones
    /// first.
    pub fn shrink(&mut self, agent: &Rc<str>, draft: &Draft, sent: &Subject, after: u64, dropped: u64) {
        self.made += 1;
        let changes = self.of.entry(agent.clone()).or_default();
        let mut left = dropped;
        let mut first = None;
        let places = sent.request.places.iter().enumerate();
        for (at, place) in places.skip(sent.blocks_within(after.saturating_add(FRAME_TOKENS))) {
            let is_piece = place.level == Level::Messages && draft.piece(*place).is_some();
            let tokens = if is_piece { sent.tokens(at) } else { 0 };
            let gone = left.min(tokens);
            if gone == 0 {
                continue;
            }
            left -= gone;
            // A mark before the first one: nothing after it is what was sent before.
            let is_first = first.is_none();
            let item = *first.get_or_insert(place.item);
            let mark = is_first.then(|| Piece::text(&format!("(Dropped: {}.)", self.made)).sized(0));
            let moved = u32::from(!is_first && item == place.item);
            let place = Place { part: place.part + moved, ..*place };
            let (what, before, rest_tokens) = (Changed::Content, mark.into_iter().collect(), Some(tokens - gone));
            changes.push(Change { what, place, before, rest_tokens, latest: None });
        }
    }

    /// `agent` begins with the prompts of `parent`.
    pub fn fork(&mut self, agent: &Rc<str>, parent: &str) {
        if let Some(changes) = self.of.get(parent).cloned() {
            self.of.insert(agent.clone(), changes);
        }
    }
}

impl Change {
    /// The change number `number`; `None` if the prompt ends within `tokens`. A text is divided; any other block belongs
    /// to the part that changes.
    fn after(draft: &Draft, sent: &Subject, tokens: u64, what: Changed, number: u64) -> Option<Self> {
        let first = sent.blocks_within(tokens.saturating_add(FRAME_TOKENS));
        let places = sent.request.places.iter().enumerate().skip(first);
        let (at, place) =
            places.into_iter().find(|(_, place)| place.level != Level::Tools && draft.piece(**place).is_some())?;
        let begins = at.checked_sub(1).and_then(|before| sent.cumulative.get(before)).map_or(0, |tokens| *tokens);
        let kept = tokens.saturating_sub(begins);
        let is_text = draft.piece(*place).is_some_and(|piece| piece.json().starts_with("{\"type\":\"text\","));
        let mut before = match what {
            Changed::Content => vec![Piece::text(&format!("(Changed: {number}.)")).sized(0)],
            Changed::Breakpoint => Vec::new(),
        };
        let divides = is_text && kept > FRAME_TOKENS;
        let is_in_newest = place.level == Level::Messages && place.item as usize + 1 == draft.messages.len();
        if what == Changed::Breakpoint && !(divides && is_in_newest) {
            return None;
        }
        if divides {
            before.insert(0, Piece::text(&format!("(The first {kept} tokens of the next text.)")).sized(kept));
        }
        let rest_tokens = divides.then(|| sent.tokens(at).saturating_sub(kept));
        Some(Self { what, place: *place, before, rest_tokens, latest: None })
    }

    /// Changes `draft`; returns whether its place still exists.
    fn apply(&mut self, draft: &mut Draft) -> bool {
        let Place { level, item, part, .. } = self.place;
        let (item, part) = (item as usize, part as usize);
        let exists = match level {
            Level::System => self.apply_to_system(draft, item),
            Level::Messages => self.apply_to_message(draft, item, part),
            Level::Tools => false,
        };
        if exists {
            self.move_marks(draft, level, item, part);
        }
        exists
    }

    fn apply_to_system(&mut self, draft: &mut Draft, item: usize) -> bool {
        if draft.system.len() <= item {
            return false;
        }
        let known = match &self.latest {
            Some(Latest::System { old, new }) if Rc::ptr_eq(old, &draft.system) => Some(new.clone()),
            _ => None,
        };
        let new = known.unwrap_or_else(|| self.changed(draft.system.iter(), item).collect());
        let old = std::mem::replace(&mut draft.system, new.clone());
        self.latest = Some(Latest::System { old, new });
        true
    }

    fn apply_to_message(&mut self, draft: &mut Draft, item: usize, part: usize) -> bool {
        let Some(message) = draft.messages.get_mut(item).filter(|message| part < message.content.len()) else {
            return false;
        };
        let known = match &self.latest {
            Some(Latest::Message { old, new }) if Rc::ptr_eq(old, message) => Some(new.clone()),
            _ => None,
        };
        let new = known.unwrap_or_else(|| {
            let content = self.changed(message.content.iter(), part).collect();
            Rc::new(Message { role: message.role, content })
        });
        let old = std::mem::replace(message, new.clone());
        self.latest = Some(Latest::Message { old, new });
        true
    }

    /// `pieces` with the change before the one at `at`.
    fn changed<'p>(
        &'p self,
        pieces: impl Iterator<Item = &'p Piece> + 'p,
        at: usize,
    ) -> impl Iterator<Item = Piece> + 'p {
        pieces.enumerate().flat_map(move |(number, piece)| {
            let is_changed = number == at;
            let before: &[Piece] = if is_changed { &self.before } else { &[] };
            let piece = match self.rest_tokens.filter(|_| is_changed) {
                Some(tokens) => piece.clone().sized(tokens),
                None => piece.clone(),
            };
            before.iter().cloned().chain([piece])
        })
    }

    fn move_marks(&self, draft: &mut Draft, level: Level, item: usize, part: usize) {
        let more = self.before.len();
        for mark in draft.marks.iter_mut().filter(|mark| mark.level == level) {
            match level {
                Level::Messages if mark.item == item && mark.part >= part => match self.what {
                    Changed::Content => mark.part += more,
                    Changed::Breakpoint => mark.part = part,
                },
                Level::System if mark.item >= item => mark.item += more,
                _ => {}
            }
        }
    }
}
