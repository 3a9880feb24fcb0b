//! A request that an agent is about to send: pieces and breakpoints, no bytes yet.
//!
//! Taking a draft into the arena costs one step for each piece and never reads the bytes of earlier pieces.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::block::{BlockId, Content};
use super::draft_parts::DraftParts;
use super::head::{Head, model_key};
use super::intake::Wire;
use super::level::{Level, Place, Role};
use super::marker::Ttl;
use super::normal::NormalForms;
use super::number::number;
use super::order::{self, Placed};
use super::parameters;
use super::part::{Part, PartPlace};
use super::piece::{Canonical, Piece};
use super::pieces::Pieces;
use super::request::Request;

/// A message of a draft.
#[derive(Clone, Debug)]
pub struct Message {
    /// Role.
    pub role: Role,
    /// Content, block by block.
    pub content: Pieces,
}

/// A requested breakpoint. A mark without a block is ignored; of two marks on one block the last counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Level of the block.
    pub level: Level,
    /// Index in `tools`, `system` or `messages`.
    pub item: usize,
    /// Index in the message's content; zero elsewhere.
    pub part: usize,
    /// Lifetime asked for.
    pub ttl: Ttl,
}

/// A request about to be sent.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The model as spelled.
    pub model: Rc<str>,
    /// Tool definitions.
    pub tools: Rc<[Piece]>,
    /// System blocks.
    pub system: Rc<[Piece]>,
    /// The conversation.
    pub messages: Vec<Rc<Message>>,
    /// All other top-level keys with their values as JSON text, in the order in which they are sent. Keys with a field
    /// of their own in the draft are ignored; of duplicate keys the last counts.
    pub parameters: Rc<[(String, String)]>,
    /// Breakpoints.
    pub marks: Vec<Mark>,
}

impl Draft {
    /// The piece at `place`, if there is one.
    pub fn piece(&self, place: Place) -> Option<&Piece> {
        let item = place.item as usize;
        let part = place.part as usize;
        match place.level {
            _ if place.keys => None,
            Level::Tools => self.tools.get(item),
            Level::System => self.system.get(item),
            Level::Messages => self.messages.get(item)?.content.get(part),
        }
    }

    /// The lifetime that the block at this place is marked with.
    pub(super) fn marked(&self, level: Level, item: usize, part: usize) -> Option<Ttl> {
        let here = |mark: &&Mark| (mark.level, mark.item, mark.part) == (level, item, part);
        self.marks.iter().rev().find(here).map(|mark| mark.ttl)
    }

    /// The parameters that are sent.
    pub(super) fn sent_parameters(&self) -> impl Iterator<Item = &(String, String)> {
        let own = |key: &str| ["model", "messages", "system", "tools"].contains(&key);
        self.parameters.iter().filter(move |(key, _)| !own(key))
    }

    /// A digest that distinguishes prompts as caches do: two drafts have equal digests exactly if they are one prompt
    /// of one model under the default normal forms. Breakpoints, and keys outside the identity (`max_tokens`,
    /// `metadata`, `stream`), change nothing. [`Wire::digest`] returns the same for a body that was read.
    pub fn digest(&self) -> blake3::Hash {
        let forms = NormalForms::default();
        let head = self.head();
        let mut canonicals: Vec<Canonical> = Vec::new();
        let placement = DraftParts::of(self, head.sorts_results(&forms), &mut |piece: &Piece, level, role| {
            let canonical = piece.canonical(level, role);
            let block = BlockId(number(canonicals.len()));
            let part = Part { block, ..canonical.part };
            canonicals.push(canonical);
            part
        });
        let mut placed = placement.marked(&[]);
        if let Some(turns) = head.thinking_turns_kept(&forms) {
            order::strip_thinking(&mut placed, turns);
        }
        let of = |block: BlockId| &canonicals[block.0 as usize];
        let facts = order::facts(&placed, |block| {
            let bytes = of(block).system_tool.as_deref();
            debug_assert!(bytes.is_some(), "a tool at the head of the system keeps its bytes");
            bytes.unwrap_or_default().to_vec()
        });
        let mut digest = PromptDigest::new(head.model_key());
        for level in Level::ALL {
            if let Some(bytes) = parameters::canonical(level, &head.envelope, &facts, &forms) {
                digest.block(Content::parameters(level, &bytes).digest());
            }
            let blocks = placed.iter().filter(|placed| placed.place.level == level);
            for Placed { part, .. } in blocks.filter(|placed| placed.part.place == PartPlace::Prompt) {
                digest.block(of(part.block).digest);
            }
        }
        digest.0.finalize()
    }

    /// Everything in the draft besides its prompt.
    pub(super) fn head(&self) -> Head {
        let mut model = Vec::with_capacity(self.model.len() + 2);
        super::json::push_string(&self.model, &mut model);
        // As in a body: of duplicate keys the last one stays, at its position.
        let mut last = BTreeMap::new();
        last.extend(self.sent_parameters().enumerate().map(|(at, (key, _))| (key, at)));
        let sent = self.sent_parameters().enumerate().filter(|(at, (key, _))| last.get(key) == Some(at));
        let sent = sent.map(|(_, (key, value))| (key.as_str(), value.as_bytes()));
        Head::new([("model", model.as_slice())].into_iter().chain(sent), "")
    }
}

impl Wire {
    /// Takes a draft sent in `scope`: returns the request that reading its body would give, without making the body.
    /// Costs one step for each piece; [`Wire::take_after`] skips the pieces shared with the chain's last draft.
    pub fn take(&mut self, draft: &Draft, scope: &str) -> Request {
        let head = draft.head();
        let sorted = head.sorts_results(self.forms());
        let placement = DraftParts::of(draft, sorted, &mut |piece: &_, level, role| self.part(piece, level, role));
        self.request(head, placement.marked(&draft.marks), scope, None)
    }

    /// The digest of a request's prompt and model. Under the default normal forms it equals the digest of a draft of
    /// the same prompt ([`Draft::digest`]). Costs a pass over all its bytes.
    pub fn digest(&self, request: &Request) -> blake3::Hash {
        let mut digest = PromptDigest::new(model_key(&request.model, request.resolved));
        for block in request.nodes.iter().filter_map(|node| self.prefixes.block(*node)) {
            digest.block(self.blocks.digest(block));
        }
        digest.0.finalize()
    }
}

struct PromptDigest(blake3::Hasher);

impl PromptDigest {
    fn new(model: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        // The length separates the model's name from the blocks after it.
        hasher.update(&(model.len() as u64).to_le_bytes()).update(model.as_bytes());
        Self(hasher)
    }

    fn block(&mut self, block: blake3::Hash) {
        self.0.update(block.as_bytes());
    }
}
