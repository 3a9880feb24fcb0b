//! What to do, out of costs.

use forkcast_replay::what_if::{SessionCosts, WhatIf, Where, actions};
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Usage;

fn usd(amount: i128) -> Money {
    Money::from_picousd(amount * 1_000_000_000_000)
}

fn session(number: usize, waits: bool, unchanged: i128, what_ifs: &[i128]) -> SessionCosts {
    SessionCosts {
        session: number,
        unchanged: usd(unchanged),
        what_ifs: what_ifs.iter().map(|cost| Some(usd(*cost))).collect(),
        waits,
    }
}

fn what_ifs(specs: &[&str]) -> Vec<WhatIf> {
    specs.iter().map(|spec| spec.parse().unwrap()).collect()
}

#[test]
fn an_hour_is_worthwhile_if_there_are_pauses() {
    // Everywhere: (10 − 6) + (10 − 12) = 2. Only interactive sessions: 4.
    let sessions = [session(7, true, 10, &[6]), session(8, false, 10, &[12])];
    let found = actions(&what_ifs(&["ttl=1h"]), &sessions);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].scope, found[0].sessions.as_slice()), (Where::WithWaits, [7].as_slice()));
    assert_eq!(found[0].saved, usd(4));
}

#[test]
fn another_model_is_named_besides_the_best_lifetime() {
    let found = actions(&what_ifs(&["model=claude-haiku-4-5", "ttl=1h"]), &[session(0, false, 10, &[2, 6])]);
    let named: Vec<(Where, Money)> = found.iter().map(|action| (action.scope, action.saved)).collect();
    assert_eq!(named, [(Where::OtherModel, usd(8)), (Where::Everywhere, usd(4))]);
}

#[test]
fn of_exclusive_choices_the_best_is_named() {
    let sessions = [session(0, false, 100, &[80, 70, 90, 60])];
    let found = actions(&what_ifs(&["ttl=1h", "ttl=5m,keepalive=2@270", "breakpoints=both", "no-cache"]), &sessions);
    let named: Vec<(usize, Money)> = found.iter().map(|action| (action.what_if, action.saved)).collect();
    assert_eq!(named, [(1, usd(30)), (2, usd(10))]);
}

#[test]
fn hindsight_is_named_if_nothing_else_comes_close() {
    let specs = what_ifs(&["ttl=best", "ttl=1h"]);
    // 20 against 17: less than a quarter more.
    let near = actions(&specs, &[session(0, false, 100, &[80, 83])]);
    assert_eq!((near[0].what_if, near[0].scope), (1, Where::Everywhere));
    // 20 against 10.
    let far = actions(&specs, &[session(0, false, 100, &[80, 90])]);
    assert_eq!((far[0].what_if, far[0].scope), (0, Where::ByConversation));
}

#[test]
fn changes_without_savings_are_not_advised() {
    let sessions = [session(0, true, 10, &[12, 10, 10, 5])];
    let specs = what_ifs(&["ttl=1h", "breakpoints=both", "model=claude-haiku-4-5", "prices=2026-10-07"]);
    assert_eq!(actions(&specs, &sessions), []);
    assert_eq!(actions(&specs, &[]), []);
}

#[test]
fn a_lifetime_changes_only_writes_of_the_other_one() {
    let billed = |write_5m, write_1h| Usage {
        ephemeral_5m_input_tokens: write_5m,
        ephemeral_1h_input_tokens: write_1h,
        ..Usage::default()
    };
    let changes = |text: &str, billed: Usage| text.parse::<WhatIf>().unwrap().changes(&billed);
    assert!(!changes("ttl=5m", billed(7, 0)) && changes("ttl=5m", billed(7, 1)));
    assert!(!changes("ttl=1h", billed(0, 7)) && changes("ttl=1h", billed(1, 7)));
    assert!(changes("ttl=5m,keepalive=2@270", billed(7, 0)) && changes("ttl=best", billed(7, 0)));
}
