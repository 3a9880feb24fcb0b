//! Limits on a chain's figures: a figure at the limit passes, one beyond it fails.

use forkcast_sim::guard::{Facts, Guard, Rules, Sent};
use forkcast_sim::wire::Usage;
use serde_json::{Value, json};

use super::conversation::{body, guard, take};

fn conversation() -> [Value; 3] {
    let mut last = body(3);
    last["messages"][1]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    [body(1), body(2), last]
}

/// The figures outside the budget.
fn outside(set: impl Fn(&mut Rules)) -> Vec<String> {
    let mut rules = Rules::default();
    set(&mut rules);
    let mut guard = Guard::new(rules);
    for body in conversation() {
        take(&mut guard, &body);
    }
    guard.finish().violations.into_iter().map(|violation| violation.what).collect()
}

#[test]
fn the_dearest_request_may_cost_exactly_the_budget() {
    let mut guard = guard();
    let costs = conversation().map(|body| take(&mut guard, &body).cost.unwrap());
    assert!(costs[0] > costs[2]);
    assert!(outside(|rules| rules.budget.max_cost_per_turn = Some(costs[0])).is_empty());
    assert_eq!(outside(|rules| rules.budget.max_cost_per_turn = Some(costs[2])), ["cost of request 0"]);
}

#[test]
fn a_request_may_have_exactly_the_budgeted_breakpoints() {
    assert!(outside(|rules| rules.budget.max_breakpoints = Some(3)).is_empty());
    assert_eq!(outside(|rules| rules.budget.max_breakpoints = Some(2)), ["breakpoints of request 2"]);
}

#[test]
fn the_hit_rate_excludes_the_first_request() {
    let mut guard = guard();
    let later = conversation().map(|body| take(&mut guard, &body).expected);
    let read: u64 = later[1..].iter().map(|usage| usage.cache_read_input_tokens).sum();
    let total: u64 = later[1..].iter().map(|usage| usage.total_input_tokens()).sum();
    let per_mille = u32::try_from(read * 1_000 / total).unwrap();
    let held = |min: u32| outside(|rules| rules.budget.min_hit_rate_per_mille = Some(min)).is_empty();
    assert!(held(per_mille) && !held(per_mille + 1));
}

#[test]
fn the_hit_rate_may_be_exactly_the_budgeted_minimum() {
    let held = |min: u32| {
        let mut rules = Rules::default();
        rules.budget.min_hit_rate_per_mille = Some(min);
        let mut guard = Guard::new(rules);
        // The closing frame after a result, which is in no prefix, takes 6 tokens.
        let framed = Usage { input_tokens: 6, ..Usage::default() };
        let first = Usage { ephemeral_5m_input_tokens: 7_000, ..framed };
        let second = Usage { cache_read_input_tokens: 7_000, ephemeral_5m_input_tokens: 2_994, ..framed };
        for (turns, usage) in [(1, first), (2, second)] {
            let body = body(turns).to_string();
            let sent = Sent { facts: Facts { usage: Some(usage), ..Facts::default() }, ..Sent::body(body.as_bytes()) };
            assert_eq!(guard.take(&sent).unwrap().expected, usage);
        }
        guard.finish().violations.is_empty()
    };
    assert!(held(700) && !held(701));
}
