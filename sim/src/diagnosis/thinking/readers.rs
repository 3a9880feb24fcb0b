//! Which models read whose thinking. Source: `providers-2026-11.md` A.2 (pages PT-26, WN-52, AWS-2 and notes of 2026-09 to
//! 2026-11, read 2026-11-23). A block that the model may not read is always dropped and never refused, on every account; it
//! stays in the history and is readable again on a model that can.

use crate::pricing::Date;
use crate::wire::model::{Family, ModelId, Platform, Resolved};

/// Some models.
enum Who {
    Any,
    These(&'static [ModelId]),
    /// Those of one of these families up to a version.
    Until(&'static [(Family, (u8, u8))]),
}

/// Whether some models read the thinking that others made.
struct Row {
    makers: Who,
    readers: Who,
    reads: bool,
    /// On these platforms; empty for all.
    on: &'static [Platform],
    since: Option<Date>,
}

const fn row(makers: Who, readers: Who, reads: bool) -> Row {
    Row { makers, readers, reads, on: &[], since: None }
}

const FABLES_52: Who = Who::These(&[ModelId::Fable52, ModelId::Mythos52]);
const FABLES_51: Who = Who::These(&[ModelId::Fable51, ModelId::Mythos51]);
const OPUS_55: Who = Who::These(&[ModelId::Opus55]);
const SONNET_55: Who = Who::These(&[ModelId::Sonnet55]);
const HAIKU_55: Who = Who::These(&[ModelId::Haiku55]);
const UNTIL_5: Who = Who::Until(&[(Family::Haiku, (5, 0)), (Family::Sonnet, (5, 0)), (Family::Opus, (5, 0))]);
const LARGEST: Who = Who::Until(&[(Family::Mythos, (5, 2)), (Family::Fable, (5, 2))]);
const LARGEST_UNTIL_51: Who = Who::Until(&[(Family::Mythos, (5, 1)), (Family::Fable, (5, 1))]);
const UNTIL_OPUS_48: Who = Who::Until(&[(Family::Haiku, (4, 5)), (Family::Sonnet, (5, 0)), (Family::Opus, (4, 8))]);
const OPUS_5: Who = Who::These(&[ModelId::Opus5, ModelId::Opus55]);

/// The first row that fits counts. What Fable 5.2 reads besides its own is not documented.
const ROWS: [Row; 16] = [
    row(FABLES_52, FABLES_52, true),
    row(FABLES_52, Who::Any, false),
    row(Who::Any, HAIKU_55, false),
    row(HAIKU_55, Who::Any, true),
    // A change of the documents seen on this day.
    Row { on: &[Platform::Maker, Platform::Vertex], since: Some(Date(2026, 10, 6)), ..row(SONNET_55, OPUS_55, true) },
    row(SONNET_55, Who::Any, false),
    Row { on: &[Platform::Maker], ..row(OPUS_55, FABLES_51, true) },
    row(OPUS_55, FABLES_51, false),
    row(LARGEST_UNTIL_51, FABLES_51, true),
    row(UNTIL_5, FABLES_51, true),
    row(UNTIL_5, OPUS_55, true),
    row(LARGEST, OPUS_55, false),
    row(UNTIL_OPUS_48, SONNET_55, true),
    row(OPUS_5, SONNET_55, false),
    row(LARGEST, SONNET_55, false),
    // Measured by CR, 2026-09-26.
    row(OPUS_55, Who::These(&[ModelId::Sonnet5]), false),
];

/// Whether `reader` reads thinking that `maker` made; `None` if no source says so.
pub(super) fn reads(reader: Resolved, maker: ModelId, date: Option<Date>) -> Option<bool> {
    if reader.id == maker {
        return Some(true);
    }
    let fits = |row: &&Row| {
        let is_then = row.since.is_none_or(|since| date.is_none_or(|date| since <= date));
        let is_there = row.on.is_empty() || row.on.contains(&reader.platform);
        is_then && is_there && row.makers.includes(maker) && row.readers.includes(reader.id)
    };
    ROWS.iter().find(fits).map(|row| row.reads)
}

impl Who {
    fn includes(&self, model: ModelId) -> bool {
        match self {
            Self::Any => true,
            Self::These(models) => models.contains(&model),
            Self::Until(families) => model.row().claude.is_some_and(|(family, version)| {
                families.iter().any(|(known, last)| *known == family && version <= *last)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Date, reads};
    use crate::wire::model::resolve;

    /// Reader, maker, day, and whether it reads: each sentence of A.2.
    const SENTENCES: [(&str, &str, Option<Date>, Option<bool>); 24] = [
        ("claude-mythos-5-2", "claude-fable-5-2", None, Some(true)),
        ("claude-fable-5-1", "claude-fable-5-2", None, Some(false)),
        ("claude-opus-5", "claude-mythos-5-2", None, Some(false)),
        ("claude-mythos-5-1", "claude-fable-5-1", None, Some(true)),
        ("claude-fable-5-1", "claude-opus-4-8", None, Some(true)),
        ("claude-fable-5-1", "claude-fable-5", None, Some(true)),
        ("claude-fable-5-1", "claude-opus-5-5", None, Some(true)),
        ("anthropic.claude-fable-5-1", "claude-opus-5-5", None, Some(false)),
        ("claude-fable-5-1", "claude-sonnet-5-5", None, Some(false)),
        ("claude-opus-5-5", "claude-opus-5", None, Some(true)),
        ("claude-opus-5-5", "claude-haiku-4-5", None, Some(true)),
        ("claude-opus-5-5", "claude-fable-5-1", None, Some(false)),
        ("claude-opus-5-5", "claude-sonnet-5-5", None, Some(true)),
        ("claude-opus-5-5", "claude-sonnet-5-5", Some(Date(2026, 10, 5)), Some(false)),
        ("anthropic.claude-opus-5-5", "claude-sonnet-5-5", None, Some(false)),
        ("claude-sonnet-5-5", "claude-sonnet-5", None, Some(true)),
        ("claude-sonnet-5-5", "claude-opus-4-8", None, Some(true)),
        ("claude-sonnet-5-5", "claude-opus-5", None, Some(false)),
        ("claude-sonnet-5-5", "claude-fable-5-1", None, Some(false)),
        ("claude-sonnet-5", "claude-opus-5-5", None, Some(false)),
        ("claude-opus-5", "claude-haiku-5-5", None, Some(true)),
        ("claude-haiku-5-5", "claude-haiku-4-5", None, Some(false)),
        ("claude-fable-5-2", "claude-fable-5-1", None, None),
        ("claude-opus-4-8", "claude-opus-4-8", None, Some(true)),
    ];

    #[test]
    fn each_sentence_of_the_page_holds() {
        for (reader, maker, date, expected) in SENTENCES {
            let [reader, made] = [reader, maker].map(|name| resolve(name).unwrap());
            assert_eq!(reads(reader, made.id, date), expected, "{reader:?} reads {maker}");
        }
    }
}
