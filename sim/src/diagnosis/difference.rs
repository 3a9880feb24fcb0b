//! The differences of two requests: place, kind and cause.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::align::{Alignment, Gap, align_messages, blocks, is_message_start};
use super::cause::{Cause, Volatile};
use super::classify::{self, Stretch};
use super::ends::{CommonEnds, first_difference};
use super::field;
use super::history;
use super::pairing::{self, Pair};
use super::parts::PartEnds;
use super::resent::{self, ResentBlocks};
use super::seams;
use super::sides::Sides;
use super::volatile;
use crate::outside::quoted;
use crate::wire::{BlockId, BlockKind, Level, MESSAGE_START, Request, Role, Wire, json};

/// A change as reports show it: its place, its name and its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeSite {
    /// What kind of change it is, or why the cache was not read.
    pub cause: Cause,
    /// Level of the changed block.
    pub level: Level,
    /// JSON path in the body of the newer request, or of the older one if the newer ends earlier. A block that is gone
    /// from the end of a kept message has the path that it would have there.
    pub path: String,
    /// Name of the changed thing: "tool `Read`, field `description`".
    pub name: String,
    /// First differing byte in the block's canonical bytes; `None` for parameters and breakpoints.
    pub offset_in_block: Option<u64>,
    /// The same in the text of its field, without escapes; `None` outside of a text.
    pub offset_in_field: Option<u64>,
    /// The same, counted in canonical bytes from the start of the prompt.
    pub offset_in_prefix: Option<u64>,
    /// The differing stretch of the newer block, in canonical bytes. If only digests are known, the part in which it
    /// begins. `None` if one of the two has no block.
    pub offset_range: Option<[u64; 2]>,
    /// The kind of volatile content in the changed bytes.
    pub volatile: Option<Volatile>,
}

impl ChangeSite {
    /// A change that is not in the bytes of a block.
    pub const fn new(cause: Cause, level: Level, path: String, name: String) -> Self {
        let [offset_in_field, offset_in_block, offset_in_prefix] = [None; 3];
        let (offset_range, volatile) = (None, None);
        Self { cause, level, path, name, offset_in_field, offset_in_block, offset_in_prefix, offset_range, volatile }
    }

    /// How to save the tokens, in one sentence: for the parameter that changed, else for the cause.
    pub fn suggestion(&self) -> &'static str {
        let of_parameter = || PARAMETERS.iter().find(|(word, _)| self.path.contains(word)).map(|(_, advice)| *advice);
        let of_parameter = (self.cause == Cause::LevelParameter).then(of_parameter).flatten();
        let of_content = match (self.cause, self.volatile) {
            (Cause::ToolChanged | Cause::SystemChanged | Cause::MessageEdited, Some(Volatile::MapOrder)) => {
                Some("Write it in a fixed order.")
            }
            (Cause::ImageChanged, Some(_)) => Some("Keep the first address, or upload the file once and send its id."),
            (Cause::MessageEdited, Some(Volatile::Uuid)) if self.is_of_an_id() => {
                Some("Keep the ids with which calls and results were first sent.")
            }
            (Cause::MessageEdited, _) if self.name.starts_with("thinking") => {
                Some(Cause::ThinkingStripped.suggestion())
            }
            (Cause::MessageEdited, _) if self.name == classify::FLATTENED => {
                Some("Keep calls and results as blocks of their own when a history is loaded again, not as text.")
            }
            _ => None,
        };
        of_parameter.or(of_content).unwrap_or_else(|| self.cause.suggestion())
    }

    /// The field of the change, if it is in one of a block.
    pub fn field(&self) -> Option<&str> {
        self.name.rsplit_once(", field ").map(|(_, field)| field.trim_matches('`'))
    }

    /// Whether it is the id of a call or of its result, as the bodies of all providers spell it.
    pub fn is_of_an_id(&self) -> bool {
        const IDS: [&str; 5] = ["id", "tool_use_id", "call_id", "tool_call_id", "toolUseId"];
        let is_id = |field: &str| field.rsplit('.').next().is_some_and(|last| IDS.contains(&last));
        self.level == Level::Messages && self.field().is_some_and(is_id)
    }
}

