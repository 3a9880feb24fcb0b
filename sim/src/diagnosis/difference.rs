//! The differences of two requests: where, what, and by which cause.

use super::align::{Alignment, Gap, align, blocks};
use super::cause::{Cause, Volatile};
use super::classify::{self, Pair};
use super::volatile;
use crate::wire::{BlockId, BlockKind, Level, Place, Request, Wire};

/// One difference between an older and a newer request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What kind of change it is.
    pub cause: Cause,
    /// Level of the changed block.
    pub level: Level,
    /// JSON path in the body: of the newer request, or of the older where the newer ends before it.
    pub path: String,
    /// What the changed thing is called: "tool `Read`, field `description`".
    pub name: String,
    /// Index of the first block of the newer prompt at or behind the difference.
    pub new_index: usize,
    /// Index of the first block of the older prompt at or behind the difference.
    pub old_index: usize,
    /// First differing byte in the block's canonical bytes; `None` for parameters.
    pub offset_in_block: Option<u64>,
    /// The same, counted in canonical bytes from the start of the prompt.
    pub offset_in_prefix: Option<u64>,
    /// What in the bytes varies by itself.
    pub volatile: Option<Volatile>,
    /// The older block.
    pub old: Option<BlockId>,
    /// The newer block.
    pub new: Option<BlockId>,
}

/// Two requests side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// How the prompts align.
    pub alignment: Alignment,
    /// All differences of content, in prompt order. What the newer request appends is none.
    pub differences: Vec<Difference>,
}

/// Compares `newer` with `older`, both read into `wire`.
pub fn compare(wire: &Wire, older: &Request, newer: &Request) -> Comparison {
    let sides = Sides { wire, older, newer, old: blocks(older, &wire.prefixes), new: blocks(newer, &wire.prefixes) };
    let alignment = align(&sides.old, &sides.new);
    let mut differences = Vec::new();
    if sides.model_changed() {
        differences.push(sides.model_difference());
    }
    for gap in &alignment.gaps {
        let appended = gap.old.is_empty() && gap.old.start == alignment.old_len;
        if !appended {
            sides.gap(gap, &alignment, &mut differences);
        }
    }
    Comparison { alignment, differences }
}

/// What both prompts are made of.
pub(super) struct Sides<'a> {
    pub(super) wire: &'a Wire,
    pub(super) older: &'a Request,
    pub(super) newer: &'a Request,
    pub(super) old: Vec<BlockId>,
    pub(super) new: Vec<BlockId>,
}

