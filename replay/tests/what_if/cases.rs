//! Cases computed by hand. Amounts are in 10⁻⁶ USD: tokens times USD per million tokens.

use forkcast_replay::what_if::BoundPings;
use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::{Date, Money};
use forkcast_sim::wire::{Ttl, Usage};

use super::stage::{Ask, ask, bound, column, microusd, parts, what_if, what_if_at};

/// Three turns of one conversation, the second six minutes after the first.
fn six_minutes() -> Vec<Ask> {
    vec![ask("a:2000", 0), ask("a:2000 b:500", 360), ask("a:2000 b:500 c:500", 420)]
}

#[test]
fn after_six_minutes_five_are_over() {
    let rows = column("ttl=5m", &six_minutes());
    assert_eq!(parts(&rows), [[0, 2_000, 0, 0], [0, 2_500, 0, 0], [2_500, 500, 0, 0]]);
    // (2,000 + 2,500 + 500) · 6.25 + 2,500 · 0.50 = 31,250 + 1,250.
    assert_eq!(microusd(&rows), 32_500);
}

#[test]
fn an_hour_bridges_them_at_twice_the_price_of_input() {
    let rows = column("ttl=1h", &six_minutes());
    assert_eq!(parts(&rows), [[0, 0, 2_000, 0], [2_000, 0, 500, 0], [2_500, 0, 500, 0]]);
    // 3,000 · 10 + 4,500 · 0.50 = 30,000 + 2,250.
    assert_eq!(microusd(&rows), 32_250);
}

#[test]
fn a_ping_bridges_them_and_pings_at_the_end_are_in_vain() {
    let rows = column("keepalive=2@270", &six_minutes());
    // One ping after the first request, at 270 s: the next would be sent at 540, but the second request came at 360.
    // Then again: at 420 the third comes, and two useless pings follow it.
    assert_eq!(parts(&rows), [[2_000, 2_000, 0, 0], [2_000, 500, 0, 0], [2_500 + 6_000, 500, 0, 0]]);
    assert_eq!(rows.iter().map(|row| row.usage.output_tokens).collect::<Vec<_>>(), [1, 0, 2]);
    // 3,000 · 6.25 + (2,000 + 2,000 + 2,500 + 6,000) · 0.50 + 3 · 25 = 18,750 + 6,250 + 75.
    assert_eq!(microusd(&rows), 25_075);
}

#[test]
fn pings_end_after_so_many() {
    // Pings at 270 and 540; what they read lives until 840, the next request comes at 1,200.
    let rows = column("keepalive=2@270", &[ask("a:2000", 0), ask("a:2000 b:500", 1_200)]);
    // It writes all 2,500 again, which two more pings read in vain.
    assert_eq!(parts(&rows), [[4_000, 2_000, 0, 0], [5_000, 2_500, 0, 0]]);
    let rows = column("keepalive=4@270", &[ask("a:2000", 0), ask("a:2000 b:500", 1_200)]);
    // Four pings: at 270, 540, 810 and 1,080, so the request reads 2,000; then four more of 2,500.
    assert_eq!(parts(&rows), [[8_000, 2_000, 0, 0], [2_000 + 10_000, 500, 0, 0]]);
}

#[test]
fn finished_agents_get_no_pings() {
    let rows = column("keepalive=2@270", &[ask("a:2000", 0).agent(1), ask("a:2000 b:500", 360).agent(1)]);
    assert_eq!(parts(&rows), [[2_000, 2_000, 0, 0], [2_000, 500, 0, 0]]);
}

/// It would be a gift: its pings at 270 and 540 enter no bill, and the main agent's request at 500 would read what they keep.
#[test]
fn an_agent_that_is_done_keeps_nothing_alive_for_others() {
    let rows = column("keepalive=2@270", &[ask("a:2000", 0).agent(1), ask("a:2000 b:500", 500)]);
    // The main agent writes all 2,500 again; its own two pings read them in vain.
    assert_eq!(parts(&rows), [[0, 2_000, 0, 0], [5_000, 2_500, 0, 0]]);
}

