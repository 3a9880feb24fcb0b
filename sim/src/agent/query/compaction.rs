//! Compaction, the first step of every iteration: snip, micro, auto (contract COMPACT, STOP-06).
//!
//! An agent knows the size of its conversation from the usage of its last answer; what was added since is estimated from
//! its bytes. `snip` and `micro` change results in the middle of the conversation, which is sent again from there. `auto`
//! asks an internal fork for a summary, which reads the whole conversation from the cache (COMPACT-08, COMPACT-09). The
//! summary replaces everything but the newest words of the user.

use std::rc::Rc;

use serde_json::Value;

use super::iteration::Loop;
use crate::agent::entry::{Entry, History, Nature};
use crate::agent::event::Event;
use crate::agent::session::{Context, Rewriting};
use crate::agent::settings::Mechanism;
use crate::wire::{Message, Piece};

/// Characters of a snipped result.
const SNIPPED_CHARS: usize = 1_000;

/// A cleared result.
const CLEARED: &str = "[Old tool result content cleared]";

/// Bytes of a token, for what no answer has counted yet.
const BYTES_A_TOKEN: u64 = 4;

impl Loop {
    /// The first step. Most often there is nothing to do, so what does it is no part of the loop's future.
    pub(super) async fn compact(&mut self) {
        self.step("compact");
        let rewritings = self.rewritings();
        let is_forced = std::mem::take(&mut self.must_compact);
        if !rewritings.is_empty() || self.due(is_forced).is_some() {
            Box::pin(self.compact_now(rewritings, is_forced)).await;
        }
    }

    /// What a scenario rewrites, then the mechanisms that are due, in order (COMPACT-01).
    async fn compact_now(&self, rewritings: Vec<Rewriting>, is_forced: bool) {
        self.rewrite(rewritings).await;
        let context = self.context.clone();
        let Some(options) = context.session.settings.compaction.filter(|_| may_compact(&context)) else { return };
        let mut tokens = estimate(&context);
        let is_due = |mechanism| options.is_due(mechanism, tokens, is_forced);
        let as_sent =
            [Mechanism::Snip, Mechanism::Micro].into_iter().any(is_due).then(|| context.entries.borrow().clone());
        for mechanism in [Mechanism::Snip, Mechanism::Micro] {
            if options.is_due(mechanism, tokens, is_forced) {
                tokens = tokens.saturating_sub(shorten(&context, mechanism, options.kept_results, tokens));
            }
        }
        if options.is_due(Mechanism::Auto, tokens, is_forced) {
            Box::pin(summarise(&context, tokens, as_sent)).await;
        }
    }

    /// What the loop begins with (LOOP-02): the strongest mechanism that is due.
    pub(super) fn compaction_decision(&self) -> &'static str {
        self.due(false).map_or("none", |mechanism| mechanism.name())
    }

    /// The strongest mechanism that is due.
    fn due(&self, is_forced: bool) -> Option<Mechanism> {
        let context = &self.context;
        let options = context.session.settings.compaction.filter(|_| may_compact(context))?;
        let tokens = estimate(context);
        Mechanism::ALL.iter().rev().find(|mechanism| options.is_due(**mechanism, tokens, is_forced)).copied()
    }

    /// What a scenario rewrites now.
    fn rewritings(&self) -> Vec<Rewriting> {
        let context = &self.context;
        let task = context.parent.as_ref().and_then(|_| context.session.tasks.get(&context.agent));
        let of_task = task.and_then(|task| task.take_rewriting()).map(|text| Rewriting::Whole { text, takes: None });
        let of_main = match context.parent {
            Some(_) => Vec::new(),
            None => context.session.front.take_rewritings(true),
        };
        of_task.into_iter().chain(of_main).collect()
    }

    /// If a scenario rewrites the history, the new text replaces it here, as a summary would.
    async fn rewrite(&self, rewritings: Vec<Rewriting>) {
        let context = &self.context;
        for rewriting in rewritings {
            if let Rewriting::Whole { takes: Some(takes), .. } = &rewriting {
                crate::select! {
                    () = context.session.handle.sleep(*takes) => {}
                    () = context.abort.given() => return,
                }
            }
            context.rewrite(&rewriting);
        }
    }
}

/// Returns when the main conversation has been idle for so long that it is summarised; never, if it is not to be, or if
/// nothing was said since its last summary.
pub async fn is_idle(main: &Context) {
    let idle = main.session.settings.compaction.and_then(|options| options.idle);
    let has_answer = || main.entries.borrow().iter().any(|entry| entry.nature == Nature::Said);
    match idle.filter(|idle| has_answer() && estimate(main) >= idle.min_tokens) {
        Some(idle) => main.session.handle.sleep_until(main.session.front.idle_since() + idle.after).await,
        None => std::future::pending().await,
    }
}

