//! Tokens of prefixes: declared, estimated, and learnt from the bills of earlier requests.

use forkcast_sim::wire::{
    Blocks, Marker, NodeId, NodeSizes, PathSizes, Pins, Prefixes, Request, Sizes, Ttl, Usage, Wire, estimated_tokens,
};
use proptest::prelude::*;

use super::bodies::{blocks, read, talk};
use crate::tries::tries;

/// Texts whose canonical block has the lengths given, at least 26 bytes each.
fn of_lengths(lengths: &[usize]) -> String {
    let text = |length: &usize| format!("user: {}", "x".repeat(length - r#"{"text":"","type":"text"}"#.len()));
    let texts: Vec<String> = lengths.iter().map(text).collect();
    talk(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn marker(request: &Request, at: usize, ttl: Ttl) -> Marker {
    Marker { node: request.nodes[at], ttl, place: request.places[at], automatic: false }
}

/// Four blocks of 100 bytes each and a pin book.
fn four() -> (Wire, Request, Pins) {
    let mut wire = Wire::default();
    let request = read(&mut wire, &of_lengths(&[100, 100, 100, 100]));
    (wire, request, Pins::default())
}

fn usage(input: u64, read: u64, write_5m: u64, write_1h: u64) -> Usage {
    Usage {
        input_tokens: input,
        cache_read_input_tokens: read,
        ephemeral_5m_input_tokens: write_5m,
        ephemeral_1h_input_tokens: write_1h,
        output_tokens: 7,
    }
}

fn cumulative(wire: &Wire, request: &Request, pins: &Pins, total: u64) -> Vec<u64> {
    pins.cumulative(request, &wire.prefixes, &wire.blocks, total)
}

#[test]
fn an_estimate_is_the_length_over_three_point_one_and_at_least_one() {
    let mut wire = Wire::default();
    for (length, tokens) in [(31, 10), (32, 11), (34, 11), (35, 12), (62, 20), (310, 100)] {
        let request = read(&mut wire, &of_lengths(&[length]));
        let block = blocks(&wire, &request)[0];
        assert_eq!(estimated_tokens(&wire.blocks, block), tokens, "{length}");
    }
    let request = read(&mut wire, r#"{"messages":[{"role":"user","content":[5]}]}"#);
    assert_eq!(estimated_tokens(&wire.blocks, blocks(&wire, &request)[0]), 1);
}

/// An image of 1,000 by 1,000 pixels has 1,296 tokens however well it is compressed; a smaller one has no more than its letters.
#[test]
fn the_letters_of_an_image_are_no_text() {
    let tokens = |letters: usize| {
        let mut wire = Wire::default();
        let source = format!(r#"{{"type":"base64","media_type":"image/png","data":"{}"}}"#, "A".repeat(letters));
        let image = format!(r#"{{"type":"image","source":{source}}}"#);
        let body = format!(r#"{{"messages":[{{"role":"user","content":[{image}]}}]}}"#);
        let request = read(&mut wire, &body);
        estimated_tokens(&wire.blocks, blocks(&wire, &request)[0])
    };
    assert_eq!((tokens(31), tokens(40_000), tokens(400_000)), (tokens(0) + 10, tokens(0) + 1_295, tokens(0) + 1_295));
}

#[test]
fn estimates_add_up_along_the_path() {
    let mut wire = Wire::default();
    let request = read(&mut wire, &of_lengths(&[31, 62, 31]));
    assert_eq!(Pins::default().sizes(&request, &wire, None, None), [10, 30, 40]);
}

#[test]
fn without_a_pin_blocks_share_the_total_by_their_length() {
    let (wire, request, pins) = four();
    assert_eq!(cumulative(&wire, &request, &pins, 1_000), [250, 500, 750, 1_000]);
    assert_eq!(cumulative(&wire, &request, &pins, 0), [0, 0, 0, 0]);
    assert_eq!(cumulative(&wire, &request, &pins, u64::MAX)[3], u64::MAX);
    let mut wire = wire;
    let uneven = read(&mut wire, &of_lengths(&[31, 93]));
    assert_eq!(cumulative(&wire, &uneven, &pins, 100), [25, 100]);
}

#[test]
fn sizes_are_exact_at_pins_and_in_proportion_between() {
    let (wire, request, mut pins) = four();
    pins.learn(&request, &wire.prefixes, &[marker(&request, 1, Ttl::FiveMinutes)], None, &usage(20, 0, 600, 0));
    assert_eq!(pins.get(request.nodes[1]), Some(600));
    assert_eq!(cumulative(&wire, &request, &pins, 1_000), [300, 600, 800, 1_000]);
}

#[test]
fn tokens_after_the_last_block_are_learnt_and_left_out() {
    let (mut wire, request, mut pins) = four();
    pins.learn(&request, &wire.prefixes, &[marker(&request, 3, Ttl::FiveMinutes)], None, &usage(6, 0, 994, 0));
    assert_eq!(cumulative(&wire, &request, &pins, 1_000), [248, 497, 745, 994]);
    // A longer prompt of the same model has the same few tokens after its end; another model's does not.
    let longer = read(&mut wire, &of_lengths(&[100, 100, 100, 100, 200]));
    assert_eq!(cumulative(&wire, &longer, &pins, 1_500)[4], 1_494);
    assert_eq!(cumulative(&wire, &longer, &pins, 995)[4], 994, "never below a pin");
    let other = wire.read(of_lengths(&[100]).as_bytes(), "scope", "claude-opus-4-8").unwrap();
    assert_eq!(cumulative(&wire, &other, &pins, 1_000), [998], "its own, as recordings have it");
    // A breakpoint before the end says nothing about the tail.
    pins.learn(&longer, &wire.prefixes, &[marker(&longer, 2, Ttl::FiveMinutes)], None, &usage(400, 0, 700, 0));
    assert_eq!(cumulative(&wire, &longer, &pins, 1_500)[4], 1_494);
}

/// The frame at the end of a prompt by model, thinking and what the prompt ends with (`observed.md` 8).
#[test]
fn a_first_prompt_leaves_the_frame_of_its_model_uncached() {
    let text = r#"[{"role":"user","content":"Hi"}]"#;
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"A","input":{}}]}"#;
    let result =
        format!(r#"[{call},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"1"}}]}}]"#);
    let thinking = r#""thinking":{"type":"enabled","budget_tokens":1024},"#;
    let cases = [
        ("claude-haiku-4-5", "", 3, 6),
        ("claude-haiku-4-5", thinking, 10, 8),
        ("claude-sonnet-4-6", "", 3, 1),
        ("claude-opus-4-8", "", 2, 2),
        ("claude-sonnet-5", thinking, 2, 2),
        ("gpt-5", "", 0, 0),
    ];
    for (model, thinking, after_text, after_result) in cases {
        for (messages, left) in [(text, after_text), (result.as_str(), after_result)] {
            let mut wire = Wire::default();
            let body = format!(r#"{{{thinking}"model":"{model}","messages":{messages}}}"#);
            let request = wire.read(body.as_bytes(), "scope", "").unwrap();
            let cumulative = cumulative(&wire, &request, &Pins::default(), 1_000);
            assert_eq!(cumulative.last(), Some(&(1_000 - left)), "{model} {thinking} {messages}");
        }
    }
}

#[test]
fn a_pin_that_does_not_fit_is_skipped() {
    let (wire, request, mut pins) = four();
    pins.learn(&request, &wire.prefixes, &[marker(&request, 1, Ttl::FiveMinutes)], None, &usage(1, 0, 600, 0));
    pins.learn(&request, &wire.prefixes, &[marker(&request, 2, Ttl::FiveMinutes)], None, &usage(1, 0, 500, 0));
    assert_eq!(cumulative(&wire, &request, &pins, 1_000), [300, 600, 800, 1_000], "the later is smaller");
    assert_eq!(cumulative(&wire, &request, &pins, 550), [166, 333, 500, 550], "the earlier exceeds the total");
    assert_eq!(cumulative(&wire, &request, &pins, 600), [300, 600, 600, 600], "a pin of the whole total");
}

#[test]
fn blocks_of_an_unmeasured_request_keep_their_measured_sizes() {
    let (mut wire, request, mut pins) = four();
    let measured = pins.sizes(&request, &wire, None, Some(1_000));
    assert_eq!(measured, [250, 500, 750, 1_000]);
    pins.show(&request, &wire, &measured);
    assert_eq!(pins.sizes(&request, &wire, None, None), measured, "the same blocks");
    let longer = read(&mut wire, &of_lengths(&[31, 100, 62, 100]));
    assert_eq!(pins.sizes(&longer, &wire, None, None), [10, 260, 280, 530], "those that are new by their length");
    assert_eq!(pins.sizes(&longer, &wire, Some(&[1, 2, 3, 4]), None), [1, 2, 3, 4], "declared sizes come first");
    assert_eq!(pins.sizes(&longer, &wire, Some(&[1, 2]), None)[3], 530, "unless it is another prompt's");
    // Of two blocks of one content each has its own size.
    pins.show(&request, &wire, &[10, 400, 500, 1_000]);
    assert_eq!(pins.sizes(&request, &wire, None, None), [10, 400, 500, 1_000]);
}

#[test]
fn both_lifetimes_pin_two_prefixes() {
    let (wire, request, mut pins) = four();
    let markers =
        [marker(&request, 0, Ttl::OneHour), marker(&request, 1, Ttl::OneHour), marker(&request, 3, Ttl::FiveMinutes)];
    pins.learn(&request, &wire.prefixes, &markers, None, &usage(5, 100, 300, 200));
    let found = request.nodes.iter().map(|node| pins.get(*node)).collect::<Vec<_>>();
    assert_eq!(found, [None, Some(300), None, Some(600)]);
}

#[test]
fn one_lifetime_pins_only_the_last_breakpoint() {
    let (wire, request, _) = four();
    for written in [usage(5, 100, 300, 0), usage(5, 100, 0, 300)] {
        let mut pins = Pins::default();
        let markers = [marker(&request, 0, Ttl::OneHour), marker(&request, 2, Ttl::FiveMinutes)];
        pins.learn(&request, &wire.prefixes, &markers, None, &written);
        let found = request.nodes.iter().map(|node| pins.get(*node)).collect::<Vec<_>>();
        assert_eq!(found, [None, None, Some(400), None]);
    }
}

#[test]
fn a_hit_pins_the_tokens_read() {
    let (wire, request, mut pins) = four();
    let last = [marker(&request, 3, Ttl::FiveMinutes)];
    pins.learn(&request, &wire.prefixes, &last, Some(request.nodes[1]), &usage(5, 222, 300, 0));
    assert_eq!((pins.get(request.nodes[1]), pins.get(request.nodes[3])), (Some(222), Some(522)));
    // The first value stays.
    pins.learn(&request, &wire.prefixes, &last, Some(request.nodes[1]), &usage(5, 111, 300, 0));
    assert_eq!((pins.get(request.nodes[1]), pins.get(request.nodes[3])), (Some(222), Some(522)));
    // Without a read no hit is pinned, and without caching nothing is pinned.
    let mut pins = Pins::default();
    pins.learn(&request, &wire.prefixes, &last, Some(request.nodes[1]), &usage(5, 0, 300, 0));
    assert_eq!((pins.get(request.nodes[1]), pins.get(request.nodes[3])), (None, Some(300)));
    let mut pins = Pins::default();
    pins.learn(&request, &wire.prefixes, &last, Some(request.nodes[1]), &usage(500, 0, 0, 0));
    assert_eq!((pins.get(request.nodes[1]), pins.get(request.nodes[3])), (None, None));
}

#[test]
fn declared_sizes_add_up_and_stay() {
    let (mut prefixes, mut arena, mut sizes) = (Prefixes::default(), Blocks::default(), NodeSizes::default());
    let content = |bytes| forkcast_sim::wire::Content {
        level: forkcast_sim::wire::Level::Messages,
        role: forkcast_sim::wire::Role::User,
        kind: forkcast_sim::wire::BlockKind::Text,
        bytes,
    };
    let block = arena.intern(content(b"a"));
    let root = prefixes.root("s", "m");
    let mut path: Vec<NodeId> = Vec::new();
    for _ in 0..3 {
        let parent = path.last().copied().unwrap_or(root);
        path.push(prefixes.extend(parent, block, forkcast_sim::wire::BlockKind::Text).0);
    }
    assert_eq!(sizes.tokens_at(path[2]), 0, "nothing declared");
    for (node, tokens) in path.iter().zip([5, 0, 7]) {
        sizes.declare(&prefixes, *node, tokens);
    }
    sizes.declare(&prefixes, path[0], 99);
    assert_eq!(path.iter().map(|node| sizes.tokens_at(*node)).collect::<Vec<_>>(), [5, 5, 12]);
    let deeper = prefixes.extend(path[2], block, forkcast_sim::wire::BlockKind::Text).0;
    sizes.declare(&prefixes, deeper, u64::MAX);
    assert_eq!(sizes.tokens_at(deeper), u64::MAX - 1);
    assert_eq!(sizes.tokens_at(root), 0);
}

#[test]
fn sizes_along_a_path_go_by_depth() {
    let (wire, request, _) = four();
    let sizes = PathSizes::new(&wire.prefixes, &request.nodes, &[1, 3, 6, 10]);
    let found: Vec<u64> = request.nodes.iter().map(|node| sizes.tokens_at(*node)).collect();
    assert_eq!((found.as_slice(), sizes.total()), (&[1, 3, 6, 10][..], 10));
    assert_eq!(sizes.tokens_at(request.root), 0);
    let part = PathSizes::new(&wire.prefixes, &request.nodes[1..3], &[3, 6]);
    let found: Vec<u64> = request.nodes.iter().map(|node| part.tokens_at(*node)).collect();
    assert_eq!(found, [0, 3, 6, 6], "shorter than the path, on it, beyond its end");
    assert_eq!(PathSizes::new(&wire.prefixes, &[], &[]).tokens_at(request.end()), 0);
}

#[test]
fn a_usage_adds_up() {
    let (a, b) = (usage(1, 20, 300, 4_000), usage(5, 60, 700, 8_000));
    let mut sum = a;
    sum += b;
    assert_eq!(sum, Usage { output_tokens: 14, ..usage(6, 80, 1_000, 12_000) });
    assert_eq!((a.cache_creation_input_tokens(), a.total_input_tokens()), (4_300, 4_321));
    assert_eq!(usage(50, 50, 50, 50).hit_rate(), Some(0.25));
    assert_eq!(Usage::default().hit_rate(), None);
}

proptest! {
    #![proptest_config(tries(500))]

    #[test]
    fn sizes_never_shrink_keep_the_total_and_hold_at_every_pin_that_fits(
        lengths in prop::collection::vec(26..2_000usize, 1..12),
        pinned in prop::collection::vec((any::<prop::sample::Index>(), 0..5_000u64), 0..6),
        total in 0..6_000u64,
    ) {
        let mut wire = Wire::default();
        let request = read(&mut wire, &of_lengths(&lengths));
        let mut pins = Pins::default();
        for (at, tokens) in &pinned {
            pins.learn(&request, &wire.prefixes, &[marker(&request, at.index(lengths.len()), Ttl::OneHour)], None, &usage(0, *tokens, 0, 0));
        }
        let sizes = cumulative(&wire, &request, &pins, total);
        prop_assert!(sizes.is_sorted() && sizes[sizes.len() - 1] <= total);
        let mut floor = 0;
        for (node, size) in request.nodes.iter().zip(&sizes) {
            if let Some(pin) = pins.get(*node).filter(|pin| (floor..=total).contains(pin)) {
                prop_assert_eq!(*size, pin);
                floor = pin;
            }
        }
        if pins.get(request.end()).is_none() {
            prop_assert_eq!(sizes[sizes.len() - 1], total);
        }
    }
}
