//! How much two prompts have in common if no id connects them.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::xxh3_64;

use super::lanes::messages;
use crate::diagnosis::{CommonEnds, first_difference, recognise, sentences, tool_name};
use crate::wire::{BlockId, BlockKind, Index, Level, NodeId, Place, Request, Role, SharedEnds, Wire};

/// The content of a request's messages, block by block. System text that clients insert (environment, skills) is no
/// history, because all agents of one kind have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct History {
    blocks: Vec<BlockId>,
    /// Number of messages with these blocks.
    pub messages: usize,
}

/// The common part of two histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    /// Blocks, aligned from both ends.
    pub blocks: usize,
    /// It includes the last block of the older history.
    pub holds_last: bool,
    /// It is more than half of the shorter history.
    pub most: bool,
}

impl History {
    /// The history of a request.
    pub fn of(wire: &Wire, request: &Request) -> Self {
        let mut history = Self { blocks: Vec::with_capacity(request.nodes.len()), messages: 0 };
        let mut last = None;
        for (item, block) in said(wire, request).filter(|(_, block)| wire.blocks.role(*block) != Role::System) {
            history.blocks.push(block);
            history.messages += usize::from(last.replace(item) != Some(item));
        }
        history
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The part that `newer` shares with it.
    pub fn shared(&self, newer: &Self) -> Shared {
        let ends = SharedEnds::of(&self.blocks, &newer.blocks);
        let blocks = ends.len();
        let holds_last = blocks > 0 && (ends.start == self.len() || ends.end > 0);
        Shared { blocks, holds_last, most: blocks * 2 > self.len().min(newer.len()) }
    }

    /// The same for a history that may have been edited anywhere: any block that both have counts.
    pub fn in_common(&self, newer: &Self) -> Shared {
        let known: BTreeSet<BlockId> = self.blocks.iter().copied().collect();
        let blocks = newer.blocks.iter().filter(|block| known.contains(block)).count();
        let holds_last = self.blocks.last().is_some_and(|last| newer.blocks.contains(last));
        Shared { blocks, holds_last, most: blocks * 2 > self.len().min(newer.len()) }
    }
}

/// The blocks of a request's messages, each with the number of its message, without the keys of level and messages.
/// Thinking is not said: some models drop it in the next turn, and a client may cut its text.
pub(super) fn said<'a>(wire: &'a Wire, request: &'a Request) -> impl Iterator<Item = (u32, BlockId)> + 'a {
    let from = request.level_start(Level::Messages);
    let blocks = request.nodes[from..].iter().zip(&request.places[from..]).filter(|(_, place)| !place.keys);
    let blocks = blocks.filter_map(|(node, place)| Some((place.item, wire.prefixes.block(*node)?)));
    blocks.filter(|(_, block)| wire.blocks.kind(*block) != BlockKind::Thinking)
}

/// Least share of bytes, in percent, that the tools of two agents of one kind have in common: an added, removed or
/// changed tool leaves most of the others.
const TOOLS_PERCENT_MIN: u64 = 50;

/// The same for their system prompts. Different kinds of agents share notes on their environment, hence the high value.
const SYSTEM_PERCENT_MIN: u64 = 90;

/// Whether two requests have the tools and the system prompt of one kind of agent, allowing for a change.
pub(super) fn resembles(wire: &Wire, older: &Request, newer: &Request) -> bool {
    percent(wire, older, newer, Level::Tools) >= TOOLS_PERCENT_MIN
        && percent(wire, older, newer, Level::System) >= SYSTEM_PERCENT_MIN
}

/// Whether a request belongs to another kind of agent, whatever its messages: it follows another provider's rules, tools
/// and system prompt both differ, or one of them and the model. A request without an answer has nothing of a chain but a
/// beginning that many agents share, so one of them is enough there, and so are the model, the parameters, the number of
/// tools, and other words in tools or system prompt than those that vary from request to request. It is unknown
/// how alike blocks are if only their ids or digests are known.
pub(super) fn is_of_another_kind(wire: &Wire, older: &Request, newer: &Request) -> bool {
    if older.nodes.first() == newer.nodes.first() && is_same_head(older, newer) {
        return false;
    }
    if older.maker != newer.maker {
        return true;
    }
    let is_unreadable = |block: BlockId| wire.blocks.is_outline(block) || wire.blocks.kind(block) == BlockKind::Opaque;
    let head = |request| [Level::Tools, Level::System].map(|level| level_blocks(wire, request, level)).concat();
    if [older, newer].into_iter().flat_map(head).any(is_unreadable) {
        return false;
    }
    let are_tools_alike = percent(wire, older, newer, Level::Tools) >= TOOLS_PERCENT_MIN;
    let is_system_alike = percent(wire, older, newer, Level::System) >= SYSTEM_PERCENT_MIN;
    match (are_tools_alike, is_system_alike) {
        (true, true) => {
            let is_same = || has_same_settings(wire, older, newer) && varies_in_its_head(wire, older, newer);
            !is_answered(wire, newer) && !is_same()
        }
        (false, false) => true,
        _ => older.model != newer.model || !is_answered(wire, newer),
    }
}

/// Whether two requests have the same model, the same parameters and as many tools.
fn has_same_settings(wire: &Wire, older: &Request, newer: &Request) -> bool {
    let settings = |request: &Request| -> Vec<BlockId> {
        let heads = request.nodes.iter().zip(&request.places).filter(|(_, place)| place.item == Place::LEVEL_HEAD);
        heads.filter_map(|(node, _)| wire.prefixes.block(*node)).collect()
    };
    let tools = |request| level_blocks(wire, request, Level::Tools).len();
    older.model == newer.model && tools(older) == tools(newer) && settings(older) == settings(newer)
}

/// Whether a request has an answer of a model.
pub(super) fn is_answered(wire: &Wire, request: &Request) -> bool {
    answers(wire, request).next().is_some()
}

/// The blocks that a model wrote.
fn answers<'a>(wire: &'a Wire, request: &'a Request) -> impl Iterator<Item = BlockId> + 'a {
    said(wire, request).map(|(_, block)| block).filter(|block| wire.blocks.role(*block) == Role::Assistant)
}

/// Whether `newer` is another conversation with the same beginning: it is no longer than `older`, and a model wrote all
/// of its answers differently. A client that changes a history sends the rest of it, and the next answer.
pub(super) fn is_answered_otherwise(wire: &Wire, older: &Request, newer: &Request) -> bool {
    let known: Vec<BlockId> = answers(wire, older).collect();
    let mut own = answers(wire, newer).peekable();
    messages(newer) <= messages(older)
        && !known.is_empty()
        && own.peek().is_some()
        && own.all(|block| !known.contains(&block))
}

/// Bytes of answers that two agents have neither by chance nor because a test plays the same short ones.
const ANSWERED_BYTES_MIN: u64 = 500;

/// Whether `newer` has all that a model answered in `older`, and is sent to the same model: a fork with other tools and another
/// system prompt, which has to pay for all of its history.
pub(super) fn is_retold(wire: &Wire, older: &Request, newer: &Request) -> bool {
    let [known, own] = [older, newer].map(|request| answers(wire, request).collect::<BTreeSet<BlockId>>());
    older.model == newer.model
        && known.is_subset(&own)
        && known.iter().map(|block| wire.blocks.len_bytes(*block)).sum::<u64>() >= ANSWERED_BYTES_MIN
}

/// How certain tools and system prompt alone are that a later request belongs to a known agent; in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// One of the two is equal, or both changed a little: another kind of agent may have that too.
    Partial,
    /// One of the two is equal, and the other changed a little.
    Alike,
    /// Both are equal, and so are model and parameters.
    Same,
}

