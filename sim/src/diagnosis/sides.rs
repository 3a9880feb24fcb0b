//! Two prompts side by side, as seen by the rules that name a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::align::{Alignment, Gap, is_message_start};
use super::classify;
use super::pairing::{self, Pair};
use super::sign::{BlockSign, CITES, IMAGE};
use crate::outside::quoted;
use crate::wire::model::Platform;
use crate::wire::{BlockId, BlockKind, ExcludedWhy, Level, MESSAGE_START, Place, Request, Role, Wire, json};

/// The blocks of both prompts.
pub(super) struct Sides<'a> {
    pub(super) wire: &'a Wire,
    pub(super) older: &'a Request,
    pub(super) newer: &'a Request,
    pub(super) old: Vec<BlockId>,
    pub(super) new: Vec<BlockId>,
    /// Blocks that are in both prompts, and in each of them at a place without a partner.
    moved: BTreeSet<BlockId>,
    /// Tools that moved and changed: the index of each in the older prompt and in the newer one.
    moved_tools: Vec<(usize, usize)>,
}

impl<'a> Sides<'a> {
    pub(super) fn new(wire: &'a Wire, [older, newer]: [&'a Request; 2], [old, new]: [Vec<BlockId>; 2]) -> Self {
        Self { wire, older, newer, old, new, moved: BTreeSet::new(), moved_tools: Vec::new() }
    }

    /// Finds the moved blocks.
    pub(super) fn note_moves(&mut self, alignment: &Alignment) {
        let last = alignment.gaps.last().filter(|gap| gap.old.end == self.old.len());
        let appended_from = last.map_or(self.new.len(), |gap| gap.new.end.min(gap.new.start + gap.old.len()));
        let appended = appended_from..self.new.len();
        let came = alignment.gaps.iter().flat_map(|gap| gap.new.clone());
        let within = came.filter(|at| *at < appended.start).map(|at| self.new[at]).collect();
        let gone = alignment.gaps.iter().flat_map(|gap| gap.old.clone()).map(|at| self.old[at]).collect();
        let behind = self.not_said_anew(appended, &gone);
        let moved = alignment.gaps.iter().flat_map(|gap| self.moved_from(gap, &within, &behind));
        self.moved = moved.collect();
        self.moved_tools = self.tools_moved_and_changed(alignment);
    }

    /// Those of the blocks `gone` that are repeated after the older history and may have moved there: the older history
    /// has no second one like them, and they are not all that the newest turn says.
    fn not_said_anew(&self, appended: Range<usize>, gone: &BTreeSet<BlockId>) -> BTreeSet<BlockId> {
        let blocks = &self.wire.blocks;
        let appended: Vec<usize> = appended.filter(|at| !self.says_start(self.new[*at])).collect();
        let item = |at: usize| self.newer.places[at].item;
        let role = |at: usize| blocks.role(self.new[at]);
        let other = |at: usize, who: Role| appended.iter().any(|other| role(*other) == who && item(*other) != item(at));
        let alone = |at: usize| appended.iter().all(|other| *other == at || item(*other) != item(at));
        let is_turns_own = |at: usize| match role(at) {
            Role::Assistant => !other(at, Role::Assistant),
            Role::User => alone(at) && !other(at, Role::User) && other(at, Role::Assistant),
            _ => false,
        };
        let repeats = |at: usize| self.old.iter().filter(|block| **block == self.new[at]).nth(1).is_some();
        let again = appended.iter().copied().filter(|at| gone.contains(&self.new[*at]));
        again.filter(|at| !is_turns_own(*at) && !repeats(*at)).map(|at| self.new[at]).collect()
    }

    /// Tools of one name in two stretches, with an unchanged tool between them.
    fn tools_moved_and_changed(&self, alignment: &Alignment) -> Vec<(usize, usize)> {
        let tools = |side: &[BlockId], range: Range<usize>| -> Vec<(usize, String)> {
            let is_tool = |at: &usize| self.wire.blocks.kind(side[*at]) == BlockKind::Tool;
            let name = |at: usize| Some((at, pairing::tool_name(&self.wire.blocks, side[at])?));
            range.filter(is_tool).filter(|at| !self.has_moved(side[*at])).filter_map(name).collect()
        };
        let gaps = alignment.gaps.iter();
        let both = gaps.map(|gap| (tools(&self.old, gap.old.clone()), tools(&self.new, gap.new.clone())));
        let (mut went, mut came) = (BTreeMap::new(), Vec::new());
        for (old, new) in both {
            let is_here = |name: &String, there: &[(usize, String)]| there.iter().any(|(_, known)| known == name);
            for (at, name) in old.iter().filter(|(_, name)| !is_here(name, &new)) {
                went.entry(name.clone()).or_insert(*at);
            }
            came.extend(new.into_iter().filter(|(_, name)| !is_here(name, &old)));
        }
        came.into_iter().filter_map(|(new, name)| Some((went.remove(&name)?, new))).collect()
    }

    /// Index in the newer prompt of the older prompt's tool at `old`, if it moved and changed.
    pub(super) fn tool_from(&self, old: usize) -> Option<usize> {
        self.moved_tools.iter().find(|(from, _)| *from == old).map(|(_, to)| *to)
    }

    /// Index in the older prompt of the newer prompt's tool at `new`, if it moved and changed.
    pub(super) fn tool_to(&self, new: usize) -> Option<usize> {
        self.moved_tools.iter().find(|(_, to)| *to == new).map(|(from, _)| *from)
    }

    /// Blocks that moved from this stretch to a place within the older history, or to one after it. A block that is
    /// repeated after the history, but was replaced here or removed together with others, did not move.
    fn moved_from(&self, gap: &Gap, within: &BTreeSet<BlockId>, behind: &BTreeSet<BlockId>) -> Vec<BlockId> {
        let repeats_alone = self.is_replaced(gap) || self.went_with_others(gap, behind);
        let moved = |block: &BlockId| within.contains(block) || !repeats_alone && behind.contains(block);
        gap.old.clone().map(|at| self.old[at]).filter(|block| !self.says_start(*block)).filter(moved).collect()
    }

    /// Each block of the stretch was replaced by another one of its kind.
    fn is_replaced(&self, gap: &Gap) -> bool {
        let blocks = &self.wire.blocks;
        let nature = |block: BlockId| (blocks.level(block), blocks.role(block), blocks.kind(block));
        let content = |side: &[BlockId], range: &Range<usize>| -> Vec<_> {
            side[range.clone()].iter().filter(|block| !self.says_start(**block)).map(|block| nature(*block)).collect()
        };
        let (old, new) = (content(&self.old, &gap.old), content(&self.new, &gap.new));
        !old.is_empty() && new.starts_with(&old)
    }

    /// The stretch holds several messages, and not all of it is repeated.
    fn went_with_others(&self, gap: &Gap, behind: &BTreeSet<BlockId>) -> bool {
        let messages: BTreeSet<(Level, u32)> =
            gap.old.clone().map(|at| self.older.places[at]).map(|place| (place.level, place.item)).collect();
        let is_gone = |block: BlockId| !behind.contains(&block) && !self.says_start(block);
        messages.len() > 1 && gap.old.clone().any(|at| is_gone(self.old[at]))
    }

    /// The block is in both prompts, and in each of them at a place without a partner. A block that merely repeats an
    /// earlier one did not move.
    pub(super) fn has_moved(&self, block: BlockId) -> bool {
        self.moved.contains(&block)
    }

    pub(super) fn model_changed(&self) -> bool {
        let id = |request: &Request| request.resolved.map(|resolved| resolved.id);
        match (id(self.older), id(self.newer)) {
            (Some(old), Some(new)) => old != new,
            _ => self.older.model != self.newer.model,
        }
    }

    /// Thinking that both bodies carry but only one prompt includes: this follows from the models' rules.
    pub(super) fn is_stripped_by_the_model(&self, pair: &Pair) -> bool {
        let (block, other) = match (pair.old, pair.new) {
            (Some(old), None) => (self.old[old], self.newer),
            (None, Some(new)) => (self.new[new], self.older),
            _ => return false,
        };
        let mut left_out = other.excluded.iter().filter(|out| out.why == ExcludedWhy::StrippedThinking);
        self.model_changed() && left_out.any(|out| out.block == block)
    }

    /// The pair is the parameters of a level.
    pub(super) fn is_level_head(&self, pair: &Pair) -> bool {
        let is_head =
            |request: &Request, at: Option<usize>| at.is_some_and(|at| request.places[at].item == Place::LEVEL_HEAD);
        is_head(self.older, pair.old) || is_head(self.newer, pair.new)
    }

    /// The turn of a result has the same results in both prompts, in different order; some spellings send each of them in a
    /// message of its own. At least one of them keeps its place in any order; if none does, the message moved, and the blocks
    /// before its calls say nothing about their order.
    pub(super) fn results_reordered(&self, block: BlockId) -> bool {
        let Some([old, new]) = self.turns_of(block) else { return false };
        let results = |blocks: &[BlockId], turn: Range<usize>| -> Vec<BlockId> {
            let all = turn.map(|at| blocks[at]);
            all.filter(|block| self.wire.blocks.kind(*block) == BlockKind::ToolResult).collect()
        };
        let (old, new) = (results(&self.old, old), results(&self.new, new));
        let set = |list: &[BlockId]| list.iter().copied().collect::<BTreeSet<_>>();
        old != new && set(&old) == set(&new) && !old.iter().all(|result| self.has_moved(*result))
    }

    /// The pair says only that a message begins where one did not, or no longer begins.
    pub(super) fn is_start(&self, pair: &Pair) -> bool {
        let block = match (pair.old, pair.new) {
            (Some(old), None) => self.old[old],
            (None, Some(new)) => self.new[new],
            _ => return false,
        };
        self.says_start(block)
    }

    /// The block says only that a message begins: no text of a body.
    pub(super) fn says_start(&self, block: BlockId) -> bool {
        is_message_start(&self.wire.blocks, block)
    }

    /// Index of the first block from `at` on that does not only say that a message begins.
    pub(super) fn content_from(&self, side: &[BlockId], at: usize) -> usize {
        at + usize::from(side.get(at).is_some_and(|block| self.says_start(*block)))
    }

    /// The blocks between two answers of the model among which `block` is, in each prompt.
    fn turns_of(&self, block: BlockId) -> Option<[Range<usize>; 2]> {
        let turn = |side: &[BlockId]| Some(self.turn(side, side.iter().position(|known| *known == block)?));
        Some([turn(&self.old)?, turn(&self.new)?])
    }

    /// The blocks between two answers of the model among which the one at `at` is.
    fn turn(&self, side: &[BlockId], at: usize) -> Range<usize> {
        let is_models = |block: &BlockId| self.wire.blocks.role(*block) == Role::Assistant;
        let from = side[..at].iter().rposition(is_models).map_or(0, |last| last + 1);
        from..side[at..].iter().position(is_models).map_or(side.len(), |next| at + next)
    }

    /// Results of one turn were sent under each other's ids: each of the two contents belonged, or now belongs, to another
    /// result of the turn.
    pub(super) fn exchanged_contents(&self, old: usize, new: usize) -> bool {
        let content = |block: BlockId| {
            let is_result = self.wire.blocks.kind(block) == BlockKind::ToolResult;
            json::member(self.bytes(Some(block)), b"\"content\"").filter(|_| is_result)
        };
        let is_of_another = |side: &[BlockId], own: usize, said: &[u8]| {
            self.turn(side, own).any(|at| at != own && content(side[at]) == Some(said))
        };
        let both = content(self.old[old]).zip(content(self.new[new])).filter(|(was, is)| was != is);
        both.is_some_and(|(was, is)| is_of_another(&self.old, old, is) && is_of_another(&self.new, new, was))
    }

    /// A result of a turn with the same results that was sent at the same place among them as before: it follows its call,
    /// which moved or was removed.
    pub(super) fn was_sent_in_place(&self, block: BlockId) -> bool {
        let Some([old, new]) = self.turns_of(block) else { return false };
        let rank = |blocks: &[BlockId], request: &Request, turn: Range<usize>| {
            let place = |at: usize| (request.places[at].item, request.places[at].part);
            let own = turn.clone().find(|at| blocks[*at] == block).map(place);
            let is_result = |at: &usize| self.wire.blocks.kind(blocks[*at]) == BlockKind::ToolResult;
            turn.filter(is_result).filter(|at| Some(place(*at)) < own).count()
        };
        rank(&self.old, self.older, old) == rank(&self.new, self.newer, new)
    }

    /// Canonical bytes of a block; empty without a block.
    pub(super) fn bytes(&self, block: Option<BlockId>) -> &'a [u8] {
        block.map_or(&[][..], |block| self.wire.blocks.bytes(block))
    }

    /// Whether the content of both blocks is known, and not only their digests.
    pub(super) fn are_readable(&self, old: BlockId, new: BlockId) -> bool {
        [old, new].iter().all(|block| !self.wire.blocks.is_outline(*block))
    }

    /// The place at which a difference is reported.
    pub(super) fn place(&self, pair: &Pair) -> Place {
        self.stands(pair).1
    }

    /// The place of the block that came or went, or of the newer one.
    pub(super) fn place_sent(&self, pair: &Pair) -> Place {
        let sent = pair.new.map(|at| self.newer.places[at]).or(pair.old.map(|at| self.older.places[at]));
        sent.unwrap_or(Place::head(Level::Messages))
    }

    /// The JSON path of that place, or of the own key `field` of the message or level there.
    pub(super) fn path(&self, pair: &Pair, field: Option<&str>) -> String {
        let (request, place) = self.stands(pair);
        match field {
            Some(field) => format!("{}.{field}", request.path(Place { part: 0, keys: true, ..place })),
            None => request.path(place),
        }
    }

    /// The path that a removed block would have in the newer body if it followed the kept blocks of its message, which now
    /// ends there.
    pub(super) fn path_at_the_end(&self, pair: &Pair) -> Option<String> {
        let (old, None) = (pair.old?, pair.new) else { return None };
        let kept = pair.new_at.checked_sub(1)?;
        let end = *self.newer.places.get(kept)?;
        let is_of_end = |at: usize| self.newer.places.get(at).is_some_and(|place| place.is_of_message(end.item));
        let item = self.older.places[old].item;
        let mut own = (0..old).rev().take_while(|at| self.older.places[*at].is_of_message(item));
        let from = own.find(|at| self.old[*at] == self.new[kept])?;
        let path = self.newer.path(end);
        let (list, index) = path.strip_suffix(']')?.rsplit_once('[')?;
        // Canonical order may be another one than that of the body.
        let part = |at: usize| self.older.places[at].part;
        let index = (index.parse::<u32>().ok()? + part(old)).checked_sub(part(from))?;
        // Bodies that were translated may have calls in a list of their own.
        let is_call = |at: usize| self.wire.blocks.kind(self.old[at]) == BlockKind::ToolUse;
        let is_one_list = self.newer.addresses.is_none() || is_call(old) == is_call(from);
        (is_one_list && is_of_end(kept) && !is_of_end(pair.new_at)).then(|| format!("{list}[{index}]"))
    }

    /// The place at which a difference is reported, and the request that has it in its body.
    fn stands(&self, pair: &Pair) -> (&'a Request, Place) {
        let new = pair.new.or((pair.new_at < self.new.len()).then_some(pair.new_at));
        let (request, place) = match (new, pair.old) {
            // A removed block has no place in the newer body; the block that is there now may belong to another level.
            (Some(at), Some(old))
                if pair.new.is_none() && self.newer.places[at].level != self.older.places[old].level =>
            {
                (self.older, self.older.places[old])
            }
            (Some(at), _) => (self.newer, self.newer.places[at]),
            (None, Some(old)) => (self.older, self.older.places[old]),
            (None, None) => (self.newer, Place::head(Level::Messages)),
        };
        let shown = pair.new.map(|at| self.new[at]).or(pair.old.map(|at| self.old[at]));
        let is_keys = shown.is_some_and(|block| self.wire.blocks.kind(block) == BlockKind::Parameters);
        // A block removed before a message's own keys was removed before that message.
        let keys = place.keys && (is_keys || place.item == Place::LEVEL_HEAD);
        (request, Place { keys, ..place })
    }

    /// The JSON path of a level's parameter: of the setting itself, or of the block that alters a level above it. In
    /// the newer body if it has one, else in the older.
    pub(super) fn parameter_path(&self, field: &str, [old, new]: [&[u8]; 2]) -> String {
        let either = |find: &dyn Fn(&Request, &[BlockId]) -> Option<String>| {
            find(self.newer, &self.new).or_else(|| find(self.older, &self.old))
        };
        let found = match field {
            "web_search" => search_tool(self.newer, new, old).or_else(|| search_tool(self.older, old, new)),
            "citations" => either(&|request, blocks| {
                Some(format!("{}.citations", request.path(self.first(request, blocks, &CITES)?)))
            }),
            "images" => either(&|request, blocks| Some(request.path(self.first(request, blocks, &IMAGE)?))),
            _ => None,
        };
        found.unwrap_or_else(|| self.newer.setting_path(field))
    }

    /// Position of the first message block that has a sign.
    fn first(&self, request: &Request, blocks: &[BlockId], sign: &BlockSign) -> Option<Place> {
        let mut found = blocks.iter().zip(&request.places);
        let (_, place) =
            found.find(|(block, place)| place.level == Level::Messages && sign.is_on(&self.wire.blocks, **block))?;
        Some(*place)
    }

    /// The name of a block's field in the body that was sent, if that was translated (`providers.md` 2.1, 3 and 4).
    fn field_as_sent<'f>(&self, field: &'f str, block: BlockId, place: Place) -> &'f str {
        if self.newer.addresses.is_none() {
            return field;
        }
        let path = self.newer.path(place);
        let is_converse = self.newer.resolved.is_some_and(|model| model.platform == Platform::Bedrock);
        let names = match (path.as_str(), self.wire.blocks.kind(block)) {
            (path, kind) if path.starts_with("input[") => RESPONSES.of(kind),
            (path, kind) if path.starts_with("contents[") => GEMINI.of(kind),
            (path, kind) if is_converse || path.starts_with("toolConfig.") => CONVERSE.of(kind),
            (path, kind) if path.starts_with("messages[") => CHAT.of(kind),
            _ => &[],
        };
        names.iter().find(|name| name.own == field).map_or(field, |name| name.sent)
    }

    pub(super) fn name(&self, pair: &Pair, place: Place) -> String {
        let (old, new) = (pair.old.map(|at| self.old[at]), pair.new.map(|at| self.new[at]));
        let Some(block) = new.or(old) else { return String::new() };
        if let Some(flattened) =
            old.zip(new).and_then(|(old, new)| classify::flattened_title(&self.wire.blocks, old, new))
        {
            return flattened.to_owned();
        }
        let what = classify::title(self.wire, block, place);
        let both = old.zip(new).is_none_or(|(old, new)| self.are_readable(old, new));
        let is_keys = self.wire.blocks.kind(block) == BlockKind::Parameters;
        let has_fields = both && (is_keys || old.is_some() && new.is_some());
        let fields = has_fields.then(|| classify::differing_fields(self.bytes(old), self.bytes(new)));
        match fields.as_ref().and_then(|fields| fields.first()) {
            Some(field) if field == MESSAGE_START => "start of a message".to_owned(),
            Some(field) => format!("{what}, field {}", quoted(self.field_as_sent(field, block, place))),
            None => what,
        }
    }
}

