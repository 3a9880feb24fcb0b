//! Marks on the bars: where a prompt diverges from its predecessor, where reading stopped, how far a parent had sent.

use std::collections::BTreeMap;

use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::diagnosis::Cause;

use super::rows::{Section, Stack};
use super::{Places, SIZE, STACK_HEAD, WORDS_RIGHT};
use crate::document::count;
use crate::figures::axis::Scale;
use crate::figures::canvas::{Anchor, Area, Canvas, ink, text_width};
use crate::forks::difference_of;

/// The place of a miss of a request.
struct Mark {
    cause: Cause,
    /// The bytes of the prompt are to blame.
    is_content: bool,
    tokens: u64,
}

impl Mark {
    /// The mark of a request with a miss: for a change of content where it diverges from its predecessor, else where
    /// reading stopped.
    fn of(request: &Request) -> Option<Self> {
        let causes = request.causes();
        let content = causes.iter().find(|(cause, _)| difference_of(request, *cause).is_some());
        let (cause, _) = content.or_else(|| causes.first().filter(|(cause, _)| *cause != Cause::FirstRequest))?;
        let tokens =
            if content.is_some() { request.layout.shared_tokens } else { request.usage().cache_read_input_tokens };
        Some(Self { cause: *cause, is_content: content.is_some(), tokens })
    }
}

/// Draws all marks.
pub fn draw(run: &Run, sections: &[Section], places: &Places, scale: &Scale, canvas: &mut Canvas<'_>) {
    let stacks: Vec<(&Stack, (i32, i32))> =
        sections.iter().flat_map(|section| &section.stacks).zip(places.tops.iter().copied()).collect();
    sent(run, &stacks, scale, canvas);
    for (stack, (top, high)) in stacks {
        missed(run, stack, top, high, scale, canvas);
    }
}

/// For each request that forks continue, a dashed line from its end down to the last of them.
fn sent(run: &Run, stacks: &[(&Stack, (i32, i32))], scale: &Scale, canvas: &mut Canvas<'_>) {
    let mut bottoms: BTreeMap<usize, i32> = BTreeMap::new();
    let mut down: BTreeMap<usize, i32> = BTreeMap::new();
    for (stack, (top, high)) in stacks {
        for at in &stack.requests {
            bottoms.insert(*at, top + high);
            if let Some(parent) = run.requests.get(*at).and_then(|request| forked_from(run, request)) {
                let lowest = down.entry(parent).or_default();
                *lowest = (*lowest).max(top + high);
            }
        }
    }
    for (parent, bottom) in down {
        let Some((request, top)) = run.requests.get(parent).zip(bottoms.get(&parent)) else { continue };
        let at = scale.at(request.layout.level_ends[2] as f64);
        dashes(at, *top, bottom, canvas);
    }
}

/// A dashed line, from top to bottom.
pub fn dashes(at: i32, top: i32, bottom: i32, canvas: &mut Canvas<'_>) {
    let mut from = top;
    while from < bottom {
        canvas.fill(Area { left: at, top: from, right: at + 1, bottom: (from + 4).min(bottom) }, ink::TEXT);
        from += 7;
    }
}

/// The parent's request that a fork's first request continues.
fn forked_from(run: &Run, request: &Request) -> Option<usize> {
    let agent = run.agents.get(request.agent)?;
    let continues = request.layout.continues?;
    let is_others = run.requests.get(continues)?.agent != request.agent;
    (agent.fork.is_some() && is_others).then_some(continues)
}

/// A stack's marks, with a word for each cause and how many requests it holds for.
fn missed(run: &Run, stack: &Stack, top: i32, high: i32, scale: &Scale, canvas: &mut Canvas<'_>) {
    let mut found: BTreeMap<(Cause, i32, bool), Marked> = BTreeMap::new();
    for (row, at) in stack.requests.iter().enumerate() {
        let Some(mark) = run.requests.get(*at).and_then(Mark::of) else { continue };
        let key = (mark.cause, scale.at(mark.tokens as f64), mark.is_content);
        let marked = found.entry(key).or_insert(Marked { requests: 0, first: row, last: row });
        (marked.requests, marked.last) = (marked.requests + 1, row);
    }
    // Words are beneath one another; there is only room for the most frequent.
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, marked)| std::cmp::Reverse(marked.requests));
    let edge = |row: usize| top + high * i32::try_from(row * 1_000 / stack.requests.len().max(1)).unwrap_or(0) / 1_000;
    for ((_, at, is_content), marked) in &found {
        tick(*at, edge(marked.first), edge(marked.last + 1), *is_content, canvas);
    }
    let lines = usize::try_from(high / STACK_HEAD).unwrap_or(0).max(1);
    for (line, ((cause, at, _), marked)) in (0..).zip(found.iter().take(lines)) {
        let times = if marked.requests > 1 { format!(" × {}", count(marked.requests)) } else { String::new() };
        let middle = top + line * STACK_HEAD + high.min(STACK_HEAD) / 2;
        word(&format!("{}{times}", cause.word()), *at, middle, canvas);
    }
}

/// Requests of a stack with one mark at one place: how many, and between which rows.
struct Marked {
    requests: u64,
    first: usize,
    last: usize,
}

/// A line across the bar with a head above it: filled where the prompt diverges, open where only reading stopped.
pub fn tick(at: i32, top: i32, bottom: i32, is_content: bool, canvas: &mut Canvas<'_>) {
    canvas.fill(Area { left: at - 1, top, right: at + 1, bottom: bottom + 1 }, ink::MISSED);
    canvas.polygon(&[(at - 5, top - 4), (at + 5, top - 4), (at, top + 4)], ink::MISSED);
    if !is_content {
        canvas.polygon(&[(at - 3, top - 3), (at + 3, top - 3), (at, top + 2)], ink::PAPER);
    }
}

fn word(word: &str, at: i32, middle: i32, canvas: &mut Canvas<'_>) {
    let wide = text_width(word, SIZE) + 6;
    let left = if at + 6 + wide > WORDS_RIGHT { at - 6 - wide } else { at + 6 };
    canvas.fill(Area { left, top: middle - 7, right: left + wide, bottom: middle + 7 }, ink::PAPER);
    canvas.text(word, (left + 3, middle), SIZE, ink::MISSED, Anchor::Start);
}
