//! Other breakpoints, by the names of the placements of agents. Hidden requests of the client keep their own.

pub use forkcast_sim::agent::query::Placement as Breakpoints;
use forkcast_sim::cache::Rules;
use forkcast_sim::wire::{BlockKind, Marker, NodeId, Prefixes, Ttl};

use super::spec::Lifetimes;
use crate::rebuild::{Dispatch, DispatchMarker, MarkerRole};

/// Places breakpoints request by request.
#[derive(Clone, Debug, Default)]
pub(super) struct Placer {
    breakpoints: Option<Breakpoints>,
    lifetimes: Option<Lifetimes>,
    /// End of each agent's last request, by number of the agent.
    last_ends: Vec<Option<NodeId>>,
}

impl Placer {
    pub fn new(breakpoints: Option<Breakpoints>, lifetimes: Option<Lifetimes>) -> Self {
        Self { breakpoints, lifetimes, last_ends: Vec::new() }
    }

    /// Puts the breakpoints of `sent` into `markers`, in prompt order.
    pub fn place(&mut self, sent: &Dispatch<'_>, rules: &Rules, markers: &mut Vec<Marker>) {
        markers.clear();
        match self.breakpoints {
            Some(breakpoints) if !sent.hidden => self.replace(breakpoints, sent, markers),
            _ => markers.extend(sent.markers.iter().map(|sent| sent.marker)),
        }
        if let Some(lifetimes) = self.lifetimes {
            for marker in &mut *markers {
                marker.ttl = lifetime(lifetimes, in_head(sent, marker.node));
            }
        }
        // None of the placements has more; a recording with more was refused and never comes here.
        markers.truncate(rules.breakpoints_max);
    }

    fn replace(&mut self, breakpoints: Breakpoints, sent: &Dispatch<'_>, markers: &mut Vec<Marker>) {
        if self.last_ends.len() <= sent.agent {
            self.last_ends.resize(sent.agent + 1, None);
        }
        let previous = self.last_ends[sent.agent];
        let nodes = match previous {
            None => self.first(breakpoints, sent),
            Some(previous) => later(breakpoints, sent, previous),
        };
        let (head, rest) = own_lifetimes(sent);
        let mut nodes: Vec<NodeId> =
            nodes.into_iter().flatten().filter(|node| sent.prefixes.depth(*node) > 0).collect();
        nodes.sort_by_key(|node| sent.prefixes.depth(*node));
        nodes.dedup();
        markers.extend(nodes.into_iter().map(|node| {
            let is_head = in_head(sent, node);
            let role = if is_head { MarkerRole::System } else { MarkerRole::Other };
            DispatchMarker::new(node, if is_head { head } else { rest }, role).marker
        }));
        self.last_ends[sent.agent] = Some(sent.end);
    }

    /// The marks of an agent's first request.
    fn first(&self, breakpoints: Breakpoints, sent: &Dispatch<'_>) -> [Option<NodeId>; 3] {
        let tail = Some(sent.end);
        match breakpoints {
            Breakpoints::None => [None; 3],
            Breakpoints::System => [Some(sent.system_end), None, None],
            Breakpoints::Shared => [Some(before_directive(sent)), None, None],
            Breakpoints::Tail => [tail, None, None],
            Breakpoints::Both => [Some(before_directive(sent)), tail, None],
            Breakpoints::TailPrevious => [self.continued(sent), tail, None],
            Breakpoints::BeforeResults => [before_results(sent), None, None],
            Breakpoints::Client2026 => with_tail(two_of_head(sent), tail),
        }
    }

    /// The end of the longest request of another agent that this prompt continues.
    fn continued(&self, sent: &Dispatch<'_>) -> Option<NodeId> {
        let ends = self.last_ends.iter().flatten().copied();
        let found = ends.filter(|end| is_prefix(sent.prefixes, *end, sent.end));
        found.max_by_key(|end| sent.prefixes.depth(*end))
    }
}