#[test]
fn pings_slower_than_the_lifetime_write_again() {
    // At 400 s nothing is left of the first write; the ping itself writes 2,000, which live until 700.
    let rows = column("keepalive=1@400", &[ask("a:2000", 0), ask("a:2000 b:500", 600).agent(0)]);
    assert_eq!(parts(&rows)[0], [0, 4_000, 0, 0]);
    assert_eq!(parts(&rows)[1], [2_000, 500 + 2_500, 0, 0]);
}

#[test]
fn the_better_lifetime_is_chosen_for_each_conversation() {
    let mut asks = six_minutes();
    // Another conversation continues at once: 5m costs 2,500 · 6.25 + 2,000 · 0.50, less than 1h.
    asks.extend([ask("x:2000", 500).agent(1), ask("x:2000 y:500", 510).agent(1)]);
    let rows = column("ttl=best", &asks);
    let lifetimes: Vec<bool> = parts(&rows).iter().map(|[_, _, one_hour, _]| *one_hour > 0).collect();
    assert_eq!(lifetimes, [true, true, true, false, false]);
    // 32,250 as above, and 15,625 + 1,000.
    assert_eq!(microusd(&rows), 48_875);
}

/// Siblings read each other's heads, so they choose together: 5m costs 2 · 2,000 · 6.25, 1h 2,000 · 10.50.
#[test]
fn siblings_choose_together() {
    let rows = column("ttl=best", &[ask("a:2000", 0), ask("a:2000", 400).agent(1)]);
    assert_eq!(parts(&rows), [[0, 0, 2_000, 0], [2_000, 0, 0, 0]]);
}

#[test]
fn without_a_cache_all_is_plain_input() {
    let rows = column("no-cache", &six_minutes());
    assert_eq!(parts(&rows), [[0, 0, 0, 2_000], [0, 0, 0, 2_500], [0, 0, 0, 3_000]]);
    // 7,500 · 5.
    assert_eq!(microusd(&rows), 37_500);
    assert_eq!(parts(&column("breakpoints=none", &six_minutes())), parts(&rows));
}

/// Longer lifetimes come first (`providers.md` 1.6): positions A, B, C.
#[test]
fn the_head_lives_an_hour_and_the_rest_five_minutes() {
    let marked = |asked: Ask, tail| asked.marked(&[(1, Ttl::FiveMinutes), (tail, Ttl::FiveMinutes)]);
    let asks = [marked(ask("s:1500 | a:1000", 0), 2), marked(ask("s:1500 | a:1000 b:500", 400), 3)];
    let rows = column("ttl=head-1h", &asks);
    // After 400 s the head is read, the rest is written again.
    assert_eq!(parts(&rows), [[0, 1_000, 1_500, 0], [1_500, 1_500, 0, 0]]);
    // 1,500 · 10 + 1,000 · 6.25 + 1,500 · 0.50 + 1,500 · 6.25 = 15,000 + 6,250 + 750 + 9,375.
    assert_eq!(microusd(&rows), 31_375);
    assert_eq!(parts(&column("ttl=1h", &asks)), [[0, 0, 2_500, 0], [2_500, 0, 500, 0]]);
    assert_eq!(parts(&column("ttl=5m", &asks)), [[0, 2_500, 0, 0], [0, 3_000, 0, 0]]);
}

/// With other breakpoints, two lifetimes keep the order in which they were sent.
#[test]
fn other_breakpoints_take_the_lifetimes_of_those_that_were_sent() {
    let marked = |asked: Ask, tail| asked.marked(&[(1, Ttl::OneHour), (tail, Ttl::FiveMinutes)]);
    let asks = [marked(ask("s:1500 | a:1000", 0), 2), marked(ask("s:1500 | a:1000 b:500", 10), 3)];
    let rows = column("breakpoints=client-2026", &asks);
    assert_eq!(parts(&rows), [[0, 1_000, 1_500, 0], [2_500, 500, 0, 0]]);
}

