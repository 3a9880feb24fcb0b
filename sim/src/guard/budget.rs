//! Figures that must be kept, chain by chain.

use std::collections::BTreeMap;

use super::finding::{Rule, Violation, percent};
use super::rules::Budget;
use crate::pricing::Money;
use crate::wire::{ChainId, Usage};

/// The figures that a budget limits.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    chains: BTreeMap<ChainId, Chain>,
    /// Requests whose figures are unknown, because no cache of their provider is modelled.
    unknown: usize,
}

#[derive(Clone, Debug, Default)]
struct Chain {
    name: String,
    /// Without its first request.
    read_tokens: u64,
    input_tokens: u64,
    dearest: Option<(Money, usize)>,
    most_marked: Option<(usize, usize)>,
}

/// The figures of one request that a budget limits.
pub(super) struct Turn<'a> {
    pub number: usize,
    pub chain: ChainId,
    pub name: &'a str,
    pub first: bool,
    pub expected: &'a Usage,
    pub cost: Option<Money>,
    /// Number of its breakpoints.
    pub marked: usize,
}

impl Spent {
    /// Adds a request.
    pub fn add(&mut self, turn: &Turn<'_>) {
        let chain = self.chains.entry(turn.chain).or_default();
        if chain.name.is_empty() {
            turn.name.clone_into(&mut chain.name);
        }
        if !turn.first {
            chain.read_tokens += turn.expected.cache_read_input_tokens;
            chain.input_tokens += turn.expected.total_input_tokens();
        }
        let cost = turn.cost.map(|cost| (cost, turn.number));
        if cost.map(|cost| cost.0) > chain.dearest.map(|dearest| dearest.0) {
            chain.dearest = cost;
        }
        if chain.most_marked.is_none_or(|most| turn.marked > most.0) {
            chain.most_marked = Some((turn.marked, turn.number));
        }
    }

    /// A request whose provider has no modelled cache.
    pub const fn add_unknown(&mut self) {
        self.unknown += 1;
    }

    /// What is not checked, in words; `None` if everything is.
    pub fn warning(&self) -> Option<String> {
        let are = if self.unknown == 1 { "1 request goes" } else { &format!("{} requests go", self.unknown) };
        (self.unknown > 0).then(|| {
            format!("{are} to a provider whose cache is not modelled: the budget is not checked for what they read and cost.")
        })
    }

    /// The figures that are outside `budget`.
    pub fn violations(&self, budget: &Budget) -> Vec<Violation> {
        let nothing_known = (self.chains.is_empty() && self.unknown > 0).then(|| Violation {
            rule: Rule::Budget,
            chain: None,
            shown_by: None,
            path: String::new(),
            what: "what requests read and cost".to_owned(),
            found: "unknown, for no cache of their provider is modelled".to_owned(),
            expected: "figures that the budget can limit".to_owned(),
        });
        let known = self.chains.values().flat_map(|chain| chain.violations(budget));
        known.chain(nothing_known.filter(|_| *budget != Budget::default())).collect()
    }
}

impl Chain {
    fn violations(&self, budget: &Budget) -> Vec<Violation> {
        [self.hit_rate(budget), self.turn_cost(budget), self.breakpoints(budget)].into_iter().flatten().collect()
    }

    fn hit_rate(&self, budget: &Budget) -> Option<Violation> {
        let min = budget.min_hit_rate_per_mille?;
        let per_mille = u128::from(self.read_tokens) * 1_000 / u128::from(self.input_tokens.max(1));
        let low = u128::from(self.read_tokens) * 1_000 < u128::from(self.input_tokens) * u128::from(min);
        (self.input_tokens > 0 && low).then(|| {
            let found = u64::try_from(per_mille).unwrap_or(u64::MAX);
            self.violation(
                "hit rate after the first request",
                percent(found),
                format!("at least {}", percent(min.into())),
            )
        })
    }

    fn turn_cost(&self, budget: &Budget) -> Option<Violation> {
        let (max, (cost, request)) = budget.max_cost_per_turn.zip(self.dearest)?;
        (cost > max).then(|| {
            let expected = format!("at most {max} USD");
            self.violation(&format!("cost of request {request}"), format!("{cost} USD"), expected).of_request(request)
        })
    }

    fn breakpoints(&self, budget: &Budget) -> Option<Violation> {
        let (max, (marked, request)) = budget.max_breakpoints.zip(self.most_marked)?;
        (marked > max).then(|| {
            let what = format!("breakpoints of request {request}");
            self.violation(&what, marked.to_string(), format!("at most {max}")).of_request(request)
        })
    }

    fn violation(&self, what: &str, found: String, expected: String) -> Violation {
        Violation::new(Rule::Budget, &self.name, what, found, expected)
    }
}
