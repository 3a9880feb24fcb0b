//! Answers of several passes (`observed.md` 6): six answers written by hand, with bills computed by hand.
//!
//! USD per million tokens on 2026-06-10, as input, 5m write, 1h write, read, output: Sonnet 4.6 3, 3.75, 6, 0.30, 15;
//! Opus 4.8 5, 6.25, 10, 0.50, 25.

use forkcast_replay::exchange::{Dialect, PassKind};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_sim::service::{NotComparable, Verdict};
use forkcast_sim::wire::Usage;

use super::{clean, counts};

const SESSION: &str = include_str!("../fixtures/passes.jsonl");

fn replayed(text: &str) -> Replay {
    let inputs = Inputs::from_bytes("passes.jsonl", text.as_bytes(), InputFormat::Auto);
    assert!(inputs.unreadable.is_empty(), "{:?}", inputs.unreadable);
    replay(&inputs, &Options::default())
}

#[test]
fn each_pass_is_billed_at_its_model_and_its_lifetime() {
    let result = replayed(SESSION);
    let bills = result.lines().map(|line| line.charge.bill.clone().unwrap());
    let bills: Vec<_> = bills.map(|bill| (bill.total.picousd(), bill.fees)).collect();
    let micros = |at: usize| bills[at].0 / 1_000_000;
    assert!(bills.iter().all(|(total, _)| total % 1_000_000 == 0), "all prices here are whole millionths");
    // 3 · 3 + 20,000 · 6 + 100 · 15
    assert_eq!(micros(0), 121_509);
    // Own: 3 · 3 + 20,000 · 0.3 + 500 · 6 + 200 · 15, then 2 · 3 + 20,500 · 0.3 + 1,300 · 3.75 + 400 · 15.
    // Advisor: 21,000 · 5 + 1,000 · 25.
    assert_eq!(micros(1), 12_009 + 17_031 + 130_000);
    // 3 · 3 + 21,800 · 0.3 + 700 · 6 + 50 · 15
    assert_eq!(micros(2), 11_499);
    // Own: 3 · 3 + 22,500 · 0.3 + 100 · 6 + 20 · 15, then 2 · 3 + 22,600 · 0.3 + 900 · 3.75 + 300 · 15.
    // Advisor: 10 · 5 + 22,600 · 6.25 + 800 · 25.
    assert_eq!(micros(3), 7_659 + 14_661 + 161_300);
    // Compaction: 3 · 3 + 23,500 · 0.3 + 2,000 · 15. Answer: 40 · 3 + 3,000 · 6 + 70 · 15.
    assert_eq!(micros(4), 37_059 + 19_170);
    // Refused: 3,600 · 5. Fallback: 3 · 3 + 3,000 · 0.3 + 600 · 6 + 90 · 15.
    assert_eq!(micros(5), 18_000 + 5_859);
    let fees = bills.iter().flat_map(|(_, fees)| fees);
    let fees: Vec<_> = fees.map(|fee| (&*fee.name, fee.count, fee.cost.picousd() / 1_000_000)).collect();
    let advised = "advisor_message claude-opus-4-8";
    assert_eq!(
        fees,
        [(advised, 22_000, 130_000), (advised, 23_410, 161_300), ("message claude-opus-4-8", 3_600, 18_000)]
    );
}

#[test]
fn the_next_request_can_read_what_the_last_pass_left() {
    let result = replayed(SESSION);
    let compared = result.entries[2].comparison.as_ref().unwrap();
    assert_eq!(
        (compared.left_tokens, compared.recorded, compared.predicted),
        (Some(21_800), Verdict::Full, Verdict::Full)
    );
    assert_eq!(result.entries[1].comparison, Err(NotComparable::ServerTools));
    for entry in &result.entries {
        let (recorded, why) = (entry.line.recorded.unwrap(), entry.line.explanation.as_ref().unwrap());
        let missed: u64 = why.missed.iter().map(|part| part.tokens).sum();
        assert_eq!(why.read_tokens + why.new_tokens + missed, recorded.total_input_tokens());
    }
}

#[test]
fn a_pass_of_a_model_without_a_price_is_said_not_to_be_billed() {
    let result = replayed(&SESSION.replacen("claude-opus-4-8", "claude-next", 1));
    let line = &result.entries[1].line;
    assert_eq!(line.charge.bill.as_ref().unwrap().total.picousd(), 29_040_000_000);
    assert!(line.remarks.iter().any(|remark| remark.contains("1 passes of another model are not billed")));
}

#[test]
fn lifetimes_are_those_of_the_passes() {
    let body = r#"{"model":"claude-sonnet-4-6","usage":{"input_tokens":3,"cache_read_input_tokens":9,"cache_creation_input_tokens":1000,
        "cache_creation":{"ephemeral_5m_input_tokens":1000,"ephemeral_1h_input_tokens":0},"output_tokens":7,"iterations":[
        {"type":"message","input_tokens":3,"cache_read_input_tokens":9,"cache_creation_input_tokens":1000,
        "cache_creation":{"ephemeral_5m_input_tokens":800,"ephemeral_1h_input_tokens":200},"output_tokens":7}]}}"#;
    let usage = clean(Dialect::Messages, body);
    assert_eq!((counts(&usage), usage.passes, usage.server_passes), ([3, 9, 800, 200, 7], None, false));
    // The first answer of the session says 20,000 for an hour twice; its pass has the last word.
    let long = r#""ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":20000"#;
    let short = r#""ephemeral_5m_input_tokens":4000,"ephemeral_1h_input_tokens":16000"#;
    let pass = SESSION.rfind(long).unwrap();
    let session = [&SESSION[..pass], short, &SESSION[pass + long.len()..]].concat();
    let recorded = replayed(&session).entries[0].line.recorded.unwrap();
    assert_eq!((recorded.ephemeral_5m_input_tokens, recorded.ephemeral_1h_input_tokens), (4_000, 16_000));
}

#[test]
fn passes_of_one_other_model_are_summed_and_keep_their_longest_prompt() {
    let pass = |prompt: u64| {
        format!(r#"{{"type":"advisor_message","model":"claude-opus-4-8","input_tokens":{prompt},"output_tokens":5}}"#)
    };
    let own = r#"{"type":"message","input_tokens":1,"output_tokens":2}"#;
    let list = [own, &pass(40), own, &pass(60), own].join(",");
    let body = format!(r#"{{"usage":{{"input_tokens":1,"output_tokens":6,"iterations":[{list}]}}}}"#);
    let usage = clean(Dialect::Messages, &body);
    assert_eq!(counts(&usage), [3, 0, 0, 0, 6]);
    let other = usage.others[0].unwrap();
    assert_eq!((other.kind, other.passes, other.longest_prompt_tokens), (PassKind::Advisor, 2, 60));
    assert_eq!(other.usage, Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() });
    assert_eq!(usage.others[1], None);
}