/// Similarity of the tools and system prompts of two requests; `None` if one has neither, or for different kinds.
pub(super) fn likeness(wire: &Wire, older: &Request, newer: &Request) -> Option<Likeness> {
    if is_same_head(older, newer) {
        return Some(Likeness::Same);
    }
    let levels = [Level::Tools, Level::System].map(|level| level_blocks(wire, newer, level));
    let [tools, system] = &levels;
    let same = |level, blocks: &[BlockId]| !blocks.is_empty() && blocks == level_blocks(wire, older, level);
    let one_is_same = same(Level::Tools, tools) || same(Level::System, system);
    match (one_is_same, levels.iter().any(|blocks| !blocks.is_empty()) && resembles(wire, older, newer)) {
        (true, true) => Some(Likeness::Alike),
        (true, false) | (false, true) => Some(Likeness::Partial),
        (false, false) => None,
    }
}

/// Whether two requests have exactly the same tools and system prompt, model and parameters, and do have some.
pub(super) fn is_same_head(older: &Request, newer: &Request) -> bool {
    head(newer).is_some() && is_equal_head(older, newer)
}

/// Whether they have the same, or both have none.
pub(super) fn is_equal_head(older: &Request, newer: &Request) -> bool {
    older.root == newer.root && head(older) == head(newer)
}

