//! The same tokens at the prices of another model, where no cache is modelled.

use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{Options, replay};
use forkcast_replay::what_if::{Basis, Hypothetical, WhatIf};
use forkcast_sim::service::Entry;
use forkcast_sim::wire::Usage;

use crate::places::read;

fn entries(inputs: &Inputs, what_if: Vec<WhatIf>) -> Vec<Entry> {
    replay(inputs, &Options { what_if, ..Options::default() }).entries
}

/// Its costs in millionths of a dollar, and how they were found.
fn row(entry: &Entry) -> Vec<(i128, Basis)> {
    let cell = |found: &Hypothetical| (found.cost.unwrap_or_default().picousd() / 1_000_000, found.basis);
    entry.hypotheticals.iter().map(cell).collect()
}

/// Two requests to GPT-5.5: 7,000 plain, 2,000 read, 120 of answer; 300 plain, 8,900 read, 30 of answer, and one search of the
/// web for a cent. The third reports no usage. USD per million plain, read and answered: GPT-5.5 5, 0.50, 30; GPT-5.4 2.50,
/// 0.25, 15; Sonnet 4.6 3, 0.30, 15; GPT-6.2 Sol 2, 0.10, 10.
#[test]
fn a_codex_session_is_priced_by_hand() {
    let specs = ["model=gpt-5.4", "model=claude-sonnet-4-6", "model=gpt-6.2-sol", "model=gpt-5.5", "ttl=1h"];
    let found = entries(&read("codex.jsonl"), specs.map(|spec| spec.parse().unwrap()).to_vec());
    let tokens = |costs: [i128; 4]| costs.map(|cost| (cost, Basis::SameTokens)).to_vec();
    let mut first = tokens([17_500 + 500 + 1_800, 21_000 + 600 + 1_800, 14_000 + 200 + 1_200, 35_000 + 1_000 + 3_600]);
    let mut second = tokens([10_000 + 3_425, 10_000 + 4_020, 10_000 + 1_790, 10_000 + 6_850]);
    first.push((39_600, Basis::Billed));
    second.push((16_850, Basis::Billed));
    assert_eq!(found.iter().map(row).collect::<Vec<_>>(), [first, second, Vec::new()]);
    let usage = Usage { input_tokens: 7_000, cache_read_input_tokens: 2_000, output_tokens: 120, ..Usage::default() };
    assert!(found[0].hypotheticals.iter().all(|found| found.usage == usage));
}

/// GPT-5.4: 2.50 plain and written, 0.25 read, 15 answered. Claude's writes for an hour are ordinary ones there.
#[test]
fn requests_to_claude_keep_their_tokens_at_another_maker() {
    let mut all = WhatIf::defaults();
    all.push("model=gpt-5.4".parse().unwrap());
    let found = entries(&Inputs::sample(), all);
    let billed =
        found.iter().filter(|entry| entry.line.charge.bill.as_ref().is_some_and(|bill| bill.total.picousd() > 0));
    for entry in billed {
        let usage = entry.line.billed().unwrap();
        let moved = entry.hypotheticals[7].usage;
        assert_eq!((moved.ephemeral_1h_input_tokens, moved.total_input_tokens()), (0, usage.total_input_tokens()));
        let plain = usage.input_tokens + usage.cache_creation_input_tokens();
        let cost = plain * 10 + usage.cache_read_input_tokens + usage.output_tokens * 60;
        assert_eq!(entry.hypotheticals[7].cost.unwrap().picousd(), i128::from(cost) * 250_000);
        let basis: Vec<Basis> = entry.hypotheticals.iter().map(|found| found.basis).collect();
        assert_eq!(basis[4..], [Basis::Cache, Basis::Billed, Basis::Billed, Basis::SameTokens]);
    }
}