/// The marks of every later request.
fn later(breakpoints: Breakpoints, sent: &Dispatch<'_>, previous: NodeId) -> [Option<NodeId>; 3] {
    let tail = Some(sent.end);
    match breakpoints {
        Breakpoints::None => [None; 3],
        Breakpoints::Shared | Breakpoints::Tail | Breakpoints::Both => [tail, None, None],
        Breakpoints::System => [Some(sent.system_end), tail, None],
        Breakpoints::TailPrevious => {
            [Some(previous).filter(|previous| is_prefix(sent.prefixes, *previous, sent.end)), tail, None]
        }
        Breakpoints::BeforeResults => [before_results(sent), tail, None],
        Breakpoints::Client2026 => with_tail(two_of_head(sent), tail),
    }
}

fn with_tail([first, second]: [Option<NodeId>; 2], tail: Option<NodeId>) -> [Option<NodeId>; 3] {
    [first, second, tail]
}

/// The block before the last one, but nothing within tools and system prompt.
fn before_directive(sent: &Dispatch<'_>) -> NodeId {
    let above = block_before(sent.prefixes, sent.end).unwrap_or(sent.end);
    if in_head(sent, above) { sent.system_end } else { above }
}

/// Nothing where the prompt has no results; the walk ends with the newest run of them.
fn before_results(sent: &Dispatch<'_>) -> Option<NodeId> {
    let behind_head = sent.prefixes.ancestors(sent.end).take_while(|node| !in_head(sent, *node));
    let is_result = |node: &NodeId| sent.prefixes.kind(*node) == BlockKind::ToolResult;
    let last_of_run = behind_head.skip_while(|node| !is_result(node)).take_while(is_result).last()?;
    block_before(sent.prefixes, last_of_run)
}

/// The prefix that ends with the block before the last one; parameters are none that could be marked.
fn block_before(prefixes: &Prefixes, node: NodeId) -> Option<NodeId> {
    prefixes.ancestors(node).skip(1).find(|node| prefixes.kind(*node) != BlockKind::Parameters)
}

/// The marked system blocks as sent, at most two; the last two of the hidden prefix where none was marked.
fn two_of_head(sent: &Dispatch<'_>) -> [Option<NodeId>; 2] {
    let mut own = sent.markers.iter().rev().map(|sent| sent.marker.node).filter(|node| in_head(sent, *node));
    match own.next() {
        Some(last) => [own.next(), Some(last)],
        None => [sent.prefixes.parent(sent.system_end), Some(sent.system_end)],
    }
}

/// Whether a block belongs to tools or system prompt.
fn in_head(sent: &Dispatch<'_>, node: NodeId) -> bool {
    sent.prefixes.depth(node) <= sent.prefixes.depth(sent.system_end)
}

const fn lifetime(lifetimes: Lifetimes, is_head: bool) -> Ttl {
    match lifetimes {
        // `best` is two runs, each with one of the others.
        Lifetimes::FiveMinutes | Lifetimes::Best => Ttl::FiveMinutes,
        Lifetimes::OneHour => Ttl::OneHour,
        Lifetimes::HeadOneHour if is_head => Ttl::OneHour,
        Lifetimes::HeadOneHour => Ttl::FiveMinutes,
    }
}

/// Lifetimes that the request itself asks for, of tools and system prompt and of the rest; the first is never shorter,
/// as the provider demands.
fn own_lifetimes(sent: &Dispatch<'_>) -> (Ttl, Ttl) {
    let last = |is_head| {
        let mut markers = sent.markers.iter().rev().map(|sent| sent.marker);
        markers.find(|marker| in_head(sent, marker.node) == is_head).map_or(sent.ttl, |marker| marker.ttl)
    };
    let rest = last(false);
    (last(true).max(rest), rest)
}

/// Whether `short` is a prefix of `long`; a few steps, one for each line between them.
fn is_prefix(prefixes: &Prefixes, short: NodeId, long: NodeId) -> bool {
    let line = prefixes.line(short);
    let mut at = Some(long);
    while let Some(node) = at {
        if prefixes.line(node) == line {
            return prefixes.depth(short) <= prefixes.depth(node);
        }
        at = prefixes.branch(prefixes.line(node));
    }
    false
}