/// Minimums: `providers.md` 1.4. Opus 4.8 1,024, Opus 4.7 2,048, Opus 5 512; all three make tokens alike.
#[test]
fn another_model_has_another_minimum() {
    let asks = [ask("a:1500", 0), ask("a:1500 b:100", 10)];
    assert_eq!(parts(&column("", &asks)), [[0, 1_500, 0, 0], [1_500, 100, 0, 0]]);
    assert_eq!(parts(&column("model=claude-opus-4-7", &asks)), [[0, 0, 0, 1_500], [0, 0, 0, 1_600]]);
    let short = [ask("a:800", 0), ask("a:800 b:100", 10)];
    assert_eq!(parts(&column("", &short)), [[0, 0, 0, 800], [0, 0, 0, 900]]);
    assert_eq!(parts(&column("model=claude-opus-5", &short)), [[0, 800, 0, 0], [800, 100, 0, 0]]);
}

/// Factors of `sim/tokens` for prose, code and JSON: 1,160 + 1,220 + 1,220 older, 1,520 + 1,550 + 1,540 newer.
#[test]
fn another_tokenizer_makes_other_tokens() {
    let rows = column("model=claude-sonnet-4-6", &[ask("a:4610", 0).output(461)]);
    // 4,610 · 3,600 / 4,610 = 3,600 and 360; 3,600 · 3.75 + 360 · 15 = 13,500 + 5,400.
    assert_eq!((parts(&rows)[0], rows[0].usage.output_tokens), ([0, 3_600, 0, 0], 360));
    assert_eq!(microusd(&rows), 18_900);
    let back = column("model=claude-opus-4-8", &[ask("a:3600", 0).model("claude-sonnet-4-6")]);
    assert_eq!(parts(&back)[0], [0, 4_610, 0, 0]);
}

/// Caches are per model; sent to one model, a conversation does not lose its prefix by a change.
#[test]
fn sent_to_one_model_prefixes_meet() {
    let asks = [ask("a:2000", 0), ask("a:2000 b:500", 10).model("claude-opus-5")];
    assert_eq!(parts(&column("", &asks)), [[0, 2_000, 0, 0], [0, 2_500, 0, 0]]);
    assert_eq!(parts(&column("model=claude-opus-5", &asks)), [[0, 2_000, 0, 0], [2_000, 500, 0, 0]]);
}

/// Reads of Sonnet 5.5: 0.20 until 2026-10-06, 0.10 since (`providers.md` 6.1); input 2, 5m write 2.50.
#[test]
fn prices_are_those_of_the_day() {
    let sonnet = |asked: Ask| asked.model("claude-sonnet-5-5");
    let asks = [sonnet(ask("a:2000", 0)), sonnet(ask("a:2000 b:500", 10))];
    let specs = ["", "prices=2026-10-06", "prices=2026-10-07"];
    for (day, expected) in [(Date(2026, 10, 1), [6_650, 6_650, 6_450]), (Date(2026, 10, 20), [6_450, 6_650, 6_450])] {
        let rows = what_if_at(Some(day), &specs, &Rules::default(), &asks);
        // 2,500 · 2.50 + 2,000 · 0.20 = 6,250 + 400; with 0.10: 6,250 + 200.
        let sums = [0, 1, 2].map(|at| microusd(&rows.iter().map(|row| row[at]).collect::<Vec<_>>()));
        assert_eq!(sums, expected);
    }
}

/// Recordings up to August 2026 show hits 15 s beyond the lifetime, and a reach of 22 (`observed.md` 1 and 2).
#[test]
fn other_rules_of_the_cache_may_hold() {
    let late = [ask("a:2000", 0), ask("a:2000 b:500", 310)];
    let rows = what_if(&["", "cache=observed-2026-08"], &Rules::default(), &late);
    assert_eq!(parts(&rows[1]), [[0, 2_500, 0, 0], [2_000, 500, 0, 0]]);
    let long = format!("a:2000 {}", (0..20).map(|at| format!("t{at}:10")).collect::<Vec<_>>().join(" "));
    // The old end is the 21st position from the new one.
    let rows = what_if(
        &["cache=docs-2026-08", "cache=observed-2026-08"],
        &Rules::default(),
        &[ask("a:2000", 0), ask(&long, 10)],
    );
    assert_eq!(parts(&rows[1]), [[0, 2_200, 0, 0], [2_000, 200, 0, 0]]);
}