/// What helps if a parameter with this word in its path changed.
const PARAMETERS: [(&str, &str); 11] = [
    (
        "prompt_cache_key",
        "Keep one `prompt_cache_key` for a conversation, and give its forks and others with its prompt the same.",
    ),
    ("format", "Keep one output format within a conversation, or ask for another in the newest message."),
    ("tool_choice", TOOL_CHOICE),
    ("toolChoice", TOOL_CHOICE),
    (
        "tools[",
        "Send the provider's search tool in each request of a conversation, or in none: it alters the system text.",
    ),
    ("effort", "Keep the effort within a conversation, or change it for single messages where the model allows that."),
    ("service_tier", "Keep one `service_tier` within a conversation."),
    ("verbosity", "Keep the verbosity within a conversation, or ask for shorter answers in the newest message."),
    ("parallel_tool_calls", "Keep `parallel_tool_calls` within a conversation."),
    ("cachedContent", "Name one cached object for the whole conversation, and make the next one before it expires."),
    ("speed", "Keep one speed within a conversation."),
];

const TOOL_CHOICE: &str = "Keep `tool_choice`; ask for an answer without tools, or for a tool, in the newest message.";

/// One difference between an older and a newer request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The shown part of it.
    pub site: ChangeSite,
    /// Index of the first block of the newer prompt at or after the difference.
    pub new_index: usize,
    /// Index of the first block of the older prompt at or after the difference.
    pub old_index: usize,
    /// The older block.
    pub old: Option<BlockId>,
    /// The newer block.
    pub new: Option<BlockId>,
    /// All pairs of blocks that belong to this change: a stretch that was cut off, both places of a moved block. For
    /// another model, the thinking that one of the two models excludes from the prompt.
    pub pairs: Vec<Pair>,
}

impl Deref for Difference {
    type Target = ChangeSite;

    fn deref(&self) -> &ChangeSite {
        &self.site
    }
}

/// Two requests compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// How the prompts align.
    pub alignment: Alignment,
    /// All differences of content, in prompt order. Appended blocks are no difference.
    pub differences: Vec<Difference>,
    /// For each block of the newer prompt, the part of it that was in the older one.
    pub resent: ResentBlocks,
}

/// Compares `newer` with `older`, both read into `wire`.
pub fn compare(wire: &Wire, older: &Request, newer: &Request) -> Comparison {
    // Equal prefixes have equal ids, so a long history that is only appended to is not walked.
    let (old_len, new_len) = (older.nodes.len(), newer.nodes.len());
    let only_adds = old_len <= new_len && old_len > 0 && older.nodes[old_len - 1] == newer.nodes[old_len - 1];
    if only_adds && older.model == newer.model {
        let alignment = Alignment::appended(old_len, new_len);
        let resent = ResentBlocks::begun(old_len, new_len);
        return Comparison { alignment, differences: Vec::new(), resent };
    }
    let prompts = [older, newer].map(|request| blocks(request, &wire.prefixes));
    let is_start = |block| is_message_start(&wire.blocks, block);
    let mut alignment = align_messages(&prompts[0], &prompts[1], is_start);
    let mut sides = Sides::new(wire, [older, newer], prompts);
    history::part_from_the_end(&sides, &mut alignment);
    sides.note_moves(&alignment);
    let mut found = Found { sides: &sides, told: BTreeMap::new(), last: None, differences: Vec::new() };
    if sides.model_changed() {
        found.model();
    }
    for gap in &alignment.gaps {
        let appended = gap.old.is_empty() && gap.old.start == alignment.old_len;
        if !appended {
            found.gap(gap, &alignment);
        }
    }
    let differences = joined(found.differences);
    let resent = resent::resent(&wire.blocks, [&sides.old, &sides.new], &alignment, &differences);
    Comparison { alignment, differences, resent }
}

