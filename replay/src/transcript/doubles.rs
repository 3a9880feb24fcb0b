//! What stands in the input more than once counts once, whatever the order of the files.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::wire::Index;

use super::assemble::Found;
use super::{Answer, Thread, What};

/// One agent of one session.
type Key = (usize, Arc<str>, Arc<str>);

/// Joins what several files tell of one sub-agent: its own file knows all, the lines of progress in its caller's file only a part.
/// The thread with the most answers stays, of equals the one that has a file of its own. Another one
/// goes if it knows no other answers; where it knows a larger output, that is taken over.
pub(super) fn fold(found: &mut Vec<Found>) {
    let mut of_agent: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (at, entry) in found.iter().enumerate() {
        if let Some(agent) = &entry.thread.agent {
            of_agent.entry((entry.scope, entry.thread.session.clone(), agent.clone())).or_default().push(at);
        }
    }
    let mut gone = vec![false; found.len()];
    for mut told in of_agent.into_values().filter(|told| told.len() > 1) {
        told.sort_by_cached_key(|at| (Reverse(answers(&found[*at].thread).count()), !found[*at].alone, *at));
        let (first, others) = (told[0], &told[1..]);
        let places: BTreeMap<u128, usize> = places(&found[first].thread).collect();
        for other in others {
            let known: Vec<Answer> = answers(&found[*other].thread).cloned().collect();
            if known.iter().all(|answer| places.contains_key(&answer.id)) {
                gone[*other] = true;
                known.iter().for_each(|answer| complete(&mut found[first].thread, places[&answer.id], answer));
            }
        }
    }
    let mut gone = gone.into_iter();
    found.retain(|_| !gone.next().unwrap_or(false));
}

fn answers(thread: &Thread) -> impl Iterator<Item = &Answer> {
    thread.items.iter().filter_map(|item| match &item.what {
        What::Answer(answer) => Some(&**answer),
        _ => None,
    })
}

fn places(thread: &Thread) -> impl Iterator<Item = (u128, usize)> {
    thread.items.iter().enumerate().filter_map(|(at, item)| match &item.what {
        What::Answer(answer) => Some((answer.id, at)),
        _ => None,
    })
}

/// Takes over what another thread knows better of an answer.
fn complete(thread: &mut Thread, at: usize, other: &Answer) {
    let What::Answer(answer) = &mut thread.items[at].what else { return };
    answer.ended_at = answer.ended_at.max(other.ended_at);
    if output(other) > output(answer) {
        (answer.usage, answer.output, answer.stop) = (other.usage, other.output, other.stop);
    }
}

fn output(answer: &Answer) -> u64 {
    answer.usage.map_or(0, |recorded| recorded.usage.output_tokens)
}

/// Where an answer stands: thread and item.
type Place = (usize, usize);

/// Of the copies of one answer the one with the largest output counts, among equals the first by path and line; all others
/// are marked as copies. `found` is in the order of paths.
pub(super) fn mark_copies(found: &mut [Found]) {
    let mut best: Index<u128, (u64, Place)> = Index::default();
    let mut copies: Vec<Place> = Vec::new();
    for (at, entry) in found.iter().enumerate() {
        for (item, answer) in entry.thread.items.iter().enumerate().filter_map(|(item, entry)| match &entry.what {
            What::Answer(answer) => Some((item, answer)),
            _ => None,
        }) {
            let here = (output(answer), (at, item));
            let known = best.get_or_insert_with(answer.id, || here);
            match here.0 > known.0 {
                true => copies.push(std::mem::replace(known, here).1),
                false if known.1 != here.1 => copies.push(here.1),
                false => {}
            }
        }
    }
    for (at, item) in copies {
        if let What::Answer(answer) = &mut found[at].thread.items[item].what {
            answer.copied = true;
        }
    }
}

/// Threads of one session without those that are history alone: all their answers count elsewhere, and nothing hangs
/// on them. The main agent stays where it is the only one.
pub(super) fn without_history(threads: Vec<Found>) -> Vec<Found> {
    let mut mains = threads.iter().filter(|found| found.thread.agent.is_none()).count();
    let mut kept = Vec::with_capacity(threads.len());
    for found in threads {
        let is_main = found.thread.agent.is_none();
        match is_history(&found.thread) && (!is_main || mains > 1) {
            true => mains -= usize::from(is_main),
            false => kept.push(found),
        }
    }
    kept
}

fn is_history(thread: &Thread) -> bool {
    let mut any = false;
    let copied = answers(thread).all(|answer| {
        any = true;
        answer.copied
    });
    any && copied
}