/// Summarises the main conversation before the cache forgets it.
pub async fn compact_idle(main: &Rc<Context>) {
    let _active = main.session.front.begin(&main.session, &main.abort);
    let agent = main.agent.clone();
    main.emit(&Event::Ui { agent: agent.clone(), kind: "idle_compaction" });
    main.emit(&Event::QueryStep { agent, iteration: 0, step: "compact" });
    summarise(main, estimate(main), None).await;
}

/// An internal fork is not compacted, and the first request of a fork is that of its siblings (COMPACT-11).
fn may_compact(context: &Context) -> bool {
    context.helper.is_none() && !(context.fork.is_some() && context.turns.get() == 0)
}

/// Tokens of the next request: those of the last answer and what was added since.
fn estimate(context: &Context) -> u64 {
    let entries = context.entries.borrow();
    let last = entries.iter().rposition(|entry| entry.nature == Nature::Said);
    let known = last.map_or(0, |at| entries[at].usage.total_input_tokens() + entries[at].usage.output_tokens);
    let added = entries[last.map_or(0, |at| at + 1)..].iter().map(|entry| size(&entry.message)).sum::<u64>();
    known + added
}

fn size(message: &Message) -> u64 {
    message.content.iter().map(tokens_of).sum()
}

fn tokens_of(piece: &Piece) -> u64 {
    piece.declared_tokens().unwrap_or_else(|| piece.json().len() as u64 / BYTES_A_TOKEN)
}

/// Shortens the results of calls but the newest ones; returns the tokens that this saves.
fn shorten(context: &Context, mechanism: Mechanism, kept: usize, tokens: u64) -> u64 {
    let mut entries = context.entries.borrow_mut();
    let places: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].nature == Nature::Results).collect();
    let (mut results, mut saved) = (0, 0);
    for at in &places[..places.len().saturating_sub(kept)] {
        if let Some(entry) = shortened(&entries[*at], mechanism) {
            saved += size(&entries[*at].message).saturating_sub(size(&entry.message));
            results += 1;
            entries.put(*at, Rc::new(entry));
        }
    }
    let length = entries.len();
    drop(entries);
    if results > 0 {
        tell(context, mechanism, tokens, [length, length], results);
    }
    saved
}

/// The entry with shorter results; `None` if none becomes shorter.
fn shortened(entry: &Entry, mechanism: Mechanism) -> Option<Entry> {
    let mut changed = false;
    let pieces = entry.message.content.iter().map(|piece| match shorter(piece, mechanism) {
        Some(shorter) => {
            changed = true;
            shorter
        }
        None => piece.clone(),
    });
    let content: Vec<Piece> = pieces.collect();
    let message = Rc::new(Message { role: entry.message.role, content: content.into() });
    changed.then(|| Entry { message, ..Entry::clone(entry) })
}

/// A shorter block, if it is a result of text that becomes shorter.
fn shorter(piece: &Piece, mechanism: Mechanism) -> Option<Piece> {
    let id = piece.answered_call()?;
    let block: Value = serde_json::from_str(piece.json()).ok()?;
    let text = block.get("content")?.as_str()?;
    let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or_default();
    let new = match mechanism {
        Mechanism::Snip => {
            let kept: String = text.chars().take(SNIPPED_CHARS).collect();
            format!("{kept}\n[… {} characters snipped]", text.chars().count().saturating_sub(SNIPPED_CHARS))
        }
        Mechanism::Micro | Mechanism::Auto => CLEARED.to_owned(),
    };
    (new.len() < text.len()).then(|| Piece::tool_result(id, &new, is_error))
}

/// Replaces the conversation by a summary, except what the user said since the last answer (COMPACT-03, COMPACT-07).
/// The fork that writes the summary begins with the conversation `as_sent`, before results were shortened, for that is
/// what the cache holds (COMPACT-09).
async fn summarise(context: &Rc<Context>, tokens: u64, as_sent: Option<History>) {
    let shortened = as_sent.map(|as_sent| context.entries.replace(as_sent));
    let summary = context.session.helpers.summary(context).await;
    if let Some(shortened) = shortened {
        context.entries.replace(shortened);
    }
    let Some(summary) = summary else { return };
    let text = format!("The conversation so far was compacted to this summary:\n\n{summary}");
    let entry = Entry::user(context.session.ids.next("entry"), &text, Nature::Inserted);
    let mut entries = context.entries.borrow_mut();
    let before = entries.len();
    let is_done = |entry: &Rc<Entry>| entry.is_assistant() || entry.nature == Nature::Results;
    let newest = entries.iter().rposition(is_done).map_or(0, |at| at + 1);
    let kept = [&[entry][..], &entries[newest..]].concat();
    let left = kept.len();
    entries.replace(kept);
    drop(entries);
    tell(context, Mechanism::Auto, tokens, [before, left], 0);
}

fn tell(context: &Context, mechanism: Mechanism, tokens: u64, [entries, left]: [usize; 2], results: usize) {
    let agent = context.agent.clone();
    context.emit(&Event::Compacted { agent, mechanism: mechanism.name(), tokens, entries, left, results });
}