/// The blocks that the newer request appends: no difference in a continued conversation, but one between two prompts
/// that should be equal.
pub fn appended(wire: &Wire, older: &Request, newer: &Request, comparison: &Comparison) -> Vec<Difference> {
    let prompts = [older, newer].map(|request| blocks(request, &wire.prefixes));
    let sides = Sides::new(wire, [older, newer], prompts);
    let mut found = Found { sides: &sides, told: BTreeMap::new(), last: None, differences: Vec::new() };
    for new in comparison.appended() {
        let pair = Pair { old: None, new: Some(new), old_at: sides.old.len(), new_at: new };
        found.tell(classify::cause_of_appended(&sides, &pair), pair);
    }
    found.differences
}

impl Comparison {
    /// Blocks of the newer prompt that belong to no difference and were not in the older prompt.
    pub fn appended(&self) -> impl Iterator<Item = usize> {
        let of_change: BTreeSet<usize> =
            self.differences.iter().flat_map(|found| &found.pairs).filter_map(|pair| pair.new).collect();
        let partner = &self.alignment.partner;
        (0..partner.len()).filter(|at| partner[*at].is_none()).filter(move |at| !of_change.contains(at))
    }
}

/// Fewest tools with a change of the same field that one change of the program made.
const TOOLS_MIN: usize = 3;

/// Makes one difference of the same field's changes in several tools: a program writes all of them again.
fn joined(differences: Vec<Difference>) -> Vec<Difference> {
    if differences.iter().all(|found| found.cause != Cause::ToolChanged) {
        return differences;
    }
    let mut tools: BTreeMap<String, usize> = BTreeMap::new();
    let of_tool = |found: &Difference| found.field().filter(|_| found.cause == Cause::ToolChanged).map(str::to_owned);
    differences.iter().filter_map(of_tool).for_each(|field| *tools.entry(field).or_default() += 1);
    tools.retain(|_, times| *times >= TOOLS_MIN);
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut joined: Vec<Difference> = Vec::with_capacity(differences.len());
    for found in differences {
        let field = of_tool(&found).filter(|field| tools.contains_key(field));
        match field.as_ref().and_then(|field| first.get(field)) {
            Some(known) => joined[*known].pairs.extend(found.pairs),
            None => {
                first.extend(field.map(|field| (field, joined.len())));
                joined.push(found);
            }
        }
    }
    joined.iter_mut().filter(|found| found.pairs.len() > 1 && found.cause == Cause::ToolChanged).for_each(name_all);
    joined
}

/// Says in the name of a tool's change how many more have it.
fn name_all(found: &mut Difference) {
    let more = found.pairs.len() - 1;
    if let Some((tool, field)) = found.site.name.rsplit_once(", field ") {
        found.site.name = format!("{tool} and {more} more, field {field}");
    }
}

/// Whether one change of the program made both: it wrote the same field of several tools in another order, or replaced the
/// same part of it.
fn is_same_edit(wire: &Wire, known: &Difference, found: &Difference) -> bool {
    let is_tool = |site: &Difference| site.cause == Cause::ToolChanged;
    if !is_tool(known) || !is_tool(found) || known.field().is_none() || known.field() != found.field() {
        return false;
    }
    let is_order = |site: &Difference| site.volatile == Some(Volatile::MapOrder);
    (is_order(known) && is_order(found)) || replaced(wire, known) == replaced(wire, found)
}

/// The parts of the first differing field, the older and the newer one, between what both sides of a difference have in
/// common.
fn replaced<'a>(wire: &'a Wire, site: &Difference) -> Option<[&'a [u8]; 2]> {
    let [old, new] = [site.old?, site.new?].map(|block| wire.blocks.bytes(block));
    let field = format!("\"{}\"", classify::differing_fields(old, new).first()?);
    let value = |block: &'a [u8]| json::member(block, field.as_bytes());
    let [old, new] = [value(old).map_or(&b""[..], |value| value), value(new).map_or(&b""[..], |value| value)];
    let CommonEnds { start, end } = CommonEnds::of(old, new);
    Some([old, new].map(|value| &value[start..value.len() - end]))
}

/// The differences reported so far.
struct Found<'a> {
    sides: &'a Sides<'a>,
    /// Blocks reported as moved, each with its difference.
    told: BTreeMap<BlockId, usize>,
    /// The pair examined last, with its cause.
    last: Option<(Cause, Pair)>,
    differences: Vec<Difference>,
}

