//! The least that the same requests could have cost, had one known the future.
//!
//! Each block is at each use read where it is alive, sent as plain input, or written for five minutes or an hour, whatever is
//! cheapest in the end (`economics.md` 1.2 and 3.4). That a request has four breakpoints, that short prefixes are not
//! cached, that the look-back ends, and that a write can be read only once the answer has begun is all left aside: it is a bound
//! and no plan. No choice of breakpoints of one lifetime is cheaper at the same prices. Of two lifetimes, one is cheaper only if
//! it makes an entry that is not billed: a breakpoint for an hour before the end of the read makes one, and so does one a few
//! tokens after a prefix that was written for five minutes; such entries outlive the paid ones (no provider documents whether
//! they do). Pings may be cheaper too, and have a bound of their own.
//!
//! Requests are kept as the ends of their prompts; a line of prefixes is gone through once, from its far end. Costs grow
//! with the requests, and with those on both sides of a fork where its sides were used in turns.

use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::{FeeLine, Rates};
use forkcast_sim::wire::{NodeId, Usage};

use super::timeline::{Policy, Prices, Timeline, Use};
use super::{Basis, Hypothetical};
use crate::rebuild::Dispatch;

/// Whether pings may keep prefixes alive in the bound. Each costs what it reads; its token of output is left aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundPings {
    /// No.
    #[default]
    None,
    /// Yes.
    Allowed,
}

/// The bound of one session.
#[derive(Debug)]
pub struct Bound {
    policy: Policy,
    uses: Vec<Use>,
    requests: Vec<BoundRequest>,
    lines: Vec<BoundLine>,
    /// The next request finds what is new in it written by somebody unseen.
    warm: bool,
}

/// What a request adds to its blocks.
#[derive(Clone, Debug)]
struct BoundRequest {
    hidden: bool,
    total_tokens: u64,
    /// Tokens after the last block.
    rest_tokens: u64,
    output_tokens: u64,
    rates: Option<Rates>,
    fees: Vec<FeeLine>,
}

/// A line of prefixes.
#[derive(Clone, Debug, Default)]
struct BoundLine {
    /// Where it branched off, once a request passed there: line, depth, tokens.
    branch: Option<(usize, u32, u64)>,
    known: bool,
    /// Requests that end on it.
    ends: Vec<End>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    depth: u32,
    tokens: u64,
    number: u32,
}

/// What meets at a depth of a line.
struct Meeting {
    depth: u32,
    tokens: u64,
    timeline: Timeline,
}

impl Bound {
    /// The bound under the lifetimes of `rules`.
    pub fn new(rules: &Rules, pings: BoundPings) -> Self {
        let policy = Policy { slack: rules.slack, pings: pings == BoundPings::Allowed };
        Self { policy, uses: Vec::new(), requests: Vec::new(), lines: Vec::new(), warm: false }
    }

    /// A hidden request has written what the next one brings beyond its predecessor (the last answer): it may be read.
    pub fn extend(&mut self) {
        self.warm = true;
    }

    /// Takes one request of the session; requests come in order of time, hidden ones too.
    pub fn serve(&mut self, sent: &Dispatch<'_>) {
        let Ok(number) = u32::try_from(self.uses.len()) else { return };
        let rates = sent.quote.rates.filter(|_| !sent.hidden);
        let tokens = sized(sent, sent.end);
        let warm = std::mem::take(&mut self.warm);
        self.uses.push(Use { at: sent.times.at, prices: Prices::new(rates.as_ref()), warm });
        self.requests.push(BoundRequest {
            hidden: sent.hidden,
            total_tokens: sent.total_tokens,
            rest_tokens: sent.total_tokens - tokens,
            output_tokens: sent.output_tokens,
            rates,
            fees: sent.quote.fees.clone(),
        });
        let (line, depth) = (sent.prefixes.line(sent.end).index(), sent.prefixes.depth(sent.end));
        self.know_lines(sent);
        self.lines[line].ends.push(End { depth, tokens, number });
    }

    /// Notes where the lines of the prompt branch off, as far as that is new.
    fn know_lines(&mut self, sent: &Dispatch<'_>) {
        let mut at = sent.end;
        loop {
            let id = sent.prefixes.line(at);
            if self.lines.len() <= id.index() {
                self.lines.resize(id.index() + 1, BoundLine::default());
            }
            let line = &mut self.lines[id.index()];
            if std::mem::replace(&mut line.known, true) {
                return;
            }
            let Some(branch) = sent.prefixes.branch(id) else { return };
            let tokens = sized(sent, branch);
            line.branch = Some((sent.prefixes.line(branch).index(), sent.prefixes.depth(branch), tokens));
            at = branch;
        }
    }

