//! Broken and hostile texts: handled, located, nothing lost.

use std::time::{Duration, Instant};

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::transcript::{Sign, Thread, What};
use proptest::prelude::*;

use super::{FIXTURE, answer, answers, prompt, read};

fn outputs(text: impl AsRef<[u8]>) -> Vec<u64> {
    let reading = read(text);
    let threads = reading.threads.iter().flat_map(answers);
    threads.map(|(_, answer)| answer.usage.map_or(0, |recorded| recorded.usage.output_tokens)).collect()
}

#[test]
fn two_records_on_one_line_are_split_and_reported() {
    let text = format!("{}\n{}{}\n{}", prompt(1, 0), answer("a", 2, 1, 5), answer("b", 3, 2, 6), answer("c", 4, 3, 7));
    assert_eq!(outputs(&text), [5, 6, 7]);
    let reading = read(&text);
    assert!(reading.unreadable.is_empty());
    assert_eq!(reading.repaired.len(), 1);
    assert_eq!(reading.repaired[0].line, 2);
}

#[test]
fn a_record_after_a_truncated_one_is_read_and_the_truncated_one_is_located() {
    let whole = answer("a", 2, 1, 5);
    let text = format!("{}\n{}{}\n", prompt(1, 0), &whole[..90], answer("b", 3, 2, 6));
    assert_eq!(outputs(&text), [6]);
    let reading = read(&text);
    assert_eq!(reading.unreadable.len(), 1);
    assert_eq!(reading.unreadable[0].line, 2);
    assert!(reading.unreadable[0].column > 1);
}

#[test]
fn a_truncated_last_line_is_reported_and_everything_before_it_is_read() {
    let whole = answer("b", 3, 2, 6);
    for cut in 1..whole.len() {
        let text = format!("{}\n{}\n{}", prompt(1, 0), answer("a", 2, 1, 5), &whole[..cut]);
        assert_eq!(outputs(&text), [5], "cut at {cut}");
        assert_eq!(read(&text).unreadable.len(), 1, "cut at {cut}");
    }
}

#[test]
fn carriage_returns_and_a_byte_order_mark_change_nothing() {
    let text = format!("\u{feff}{}", FIXTURE.replace('\n', "\r\n"));
    let (plain, other) = (
        Inputs::from_bytes("s.jsonl", FIXTURE.as_bytes(), InputFormat::Auto),
        Inputs::from_bytes("s.jsonl", text.as_bytes(), InputFormat::Auto),
    );
    assert_eq!(format!("{:?}", plain.sessions), format!("{:?}", other.sessions));
    assert_eq!((plain.unreadable.len(), other.unreadable.len()), (0, 0));
}

#[test]
fn bytes_that_are_not_utf_8_do_no_harm_if_only_lengths_are_used() {
    let mut bytes = FIXTURE.as_bytes().to_vec();
    let at = memchr_of(&bytes, b"nine lines.");
    bytes[at] = 0xff;
    assert_eq!(outputs(&bytes), outputs(FIXTURE));
}

fn memchr_of(bytes: &[u8], word: &[u8]) -> usize {
    bytes.windows(word.len()).position(|window| window == word).unwrap()
}