fn head(request: &Request) -> Option<NodeId> {
    request.level_start(Level::Messages).checked_sub(1).map(|last| request.nodes[last])
}

/// Whether two first requests belong to agents of one kind, whose tools and system prompts are mostly equal. If the
/// system prompts differ, there may be two kinds with similar prompts or one kind with a changed prompt: it is one kind
/// if it `is_known` that two earlier requests with these tools were related, or if all that differs is volatile content
/// or an order.
pub(super) fn is_of_kind(wire: &Wire, older: &Request, newer: &Request, is_known: bool) -> bool {
    let same = |level| level_blocks(wire, older, level) == level_blocks(wire, newer, level);
    if !resembles(wire, older, newer) {
        return false;
    }
    same(Level::System) || (is_known && same(Level::Tools)) || varies_in_its_head(wire, older, newer)
}

/// Least share, in percent, that two agents of one kind with another user, task or row in their prompts have in common: of the
/// bytes of their system prompts, and of the names of their tools.
const KIND_PERCENT_MIN: usize = 80;

/// Least bytes of sentences that two single prompts with another text before their instructions have in common: some 1,024 tokens,
/// the least that many models cache.
const INSTRUCTIONS_BYTES_MIN: usize = 4_000;

/// Whether two requests have mostly the same tools by name, and mostly the same sentences in their system prompts, of which some
/// cannot be read because of what differs.
pub(super) fn resembles_closely(wire: &Wire, older: &Request, newer: &Request) -> bool {
    let [old, new] = [older, newer].map(|request| level_blocks(wire, request, Level::System));
    have_similar_tools(wire, older, newer) && Sentences::of(wire, &old, &new).percent() >= KIND_PERCENT_MIN && {
        let do_tools_differ = percent(wire, older, newer, Level::Tools) < 100;
        do_tools_differ || common_behind(wire, newer, &old, &new) >= BEHIND_BYTES_MIN
    }
}

/// Bytes of common sentences behind the first difference that are worth a note.
const BEHIND_BYTES_MIN: usize = 1_000;

/// Bytes of sentences that two texts have in common and that cannot be read because of what differs before. Where blocks are cached
/// as a whole, the beginning of the first one that differs is not read either.
fn common_behind(wire: &Wire, newer: &Request, old: &[BlockId], new: &[BlockId]) -> usize {
    let equal = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let both = Sentences::of(wire, &old[equal..], &new[equal..]);
    both.common - if newer.has_modelled_cache() { 0 } else { both.beginning }
}

/// Whether two requests of a single message at most have the same instructions behind other text, so that one cannot read what
/// the other wrote (BasedHardware/omi#4670, 2026).
pub(super) fn hides_its_instructions(wire: &Wire, older: &Request, newer: &Request) -> bool {
    is_single(wire, older) && is_single(wire, newer) && have_similar_tools(wire, older, newer) && {
        let [old, new] = [older, newer].map(|request| prompt(wire, request));
        common_behind(wire, newer, &old, &new) >= INSTRUCTIONS_BYTES_MIN
    }
}

