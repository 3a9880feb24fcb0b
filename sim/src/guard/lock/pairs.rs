//! Which block of one lock became which of another, and by which cause, as far as kinds, names, sizes and digests tell.
//!
//! The rules are those of `diagnosis`, which knows the bytes and can tell more: a key order, what varies by itself.

use super::digest::Digest;
use super::{CHUNK_BYTES, Placed};
use crate::diagnosis::{Alignment, Cause, Gap, align};
use crate::outside::quoted;
use crate::wire::{BlockId, BlockKind, Index, Level, Place};

/// Two prompts of two locks side by side.
pub(super) struct Sides<'a> {
    pub old: &'a [Placed<'a>],
    pub new: &'a [Placed<'a>],
    pub alignment: Alignment,
}

/// A changed block; one side is absent where a block came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub old: Option<usize>,
    pub new: Option<usize>,
    pub old_at: usize,
    pub new_at: usize,
}

/// A difference of two prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Divergence {
    pub cause: Cause,
    pub level: Level,
    pub path: String,
    pub name: String,
    pub pair: Pair,
    /// The first 256 bytes of the newer block in which both differ.
    pub offset_range: Option<[u64; 2]>,
}

/// A result this short, in place of one at least four times as long, was cleared and not rewritten.
const CLEARED_BYTES_MAX: u64 = 256;

/// A history of which less than this share (in percent) stays was replaced, not edited.
const COMPACTED_KEPT_PERCENT_MAX: usize = 20;

/// Blocks that a history must have had for its replacement to be called a compaction.
const COMPACTED_BLOCKS_MIN: usize = 8;

