//! Which parts of a fork's prompt are its parent's: system, tools, settings, history.

use super::Pair;
use super::card::{Card, Evidence};
use super::check::Check;
use crate::diagnosis::{Cause, Difference, tool_name};
use crate::outside::quoted;
use crate::wire::spelling::{self, SpellingKind};
use crate::wire::{BlockId, BlockKind, Level, Place, Request, Role, Wire};

/// Why a transcript shows nothing of the parts that it leaves out.
const HIDDEN: &str = "the input does not show what was sent";

/// Applies the checks of content to a pair.
pub(super) fn check(pair: &Pair<'_>, card: &mut Card) {
    card.judge(Check::SameModel, found(pair, |difference| difference.cause == Cause::ModelChanged));
    if pair.fork.has_body() && pair.base.has_body() {
        let is_system = |found: &Difference| found.level == Level::System && found.cause == Cause::SystemChanged;
        card.judge(Check::SystemReused, found(pair, is_system));
        card.judge(Check::ToolsOrder, tools_order(pair));
        card.judge(Check::ToolsSchema, tools_schema(pair));
        for check in [Check::SameEffort, Check::SameThinking, Check::SameParameters] {
            let is_this = |found: &Difference| found.cause == Cause::LevelParameter && setting(&found.path) == check;
            card.judge(check, found(pair, is_this));
        }
        notes(pair, card);
    } else {
        use Check::{SameEffort, SameParameters, SameThinking, SystemReused, ToolsOrder, ToolsSchema};
        for check in [SystemReused, ToolsOrder, ToolsSchema, SameEffort, SameThinking, SameParameters] {
            card.unknown(check, HIDDEN);
        }
    }
    history(pair, card);
}

/// The check that a parameter belongs to.
fn setting(path: &str) -> Check {
    match path {
        "output_config.effort" => Check::SameEffort,
        "thinking" => Check::SameThinking,
        _ => Check::SameParameters,
    }
}

fn found(pair: &Pair<'_>, is_this: impl Fn(&Difference) -> bool) -> Vec<Evidence> {
    pair.comparison.differences.iter().filter(|found| is_this(found)).map(|found| pair.difference(found)).collect()
}

/// The names of a request's tools with their blocks and places. Tools with deferred loading are not part of the prompt.
fn tools<'a>(wire: &'a Wire, request: &'a Request) -> Vec<(String, BlockId, Place)> {
    let of_level = request.nodes.iter().zip(&request.places).filter(|(_, place)| place.level == Level::Tools);
    of_level
        .filter_map(|(node, place)| {
            let block = wire.prefixes.block(*node).filter(|_| !place.keys)?;
            Some((tool_name(&wire.blocks, block).unwrap_or_default(), block, *place))
        })
        .collect()
}

fn tools_order(pair: &Pair<'_>) -> Vec<Evidence> {
    let (old, new) = (tools(pair.wire, &pair.base.request), tools(pair.wire, &pair.fork.request));
    let same = old.iter().zip(&new).take_while(|(old, new)| old.0 == new.0).count();
    let found = match (old.get(same), new.get(same)) {
        (None, None) => return Vec::new(),
        (Some(old), Some(new)) => format!("tool {} instead of the parent's {}", quoted(&new.0), quoted(&old.0)),
        (Some(old), None) => format!("tool {} of the parent is missing", quoted(&old.0)),
        (None, Some(new)) => format!("tool {} is not the parent's", quoted(&new.0)),
    };
    let path = new.get(same).map_or_else(|| "tools".to_owned(), |(.., place)| pair.fork.request.path(*place));
    vec![pair.evidence(path, found)]
}

fn tools_schema(pair: &Pair<'_>) -> Vec<Evidence> {
    let old = tools(pair.wire, &pair.base.request);
    let new = tools(pair.wire, &pair.fork.request);
    let changed = new.iter().filter(|(name, block, _)| {
        let mut parents = old.iter().filter(|(known, ..)| known == name).peekable();
        parents.peek().is_some() && parents.all(|(_, known, _)| known != block)
    });
    changed
        .map(|(name, _, place)| {
            pair.evidence(pair.fork.request.path(*place), format!("tool {} is defined otherwise", quoted(name)))
        })
        .collect()
}

/// Blocks of the parent's history that are missing at their places in the fork; inserted blocks are listed separately.
fn history(pair: &Pair<'_>, card: &mut Card) {
    let (mut respelled, mut early) = (Vec::new(), Vec::new());
    let limit = pair.history_end();
    let of_messages = |found: &&Difference| {
        found.level == Level::Messages && !matches!(found.cause, Cause::LevelParameter | Cause::ModelChanged)
    };
    for found in pair.comparison.differences.iter().filter(of_messages).filter(|found| found.old_index < limit) {
        let came = found.old.is_none();
        let is_reminder = |block: Option<BlockId>| block.is_some_and(|block| is_reminder(pair.wire, block));
        let list = if came || is_reminder(found.old) && is_reminder(found.new) { &mut early } else { &mut respelled };
        list.push(pair.difference(found));
    }
    for (found, sibling) in pair.siblings_differences() {
        early.push(Evidence { older: Some(sibling), ..pair.difference(found) });
    }
    early.extend(pair.early());
    card.judge(Check::MessageSpelling, respelled);
    card.judge(Check::TrailingReminders, early);
}

/// Text that clients insert between messages, which is no user's or model's text.
fn is_reminder(wire: &Wire, block: BlockId) -> bool {
    const TAG: &[u8] = b"<system-reminder>";
    let text = wire.blocks.bytes(block);
    let is_tagged = wire.blocks.kind(block) == BlockKind::Text && memchr::memmem::find(text, TAG).is_some();
    wire.blocks.role(block) == Role::System || is_tagged
}

/// Harmless spellings of the history, and blocks that are sent outside the prompt.
fn notes(pair: &Pair<'_>, card: &mut Card) {
    let (Some(old), Some(new)) = (pair.base.body.as_deref(), pair.fork.body.as_deref()) else { return };
    let Ok(notes) = spelling::notes(old, new, pair.wire.forms()) else { return };
    for note in notes {
        let (check, found) = match (note.kind, note.path.split(['[', '.']).next()) {
            (SpellingKind::Envelope, Some("system" | "tools")) => {
                (Check::SystemReused, "a block that is no part of the prompt's identity differs")
            }
            (SpellingKind::Spelling, Some("messages")) => (Check::MessageSpelling, "another spelling of the same"),
            (SpellingKind::Escape, Some("messages")) => {
                (Check::MessageSpelling, "other escapes for the same characters")
            }
            (SpellingKind::Whitespace, Some("messages")) => (Check::MessageSpelling, "other white space"),
            _ => continue,
        };
        card.note(check, pair.evidence(pair.fork.request.sent_path(note.path), found.to_owned()));
    }
}