/// The system prompt and the messages.
fn prompt(wire: &Wire, request: &Request) -> Vec<BlockId> {
    [Level::System, Level::Messages].map(|level| level_blocks(wire, request, level)).concat()
}

/// Whether a request has one message at most besides those of the system.
fn is_single(wire: &Wire, request: &Request) -> bool {
    let spoken = said(wire, request).filter(|(_, block)| wire.blocks.role(*block) != Role::System);
    let mut messages = spoken.map(|(item, _)| item);
    let first = messages.next();
    messages.all(|item| Some(item) == first)
}

/// The sentences of the first single prompt of each family, so that another prompt is compared with one family only. Prompts that
/// joined a family by their head add none.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownSentences {
    families: Index<u64, usize>,
    len: usize,
}

/// Most sentences kept.
const SENTENCES_MAX: usize = 1 << 16;

/// Shorter ones are common.
const SENTENCE_BYTES_MIN: usize = 16;

impl KnownSentences {
    /// The family with most of the sentences of a single prompt, if these are enough to be compared.
    pub fn most_alike(&self, wire: &Wire, request: &Request) -> Option<usize> {
        if self.len == 0 || !is_single(wire, request) {
            return None;
        }
        let mut bytes: BTreeMap<usize, usize> = BTreeMap::new();
        for block in prompt(wire, request) {
            for sentence in long_sentences(wire.blocks.bytes(block)) {
                if let Some(family) = self.families.get(&xxh3_64(sentence)) {
                    *bytes.entry(*family).or_default() += sentence.len();
                }
            }
        }
        let (family, bytes) = bytes.into_iter().max_by_key(|(_, bytes)| *bytes)?;
        (bytes >= INSTRUCTIONS_BYTES_MIN / 2).then_some(family)
    }

    /// Remembers the sentences of the first single prompt of a family.
    pub fn learn(&mut self, wire: &Wire, request: &Request, family: usize) {
        if !is_single(wire, request) {
            return;
        }
        if self.len > SENTENCES_MAX {
            *self = Self::default();
        }
        for block in prompt(wire, request) {
            for sentence in long_sentences(wire.blocks.bytes(block)) {
                *self.families.get_or_insert_with(xxh3_64(sentence), || family) = family;
                self.len += 1;
            }
        }
    }
}

fn long_sentences(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    sentences(text).filter(|sentence| sentence.len() >= SENTENCE_BYTES_MIN)
}

/// Whether most tools of two requests have the same names.
fn have_similar_tools(wire: &Wire, older: &Request, newer: &Request) -> bool {
    let [old, new] = [older, newer].map(|request| tool_names(wire, request));
    old.intersection(&new).count() * 100 >= old.len().max(new.len()) * KIND_PERCENT_MIN
}

fn tool_names(wire: &Wire, request: &Request) -> BTreeSet<String> {
    level_blocks(wire, request, Level::Tools).into_iter().filter_map(|tool| tool_name(&wire.blocks, tool)).collect()
}

/// Least share of the sentences of two system prompts, in percent, that one agent keeps if all its tools are replaced.
const REPLACED_PERCENT_MIN: usize = 50;

/// Whether `newer` is another agent, to which that of `older` may have handed its history over: tools and system prompt of each
/// are its own. One that has no tools any more asks about the history of the same agent, unless it is another model's.
pub(super) fn is_another_agent(wire: &Wire, older: &Request, newer: &Request) -> bool {
    let [old, new] = [older, newer].map(|request| level_blocks(wire, request, Level::System));
    if old == new || old.is_empty() || new.is_empty() {
        return false;
    }
    let [old_names, new_names] = [older, newer].map(|request| tool_names(wire, request));
    let is_without = |request: &Request| level_blocks(wire, request, Level::Tools).is_empty();
    let are_others = match (is_without(older), is_without(newer)) {
        (false, false) => !old_names.is_empty() && !new_names.is_empty() && old_names.is_disjoint(&new_names),
        (true, true) => false,
        _ => older.model != newer.model,
    };
    are_others && Sentences::of(wire, &old, &new).percent() < REPLACED_PERCENT_MIN
}