/// A field of a block, and its name in another spelling.
struct Renamed {
    own: &'static str,
    sent: &'static str,
}

/// The fields of calls and of results in a spelling.
struct FieldNames {
    calls: &'static [Renamed],
    results: &'static [Renamed],
}

impl FieldNames {
    const fn of(&self, kind: BlockKind) -> &'static [Renamed] {
        match kind {
            BlockKind::ToolUse => self.calls,
            BlockKind::ToolResult => self.results,
            _ => &[],
        }
    }
}

const fn renamed(own: &'static str, sent: &'static str) -> Renamed {
    Renamed { own, sent }
}

const RESPONSES: FieldNames = FieldNames {
    calls: &[renamed("id", "call_id"), renamed("input", "arguments")],
    results: &[renamed("tool_use_id", "call_id"), renamed("content", "output")],
};

const CHAT: FieldNames = FieldNames {
    calls: &[renamed("input", "function.arguments"), renamed("name", "function.name")],
    results: &[renamed("tool_use_id", "tool_call_id")],
};

const GEMINI: FieldNames = FieldNames {
    calls: &[
        renamed("id", "functionCall.id"),
        renamed("input", "functionCall.args"),
        renamed("name", "functionCall.name"),
    ],
    results: &[renamed("content", "functionResponse.response"), renamed("tool_use_id", "functionResponse.id")],
};