#[test]
fn hidden_requests_act_and_are_not_billed() {
    let asks = [ask("a:2000", 0), ask("a:2000 b:500", 10).hidden(), ask("a:2000 b:500 c:100", 20)];
    let rows = column("ttl=1h", &asks);
    assert_eq!(parts(&rows), [[0, 0, 2_000, 0], [2_500, 0, 100, 0]]);
}

#[test]
fn a_write_in_flight_is_not_read() {
    let mut slow = ask("a:2000", 0);
    slow.answer_secs = 30;
    let rows = column("ttl=1h", &[slow, ask("a:2000 b:500", 20).agent(1), ask("a:2000 b:500 c:100", 40).agent(1)]);
    assert_eq!(parts(&rows), [[0, 0, 2_000, 0], [0, 0, 2_500, 0], [2_500, 0, 100, 0]]);
}

#[test]
fn the_bound_takes_the_cheapest_option_for_each_block() {
    let rows = bound(BoundPings::None, &Rules::default(), &six_minutes());
    // a is used at 0, 360 and 420: 10 + 0.50 + 0.50 = 11 a token for an hour; 5 + 6.25 + 0.50 = 11.75 else. b is used at 360
    // and 420: 6.25 + 0.50. c is used once: plain input.
    assert_eq!(parts(&rows), [[0, 0, 2_000, 0], [2_000, 500, 0, 0], [2_500, 0, 0, 500]]);
    // 2,000 · 11 + 500 · 6.75 + 500 · 5 = 22,000 + 3,375 + 2,500.
    assert_eq!(microusd(&rows), 27_875);
}

#[test]
fn pings_lower_the_bound() {
    let rows = bound(BoundPings::Allowed, &Rules::default(), &six_minutes());
    // a: 6.25, one ping of 0.50, two reads of 0.50 = 7.75 a token. The ping is billed to the request before it.
    assert_eq!(parts(&rows), [[2_000, 2_000, 0, 0], [2_000, 500, 0, 0], [2_500, 0, 0, 500]]);
    assert_eq!(microusd(&rows), 21_375);
}

#[test]
fn the_bound_of_a_fork_shares_the_common_part_of_its_sides() {
    // a is used three times within five minutes, b and c once each.
    let asks = [ask("a:2000", 0), ask("a:2000 b:500", 10), ask("a:2000 c:300", 20).agent(1)];
    let rows = bound(BoundPings::None, &Rules::default(), &asks);
    assert_eq!(parts(&rows), [[0, 2_000, 0, 0], [2_000, 0, 0, 500], [2_000, 0, 0, 300]]);
    // The prefix that a hidden request used before is free.
    let asks = [ask("a:2000", 0).hidden(), ask("a:2000 b:500", 10)];
    assert_eq!(parts(&bound(BoundPings::None, &Rules::default(), &asks)), [[2_000, 0, 0, 500]]);
}

/// Three turns; tools and system prompt have a breakpoint of their own.
fn growing() -> Vec<Ask> {
    let marked = |blocks: &str, at_secs| {
        let asked = ask(blocks, at_secs);
        let end = asked.blocks.len();
        asked.marked(&[(1, Ttl::FiveMinutes), (end, Ttl::FiveMinutes)])
    };
    vec![
        marked("s:10000 | a:20000", 0),
        marked("s:10000 | a:20000 b:15000", 60),
        marked("s:10000 | a:20000 b:15000 c:1000", 120),
    ]
}

