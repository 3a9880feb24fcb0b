//! Readers of serving traces: results for files made by hand, places of damage, and robustness.

use std::time::{Duration as Wall, Instant as Clock};

use forkcast_replay::formats::{self, Format, Reading};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::trace::{BlockSizes, Conversation, Trace};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::TOKENS_MAX;
use proptest::prelude::*;

use crate::places::fixture;

const FIXTURES: [(Format, &str); 3] =
    [(Format::Weka, "weka.json"), (Format::Mooncake, "mooncake.jsonl"), (Format::LmCache, "lmcache.jsonl")];

fn requests(reading: &Reading) -> usize {
    reading.traces.iter().map(Trace::requests).sum()
}

fn only(format: Format, name: &str) -> Trace {
    let mut reading = formats::read(format, "memory", &fixture(name));
    assert_eq!((reading.traces.len(), &reading.unreadable[..]), (1, &[][..]));
    reading.traces.pop().unwrap()
}

/// Instant in milliseconds, prompt, shared blocks, further blocks.
fn shape(conversation: &Conversation) -> Vec<(u64, u64, usize, Vec<u64>)> {
    let rows = conversation.requests.iter();
    rows.map(|r| (r.at.since(Instant::default()).as_millis(), r.input_tokens, r.kept, r.added.clone())).collect()
}

#[test]
fn each_format_is_detected_by_its_content() {
    for (format, name) in FIXTURES {
        let inputs = Inputs::from_bytes(name, &fixture(name), InputFormat::Auto);
        assert_eq!(inputs.scopes[0].files[0].format, format, "{name}");
        assert!(inputs.scopes[0].files[0].traces.iter().any(|trace| trace.requests() > 0), "{name}");
    }
}

#[test]
fn a_conversation_and_its_sub_agents_keep_their_repeated_and_added_blocks() {
    let trace = only(Format::Weka, "weka.json");
    let ids: Vec<_> = trace.conversations.iter().map(|c| (c.id.as_str(), c.parent, c.tool_tokens)).collect();
    assert_eq!(ids, [("main", None, 80), ("agent_001", Some(0), 64), ("agent_002", Some(0), 64)]);
    assert_eq!(
        shape(&trace.conversations[0]),
        [
            (0, 200, 0, vec![1, 2, 3]),
            (10_500, 330, 3, vec![4, 5]),
            (400_000, 400, 5, vec![6]),
            (420_000, 460, 2, vec![7, 8, 9, 10, 11]),
            (430_000, 270, 2, vec![3, 4]),
        ]
    );
    assert_eq!(shape(&trace.conversations[1]), [(20_000, 130, 0, vec![20, 21]), (25_000, 200, 2, vec![22])]);
    assert_eq!(shape(&trace.conversations[2]), [(410_250, 140, 0, vec![20, 21])]);
    let second = &trace.conversations[0].requests[1];
    assert_eq!((second.index, second.line, second.api_time), (1, 3, None));
    assert_eq!(second.first_byte_time, Some(Duration::from_millis(1_250)));
    let third = &trace.conversations[0].requests[2];
    assert_eq!(third.model.as_deref(), Some("claude-opus-4-5-20251101"), "the trace's own, if a request names none");
}

#[test]
fn an_invalid_block_size_is_damage_and_a_missing_one_is_the_default() {
    let trace = |size: &str| {
        format!("{{\"hash_id_scope\":\"local\",{size}\"requests\":[{{\"t\":0,\"in\":9,\"hash_ids\":[]}}]}}")
    };
    for size in ["", "\"block_size\":null,"] {
        let reading = formats::read(Format::Weka, "memory", trace(size).as_bytes());
        assert_eq!((reading.traces[0].sizes.clone(), reading.unreadable.len()), (BlockSizes::Equal(64), 0), "{size}");
    }
    let reading = formats::read(Format::Weka, "memory", trace("\"block_size\":\"64\",").as_bytes());
    let [fault] = &reading.unreadable[..] else { panic!("{:?}", reading.unreadable) };
    assert_eq!((fault.line, &*fault.what), (1, "`block_size`: found `\"`, expected a whole number"));
    assert!(reading.traces.is_empty());
}

#[test]
fn a_cluster_has_one_pool_and_blocks_of_the_size_that_fits() {
    let trace = only(Format::Mooncake, "mooncake.jsonl");
    assert_eq!(trace.sizes, BlockSizes::Equal(512));
    assert_eq!(shape(&trace.conversations[0])[2..], [(3_000, 1_536, 1, vec![1, 4]), (9_000_000, 1_700, 3, vec![5])]);
    let finer = b"{\"timestamp\":1,\"input_length\":40,\"output_length\":2,\"hash_ids\":[1,2,3]}";
    let reading = formats::read(Format::Mooncake, "memory", finer);
    assert_eq!(reading.traces[0].sizes, BlockSizes::Equal(16));
}

