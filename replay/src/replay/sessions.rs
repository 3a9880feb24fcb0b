//! All sessions of the input, side by side; their ledgers arrive in order.

use super::session::{self, Ledger, Place};
use super::{Options, Replay};
use crate::input::Inputs;
use crate::rebuild::forecast::{Observation, Shared};
use crate::side_by_side::side_by_side;
use crate::transcript::{Session, What};

/// Replays the sessions behind everything else; their chains are numbered from `chains`.
pub(super) fn run(inputs: &Inputs, options: &Options, mut chains: usize, stop: &dyn Fn() -> bool, result: &mut Replay) {
    if inputs.sessions.is_empty() {
        return;
    }
    let files = inputs.scopes.iter().map(|scope| scope.files.len()).sum::<usize>();
    let mut order: Vec<usize> = (0..inputs.sessions.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(items(&inputs.sessions[*at])), *at));
    let shared = shared(inputs, options, &order);
    let replay = |at: usize| {
        let session = &inputs.sessions[at];
        let place = Place { index: at, number: files + at, timed: is_timed(session) };
        session::replay(session, place, &shared, options)
    };
    side_by_side(&order, &replay, &mut |ledger| {
        if result.partial || stop() {
            result.partial = true;
            return;
        }
        let own = ledger.chains;
        append(result, ledger, chains);
        chains += own;
    });
}

/// What sessions share, in two looks at each: who used which hidden prefix when, and with that what it shows of them.
fn shared(inputs: &Inputs, options: &Options, order: &[usize]) -> Shared {
    let look = |known: &Shared| {
        let mut seen = Vec::new();
        let observe = |at: usize| session::observe(&inputs.sessions[at], at, known, options);
        side_by_side(order, &observe, &mut |own| seen.extend(own));
        seen
    };
    let uses = look(&Shared::default());
    let uses = uses.into_iter().filter(|(_, _, observation)| matches!(observation, Observation::Use(..)));
    let uses = Shared::of(uses);
    Shared::of(look(&uses))
}

fn items(session: &Session) -> usize {
    session.agents.iter().map(|agent| agent.thread.items.len()).sum()
}

/// Every request has an instant.
fn is_timed(session: &Session) -> bool {
    let items = session.agents.iter().flat_map(|agent| &agent.thread.items);
    items
        .filter_map(|item| match &item.what {
            What::Answer(answer) => Some(answer.sent_at.or(answer.first_at)),
            _ => None,
        })
        .all(|at| at.is_some())
}

fn append(result: &mut Replay, ledger: Ledger, chains: usize) {
    let first = result.lines.len();
    result
        .lines
        .extend(ledger.lines.into_iter().map(|line| forkcast_sim::ledger::Line { index: first + line.index, ..line }));
    let added = &result.lines[first..];
    result.chains.extend(added.iter().map(|line| line.chain.map(|chain| chains + chain.0 as usize)));
    result.counted.extend(ledger.counted);
    result.comparisons.extend(ledger.comparisons);
    result.origins.extend(ledger.origins);
    result.asked.extend(ledger.asked.into_iter().map(Some));
    result.evidence.extend(ledger.evidence);
    result.residuals.extend(ledger.residuals);
    result.hypotheticals.extend(ledger.hypotheticals);
    result.lower_bounds.extend(ledger.lower_bounds);
    for rules in ledger.rules {
        if !result.rules.contains(&rules) {
            result.rules.push(rules);
        }
    }
    for model in ledger.unpriced {
        if !result.unpriced.contains(&model) {
            result.unpriced.push(model);
        }
    }
}
