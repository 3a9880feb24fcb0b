//! Whether a fork's breakpoints reach the entries that its parent wrote.

use super::Pair;
use super::card::{Card, Evidence};
use super::check::Check;
use crate::cache::{LookBack, Rules, look_back, refusal};
use crate::wire::{Marker, Request};

const HIDDEN: &str = "the input does not show the breakpoints that were sent";
const NOTHING_MARKED: &str = "no breakpoint of the fork covers all that it shares with its parent";

/// Applies the checks of breakpoints to a pair.
pub(super) fn check(pair: &Pair<'_>, rules: &Rules, card: &mut Card) {
    if !(pair.fork.has_body() && pair.base.has_body()) {
        card.unknown(Check::Breakpoints, HIDDEN);
        card.unknown(Check::LookBack, HIDDEN);
        return;
    }
    let mut wrong = Vec::new();
    for taken in [pair.base, pair.fork] {
        if let Err(refused) = refusal::check(&taken.request, rules) {
            let found = format!("the provider refuses it: {refused}");
            wrong.push(taken.evidence(pair.base, String::new(), found));
        }
    }
    let end = pair.covered_end();
    match end {
        None => {
            let found = "the parent's request has no breakpoint, so a fork can read nothing of it".to_owned();
            wrong.push(pair.base.evidence(pair.base, String::new(), found));
        }
        Some(end) if covering(&pair.fork.request, end).is_none() => {
            let path = path_of(&pair.fork.request, end);
            wrong.push(pair.evidence(path, "no breakpoint here or later, where the shared part ends".to_owned()));
        }
        Some(_) => {}
    }
    card.judge(Check::Breakpoints, wrong);
    match end.and_then(|end| Some((end, covering(&pair.fork.request, end)?))) {
        Some((end, marker)) => card.judge(Check::LookBack, beyond(pair, end, marker, rules.look_back)),
        None => card.unknown(Check::LookBack, NOTHING_MARKED),
    }
}

/// The first breakpoint at or after block `end`.
fn covering(request: &Request, end: usize) -> Option<&Marker> {
    request.markers.iter().find(|marker| request.index_of(marker).is_some_and(|at| at >= end))
}

fn beyond(pair: &Pair<'_>, end: usize, marker: &Marker, rule: LookBack) -> Vec<Evidence> {
    let request = &pair.fork.request;
    let reaches = look_back(&pair.wire.prefixes, marker.node, rule).any(|node| Some(&node) == request.nodes.get(end));
    if reaches {
        return Vec::new();
    }
    let found = format!(
        "the breakpoint at {} looks back {} positions ({}), and the parent's last entry is further back",
        request.path(marker.place),
        rule.reach,
        rule.count.name()
    );
    let path = path_of(request, end);
    vec![pair.evidence(path, found)]
}

fn path_of(request: &Request, at: usize) -> String {
    request.places.get(at).map_or_else(String::new, |place| request.path(*place))
}