/// Bytes of a block's canonical form that all blocks of its kind share: keys, braces, the type.
pub(super) const FRAME_BYTES: u64 = 26;

/// Bytes with which the blocks of two lists begin and end alike.
fn common_ends(wire: &Wire, old: &[BlockId], new: &[BlockId]) -> u64 {
    let both = old.iter().zip(new);
    both.map(|(old, new)| CommonEnds::of(wire.blocks.bytes(*old), wire.blocks.bytes(*new)).len() as u64).sum()
}

/// How many bytes of their sentences two prompts have in common.
struct Sentences {
    common: usize,
    /// How many of these at their beginning.
    beginning: usize,
    /// All bytes of the longer one.
    all: usize,
}

impl Sentences {
    fn of(wire: &Wire, old: &[BlockId], new: &[BlockId]) -> Self {
        let text = |blocks: &[BlockId]| {
            let blocks: Vec<&[u8]> = blocks.iter().map(|block| wire.blocks.bytes(*block)).collect();
            blocks.into_iter().flat_map(sentences)
        };
        let bytes = |blocks| text(blocks).map(<[u8]>::len).sum::<usize>();
        let known: BTreeSet<&[u8]> = text(old).collect();
        let common = text(new).filter(|sentence| known.contains(sentence)).map(<[u8]>::len).sum();
        let beginning = text(old).zip(text(new)).take_while(|(old, new)| old == new).map(|(_, new)| new.len()).sum();
        Self { common, beginning, all: bytes(old).max(bytes(new)) }
    }

    /// The common share; all of it if there is no text.
    fn percent(&self) -> usize {
        (self.common * 100).checked_div(self.all).unwrap_or(100)
    }
}

/// Whether tools and system prompt have the same blocks in any order, or as many blocks, and all that differs is volatile
/// content.
fn varies_in_its_head(wire: &Wire, older: &Request, newer: &Request) -> bool {
    let is_volatile = |(old, new): (&BlockId, &BlockId)| {
        let (old, new) = (wire.blocks.bytes(*old), wire.blocks.bytes(*new));
        recognise(old, new, first_difference(old, new)).is_some()
    };
    [Level::Tools, Level::System].into_iter().all(|level| {
        let [mut old, mut new] = [older, newer].map(|request| level_blocks(wire, request, level));
        let mut both = old.iter().zip(&new).filter(|(old, new)| old != new);
        old.len() == new.len()
            && (both.all(is_volatile) || {
                old.sort_unstable();
                new.sort_unstable();
                old == new
            })
    })
}

/// Share of the bytes of a level that two requests have in common; all of it if neither has any.
fn percent(wire: &Wire, older: &Request, newer: &Request, level: Level) -> u64 {
    let (mut old, mut new) = (level_blocks(wire, older, level), level_blocks(wire, newer, level));
    let len = |block: &BlockId| wire.blocks.len_bytes(*block);
    let whole = old.iter().map(len).sum::<u64>().max(new.iter().map(len).sum());
    let mut alike = 0;
    old.retain(|block| match new.iter().position(|known| known == block) {
        Some(at) => {
            alike += len(&new.remove(at));
            false
        }
        None => true,
    });
    alike += common_ends(wire, &old, &new);
    (alike * 100).checked_div(whole).unwrap_or(100)
}

fn level_blocks(wire: &Wire, request: &Request, level: Level) -> Vec<BlockId> {
    let here = request.nodes.iter().zip(&request.places).filter(|(_, place)| place.level == level && !place.keys);
    here.filter_map(|(node, _)| wire.prefixes.block(*node)).collect()
}
