//! Replays of made serving traces against figures worked out by hand.

use std::collections::BTreeSet;

use forkcast_fixtures::{files, shared};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_replay::trace::{Rest, Sends, Trace};
use forkcast_replay::what_if::{Bound, BoundPings, Columns};
use forkcast_sim::cache::Rules;
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Money, PriceBook};
use forkcast_sim::service::NotComparable;
use forkcast_sim::wire::Usage;
use proptest::prelude::*;
use serde_json::json;

use crate::places::fixture;
use crate::weka::send;

fn inputs(name: &str) -> Inputs {
    Inputs::from_bytes(name, &fixture(name), InputFormat::Auto)
}

fn replayed(name: &str) -> Replay {
    replay(&inputs(name), &Options { book: PriceBook::built_in(), ..Options::default() })
}

/// Read, written, new, and the causes of missed tokens.
fn account(line: &Line) -> (u64, u64, u64, Vec<(&'static str, u64)>) {
    let usage = line.predicted.unwrap();
    let explanation = line.explanation.as_ref().unwrap();
    let missed = explanation.missed.iter().map(|missed| (missed.cause.word(), missed.tokens)).collect();
    (usage.cache_read_input_tokens, usage.cache_creation_input_tokens(), explanation.new_tokens, missed)
}

#[test]
fn a_conversation_reads_the_blocks_it_repeats_within_five_minutes_and_every_miss_has_a_cause() {
    let replayed = replayed("weka.json");
    let accounts: Vec<_> = replayed.lines().map(account).collect();
    assert_eq!(
        accounts,
        [
            (0, 200, 200, vec![]),
            (192, 138, 138, vec![]),
            (0, 130, 130, vec![]),
            (128, 72, 72, vec![]),
            // 390 s after the one before: its five blocks are gone.
            (0, 400, 80, vec![("expired", 320)]),
            // The second sub-agent begins like the first, but cannot know anything about it.
            (0, 140, 12, vec![("first_request", 128)]),
            // Four old blocks after the second were replaced by five new ones: one changed, three were sent again.
            (128, 332, 140, vec![("message_edited", 192)]),
            // Back to the first request's third block and the second's fourth.
            (128, 142, 14, vec![("rewound", 128)]),
        ]
    );
    let chains: Vec<Option<usize>> = replayed.entries.iter().map(|entry| entry.chain).collect();
    assert_eq!(chains, [Some(0), Some(0), Some(1), Some(1), Some(0), Some(2), Some(0), Some(0)]);
    let ids: Vec<&str> = replayed.named_chains.values().map(|chain| chain.id.as_str()).collect();
    assert_eq!(ids, ["main", "agent_001", "agent_002"]);
    assert_eq!(replayed.entries.len(), 8);
    assert!(replayed.entries.iter().all(|entry| entry.comparison == Err(NotComparable::NoUsage)));
    assert!(replayed.lines().all(|line| line.at.is_none()), "the clock of the trace has no date");
    assert_eq!(replayed.entries[5].origin.index, 5);
    for line in replayed.lines() {
        let causes = line.charge.causes.iter().map(|cause| cause.cost.unwrap()).sum();
        assert_eq!(line.charge.bill.as_ref().unwrap().total, line.charge.perfect.unwrap() + causes);
    }
}

#[test]
fn what_had_expired_is_no_damage_of_a_change() {
    let text = String::from_utf8(fixture("weka.json")).unwrap();
    // The request whose blocks were replaced comes after ten minutes instead of 20 s, and the next one after that.
    let late = text.replacen(r#""t":420.0"#, r#""t":1000.0"#, 1).replacen(r#""t":430.0"#, r#""t":1010.0"#, 1);
    assert_ne!(late, text);
    let replayed = replay(
        &Inputs::from_bytes("weka.json", late.as_bytes(), InputFormat::Auto),
        &Options { book: PriceBook::built_in(), ..Options::default() },
    );
    let causes = account(replayed.lines().nth(6).unwrap()).3;
    assert_eq!(causes, [("expired", 128 + 192)]);
}

#[test]
fn writes_that_the_next_request_does_not_read_were_for_nothing() {
    let replayed = replayed("weka.json");
    // Opus 4.5 costs $5 a million, five-minute writes a quarter more: 1.25e-6 a token.
    let premium = |line: &Line| line.unread_writes.unwrap().picousd() / 1_250_000;
    let main: Vec<i128> = replayed.lines().filter(|line| line.chain.unwrap().0 == 0).map(premium).collect();
    assert_eq!(main, [8, 138, 272, 332, 142]);
}

#[test]
fn a_pool_reads_whole_blocks_that_anybody_sent() {
    let replayed = replayed("mooncake.jsonl");
    let read: Vec<u64> = replayed.lines().map(|line| line.predicted.unwrap().cache_read_input_tokens).collect();
    assert_eq!(read, [0, 512, 1_024, 1_536]);
    assert_eq!(replayed.unpriced(), BTreeSet::from([""]));
    assert!(replayed.lines().all(|line| line.charge.bill.is_none()));
}

#[test]
fn texts_read_their_shared_beginning() {
    let replayed = replayed("lmcache.jsonl");
    let rows: Vec<Usage> = replayed.lines().map(|line| line.predicted.unwrap()).collect();
    // Each request of the first conversation begins with the whole of the one before.
    for pair in rows[..3].windows(2) {
        assert_eq!(pair[1].cache_read_input_tokens, pair[0].total_input_tokens());
    }
    assert!(rows[3].cache_read_input_tokens > 0, "`Fix the p`");
    assert!(replayed.entries[0].line.at.is_some(), "its clock has a date");
}

/// Input of a usage at those prices, in thousandths of a token of plain input.
fn units(usage: &Usage) -> u64 {
    usage.input_tokens * 1_000
        + usage.cache_read_input_tokens * 100
        + usage.ephemeral_5m_input_tokens * 1_250
        + usage.ephemeral_1h_input_tokens * 2_000
}

fn main_thread() -> Trace {
    let mut trace = inputs("weka.json").scopes[0].files[0].traces[0].clone();
    trace.conversations.truncate(1);
    trace
}

fn cost(what_if: &str) -> u64 {
    let trace = main_thread();
    let book = PriceBook::built_in();
    let mut columns = Columns::new(&[what_if.parse().unwrap()], &Rules::default(), &book);
    send(&trace, &Sends::of(&trace), Rest::Written, &mut |sent| columns.serve(sent));
    columns.finish(Sends::of(&trace).prefixes()).iter().map(|row| units(&row[0].usage)).sum()
}

fn bound(pings: BoundPings) -> u64 {
    let mut bound = Bound::new(&Rules::default(), pings);
    let trace = main_thread();
    send(&trace, &Sends::of(&trace), Rest::Plain, &mut |sent| bound.serve(sent));
    bound.finish().iter().map(|row| units(&row.usage)).sum()
}

#[test]
fn policies_are_billed_as_defined() {
    // Prompts of 200, 330, 400, 460, 270; kept 0, 192, 320, 128, 128; gaps 10.5 s, 389.5 s, 20 s, 10 s.
    let (all, kept) = (1_660, 192 + 320 + 128 + 128);
    assert_eq!(cost("no-cache"), all * 1_000);
    assert_eq!(cost("ttl=5m"), (kept - 320) * 100 + (all - kept + 320) * 1_250);
    assert_eq!(cost("ttl=1h"), kept * 100 + (all - kept) * 2_000);
    assert_eq!(cost("ttl=best"), cost("ttl=5m").min(cost("ttl=1h")));
    // One ping bridges the long gap; two follow the last request.
    assert_eq!(cost("keepalive=2@270"), kept * 100 + (all - kept) * 1_250 + (330 + 2 * 270) * 100);
    // Tools and system prompt take two blocks: these stay over the long gap.
    assert_eq!(cost("ttl=head-1h"), (kept - 192) * 100 + 128 * 2_000 + (all - 128 - kept + 192) * 1_250);
    // The next request continues one end of the prompt, but diverges from it earlier.
    assert_eq!(cost("breakpoints=tail"), 192 * 100 + (all - 192) * 1_250);
}

#[test]
fn the_clairvoyant_bound_is_the_best_for_each_block() {
    // Blocks 1 and 2 are sent five times: one hour, then four reads. Block 3 is sent three times, across the long gap:
    // one hour 2.2, or plain, or five minutes and again: 1.25 + 0.1 + 1 = 2.35. Blocks 4 and 5 twice, only across it:
    // plain twice is 2, one hour 2.1. All else once.
    let once = 8 + 10 + (64 + 16) + (5 * 64 + 12) + (2 * 64 + 14);
    assert_eq!(bound(BoundPings::None), 128 * 2_400 + 64 * 2_200 + 128 * 2_000 + once * 1_000);
    // With pings: one ping for blocks 1 and 2: 1.25 + 5 × 0.1; block 3: 1.25 + 3 × 0.1; blocks 4 and 5: 1.25 + 2 × 0.1.
    assert_eq!(bound(BoundPings::Allowed), 128 * 1_750 + 64 * 1_550 + 128 * 1_450 + once * 1_000);
}

#[test]
fn a_replay_has_what_ifs_and_the_bound_of_each_request() {
    let what_if = vec!["no-cache".parse().unwrap(), "ttl=1h".parse().unwrap()];
    let options = Options { book: PriceBook::built_in(), what_if, ..Options::default() };
    let replayed = replay(&inputs("weka.json"), &options);
    // The request after the long gap: 320 of 400 tokens, and 30 of output.
    let row = &replayed.entries[4].hypotheticals;
    assert_eq!(row[0].usage, Usage { input_tokens: 400, output_tokens: 30, ..Usage::default() });
    assert_eq!((row[1].usage.cache_read_input_tokens, row[1].usage.ephemeral_1h_input_tokens), (320, 80));
    let bill: i128 = replayed.lines().map(|line| line.charge.bill.as_ref().unwrap().total.picousd()).sum();
    let bound: i128 = replayed.entries.iter().map(|entry| entry.lower_bound.unwrap().picousd()).sum();
    assert!(bound < bill, "{bound} {bill}");
}

/// A conversation as a file may have it: instants in any order, ids that come back, sizes that their blocks do not make up.
fn any_trace() -> impl Strategy<Value = String> {
    let request = (0..900_u64, 0..16_u64, prop::collection::vec(1..7_u64, 0..9), 0..3_u64).prop_map(
        |(at, rest, mut ids, model)| {
            if at % 3 > 0 {
                // Most prompts begin alike.
                ids.sort_unstable();
            }
            // The last block may be there in part.
            let input = (8 * ids.len() as u64 + rest).saturating_sub(7);
            json!({"t": at, "model": format!("claude-opus-4-{}", 5 + model / 2), "in": input, "out": 1, "hash_ids": ids})
        },
    );
    let requests = prop::collection::vec(request, 1..12);
    (requests, 0..20_u64, prop::option::of(0..900_u64)).prop_map(|(mut requests, tools, agent)| {
        if let Some(start) = agent {
            let own: Vec<_> = requests.iter().skip(1).step_by(2).cloned().collect();
            requests.push(json!({"t": start, "type": "subagent", "agent_id": "a", "requests": own}));
        }
        json!({"hash_id_scope": "local", "block_size": 8, "tool_tokens": tools, "requests": requests}).to_string()
    })
}

/// Every token of every request is read, new or missed for a cause with a cost of at least zero; no bill is below the
/// bill without misses.
fn assert_accounted(replayed: &Replay) {
    for line in replayed.lines() {
        let usage = line.predicted.unwrap();
        let explanation = line.explanation.as_ref().unwrap();
        let sum = explanation.read_tokens + explanation.new_tokens + explanation.missed_tokens();
        assert_eq!(sum, usage.total_input_tokens());
        let Some(bill) = &line.charge.bill else { continue };
        let causes: Vec<Money> = line.charge.causes.iter().map(|cause| cause.cost.unwrap()).collect();
        assert!(causes.iter().all(|cost| *cost >= Money::ZERO), "{causes:?}");
        let perfect = line.charge.perfect.unwrap();
        assert_eq!(bill.total, perfect + causes.into_iter().sum());
        assert!(line.unread_writes.unwrap() <= bill.total);
    }
    let bill: Money = replayed.lines().filter_map(|line| Some(line.charge.bill.as_ref()?.total)).sum();
    let bound: Money = replayed.entries.iter().filter_map(|entry| entry.lower_bound).sum();
    assert!(bound <= bill, "{bound} {bill}");
}

/// The rest after the last whole block has no id, so it is not known to have been sent before.
#[test]
fn prompts_without_a_whole_block_share_nothing() {
    let request =
        |input_tokens: u64| json!({"t": 201, "model": "claude-opus-4-5", "in": input_tokens, "out": 1, "hash_ids": []});
    let trace =
        json!({"hash_id_scope": "local", "block_size": 8, "tool_tokens": 0, "requests": [request(0), request(1)]});
    let inputs = Inputs::from_bytes("trace.json", trace.to_string().as_bytes(), InputFormat::Auto);
    let replayed = replay(&inputs, &Options { book: PriceBook::built_in(), ..Options::default() });
    let read = |at: usize| replayed.entries[at].line.predicted.unwrap().cache_read_input_tokens;
    assert_eq!((read(0), read(1)), (0, 0));
    assert_accounted(&replayed);
}

/// What the second of two requests reads, each given by the size of its prompt and the ids of its blocks of eight tokens.
fn read_by_second(requests: [(u64, &[u64]); 2]) -> u64 {
    let mut at = 0;
    let requests = requests.map(|(input_tokens, ids)| {
        at += 100;
        json!({"t": at, "model": "claude-opus-4-5", "in": input_tokens, "out": 1, "hash_ids": ids})
    });
    let trace = json!({"hash_id_scope": "local", "block_size": 8, "tool_tokens": 0, "requests": requests});
    let inputs = Inputs::from_bytes("trace.json", trace.to_string().as_bytes(), InputFormat::Auto);
    let replayed = replay(&inputs, &Options { book: PriceBook::built_in(), ..Options::default() });
    assert_accounted(&replayed);
    replayed.entries[1].line.predicted.unwrap().cache_read_input_tokens
}

#[test]
fn the_rest_after_the_last_whole_block_is_never_read() {
    assert_eq!(read_by_second([(25, &[1, 2, 3]), (25, &[1, 2, 3])]), 24);
    assert_eq!(read_by_second([(25, &[1, 2, 3]), (17, &[1, 2])]), 16);
    assert_eq!(read_by_second([(24, &[1, 2, 3]), (24, &[1, 2, 3])]), 24);
}

#[test]
fn a_block_that_is_not_full_is_shared_with_no_other_prompt() {
    assert_eq!(read_by_second([(17, &[1, 2, 3]), (33, &[1, 2, 3, 4])]), 16);
    assert_eq!(read_by_second([(33, &[1, 2, 3, 4]), (17, &[1, 2, 3])]), 16);
}

proptest! {
    #[test]
    fn whatever_the_instants_ids_and_sizes_every_token_is_accounted_for_once(trace in any_trace()) {
        let inputs = Inputs::from_bytes("trace.json", trace.as_bytes(), InputFormat::Auto);
        prop_assert!(inputs.unreadable.is_empty(), "{:?}", inputs.unreadable);
        let what_if = vec!["ttl=1h".parse().unwrap(), "keepalive=2@270".parse().unwrap()];
        assert_accounted(&replay(&inputs, &Options { book: PriceBook::built_in(), what_if, ..Options::default() }));
    }

    #[test]
    fn whatever_the_order_of_a_pool_every_token_is_accounted_for_once(
        rows in prop::collection::vec((0..900_u64, 0..60_u64, prop::collection::vec(1..7_u64, 0..9)), 1..12),
    ) {
        let line = |(at, input, ids): &(u64, u64, Vec<u64>)| {
            json!({"timestamp": at, "input_length": input, "output_length": 1, "hash_ids": ids}).to_string()
        };
        let text: Vec<String> = rows.iter().map(line).collect();
        let inputs = Inputs::from_bytes("pool.jsonl", text.join("\n").as_bytes(), InputFormat::Auto);
        assert_accounted(&replay(&inputs, &Options { book: PriceBook::built_in(), ..Options::default() }));
    }
}

#[test]
fn recorded_traces_with_instants_moved_are_accounted_for() {
    let Some(folder) = shared("torture-inputs/F01_trace_time_order") else { return };
    let mut seen = 0;
    for file in files(&folder) {
        let bytes = std::fs::read(file).unwrap();
        let inputs = Inputs::from_bytes("trace.json", &bytes, InputFormat::Auto);
        assert_accounted(&replay(&inputs, &Options { book: PriceBook::built_in(), ..Options::default() }));
        seen += 1;
    }
    assert!(seen > 0);
}