/// `observed.md` 9: after the hidden prefix 22,400 tokens are left; the answer has 3,300, the instruction 2,170.
#[test]
fn a_compaction_reads_the_conversation_once_more_and_leaves_a_summary() {
    let rows = column("compact-at=40k", &growing());
    // The second prompt has 45,000. The request for a summary reads 30,000 of it, writes 15,000 and sends the instruction
    // as plain input; the second request reads the system prompt and writes the summary.
    assert_eq!(parts(&rows), [[0, 30_000, 0, 0], [40_000, 37_400, 0, 2_170], [32_400, 1_000, 0, 0]]);
    assert_eq!(rows.iter().map(|row| row.usage.output_tokens).collect::<Vec<_>>(), [0, 3_300, 0]);
    // 68,400 · 6.25 + 72,400 · 0.50 + 2,170 · 5 + 3,300 · 25 = 427,500 + 36,200 + 10,850 + 82,500.
    assert_eq!(microusd(&rows), 557_050);
}

#[test]
fn a_conversation_that_never_gets_so_long_stays_as_it_is() {
    let rows = what_if(&["", "compact-at=47k", "compact-at=46k"], &Rules::default(), &growing());
    assert!(rows.iter().all(|row| row[1] == row[0]));
    assert_eq!(rows[2][2].usage.output_tokens, 3_300, "46,000 is so long");
}

#[test]
fn nothing_is_compacted_that_would_not_get_shorter() {
    // System prompt and summary alone have 32,400.
    let rows = what_if(&["", "compact-at=32k"], &Rules::default(), &growing());
    assert!(rows.iter().all(|row| row[1] == row[0]));
}

#[test]
fn going_back_before_a_compaction_brings_the_conversation_back() {
    let mut asks = growing();
    asks.push(ask("s:10000 | a:20000 d:100", 180));
    let rows = column("compact-at=40k", &asks);
    assert_eq!(parts(&rows)[3], [30_000, 100, 0, 0]);
}

#[test]
fn a_fork_begins_with_its_parents_summary_and_is_not_compacted_at_once() {
    let mut asks = growing();
    asks.push(ask("s:10000 | a:20000 b:15000 c:1000 d:30000", 180).agent(1));
    asks.push(ask("s:10000 | x:60000", 181).agent(2));
    asks.push(ask("s:10000 | x:60000 y:500", 185).agent(2));
    let rows = column("compact-at=40k", &asks);
    assert_eq!(parts(&rows)[3], [33_400, 30_000, 0, 0], "32,400, 1,000 and its own 30,000");
    assert_eq!(parts(&rows)[4], [10_000, 60_000, 0, 0], "the first request of an agent");
    assert_eq!(rows[5].usage.output_tokens, 3_300, "its second");
}

/// A prompt of more than 200,000 tokens has another price on Sonnet 4.5; a shorter one has not.
#[test]
fn prices_are_those_of_the_shorter_prompt() {
    let of = |ask: Ask| ask.model("claude-sonnet-4-5");
    let asks = [of(ask("s:10000 | a:180000", 0)), of(ask("s:10000 | a:180000 b:20000", 60))];
    let rows = column("compact-at=150k", &asks);
    // First 190,000 written · 3.75; the request for a summary, of 212,170, is long: 190,000 read · 0.60, 20,000 written · 7.50,
    // 2,170 · 6 and 3,300 · 22.50; what follows is short again: 32,400 written · 3.75, for its system prompt is not marked.
    assert_eq!(microusd(&rows), 712_500 + 114_000 + 150_000 + 13_020 + 74_250 + 121_500);
}

#[test]
fn a_recorded_compaction_of_a_prompt_that_is_no_longer_so_long_is_left_out() {
    let mut asks = growing();
    asks.push(Ask { compacts: true, ..ask("s:10000 | a:20000 b:15000 c:1000 i:2000", 180).agent(1) });
    let rows = what_if(&["", "compact-at=40k", "compact-at=100k"], &Rules::default(), &asks);
    assert_eq!(rows[3][0].usage.total_input_tokens(), 48_000);
    assert_eq!((rows[3][1].usage, rows[3][1].cost), (Usage::default(), Some(Money::ZERO)));
    assert_eq!(rows[3][2], rows[3][0]);
}
