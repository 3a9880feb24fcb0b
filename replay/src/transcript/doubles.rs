//! Content that is repeated in the input counts once. Only content decides which copy counts, never names of files or the
//! order in which they were named.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use forkcast_sim::wire::{Index, number};

use super::assemble::{Found, Group};
use super::packed::{Packed, answers, output_tokens};
use super::spill::Spill;
use super::{Answer, Thread, What};

/// One agent of one session.
type Key = (Group, Arc<str>);

/// Joins the threads of one sub-agent in several files: its own file is complete, the lines of progress in its caller's file are
/// not. The thread with the most answers is kept, of equals the one with a file of its own, then the first in `found`. Another
/// one is dropped if it has no other answers; a larger output in it is kept.
pub(super) fn fold(found: &mut Vec<Found>, spill: &Spill) {
    let mut of_agent: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (at, entry) in found.iter().enumerate() {
        if let Some(agent) = &entry.thread.agent {
            of_agent.entry((entry.group(), agent.clone())).or_default().push(at);
        }
    }
    let mut gone = vec![false; found.len()];
    for mut threads in of_agent.into_values().filter(|threads| threads.len() > 1) {
        threads.sort_by_cached_key(|at| (Reverse(found[*at].thread.requests), !found[*at].alone, *at));
        let (first, others) = (threads[0], &threads[1..]);
        let known: BTreeMap<u128, usize> = places(&found[first].thread).collect();
        let knows_all = |at: &usize| places(&found[*at].thread).all(|(id, _)| known.contains_key(&id));
        let less: Vec<usize> = others.iter().copied().filter(knows_all).collect();
        if less.is_empty() {
            continue;
        }
        // A thread that cannot be unpacked is reported when its session is loaded.
        if let Ok(whole) = completed(found, first, &known, &less, spill) {
            found[first].thread = whole;
            less.into_iter().for_each(|at| gone[at] = true);
        }
    }
    let mut kept = gone.into_iter().map(|gone| !gone);
    found.retain(|_| kept.next() != Some(false));
}

fn places(thread: &Packed) -> impl Iterator<Item = (u128, usize)> {
    thread.answers.iter().map(|mark| (mark.id, mark.item as usize))
}

/// The thread `first`, completed from the threads `less`.
fn completed(
    found: &[Found],
    first: usize,
    known: &BTreeMap<u128, usize>,
    less: &[usize],
    spill: &Spill,
) -> io::Result<Packed> {
    let mut whole = found[first].thread.unpacked(spill)?;
    for other in less {
        let thread = found[*other].thread.unpacked(spill)?;
        answers(&thread.items).for_each(|(_, answer)| complete(&mut whole, known[&answer.id], answer));
    }
    Ok(Packed::new(whole, spill))
}

/// Completes an answer from another thread.
fn complete(thread: &mut Thread, at: usize, other: &Answer) {
    let What::Answer(answer) = &mut thread.items[at].what else { return };
    answer.ended_at = answer.ended_at.max(other.ended_at);
    if output_tokens(other) > output_tokens(answer) {
        (answer.usage, answer.output, answer.stop) = (other.usage, other.output, other.stop);
    }
}

/// The rank of a copy of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    output_tokens: u64,
    /// Items before it in its thread.
    items_before: u32,
}

/// The place of an answer: thread and item.
type Place = (u32, u32);

/// Of the copies of one answer, the one with the largest output counts, then the one with the most items before it, then the
/// first in `found`; all others are marked as copies.
///
/// When Claude Code resumes a conversation under another id, its copy lacks the lines of queue and hooks (observed in 2.1.2xx),
/// so the original has more signs before an answer. Forecasts need these signs.
pub(super) fn mark_copies(found: &mut [Found]) {
    let mut best: Index<u128, (Worth, Place)> = Index::default();
    let mut copies: Vec<Place> = Vec::new();
    for (at, entry) in found.iter().enumerate() {
        let at = number(at);
        for mark in &entry.thread.answers {
            let here = (Worth { output_tokens: mark.output_tokens, items_before: mark.item }, (at, mark.item));
            let known = best.get_or_insert_with(mark.id, || here);
            // Within a thread the first of two equal copies counts.
            let is_better =
                if known.1.0 == at { here.0.output_tokens > known.0.output_tokens } else { here.0 > known.0 };
            match is_better {
                true => copies.push(std::mem::replace(known, here).1),
                false if known.1 != here.1 => copies.push(here.1),
                false => {}
            }
        }
    }
    copies.sort_unstable();
    for (at, item) in copies {
        found[at as usize].copied.push(item);
    }
}

/// Threads of one session without those that are only history, that is, whose answers all count elsewhere. The only main agent
/// is kept.
pub(super) fn without_history(threads: Vec<Found>) -> Vec<Found> {
    let mut mains = threads.iter().filter(|found| found.thread.agent.is_none()).count();
    let mut kept = Vec::with_capacity(threads.len());
    for found in threads {
        let is_main = found.thread.agent.is_none();
        match is_history(&found) && (!is_main || mains > 1) {
            true => mains -= usize::from(is_main),
            false => kept.push(found),
        }
    }
    kept
}

fn is_history(found: &Found) -> bool {
    found.thread.requests > 0 && found.copied.len() == found.thread.requests
}