#[test]
fn a_line_of_a_hundred_megabytes_is_a_line() {
    let started = Instant::now();
    let text = prompt(1, 0).replace("go on", &"tell me \\\"more\\\" ".repeat(6_000_000));
    let text = format!("{text}\n{}\n", answer("a", 2, 1, 5));
    assert!(text.len() > 100_000_000);
    assert_eq!(outputs(&text), [5]);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn nesting_and_runs_of_backslashes_take_no_stack_and_no_quadratic_time() {
    let deep = 2_000_000;
    let nested = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let started = Instant::now();
    for value in
        [nested.clone(), "[".repeat(deep), format!("\"{}\"", "\\".repeat(deep)), format!("\"{}\"", "\\\"".repeat(deep))]
    {
        let line = answer("a", 2, 1, 5).replacen(
            "\"type\":\"assistant\"",
            &format!("\"type\":\"assistant\",\"toolUseResult\":{value}"),
            1,
        );
        let text = format!("{}\n{line}\n{}\n", prompt(1, 0), answer("b", 3, 1, 6));
        assert!(outputs(&text).contains(&6));
    }
    // One broken record after the other on one line.
    let torn = "{\"type\":\"user\",\"x".repeat(100_000);
    assert_eq!(outputs(format!("{torn}\n{}\n", answer("b", 3, 1, 6))), [6]);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn numbers_out_of_range_and_wrong_types_are_reported_at_their_places() {
    for wrong in ["-3", "1.5", "99999999999999999999999", "\"7\"", "[]", "true"] {
        let line = answer("a", 2, 1, 5).replace("\"output_tokens\":5", &format!("\"output_tokens\":{wrong}"));
        let reading = read(format!("{}\n{line}\n{}\n", prompt(1, 0), answer("b", 3, 2, 6)));
        assert_eq!(reading.unreadable.len(), 1, "{wrong}");
        assert_eq!(reading.unreadable[0].line, 2);
        assert!(reading.unreadable[0].what.contains("output_tokens"), "{}", reading.unreadable[0].what);
        // The request itself is not lost.
        assert_eq!(answers(&reading.threads[0]).len(), 2);
    }
}

#[test]
fn wrong_types_everywhere_break_nothing() {
    let keys = [
        "parentUuid",
        "isSidechain",
        "sessionId",
        "version",
        "message",
        "type",
        "uuid",
        "timestamp",
        "model",
        "id",
        "role",
        "content",
        "stop_reason",
        "usage",
        "cwd",
        "data",
        "attachment",
        "operation",
        "toolUseResult",
        "thinkingMetadata",
        "permissionMode",
        "compactMetadata",
        "microcompactMetadata",
        "error",
        "retryAttempt",
        "retryInMs",
        "durationMs",
        "diagnostics",
        "agentId",
        "hookName",
        "input",
        "name",
        "tool_use_id",
        "text",
        "thinking",
        "signature",
        "effort",
    ];
    for key in keys {
        for wrong in ["null", "7", "-1e999", "\"\"", "[]", "{}", "[{}]", "{\"type\":[]}", "true", "[[1,2],\"x\"]"] {
            let text: Vec<String> = FIXTURE.lines().map(|line| replaced(line, key, wrong)).collect();
            let reading = read(text.join("\n"));
            assert!(reading.threads.len() < 10, "{key}");
        }
    }
}

/// The line with every value of `key` that is a word or a string replaced, and objects given another member first.
fn replaced(line: &str, key: &str, wrong: &str) -> String {
    let quoted = format!("\"{key}\":");
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(&quoted) {
        let (head, tail) = rest.split_at(at + quoted.len());
        out.push_str(head);
        rest = match tail.as_bytes().first() {
            Some(b'"') => {
                out.push_str(wrong);
                tail[1..].find('"').map_or("", |end| &tail[end + 2..])
            }
            Some(b'{' | b'[') => {
                out.push_str(&format!("{wrong},\"{key}\":"));
                tail
            }
            _ => {
                out.push_str(wrong);
                tail.trim_start_matches(|c: char| c.is_alphanumeric() || ".-+".contains(c))
            }
        };
    }
    out + rest
}

#[test]
fn invalid_records_are_reported_and_skipped() {
    let text = format!("garbage\n\n[1,2]\n{}\n{}}}\n", prompt(1, 0), answer("a", 2, 1, 5));
    assert_eq!(outputs(&text), [5]);
    let lines: Vec<usize> = read(&text).unreadable.iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [1, 3, 5]);
}

#[test]
fn a_clock_that_goes_back_sends_nothing_after_its_answer() {
    let late = prompt(59, 0);
    let text = format!("{late}\n{}\n", answer("a", 2, 59, 5));
    let reading = read(text);
    let (_, answer) = answers(&reading.threads[0])[0];
    assert_eq!(answer.sent_at, answer.first_at);
}

#[test]
fn one_answer_with_two_counts_takes_the_larger_output_with_a_note() {
    let other = answer("a", 3, 2, 9).replace("\"cache_read_input_tokens\":400", "\"cache_read_input_tokens\":500");
    let text = format!("{}\n{}\n{other}\n", prompt(1, 0), answer("a", 2, 1, 5));
    let reading = read(&text);
    let found = answers(&reading.threads[0]);
    assert_eq!(found.len(), 1);
    let usage = found[0].1.usage.unwrap().usage;
    assert_eq!((usage.output_tokens, usage.cache_read_input_tokens), (9, 500));
    assert_eq!(reading.repaired.len(), 1);
}

#[test]
fn results_of_parallel_tools_are_no_rewind() {
    let call = |id: u32, uuid, parent| {
        let block = format!("{{\"type\":\"tool_use\",\"id\":\"t{id}\",\"name\":\"Read\",\"input\":{{}}}}");
        answer("a", uuid, parent, 5).replace("{\"type\":\"text\",\"text\":\"done\"}", &block)
    };
    let result = |id: u32, uuid, parent| {
        let block = format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{id}\",\"content\":\"x\"}}]");
        prompt(uuid, parent).replace("\"go on\"", &block)
    };
    let lines = [prompt(1, 0), call(1, 2, 1), call(2, 3, 2), result(2, 4, 3), result(1, 5, 2), answer("b", 6, 5, 6)];
    let reading = read(lines.join("\n"));
    let signs = reading.threads[0].items.iter().filter(|item| matches!(item.what, What::Sign(_))).count();
    assert_eq!(signs, 0, "{:?}", reading.threads[0].items);
}