impl<'a> Sides<'a> {
    pub fn new(old: &'a [Placed<'a>], new: &'a [Placed<'a>]) -> Self {
        let mut numbers: Index<Digest, BlockId> = Index::default();
        let mut number = |placed: &Placed<'_>| {
            let next = BlockId(u32::try_from(numbers.len()).unwrap_or(u32::MAX));
            *numbers.get_or_insert_with(placed.block.digest, || next)
        };
        let ids = [old, new].map(|prompt| prompt.iter().map(&mut number).collect::<Vec<BlockId>>());
        Self { old, new, alignment: align(&ids[0], &ids[1]) }
    }

    /// All differences in prompt order. Unlike from request to request, what stands behind the end of the older prompt
    /// is one too: the lock says what is sent, and this is sent besides.
    pub fn divergences(&self) -> Vec<Divergence> {
        let mut found: Vec<Divergence> = Vec::new();
        for gap in &self.alignment.gaps {
            for pair in self.pairs(gap) {
                self.add(&pair, gap, &mut found);
            }
        }
        found
    }

    fn add(&self, pair: &Pair, gap: &Gap, found: &mut Vec<Divergence>) {
        let cause = self.cause(pair, gap);
        if cause == Cause::LevelParameter {
            found.extend(self.parameters(pair));
            return;
        }
        let digest = |pair: &Pair| self.shown(pair).map(|placed| placed.block.digest);
        let told = found.iter().any(|known| {
            known.cause == cause
                && match cause {
                    Cause::Compacted | Cause::Rewound | Cause::HistoryTruncated => true,
                    Cause::ToolsReordered | Cause::MessageMoved | Cause::ResultsReordered => {
                        digest(&known.pair) == digest(pair)
                    }
                    _ => false,
                }
        });
        if !told {
            found.extend(self.divergence(cause, *pair));
        }
    }

    fn divergence(&self, cause: Cause, pair: Pair) -> Option<Divergence> {
        let shown = self.shown(&pair)?;
        let place = self.place(&pair);
        let field = self.fields(&pair).into_iter().next();
        let title = shown.block.title();
        Some(Divergence {
            cause,
            level: place.level,
            path: match &field {
                Some(field) => format!("{}.{field}", Place { part: 0, keys: true, ..place }),
                None => place.to_string(),
            },
            name: match field {
                Some(field) => format!("{title}, field {}", quoted(&field)),
                None => title,
            },
            pair,
            offset_range: self.offset_range(&pair),
        })
    }

    /// One difference for each parameter of a level.
    fn parameters(&self, pair: &Pair) -> Vec<Divergence> {
        let level = self.place(pair).level;
        let divergence = |field: String| Divergence {
            cause: Cause::LevelParameter,
            level,
            name: format!("parameter {}", quoted(&field)),
            path: field,
            pair: *pair,
            offset_range: None,
        };
        self.fields(pair).into_iter().map(divergence).collect()
    }

    /// Fields of parameters that differ, each once.
    fn fields(&self, pair: &Pair) -> Vec<String> {
        let list = |side: &'a [Placed<'a>], at: Option<usize>| {
            at.and_then(|at| side.get(at)).map_or_else(Vec::new, |placed| placed.block.parameters())
        };
        let (old, new) = (list(self.old, pair.old), list(self.new, pair.new));
        let came = new.iter().filter(|field| !old.contains(field));
        let went = old.iter().filter(|field| !new.contains(field));
        let mut fields: Vec<String> = came.chain(went).map(|(field, _)| (*field).to_owned()).collect();
        let mut seen = Vec::new();
        fields.retain(|field| {
            let first = !seen.contains(field);
            seen.push(field.clone());
            first
        });
        fields
    }

    fn offset_range(&self, pair: &Pair) -> Option<[u64; 2]> {
        let (old, new) = (self.old[pair.old?].block, self.new[pair.new?].block);
        if new.kind == BlockKind::Parameters || old.chunks.is_empty() || new.chunks.is_empty() {
            return None;
        }
        let same = old.chunks.iter().zip(&new.chunks).take_while(|(old, new)| old == new).count() as u64;
        // Equal as far as both go: then they part where the shorter one ends, or in what is no byte (the role).
        let start = (same * CHUNK_BYTES).min(old.bytes).min(new.bytes);
        Some([start, (start + CHUNK_BYTES).min(new.bytes)])
    }

    fn shown(&self, pair: &Pair) -> Option<&Placed<'a>> {
        pair.new.map(|at| &self.new[at]).or_else(|| pair.old.map(|at| &self.old[at]))
    }

    /// Indices of the newer body, of the older where the newer ends before or belongs to another level there.
    fn place(&self, pair: &Pair) -> Place {
        let there = self.new.get(pair.new.unwrap_or(pair.new_at)).map(|placed| placed.place);
        match (there, pair.old.map(|at| self.old[at].place)) {
            (Some(new), Some(old)) if pair.new.is_none() && new.level != old.level => old,
            (Some(place), _) | (None, Some(place)) => place,
            (None, None) => Place::head(Level::Messages),
        }
    }

    fn pairs(&self, gap: &Gap) -> Vec<Pair> {
        let matches = self.matches(gap);
        let came = gap.new.clone().map(|new| match matches.iter().find(|(_, known)| *known == new) {
            Some((old, _)) => Pair { old: Some(*old), new: Some(new), old_at: *old, new_at: new },
            None => {
                let before = matches.iter().rev().find(|(_, known)| *known < new);
                let old_at = before.map_or(gap.old.start, |(old, _)| old + 1);
                Pair { old: None, new: Some(new), old_at, new_at: new }
            }
        });
        let went = gap.old.clone().filter(|old| matches.iter().all(|(known, _)| known != old)).map(|old| {
            let before = matches.iter().filter(|(known, _)| *known < old).max();
            let new_at = before.map_or(gap.new.start, |(_, new)| new + 1);
            Pair { old: Some(old), new: None, old_at: old, new_at }
        });
        let mut found: Vec<Pair> = came.chain(went).collect();
        found.sort_by_key(|pair| (pair.new_at, pair.new.is_some(), pair.old_at));
        found
    }

    /// Tools by name, then blocks of one level, kind and speaker in their order.
    fn matches(&self, gap: &Gap) -> Vec<(usize, usize)> {
        let mut old_left: Vec<usize> = gap.old.clone().collect();
        let mut new_left: Vec<usize> = gap.new.clone().collect();
        let mut found = Vec::new();
        let rules: [fn(&Placed<'_>, &Placed<'_>) -> bool; 2] = [same_name, alike];
        for belong in rules {
            new_left.retain(|new| {
                let fits = |old: &usize| belong(&self.old[*old], &self.new[*new]);
                match old_left.iter().position(fits) {
                    Some(at) => {
                        found.push((old_left.remove(at), *new));
                        false
                    }
                    None => true,
                }
            });
        }
        found.sort_unstable_by_key(|(_, new)| *new);
        found
    }

    fn cause(&self, pair: &Pair, gap: &Gap) -> Cause {
        let Some(shown) = self.shown(pair) else { return Cause::MessageEdited };
        let heads =
            |side: &[Placed<'_>], at: Option<usize>| at.is_some_and(|at| side[at].place.item == Place::LEVEL_HEAD);
        if heads(self.old, pair.old) || heads(self.new, pair.new) {
            return Cause::LevelParameter;
        }
        match shown.place.level {
            Level::Tools => match (pair.old, pair.new) {
                (Some(_), Some(_)) => Cause::ToolChanged,
                _ if self.has_moved(shown) => Cause::ToolsReordered,
                (None, _) => Cause::ToolsAdded,
                (_, None) => Cause::ToolsRemoved,
            },
            Level::System => Cause::SystemChanged,
            Level::Messages => self.message(pair, gap, shown),
        }
    }

    fn message(&self, pair: &Pair, gap: &Gap, shown: &Placed<'_>) -> Cause {
        if self.is_compaction() {
            return Cause::Compacted;
        }
        match (pair.old, pair.new) {
            (Some(old), Some(new)) => self.changed(&self.old[old], &self.new[new]),
            _ if self.has_moved(shown) => moved(shown.block.kind),
            (Some(_), None) if shown.block.kind == BlockKind::Thinking => Cause::ThinkingStripped,
            (Some(_), None) if self.is_truncation(gap) => Cause::HistoryTruncated,
            (Some(_), None) => Cause::MessageRemoved,
            _ => Cause::MessageInserted,
        }
    }

    fn changed(&self, old: &Placed<'_>, new: &Placed<'_>) -> Cause {
        if self.has_moved(old) && self.has_moved(new) {
            return moved(new.block.kind);
        }
        let (before, after) = (old.block.bytes, new.block.bytes);
        let cleared = after <= CLEARED_BYTES_MAX && after.saturating_mul(4) <= before;
        match new.block.kind {
            BlockKind::Media => Cause::ImageChanged,
            BlockKind::ToolResult if cleared => Cause::ResultsCleared,
            _ => Cause::MessageEdited,
        }
    }

    fn has_moved(&self, placed: &Placed<'_>) -> bool {
        let stands = |side: &[Placed<'_>], at: usize| side[at].block.digest == placed.block.digest;
        let gaps = &self.alignment.gaps;
        gaps.iter().flat_map(|gap| gap.old.clone()).any(|at| stands(self.old, at))
            && gaps.iter().flat_map(|gap| gap.new.clone()).any(|at| stands(self.new, at))
    }

    fn is_truncation(&self, gap: &Gap) -> bool {
        let item = |at: usize| self.old.get(at).map(|placed| placed.place.item);
        let whole_messages = item(gap.old.end) != item(gap.old.end - 1);
        gap.old.start == history_start(self.old) && gap.new.is_empty() && whole_messages && gap.old.end < self.old.len()
    }

    fn is_compaction(&self) -> bool {
        let start = history_start(self.new);
        let old_blocks = self.old.len() - history_start(self.old);
        let kept = self.alignment.partner[start..].iter().flatten().count();
        old_blocks >= COMPACTED_BLOCKS_MIN
            && kept * 100 <= old_blocks * COMPACTED_KEPT_PERCENT_MAX
            && self.new.len() - start < old_blocks
    }
}

fn same_name(old: &Placed<'_>, new: &Placed<'_>) -> bool {
    let named = |placed: &Placed<'_>| placed.block.kind == BlockKind::Tool && !placed.block.name.is_empty();
    named(old) && named(new) && old.block.name == new.block.name
}

fn alike(old: &Placed<'_>, new: &Placed<'_>) -> bool {
    let what = |placed: &Placed<'_>| (placed.block.level, placed.block.kind);
    let texts = old.block.kind == BlockKind::Text;
    what(old) == what(new) && (!texts || old.block.name == new.block.name)
}

const fn moved(kind: BlockKind) -> Cause {
    match kind {
        BlockKind::ToolResult => Cause::ResultsReordered,
        _ => Cause::MessageMoved,
    }
}

/// Where the messages begin, behind the parameters of their level.
fn history_start(prompt: &[Placed<'_>]) -> usize {
    let start = prompt.partition_point(|placed| placed.place.level < Level::Messages);
    start + usize::from(prompt.get(start).is_some_and(|placed| placed.place.item == Place::LEVEL_HEAD))
}