impl Found<'_> {
    fn model(&mut self) {
        let Sides { older, newer, .. } = self.sides;
        let name = format!("model {} became {}", quoted(&older.model), quoted(&newer.model));
        self.differences.push(Difference {
            site: ChangeSite::new(Cause::ModelChanged, Level::Tools, "model".to_owned(), name),
            new_index: 0,
            old_index: 0,
            old: None,
            new: None,
            pairs: Vec::new(),
        });
    }

    fn gap(&mut self, gap: &Gap, alignment: &Alignment) {
        let mut pairs = pairing::pairs(self.sides, gap);
        let seams = seams::close(self.sides, &mut pairs.pairs);
        let stretch = Stretch::of(self.sides, gap, alignment, &pairs);
        self.tools_in_another_order(&pairs.pairs);
        let (starts, others): (Vec<Pair>, Vec<Pair>) =
            pairs.pairs.iter().copied().partition(|pair| self.sides.is_start(pair));
        // What came or went next to the start of a message explains it.
        let told = if others.is_empty() { &starts } else { &others };
        for pair in told {
            if let (true, Some(model)) = (self.sides.is_stripped_by_the_model(pair), self.differences.first_mut()) {
                model.pairs.push(*pair);
                continue;
            }
            let cause = classify::cause(self.sides, pair, &stretch);
            self.tell(cause, *pair);
            if let Some((old, new)) = pair.new.and_then(|new| Some((self.sides.tool_to(new)?, new))) {
                self.tell(Cause::ToolChanged, Pair { old: Some(old), new: Some(new), old_at: old, new_at: new });
            }
            // The other half of a split text belongs to the same change.
            let halves = seams.iter().filter(|(edit, _)| edit == pair).map(|(_, half)| *half);
            if let Some(last) = self.differences.last_mut() {
                last.pairs.extend(halves);
            }
        }
        if let Some(last) = self.differences.last_mut().filter(|_| !others.is_empty()) {
            last.pairs.extend(starts);
        }
    }

    /// Tools that changed and swapped places: a different one of them is in each place.
    fn tools_in_another_order(&mut self, pairs: &[Pair]) {
        let is_tool = |block: BlockId| self.sides.wire.blocks.kind(block) == BlockKind::Tool;
        let both = pairs.iter().filter_map(|pair| Some((pair.old?, pair.new?)));
        let (mut old, new): (Vec<usize>, Vec<usize>) = both.filter(|(_, new)| is_tool(self.sides.new[*new])).unzip();
        let before = old.clone();
        old.sort_unstable();
        let places = old.iter().zip(&before).zip(new).filter(|((there, own), _)| there != own);
        for ((there, _), new) in places {
            let pair = Pair { old: Some(*there), new: Some(new), old_at: *there, new_at: new };
            let known = self.differences.iter().position(|known| known.cause == Cause::ToolsReordered);
            let at = known.unwrap_or_else(|| {
                let came = self.difference(Cause::ToolsReordered, &Pair { old: None, ..pair });
                self.differences.push(Difference { pairs: Vec::new(), ..came });
                self.differences.len() - 1
            });
            self.differences[at].pairs.push(pair);
        }
    }

    /// Reports a difference, unless an earlier one covers it.
    fn tell(&mut self, cause: Cause, pair: Pair) {
        let last = self.last.replace((cause, pair));
        if cause == Cause::LevelParameter {
            self.parameters(&pair);
        } else if let Some(known) = self.told(cause, &pair, last) {
            self.differences[known].pairs.push(pair);
        } else {
            let difference = self.difference(cause, &pair);
            match self.differences.iter_mut().find(|known| is_same_edit(self.sides.wire, known, &difference)) {
                Some(known) => known.pairs.push(pair),
                None => self.differences.push(difference),
            }
        }
    }

    /// An earlier difference that already covers this one: a cause that covers a whole stretch, a block that moved, a
    /// parameter that is derived from the block.
    fn told(&mut self, cause: Cause, pair: &Pair, last: Option<(Cause, Pair)>) -> Option<usize> {
        let sides = self.sides;
        let (old, new) = (pair.old.map(|at| sides.old[at]), pair.new.map(|at| sides.new[at]));
        let newest = self.differences.len().checked_sub(1);
        let known = |cause: Cause| self.differences.iter().position(|known| known.cause == cause);
        let moved = old.xor(new).filter(|block| sides.has_moved(*block));
        match (cause, moved) {
            (Cause::Rewound | Cause::HistoryTruncated | Cause::Compacted, _) => {
                newest.filter(|newest| self.differences[*newest].cause == cause)
            }
            (Cause::ToolsReordered, _) | (Cause::ResultsReordered, None) => known(cause),
            (Cause::ImageChanged | Cause::MessageEdited, None) => {
                let toggle = self.differences.iter().position(|known| known.name == "parameter `citations`");
                let is_whole = || classify::differing_fields(sides.bytes(old), sides.bytes(new)) == ["citations"];
                let is_readable = old.zip(new).is_none_or(|(old, new)| sides.are_readable(old, new));
                toggle.filter(|_| !is_readable || is_whole())
            }
            // Sent in the same place as before, it follows its call, which moved or was removed.
            (Cause::ResultsReordered, Some(block)) if sides.was_sent_in_place(block) => {
                known(Cause::MessageMoved).or(newest)
            }
            (_, Some(block)) => {
                let along = last.is_some_and(|(before, last)| before == cause && self.goes_along(&last, pair));
                let known = self.told.get(&block).copied().or(newest.filter(|_| along));
                self.told.insert(block, known.unwrap_or(self.differences.len()));
                known
            }
            _ => None,
        }
    }

    /// Two blocks of one message that moved together.
    fn goes_along(&self, last: &Pair, pair: &Pair) -> bool {
        let item = |request: &Request, at: usize| request.places[at].item;
        let Sides { older, newer, .. } = self.sides;
        let messages = |at: usize, request: &Request| request.places[at].level == Level::Messages;
        match (last.old, pair.old, last.new, pair.new) {
            (Some(one), Some(two), None, None) => messages(two, older) && item(older, one) == item(older, two),
            (None, None, Some(one), Some(two)) => messages(two, newer) && item(newer, one) == item(newer, two),
            _ => false,
        }
    }

    /// Reports a difference for each parameter of a level that differs.
    fn parameters(&mut self, pair: &Pair) {
        let sides = self.sides;
        let (old, new) = (pair.old.map(|at| sides.old[at]), pair.new.map(|at| sides.new[at]));
        let bytes = |block: Option<BlockId>| block.map_or(&b"{}"[..], |block| sides.wire.blocks.bytes(block));
        let level = sides.place(pair).level;
        let fields = classify::differing_fields(bytes(old), bytes(new));
        let site = |field: &str| {
            let path = sides.parameter_path(field, [bytes(old), bytes(new)]);
            let name = format!("parameter {}", quoted(&sides.newer.setting_path(field)));
            ChangeSite::new(Cause::LevelParameter, level, path, name)
        };
        let difference = |field: String| Difference {
            site: site(&field),
            new_index: pair.new_at,
            old_index: pair.old_at,
            old,
            new,
            pairs: vec![*pair],
        };
        self.differences.extend(fields.into_iter().map(difference));
    }

    fn difference(&self, cause: Cause, pair: &Pair) -> Difference {
        let sides = self.sides;
        let (old, new) = (pair.old.map(|at| sides.old[at]), pair.new.map(|at| sides.new[at]));
        let place = sides.place(pair);
        // An insertion or removal is compared with the block that was at that place.
        let (old_index, new_index) =
            (sides.content_from(&sides.old, pair.old_at), sides.content_from(&sides.new, pair.new_at));
        let there_old = old.or_else(|| sides.old.get(old_index).copied());
        let there_new = new.or_else(|| sides.new.get(new_index).copied());
        let is_readable = there_old.zip(there_new).is_none_or(|(old, new)| sides.are_readable(old, new));
        let [old_bytes, new_bytes] = [there_old, there_new].map(|block| sides.bytes(block.filter(|_| is_readable)));
        let offset = first_difference(old_bytes, new_bytes);
        let before: u64 = sides.new[..pair.new_at].iter().map(|block| sides.wire.blocks.len_bytes(*block)).sum();
        let is_keys = |block: BlockId| sides.wire.blocks.kind(block) == BlockKind::Parameters;
        // A replaced history is reported where the newer one continues.
        let is_whole = matches!(cause, Cause::Rewound | Cause::Compacted);
        let is_replaced = is_whole || cause == Cause::HistoryTruncated;
        let keys = new
            .or(old)
            .filter(|block| is_keys(*block) && !(is_whole && there_new.is_some_and(|new| !is_keys(new))))
            .map(|_| classify::differing_fields(sides.bytes(old), sides.bytes(new)));
        let field = keys.as_ref().and_then(|fields| fields.first()).filter(|field| *field != MESSAGE_START);
        let stretch = |old: BlockId, new: BlockId| match is_readable {
            true => {
                let CommonEnds { end, .. } = CommonEnds::behind(offset, old_bytes, new_bytes);
                Some([offset as u64, (new_bytes.len() - end) as u64])
            }
            false => {
                PartEnds::of(&sides.wire.blocks, old, new).map(|ends| ends.range(sides.wire.blocks.len_bytes(new)))
            }
        };
        let volatile = match (cause, old.zip(new)) {
            (Cause::ImageChanged, Some(_)) => volatile::in_address(old_bytes, new_bytes, offset),
            (Cause::ImageChanged | Cause::ResultsReordered, _) => None,
            (Cause::KeyOrder | Cause::ToolsReordered, _) => Some(Volatile::MapOrder),
            (_, Some(_)) if classify::same_but_order(old_bytes, new_bytes) => Some(Volatile::MapOrder),
            (_, Some(_)) => volatile::recognise(old_bytes, new_bytes, offset),
            (Cause::MessageRemoved, None) => pair.old.and_then(|at| self.varies_in_renewed(at)),
            _ => None,
        };
        let path = sides.path_at_the_end(pair).filter(|_| !is_replaced);
        let path = path.unwrap_or_else(|| sides.path(pair, field.map(String::as_str)));
        // Both sides show the same text up to there, so either has the count.
        let in_field = field::offset_in_text(new_bytes, offset).or_else(|| field::offset_in_text(old_bytes, offset));
        let site = ChangeSite {
            offset_in_field: in_field.filter(|_| keys.is_none() && old.is_some() && new.is_some()),
            offset_in_block: (keys.is_none() && is_readable).then_some(offset as u64),
            offset_in_prefix: (keys.is_none() && is_readable).then_some(before + offset as u64),
            offset_range: old.zip(new).filter(|_| keys.is_none()).and_then(|(old, new)| stretch(old, new)),
            volatile,
            ..ChangeSite::new(cause, place.level, path, sides.name(pair, place))
        };
        Difference { site, new_index, old_index, old, new, pairs: vec![*pair] }
    }

    /// What varies in a text that left the newest turn, if the newest turn now has it with other content.
    fn varies_in_renewed(&self, old_at: usize) -> Option<Volatile> {
        /// Bytes that two versions of a text have in common besides those that all texts of messages have.
        const COMMON_MIN: usize = 26 + 16;
        let sides = self.sides;
        let is_said = |block: BlockId| {
            let blocks = &sides.wire.blocks;
            blocks.level(block) == Level::Messages && blocks.role(block) != Role::Assistant
        };
        if !sides.old[old_at..].iter().all(|block| is_said(*block)) {
            return None;
        }
        let old = sides.old[old_at];
        let nature = |block: BlockId| (sides.wire.blocks.kind(block), sides.wire.blocks.role(block));
        let mut last = sides.new.iter().rev().take_while(|block| is_said(**block));
        let was = sides.bytes(Some(old));
        last.find_map(|new| {
            let is = sides.bytes(Some(*new));
            let common = CommonEnds::of(was, is).len();
            let is_renewed = nature(*new) == nature(old) && common >= COMMON_MIN;
            let is_renewed = is_renewed && common * 2 >= was.len().min(is.len());
            is_renewed.then(|| volatile::recognise_anywhere(was, is)).flatten()
        })
    }
}