#[test]
fn later_blocks_after_an_insertion_and_the_compact_command_are_no_rewinds() {
    let call = answer("a", 4, 3, 5)
        .replace("{\"type\":\"text\",\"text\":\"done\"}", "{\"type\":\"thinking\",\"thinking\":\"\"}");
    let skill = prompt(3, 2).replace("\"isSidechain\":false", "\"isSidechain\":false,\"isMeta\":true");
    let boundary = "{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"x\"}";
    let command = prompt(7, 5).replace("go on", "<command-name>/compact</command-name>");
    let lines = [
        prompt(1, 0),
        answer("a", 2, 1, 5),
        skill,
        call,
        prompt(5, 4),
        boundary.to_owned(),
        command,
        prompt(8, 7),
        answer("b", 9, 8, 6),
    ];
    let reading = read(lines.join("\n"));
    let back = |item: &&forkcast_replay::transcript::Item| matches!(item.what, What::Sign(Sign::Rewound { .. }));
    assert_eq!(reading.threads[0].items.iter().filter(back).count(), 0, "{:?}", reading.threads[0].items);
}

/// Files that were put together: each root with another name of the session begins one.
#[test]
fn sessions_one_after_another_in_a_file_are_sessions() {
    let root = format!("\"parentUuid\":\"{:036}\"", 0);
    let of = |session: &str, lines: [String; 3]| {
        let named = format!("\"sessionId\":\"{session}\"");
        let named = |line: String| line.replace("\"sessionId\":\"s\"", &named).replace(&root, "\"parentUuid\":null");
        lines.map(named).join("\n")
    };
    let first = of("a", [prompt(1, 0), answer("a", 2, 1, 5), prompt(3, 2)]);
    let second = of("b", [prompt(4, 0), answer("b", 5, 4, 6), prompt(6, 5)]);
    let later = of("a", [answer("c", 7, 3, 5), prompt(8, 7), answer("d", 9, 8, 5)]);
    let names = |text: String| {
        let said = |thread: &Thread| thread.items.iter().filter(|item| !matches!(item.what, What::Sign(_))).count();
        let threads = read(text).threads.into_iter();
        threads.map(|thread| (thread.session.as_deref().unwrap().to_owned(), said(&thread))).collect::<Vec<_>>()
    };
    let items = |sessions: [(&str, usize); 2]| sessions.map(|(name, items)| (name.to_owned(), items)).to_vec();
    assert_eq!(names(format!("{first}\n{second}")), items([("a", 3), ("b", 3)]));
    assert_eq!(names(format!("{first}\n{second}\n{later}")), items([("a", 6), ("b", 3)]));
    // A line that goes on from another session's belongs to it: a copy may keep the old name.
    let copied = of("b", [prompt(4, 3), answer("b", 5, 4, 6), prompt(6, 5)]);
    assert_eq!(names(format!("{first}\n{copied}")), [("a".to_owned(), 6)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_bytes_break_nothing_and_are_read_the_same_twice(
        changes in proptest::collection::vec((0..FIXTURE.len(), any::<u8>()), 1..12),
        cut in 0..FIXTURE.len(),
    ) {
        let mut bytes = FIXTURE.as_bytes().to_vec();
        changes.iter().for_each(|(at, byte)| bytes[*at] = *byte);
        bytes.truncate(FIXTURE.len() - cut / 8);
        let (one, two) = (read(&bytes), read(&bytes));
        prop_assert_eq!(format!("{one:?}"), format!("{two:?}"));
        // A change loses at most its own line: other lines are read as before.
        let damaged: std::collections::BTreeSet<usize> = changes.iter().map(|(at, _)| line_of(*at)).collect();
        for fault in &one.unreadable {
            let near = damaged.iter().any(|line| fault.line.abs_diff(*line) <= changes.len());
            prop_assert!(near || fault.line + 2 > bytes.split(|byte| *byte == b'\n').count(), "{fault:?} {damaged:?}");
        }
    }
}

fn line_of(at: usize) -> usize {
    FIXTURE.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}