impl Sides<'_> {
    fn model_changed(&self) -> bool {
        let id = |request: &Request| request.resolved.map(|resolved| resolved.id);
        match (id(self.older), id(self.newer)) {
            (Some(old), Some(new)) => old != new,
            _ => self.older.model != self.newer.model,
        }
    }

    fn model_difference(&self) -> Difference {
        Difference {
            cause: Cause::ModelChanged,
            level: Level::Tools,
            path: "model".to_owned(),
            name: format!("model `{}` became `{}`", self.older.model, self.newer.model),
            new_index: 0,
            old_index: 0,
            offset_in_block: None,
            offset_in_prefix: None,
            volatile: None,
            old: None,
            new: None,
        }
    }

    /// The pair is a level's parameters.
    pub(super) fn is_level_head(&self, pair: &Pair) -> bool {
        let is_head =
            |request: &Request, at: Option<usize>| at.is_some_and(|at| request.places[at].item == Place::LEVEL_HEAD);
        is_head(self.older, pair.old) || is_head(self.newer, pair.new)
    }

    fn gap(&self, gap: &Gap, alignment: &Alignment, found: &mut Vec<Difference>) {
        for pair in classify::pairs(self, gap) {
            let cause = classify::cause(self, &pair, gap, alignment);
            let (old, new) = (pair.old.map(|at| self.old[at]), pair.new.map(|at| self.new[at]));
            if cause == Cause::LevelParameter {
                found.extend(self.parameters(&pair, old, new));
            } else if !repeats(found, cause, old.or(new)) {
                found.push(self.difference(cause, &pair));
            }
        }
    }

    /// A difference for each parameter of a level that differs.
    fn parameters(&self, pair: &Pair, old: Option<BlockId>, new: Option<BlockId>) -> Vec<Difference> {
        let bytes = |block: Option<BlockId>| block.map_or(&b"{}"[..], |block| self.wire.blocks.bytes(block));
        let level = self.place(pair).level;
        let fields = classify::differing_fields(bytes(old), bytes(new));
        let differences = fields.into_iter().map(|field| Difference {
            cause: Cause::LevelParameter,
            level,
            name: format!("parameter `{field}`"),
            path: field,
            new_index: pair.new_at,
            old_index: pair.old_at,
            offset_in_block: None,
            offset_in_prefix: None,
            volatile: None,
            old,
            new,
        });
        differences.collect()
    }

    fn difference(&self, cause: Cause, pair: &Pair) -> Difference {
        let (old, new) = (pair.old.map(|at| self.old[at]), pair.new.map(|at| self.new[at]));
        let place = self.place(pair);
        let bytes = |block: Option<BlockId>| block.map_or(&[][..], |block| self.wire.blocks.bytes(block));
        // An insertion or removal is compared with what stood at that place.
        let there_old = old.or_else(|| self.old.get(pair.old_at).copied());
        let there_new = new.or_else(|| self.new.get(pair.new_at).copied());
        let (old_bytes, new_bytes) = (bytes(there_old), bytes(there_new));
        let offset = first_difference(old_bytes, new_bytes);
        let before: u64 = self.new[..pair.new_at].iter().map(|block| self.wire.blocks.len_bytes(*block)).sum();
        let is_keys = |block: BlockId| self.wire.blocks.kind(block) == BlockKind::Parameters;
        let keys =
            new.or(old).filter(|block| is_keys(*block)).map(|_| classify::differing_fields(bytes(old), bytes(new)));
        let field = keys.as_ref().and_then(|fields| fields.first());
        Difference {
            cause,
            level: place.level,
            path: match field {
                Some(field) => format!("{}.{field}", Place { part: 0, keys: true, ..place }),
                None => place.to_string(),
            },
            name: self.name(pair, place),
            new_index: pair.new_at,
            old_index: pair.old_at,
            offset_in_block: keys.is_none().then_some(offset as u64),
            offset_in_prefix: keys.is_none().then_some(before + offset as u64),
            volatile: match (cause, old.zip(new)) {
                (Cause::KeyOrder | Cause::ToolsReordered, _) => Some(Volatile::MapOrder),
                (_, Some(_)) if classify::same_but_order(old_bytes, new_bytes) => Some(Volatile::MapOrder),
                (_, Some(_)) => volatile::recognise(old_bytes, new_bytes, offset),
                _ => None,
            },
            old,
            new,
        }
    }

    fn place(&self, pair: &Pair) -> Place {
        let new = pair.new.or((pair.new_at < self.new.len()).then_some(pair.new_at));
        match (new, pair.old) {
            // A removed block has no place in the newer body; what stands there now may belong to another level.
            (Some(at), Some(old))
                if pair.new.is_none() && self.newer.places[at].level != self.older.places[old].level =>
            {
                self.older.places[old]
            }
            (Some(at), _) => self.newer.places[at],
            (None, Some(old)) => self.older.places[old],
            (None, None) => Place::head(Level::Messages),
        }
    }

    fn name(&self, pair: &Pair, place: Place) -> String {
        let (old, new) = (pair.old.map(|at| self.old[at]), pair.new.map(|at| self.new[at]));
        let Some(block) = new.or(old) else { return String::new() };
        let what = classify::title(self.wire, block, place);
        let bytes = |block: BlockId| self.wire.blocks.bytes(block);
        let fields = old.zip(new).map(|(old, new)| classify::differing_fields(bytes(old), bytes(new)));
        match fields.as_ref().and_then(|fields| fields.first()) {
            Some(field) => format!("{what}, field `{field}`"),
            None => what,
        }
    }
}

/// Whether a difference was told: one cause that covers a whole stretch, or a block that left one place for another.
fn repeats(found: &[Difference], cause: Cause, block: Option<BlockId>) -> bool {
    match cause {
        Cause::Rewound | Cause::HistoryTruncated | Cause::Compacted => {
            found.last().is_some_and(|last| last.cause == cause)
        }
        Cause::ToolsReordered | Cause::MessageMoved | Cause::ResultsReordered => {
            found.iter().any(|known| known.cause == cause && (known.old == block || known.new == block))
        }
        _ => false,
    }
}

/// The offset of the first byte in which two texts differ; the shorter one's end where it begins the longer.
pub fn first_difference(old: &[u8], new: &[u8]) -> usize {
    old.iter().zip(new).take_while(|(old, new)| old == new).count()
}
