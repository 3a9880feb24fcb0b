//! Requests that cost more, or read less, than the lock expects.

use forkcast_sim::guard::lock::{Lock, Recorder, Recording, RequestRecord, budget};
use forkcast_sim::guard::{Budget, Facts, Guard, Rule, Rules, Sent};

use super::stage::Talk;

/// The lock of a conversation with the usage that the guard expects.
fn expected(talk: &Talk) -> Lock {
    let mut guard = Guard::new(Rules::default());
    let mut recorder = Recorder::new(Recording::default());
    for body in talk.requests() {
        let checked = guard
            .take(&Sent { facts: Facts { chain: Some("main"), ..Facts::default() }, ..Sent::body(&body) })
            .unwrap();
        let seen: RequestRecord<'_> = guard.seen(&checked, None).unwrap();
        recorder.take(&seen);
    }
    Lock::parse(&recorder.finish().text()).unwrap()
}

#[test]
fn a_chain_that_costs_more_or_reads_less_than_expected_is_reported() {
    let talk = Talk::new();
    let mut bare = talk.clone();
    // Without a breakpoint in the system prompt and with a changing tool, nothing is read.
    bare.tools[0]["description"] = serde_json::json!("Reads.");
    let (good, same) = (expected(&talk), expected(&talk));
    let broken = {
        let mut requests = expected(&bare);
        for request in &mut requests.chains[0].requests {
            request.usage.input_tokens += std::mem::take(&mut request.usage.cache_read_input_tokens);
            request.cost = request.cost.map(|cost| cost + cost);
        }
        requests
    };
    let limits = |rise, fall| Budget {
        max_cost_rise_per_mille: Some(rise),
        max_hit_rate_fall_per_mille: Some(fall),
        ..Budget::default()
    };
    assert_eq!(budget(&good, &same, &limits(0, 0)), []);
    let found = budget(&good, &broken, &limits(50, 20));
    let what: Vec<&str> = found.iter().map(|found| found.what.as_str()).collect();
    assert_eq!(what, ["cost of all requests", "hit rate after the first request"]);
    assert!(found.iter().all(|found| found.rule == Rule::Budget && found.chain.as_deref() == Some("main")));
    assert!(found[1].found == "0.0 %" && found[1].expected.contains("in the lock"), "{found:?}");
    assert_eq!(budget(&good, &broken, &limits(5_000, 1_000)), []);
    assert_eq!(budget(&good, &broken, &Budget::default()), []);
}

#[test]
fn the_rules_set_the_tolerance() {
    let rules = Rules::from_toml("[budget]\nmax_cost_rise = 0.05\nmax_hit_rate_fall = 0.02\n").unwrap();
    assert_eq!((rules.budget.max_cost_rise_per_mille, rules.budget.max_hit_rate_fall_per_mille), (Some(50), Some(20)));
    let bad = Rules::from_toml("[budget]\nmax_hit_rate_fall = 2.0\n").unwrap_err();
    assert_eq!(bad.to_string(), "line 2: found `2.0`, expected a share between 0 and 1");
}