    /// For each request that is not hidden, in the order in which they came: its share. The shares sum to the bound.
    pub fn finish(mut self) -> Vec<Hypothetical> {
        let mut shares = vec![Usage::default(); self.uses.len()];
        for timeline in self.timelines() {
            timeline.settle(&self.uses, self.policy, &mut shares);
        }
        let visible = self.requests.iter().zip(shares).filter(|(asked, _)| !asked.hidden);
        visible.map(|(asked, share)| asked.bill(share, self.policy)).collect()
    }

    /// Lines from the last on: one branches off another that came before it.
    fn timelines(&mut self) -> Vec<Timeline> {
        let mut ended = Vec::new();
        let mut waiting: Vec<Vec<Meeting>> = self.lines.iter().map(|_| Vec::new()).collect();
        for (at, line) in std::mem::take(&mut self.lines).into_iter().enumerate().rev() {
            let mut meetings = std::mem::take(&mut waiting[at]);
            meetings.extend(line.ends.iter().map(|end| Meeting {
                depth: end.depth,
                tokens: end.tokens,
                timeline: Timeline::of(end.number),
            }));
            let (mut timeline, first_tokens) = along(meetings, &mut ended);
            match line.branch {
                Some((parent, depth, tokens)) => {
                    timeline.join(first_tokens.saturating_sub(tokens));
                    waiting[parent].push(Meeting { depth, tokens, timeline });
                }
                None => {
                    timeline.join(first_tokens);
                    ended.push(timeline);
                }
            }
        }
        ended
    }
}

/// Tokens of a prefix. One without a size (parameters, blocks never sent) has that of the blocks before it.
pub(super) fn sized(sent: &Dispatch<'_>, node: NodeId) -> u64 {
    let mut sizes = sent.prefixes.ancestors(node).map(|node| sent.sizes.tokens_at(node));
    sizes.find(|tokens| *tokens > 0).unwrap_or(0).min(sent.total_tokens)
}

/// Goes along a line from its far end. Gives the timeline of the blocks in front of the first meeting, and the tokens up to
/// there. Sizes that were corrected between two requests may contradict each other: the least holds, so that the bound stays
/// one.
fn along(mut meetings: Vec<Meeting>, ended: &mut Vec<Timeline>) -> (Timeline, u64) {
    meetings.sort_by_key(|meeting| std::cmp::Reverse(meeting.depth));
    let mut meetings = meetings.into_iter().peekable();
    let (mut current, mut behind) = (Timeline::default(), u64::MAX);
    while let Some(first) = meetings.next() {
        let (depth, mut tokens) = (first.depth, first.tokens);
        let mut parts = vec![first.timeline];
        while let Some(other) = meetings.next_if(|other| other.depth == depth) {
            tokens = tokens.min(other.tokens);
            parts.push(other.timeline);
        }
        tokens = tokens.min(behind);
        current.join(behind - tokens);
        parts.push(current);
        current = Timeline::merge(parts, ended);
        behind = tokens;
    }
    (current, if behind == u64::MAX { 0 } else { behind })
}

impl BoundRequest {
    fn bill(&self, mut share: Usage, policy: Policy) -> Hypothetical {
        share.input_tokens += self.rest_tokens;
        // Sizes that were corrected between two requests make the blocks fall short of a later prompt, or exceed it.
        let short = self.total_tokens.saturating_sub(share.total_input_tokens());
        share.cache_read_input_tokens += short;
        if !policy.pings {
            take_off(&mut share, self.total_tokens);
        }
        share.output_tokens = self.output_tokens;
        let cost = self.rates.as_ref().map(|rates| rates.bill(&share, &self.fees).total);
        Hypothetical { usage: share, cost, basis: Basis::Cache }
    }
}

/// Takes what exceeds the prompt from the dearest parts.
fn take_off(share: &mut Usage, total_tokens: u64) {
    let mut over = share.total_input_tokens().saturating_sub(total_tokens);
    let parts = [
        &mut share.ephemeral_1h_input_tokens,
        &mut share.ephemeral_5m_input_tokens,
        &mut share.input_tokens,
        &mut share.cache_read_input_tokens,
    ];
    for part in parts {
        let taken = over.min(*part);
        *part -= taken;
        over -= taken;
    }
}
