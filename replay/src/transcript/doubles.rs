//! What stands in the input more than once counts once. Which copy counts depends on content alone, never on names of files
//! or on the order in which they were named.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use forkcast_sim::wire::Index;

use super::assemble::{Found, Group};
use super::packed::{Packed, answers, output_tokens};
use super::spill::Spill;
use super::{Answer, Thread, What};

/// One agent of one session.
type Key = (Group, Arc<str>);

/// Joins what several files tell of one sub-agent: its own file knows all, the lines of progress in its caller's file only a part.
/// The thread with the most answers stays, of equals the one that has a file of its own, then the first in `found`. Another one
/// goes if it knows no other answers; where it knows a larger output, that is taken over.
pub(super) fn fold(found: &mut Vec<Found>, spill: &Spill) {
    let mut of_agent: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (at, entry) in found.iter().enumerate() {
        if let Some(agent) = &entry.thread.agent {
            of_agent.entry((entry.group(), agent.clone())).or_default().push(at);
        }
    }
    let mut gone = vec![false; found.len()];
    for mut told in of_agent.into_values().filter(|told| told.len() > 1) {
        told.sort_by_cached_key(|at| (Reverse(found[*at].thread.requests), !found[*at].alone, *at));
        let (first, others) = (told[0], &told[1..]);
        let known: BTreeMap<u128, usize> = places(&found[first].thread).collect();
        let knows_all = |at: &usize| places(&found[*at].thread).all(|(id, _)| known.contains_key(&id));
        let less: Vec<usize> = others.iter().copied().filter(knows_all).collect();
        if less.is_empty() {
            continue;
        }
        // What cannot be taken out again is told of when the session is.
        if let Ok(whole) = completed(found, first, &known, &less, spill) {
            found[first].thread = whole;
            less.into_iter().for_each(|at| gone[at] = true);
        }
    }
    let mut gone = gone.into_iter();
    found.retain(|_| !gone.next().unwrap_or(false));
}

fn places(thread: &Packed) -> impl Iterator<Item = (u128, usize)> {
    thread.answers.iter().map(|mark| (mark.id, mark.item as usize))
}

/// The thread `first` with what the threads `less` know better of its answers.
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

/// Takes over what another thread knows better of an answer.
fn complete(thread: &mut Thread, at: usize, other: &Answer) {
    let What::Answer(answer) = &mut thread.items[at].what else { return };
    answer.ended_at = answer.ended_at.max(other.ended_at);
    if output_tokens(other) > output_tokens(answer) {
        (answer.usage, answer.output, answer.stop) = (other.usage, other.output, other.stop);
    }
}

/// What makes one copy of an answer better than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    output_tokens: u64,
    /// Items before it in its thread.
    told_before: u32,
}

/// Where an answer stands: thread and item.
type Place = (u32, u32);

/// Of the copies of one answer the one with the largest output counts, then the one before which its file tells the most, then
/// the first in `found`; all others are marked as copies.
///
/// Claude Code copies a conversation that it resumes under another id without the lines of its queue and its hooks (observed
/// in 2.1.2xx), so the original tells more of what led to an answer. Forecasts need these signs.
pub(super) fn mark_copies(found: &mut [Found]) {
    let mut best: Index<u128, (Worth, Place)> = Index::default();
    let mut copies: Vec<Place> = Vec::new();
    for (at, entry) in found.iter().enumerate() {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        for mark in &entry.thread.answers {
            let here = (Worth { output_tokens: mark.output_tokens, told_before: mark.item }, (at, mark.item));
            let known = best.get_or_insert_with(mark.id, || here);
            // What a thread says twice it said first.
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

/// Threads of one session without those that are history alone: all their answers count elsewhere, and nothing hangs
/// on them. The main agent stays where it is the only one.
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