#[test]
fn texts_become_blocks_in_order_of_time() {
    let trace = only(Format::LmCache, "lmcache.jsonl");
    let agents: Vec<_> = trace.conversations.iter().map(|c| (c.id.as_str(), c.requests.len())).collect();
    assert_eq!(agents, [("a1", 3), ("b2", 1)]);
    let lines: Vec<_> = trace.conversations[0].requests.iter().map(|r| r.line).collect();
    assert_eq!(lines, [1, 3, 2]);
    let kept: Vec<_> = trace.conversations[0].requests.iter().map(|r| (r.kept, r.blocks())).collect();
    // The second conversation shares "Fix the p" with the first.
    assert_eq!(kept, [(0, 2), (2, 3), (3, 4)]);
}

#[test]
fn damage_is_reported_with_its_place_and_the_rest_is_read() {
    let text = String::from_utf8(fixture("weka.json")).unwrap();
    for (from, to, line, place, left) in [
        ("\"in\":330", "\"in\":\"330\"", 3, "column 66", 7),
        ("\"t\":10.5", "\"t\":-10.5", 3, "column 6: `t`: expected seconds", 7),
        ("\"t\":20.0,", "", 4, "found no seconds under `t`", 6),
        (",\"stop\":\"\",", ",\"stop\":\"\" ", 3, "expected `,` or `}`", 7),
    ] {
        let reading = formats::read(Format::Weka, "memory", text.replacen(from, to, 1).as_bytes());
        assert_eq!(requests(&reading), left, "{from}");
        let fault = &reading.unreadable[0];
        assert_eq!(fault.line, line, "{fault}");
        assert!(fault.to_string().contains(place), "{fault}");
    }
    let text = String::from_utf8(fixture("mooncake.jsonl")).unwrap().replacen("1536", "-1", 1);
    let reading = formats::read(Format::Mooncake, "memory", text.as_bytes());
    assert_eq!((requests(&reading), reading.unreadable[0].line), (3, 3));
}

#[test]
fn counts_and_instants_beyond_the_bounds_are_refused_with_their_place() {
    let count = format!("is {}, expected a whole number from 0 to {TOKENS_MAX}", TOKENS_MAX + 1);
    let more = (TOKENS_MAX + 1).to_string();
    for (format, name, from, to, line, says, left) in [
        (Format::Weka, "weka.json", "\"in\":330", format!("\"in\":{more}"), 3, &*count, 7),
        (Format::Weka, "weka.json", "\"out\":", format!("\"out\":{more}"), 2, &count, 7),
        (Format::Weka, "weka.json", "\"tool_tokens\":", format!("\"tool_tokens\":{more}"), 1, &count, 8),
        (Format::Weka, "weka.json", "\"block_size\":", format!("\"block_size\":{more}"), 1, &count, 0),
        (Format::Weka, "weka.json", "\"in\":330", "\"in\":200".to_owned(), 3, "found 5 blocks of 64 tokens", 7),
        (Format::Weka, "weka.json", "\"t\":10.5", "\"t\":9300000000".to_owned(), 3, "`t`", 7),
        (Format::Mooncake, "mooncake.jsonl", "1536", more.clone(), 3, &count, 3),
        (
            Format::Mooncake,
            "mooncake.jsonl",
            "\"timestamp\": ",
            "\"timestamp\": 98765432109876".to_owned(),
            1,
            "`timestamp`",
            3,
        ),
        (Format::LmCache, "lmcache.jsonl", "\"timestamp\": ", "\"timestamp\": 99".to_owned(), 1, "`timestamp`", 3),
    ] {
        let text = String::from_utf8(fixture(name)).unwrap();
        let mut changed = text.replacen(from, &to, 1);
        if from == "\"out\":" || from.ends_with("_tokens\":") || from.ends_with("_size\":") {
            // The old digits would follow the inserted ones.
            let end = changed.find(&to).unwrap() + to.len();
            let digits = changed[end..].find(|byte: char| !byte.is_ascii_digit()).unwrap();
            changed.replace_range(end..end + digits, "");
        }
        let reading = formats::read(format, "memory", changed.as_bytes());
        assert_eq!(requests(&reading), left, "{name} {to}: {:?}", reading.unreadable);
        let fault = &reading.unreadable[0];
        assert_eq!(fault.line, line, "{name} {to}: {fault}");
        assert!(fault.to_string().contains(says), "{name} {to}: {fault}");
    }
}

