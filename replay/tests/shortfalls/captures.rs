//! Wire captures: every request that read less than its chain had left in the cache.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use forkcast_replay::exchange::Exchange;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_sim::guard::{Checked, Facts, Guard, NoteKind, Rules, Sent};
use forkcast_sim::wire::{ChainId, Usage};

const CAPTURES: [&str; 2] = ["pinned-s-4b6a435234bf-26-28.full.json.gz", "pinned-s-86a4ec44206b-69-71.json.gz"];

/// Fewer tokens than this are no shortfall: the tail of a prompt differs by some.
const SHORT_TOKENS: u64 = 64;

/// A request that read too little.
struct Short {
    request: usize,
    chain: String,
    model: String,
    expected: u64,
    read: u64,
    said: String,
    visible: bool,
}

/// What each chain had left in the cache.
#[derive(Default)]
struct Left(BTreeMap<ChainId, u64>);

impl Left {
    /// The shortfall of a request from what its chain had left, and what it leaves itself.
    fn short_of(&mut self, chain: ChainId, usage: &Usage) -> Option<u64> {
        let written = usage.ephemeral_5m_input_tokens + usage.ephemeral_1h_input_tokens;
        let left = self.0.insert(chain, usage.cache_read_input_tokens + written)?;
        // A request that went back to something shorter cannot read more than it asks.
        let expected = left.min(usage.cache_read_input_tokens + written + usage.input_tokens);
        (usage.cache_read_input_tokens + SHORT_TOKENS < expected).then_some(expected)
    }
}

fn take(guard: &mut Guard, exchange: &Exchange) -> Checked {
    let sent = Sent {
        body: &exchange.body,
        model_outside: &exchange.model,
        facts: Facts {
            chain: exchange.chain.as_deref(),
            scope: "capture",
            at: exchange.sent_at,
            first_byte_at: exchange.first_byte_at,
            usage: exchange.usage.map(|usage| usage.usage),
            ..Facts::default()
        },
        ..Sent::default()
    };
    guard.take(&sent).expect("a body")
}

/// What we say of a request, and whether a visible byte, breakpoint or instant explains the shortfall.
fn said(checked: &Checked) -> (String, bool) {
    let breaking = checked.findings.iter().filter(|one| one.breaks_prefix);
    let mut said: Vec<String> = breaking.map(|one| format!("`{}` {}", one.cause, one.path)).collect();
    let time = checked.notes.iter().filter_map(|noted| match noted.note {
        NoteKind::Time(cause) => Some(format!("`{cause}` (time)")),
        _ => None,
    });
    said.extend(time);
    let (visible, more) = (!said.is_empty(), said.len().saturating_sub(3));
    said.truncate(3);
    if more > 0 {
        said.push(format!("and {more} more"));
    }
    (if visible { said.join(", ") } else { "nothing: no visible byte changed".to_owned() }, visible)
}

fn shortfalls(path: &Path) -> Vec<Short> {
    let inputs = Inputs::read(&[path], InputFormat::Auto).unwrap();
    let rules = Rules { preset: forkcast_sim::cache::PRESETS[2], ..Rules::default() };
    let (mut guard, mut left, mut found) = (Guard::new(rules), Left::default(), Vec::new());
    for (request, exchange) in inputs.exchanges().enumerate() {
        let checked = take(&mut guard, exchange);
        let Some(usage) = exchange.usage.map(|usage| usage.usage) else { continue };
        if let Some(expected) = left.short_of(checked.chain, &usage) {
            let (said, visible) = said(&checked);
            let (model, read) = (exchange.model.clone(), usage.cache_read_input_tokens);
            found.push(Short { request, chain: checked.chain_name, model, expected, read, said, visible });
        }
    }
    found
}

pub fn table(data: &Path) -> String {
    let mut out = String::from(
        "## Wire captures\n\nEvery request of two captures of a real client (rules `observed-2026-08`) that read less than its chain had left in the\ncache of what it asks, by more than 64 tokens.\n\n| capture | request | chain | model | left | read | found |\n|---|---:|---|---|---:|---:|---|\n",
    );
    let (mut all, mut explained) = (0, 0);
    for name in CAPTURES {
        let capture = name.split('-').nth(2).unwrap_or(name);
        for short in shortfalls(&data.join("wire-cache-fix/harvested").join(name)) {
            let Short { request, chain, model, expected, read, said, visible } = short;
            writeln!(out, "| {capture} | {request} | {chain} | {model} | {expected} | {read} | {said} |").unwrap();
            all += 1;
            explained += usize::from(visible);
        }
    }
    writeln!(out, "\n{explained} of {all} are explained by visible changes.").unwrap();
    out
}