const CONVERSE: FieldNames = FieldNames {
    calls: &[renamed("id", "toolUse.toolUseId"), renamed("input", "toolUse.input"), renamed("name", "toolUse.name")],
    results: &[renamed("tool_use_id", "toolResult.toolUseId"), renamed("content", "toolResult.content")],
};

/// The provider's own search tools among the parameters `own` of the system level.
pub(super) fn search_tools(own: &[u8]) -> impl Iterator<Item = &[u8]> {
    json::members(own).flatten().filter(|(key, _)| *key == b"\"web_search\"").map(|(_, tool)| tool)
}

/// The path of the first search tool of `request` that the other request lacks. Such tools have no block of their own,
/// so they are the elements of `tools` that have none.
fn search_tool(request: &Request, own: &[u8], other: &[u8]) -> Option<String> {
    let at = search_tools(own).position(|tool| search_tools(other).all(|known| known != tool))?;
    let placed = request.places.iter().chain(request.excluded.iter().map(|excluded| &excluded.place));
    let placed: BTreeSet<u32> = placed.filter(|place| place.level == Level::Tools).map(|place| place.item).collect();
    let item = (0..).filter(|item| !placed.contains(item)).nth(at)?;
    Some(format!("{}[{item}]", Level::Tools.name()))
}

/// Whether a block is a document that asks for citations.
pub(super) fn cites(block: &[u8]) -> bool {
    let citations = json::member(block, b"\"citations\"");
    citations.and_then(|citations| json::member(citations, b"\"enabled\"")) == Some(b"true")
}

/// Whether a block is an image or holds one.
pub(super) fn shows(block: &[u8]) -> bool {
    memchr::memmem::find(block, b"\"type\":\"image\"").is_some()
}