#[test]
fn requests_out_of_order_are_sorted_by_time_with_their_kept_blocks() {
    let text = "{\"hash_id_scope\":\"local\",\"block_size\":64,\"requests\":[\n\
        {\"t\":0,\"in\":128,\"hash_ids\":[1,2]},\n\
        {\"t\":200,\"in\":256,\"hash_ids\":[1,2,3,4]},\n\
        {\"t\":40,\"in\":192,\"hash_ids\":[1,2,3]},\n\
        {\"t\":40,\"in\":128,\"hash_ids\":[1,9]}]}";
    let reading = formats::read(Format::Weka, "memory", text.as_bytes());
    let conversation = &reading.traces[0].conversations[0];
    assert_eq!(
        shape(conversation),
        [
            (0, 128, 0, vec![1, 2]),
            (40_000, 192, 2, vec![3]),
            (40_000, 128, 1, vec![9]),
            (200_000, 256, 1, vec![2, 3, 4])
        ]
    );
    assert_eq!(conversation.requests.iter().map(|request| request.line).collect::<Vec<_>>(), [2, 4, 5, 3]);
    assert_eq!(reading.notes, ["1 requests are older than the one before them: taken in order of time"]);
    assert_eq!(reading.unreadable, []);
}

#[test]
fn a_trace_that_breaks_off_keeps_its_requests() {
    let text = fixture("weka.json");
    let cut = memchr::memmem::find(&text, b"{\"t\":420.0").unwrap() + 30;
    let reading = formats::read(Format::Weka, "memory", &text[..cut]);
    assert_eq!(requests(&reading), 6);
    assert_eq!(reading.unreadable.len(), 1, "{:?}", reading.unreadable);
}

#[test]
fn nesting_and_numbers_without_end_break_no_reader() {
    let deep = 50_000;
    let inside = format!("{}1{}", "{\"t\":1,\"requests\":[".repeat(deep), "]}".repeat(deep));
    let brackets = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let digits = "9".repeat(100_000);
    let weka = format!("{{\"hash_id_scope\":\"local\",\"requests\":[{inside}]}}");
    let started = Clock::now();
    assert!(!formats::read(Format::Weka, "memory", weka.as_bytes()).unreadable.is_empty());
    for (format, name) in FIXTURES {
        let text = String::from_utf8(fixture(name)).unwrap();
        for key in [
            "\"t\":",
            "\"in\":",
            "\"hash_ids\":",
            "\"timestamp\": ",
            "\"input\": ",
            "\"block_size\":",
            "\"hash_ids\": ",
        ] {
            for value in [&brackets, &digits] {
                formats::read(format, "memory", text.replacen(key, &format!("{key}{value}"), 2).as_bytes());
            }
        }
    }
    assert!(started.elapsed() < Wall::from_secs(10), "{:?}", started.elapsed());
}

#[derive(Clone, Debug)]
enum Edit {
    Set(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, &'static [u8]),
}

const PIECES: [&[u8]; 10] =
    [b"{", b"}", b"[", b"]", b"\"", b"\n", b"null", b"\xff", b"18446744073709551616", b"{\"t\":1,\"requests\":["];

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        (at(), 1..64_usize).prop_map(|(at, length)| Edit::Remove(at, length)),
        (at(), prop::sample::select(&PIECES[..])).prop_map(|(at, piece)| Edit::Insert(at, piece)),
    ]
}

fn edited(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for edit in edits {
        let length = bytes.len().max(1);
        match edit {
            _ if bytes.is_empty() => {}
            Edit::Set(at, byte) => bytes[at.index(length)] = *byte,
            Edit::Remove(at, count) => drop(bytes.drain(at.index(length)..(at.index(length) + count).min(length))),
            Edit::Insert(at, piece) => drop(bytes.splice(at.index(length)..at.index(length), piece.iter().copied())),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutations_break_nothing(pick in 0..3_usize, edits in prop::collection::vec(edit(), 1..6)) {
        let (format, name) = FIXTURES[pick];
        let bytes = edited(&fixture(name), &edits);
        let reading = formats::read(format, "memory", &bytes);
        prop_assert_eq!(format!("{reading:?}"), format!("{:?}", formats::read(format, "memory", &bytes)));
        prop_assert!(requests(&reading) + reading.unreadable.len() > 0 || bytes.trim_ascii().is_empty());
        for trace in &reading.traces {
            for conversation in &trace.conversations {
                let mut before = 0;
                for request in &conversation.requests {
                    prop_assert!(request.kept <= before);
                    before = request.blocks();
                }
            }
        }
    }

    #[test]
    fn a_request_that_a_byte_costs_is_told(pick in 0..3_usize, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (format, name) = FIXTURES[pick];
        let whole = formats::read(format, "memory", &fixture(name));
        let bytes = edited(&fixture(name), &[Edit::Set(at, byte)]);
        let reading = formats::read(format, "memory", &bytes);
        prop_assert!(requests(&reading) >= requests(&whole) || !reading.unreadable.is_empty(), "{:?}", at);
    }
}
