//! Two requests side by side.

use std::borrow::Cow;
use std::collections::BTreeSet;

use forkcast_sim::diagnosis::OpenRule;
use forkcast_sim::guard::{Finding, Judged};

use super::change;
use crate::comparison::{Sides, sentence};
use crate::document::{Cell, Column, Document, Marked, Table, count, money};
use crate::names::Names;

/// Most rows of further differences and of notes shown to people.
const SHOWN: usize = 20;

/// The comparison: the first finding, with the bytes around it if `windows` is set, the further ones, harmless notes.
pub fn document(sides: &Sides<'_>, windows: bool) -> Document {
    let mut document = Document::default();
    let judged = sides.judged();
    match judged.findings.split_first() {
        Some((first, further)) => {
            finding(sides, first, &judged, windows, &mut document);
            others(sides, further, &mut document);
            super::list::hint(&mut document);
        }
        None => {
            document.title("No difference that affects the cache");
            document.text(rejected(&judged).into_iter().collect());
        }
    }
    document.aside(vec![shared(sides)]);
    harmless(sides, &judged, &mut document);
    document.aside(assumed(sides, &judged));
    document
}

/// Rules that the result rests on, though they are not known for the model.
fn assumed(sides: &Sides<'_>, judged: &Judged) -> Vec<String> {
    let request = &sides.newer.request;
    let changes = judged.findings.iter().filter_map(|found| OpenRule::of_change(&found.site, request));
    let notes = sides.notes(judged);
    let notes = notes.iter().filter_map(|found| OpenRule::of_note(found.note, request));
    let rules: BTreeSet<OpenRule> = changes.chain(notes).collect();
    rules.into_iter().map(|rule| rule.warning(&model(sides))).collect()
}

/// All findings and notes as tables, for formats that have no sentences.
pub fn tables(sides: &Sides<'_>) -> Document {
    let mut document = Document::default();
    let judged = sides.judged();
    document.table(findings_table(sides, &judged.findings));
    document.table(notes_table(sides, &judged));
    document
}

fn finding(sides: &Sides<'_>, found: &Finding, judged: &Judged, windows: bool, document: &mut Document) {
    let place = change::place(&found.site);
    document.title(format!("{}: {}", found.cause.word(), sides.names.thing(&found.name)));
    document.text(vec![place, change::varying(found.volatile)].into_iter().flatten().collect());
    if let Some(shown) = found.windows.as_ref().filter(|_| windows && sides.names == Names::Plain) {
        let [older, newer] = shown.clone().map(Marked::from);
        document.parts.push(change::sides(&older, &newer));
    }
    let advice = format!("How to fix it: {}", sides.names.thing(&found.suggestion()));
    document.text(rejected(judged).into_iter().chain([cost(sides, found, judged), advice]).collect());
}

/// What the provider does with thinking in the newer request.
fn rejected(judged: &Judged) -> Option<String> {
    let thinking = judged.thinking.as_ref()?;
    Some(format!("Thinking at {}: {}. Expected: {}.", thinking.path, thinking.answer, thinking.expected))
}

fn cost(sides: &Sides<'_>, found: &Finding, judged: &Judged) -> String {
    if judged.cached_blocks == 0 && !found.breaks_prefix {
        return "The older request leaves nothing in the cache (no breakpoint, or below the minimum), so nothing is lost."
            .to_owned();
    }
    if !found.breaks_prefix {
        return "It comes after everything that the older request cached: nothing is lost.".to_owned();
    }
    let Some(loss) = found.loss else {
        return change::NOT_MODELLED.to_owned();
    };
    if loss.tokens == 0 {
        return "No cached text is sent again, so only the change itself is paid.".to_owned();
    }
    let tokens = count(loss.tokens);
    let instead = change::instead(loss.billed_as);
    let price = match loss.cost {
        Some(cost) => format!("{} more per request of {} at {}", money(cost), model(sides), sides.prices),
        None => format!("{} has no price in the book", model(sides)),
    };
    let sized = if sides.are_measured { "within the recorded total" } else { "estimated from 3.1 bytes a token" };
    format!("About {tokens} cached tokens ({sized}) are {instead}: {price}.")
}

fn model<'s>(sides: &'s Sides<'_>) -> Cow<'s, str> {
    sides.names.model(&sides.newer.request.model)
}

fn others(sides: &Sides<'_>, findings: &[Finding], document: &mut Document) {
    if !findings.is_empty() {
        document.heading("Further differences; a token counts for the first change that loses it");
        document.table(findings_table(sides, findings));
    }
}

fn findings_table(sides: &Sides<'_>, findings: &[Finding]) -> Table {
    Table::of("findings", findings)
        .with(Column::left("Cause", "cause").kept(), |found| Cell::text(found.cause.word()))
        .with(Column::name("Place", "path"), |found| Cell::text(&found.path))
        .with(Column::right("Byte", "offset_in_block").optional(), |found| {
            found.offset_in_block.map_or(Cell::Empty, Cell::Count)
        })
        .with(Column::right("Tokens, about", "tokens_lost"), |found| {
            found.tokens_lost().map_or(Cell::Empty, Cell::Count)
        })
        .with(Column::right("Cost", "cost_usd").kept(), |found| Cell::Money(found.cost()))
        .with(Column::wrap("What", "name"), |found| Cell::Text(sides.names.thing(&found.name)))
        .shown(SHOWN, "differences (--format json lists all)")
}

fn shared(sides: &Sides<'_>) -> String {
    let alignment = &sides.comparison.alignment;
    let newer = alignment.partner.len();
    let kept = alignment.partner.iter().flatten().count();
    if alignment.appends() {
        let added = match newer - kept {
            0 => "adds nothing".to_owned(),
            added => format!("adds {}", count(added as u64)),
        };
        return format!("The newer request repeats all {} blocks of the older and {added}.", count(kept as u64));
    }
    let prefix = match alignment.common() {
        0 => "none of them as an unbroken prefix".to_owned(),
        common => format!("the first {} as an unbroken prefix", count(common as u64)),
    };
    format!("{} of the newer request's {} blocks were in the older, {prefix}.", count(kept as u64), count(newer as u64))
}

fn harmless(sides: &Sides<'_>, judged: &Judged, document: &mut Document) {
    let table = notes_table(sides, judged);
    if !table.rows.is_empty() {
        document.heading("Harmless differences");
        document.table(table);
    }
}

fn notes_table(sides: &Sides<'_>, judged: &Judged) -> Table {
    Table::of("notes", &sides.notes(judged))
        .with(Column::left("Note", "note"), |found| Cell::text(found.note.word()))
        .with(Column::left("Place", "path"), |found| place_of(&found.path))
        .with(Column::wrap("Meaning", "detail"), |found| Cell::text(sentence(found.note)))
        .shown(SHOWN, "notes (--format json lists all)")
}

/// An empty path is the body as a whole.
fn place_of(path: &str) -> Cell {
    Cell::text(if path.is_empty() { "(whole body)" } else { path })
}
