//! Logs of gateways and traces: what they say of prompts and usage, put into one form. Fixtures are made by hand after the
//! sources that the modules name.

use forkcast_fixtures::{fixture, unpacked};
use forkcast_replay::exchange::{Dialect, Exchange};
use forkcast_replay::formats::Format;
use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{Options, replay};
use forkcast_sim::time::Instant;

use crate::places::{memory, notes, read};

fn text(name: &str) -> String {
    unpacked(&fixture(name))
}

fn reasons(inputs: &Inputs) -> Vec<(usize, &str)> {
    inputs.unreadable.iter().map(|unreadable| (unreadable.line, unreadable.reason.as_str())).collect()
}

fn at(inputs: &Inputs, index: usize) -> &Exchange {
    inputs.exchanges().find(|exchange| exchange.origin.index == index).unwrap()
}

fn body(exchange: &Exchange) -> &str {
    std::str::from_utf8(&exchange.body).unwrap()
}

/// index, input, read, 5m, 1h, output
type Counts = (usize, Option<(u64, u64, u64, u64, u64)>);

fn counts(inputs: &Inputs) -> Vec<Counts> {
    let usage = |exchange: &Exchange| {
        let usage = exchange.usage?.usage;
        let written = (usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens);
        Some((usage.input_tokens, usage.cache_read_input_tokens, written.0, written.1, usage.output_tokens))
    };
    inputs.exchanges().map(|exchange| (exchange.origin.index, usage(exchange))).collect()
}

/// Milliseconds after 2026-02-12T19:30:44Z: sent, first byte, ended.
fn instants(exchange: &Exchange) -> [Option<u64>; 3] {
    let start = Instant::from_millis(1_770_924_644_000);
    [exchange.sent_at, exchange.first_byte_at, exchange.ended_at].map(|at| Some(at?.since(start).as_millis()))
}

#[test]
fn litellm_counts_are_made_additive_whatever_its_version_included() {
    let inputs = read("litellm.jsonl");
    assert_eq!(inputs.scopes[0].files[0].format, Format::LiteLlm);
    assert_eq!(
        counts(&inputs),
        [
            (0, Some((31, 700, 400, 600, 9))), // 1731 with both
            (1, Some((31, 700, 1000, 0, 9))),  // 731 with reads
            (2, Some((3, 20, 10, 0, 4))),      // the provider's own answer
            (3, Some((5, 50, 15, 0, 7))),      // a row, counts in its metadata
            (4, Some((5, 20, 0, 0, 5))),       // redacted
            (7, None),                         // refused
            (8, Some((40, 60, 0, 0, 6))),      // another provider
            (9, Some((10, 30, 0, 0, 2))),      // wrapped
            (10, Some((9000, 0, 0, 0, 1))),    // cut
            (11, Some((12, 0, 0, 0, 3))),      // nothing but totals
        ]
    );
    assert_eq!((reasons(&inputs), inputs.repaired.len()), (vec![], 0));
    let skipped: Vec<_> = inputs.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!(
        skipped,
        [
            "record 5, line 6: call `aembedding` is no model request",
            "record 6, line 7: answered out of LiteLLM's own cache",
        ]
    );
    assert_eq!(
        notes(&inputs),
        [
            "2 records, the first of them 4, hold no whole prompt: usage is counted, but nothing can be said about why it missed"
        ]
    );
    assert!(at(&inputs, 7).failed());
    assert_eq!(at(&inputs, 8).provider, "openai");
    assert!(at(&inputs, 0).usage.unwrap().split_by_ttl);
}

#[test]
fn litellm_bodies_are_the_clients_own_or_put_together() {
    let inputs = read("litellm.jsonl");
    assert_eq!(
        body(at(&inputs, 0)),
        "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":16,\
         \"tools\":[{\"name\":\"look\",\"description\":\"Looks.\",\"input_schema\":{\"type\":\"object\"}}],\
         \"system\":[{\"type\":\"text\",\"text\":\"Be brief.\",\"cache_control\":{\"type\":\"ephemeral\"}}],\
         \"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]}"
    );
    assert_eq!(
        body(at(&inputs, 2)),
        "{\"model\":\"claude-opus-4-8\",\"max_tokens\":16,\
         \"system\":[{\"type\":\"text\",\"text\":\"Be brief.\",\"cache_control\":{\"type\":\"ephemeral\"}}],\
         \"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"
    );
    assert!(!body(at(&inputs, 2)).contains("my-opus"), "the model that was asked, not the proxy's word for it");
    assert!(body(at(&inputs, 3)).contains("\"system\":\"Be brief.\""));
    assert_eq!(body(at(&inputs, 10)), "{\"model\":\"claude-sonnet-4-5\",\"messages\":[]}");
    let dialects: Vec<_> = [0, 2, 8, 10].iter().map(|index| at(&inputs, *index).dialect).collect();
    assert_eq!(dialects, [Dialect::Rebuilt, Dialect::Messages, Dialect::ChatCompletions, Dialect::Unprompted]);
}

#[test]
fn litellm_instants_are_seconds_or_dates() {
    let inputs = read("litellm.jsonl");
    assert_eq!(instants(at(&inputs, 0)), [Some(250), Some(1375), Some(2750)]);
    assert_eq!(instants(at(&inputs, 3)), [Some(250), None, Some(2750)], "the first token is the end: not streamed");
}

#[test]
fn litellm_records_are_in_lines_in_a_list_or_single() {
    let lines = text("litellm.jsonl");
    let expected = counts(&read("litellm.jsonl"));
    let list = format!("[{}]", lines.trim_end().replace('\n', ",\n"));
    assert_eq!(counts(&memory(&list)), expected);
    let first = lines.lines().next().unwrap();
    assert_eq!(counts(&memory(first)), expected[..1]);
    let pretty = serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(first).unwrap()).unwrap();
    assert_eq!(counts(&memory(&pretty)), expected[..1]);
    let cut = &list[..list.len() - 200];
    assert_eq!(counts(&memory(cut)), expected[..9]);
    assert_eq!(memory(cut).unreadable.len(), 1);
}

#[test]
fn counts_of_spans_are_made_additive_and_calls_are_counted_once() {
    let inputs = read("traces.jsonl");
    assert_eq!(inputs.scopes[0].files[0].format, Format::Otel);
    assert_eq!(
        counts(&inputs),
        [
            (1, Some((100, 700, 200, 0, 9))),      // the convention
            (3, Some((10, 11_579, 12_694, 0, 5))), // the provider's counts as they came
            (5, Some((5, 30, 15, 0, 3))),          // OpenInference
            (6, Some((20, 0, 0, 0, 2))),
            (7, Some((40, 60, 0, 0, 6))),
            (8, Some((7, 0, 0, 0, 1))),
            (9, None), // refused
            (10, Some((8, 0, 0, 0, 0))),
        ]
    );
    assert_eq!((reasons(&inputs), inputs.repaired.len()), (vec![], 0));
    let skipped: Vec<_> = inputs.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!(
        skipped,
        [
            "span 0, line 1: `execute_tool look` asks no model",
            "span 2, line 1: `invoke_agent main` asks no model",
            "span 4, line 1: the call is traced again inside of it, and counted there",
        ]
    );
    assert_eq!(
        notes(&inputs),
        [
            "2 spans, the first of them 7, hold no whole prompt: usage is counted, but nothing can be said about why it missed",
            "traces hold no cache breakpoints: where they stood is not known",
        ]
    );
    assert_eq!(instants(at(&inputs, 1)), [Some(250), Some(1375), Some(2750)]);
    assert_eq!(at(&inputs, 1).chain.as_deref(), Some("conv-1/main"));
    assert!(at(&inputs, 9).failed());
    assert_eq!(at(&inputs, 7).provider, "openai");
}

#[test]
fn prompts_of_spans_become_bodies_of_the_messages_api() {
    let inputs = read("traces.jsonl");
    assert_eq!(
        body(at(&inputs, 1)),
        "{\"model\":\"claude-opus-4-8\",\
         \"tools\":[{\"name\":\"look\",\"description\":\"Looks.\",\"input_schema\":{\"type\":\"object\"}}],\
         \"system\":[{\"type\":\"text\",\"text\":\"Be brief.\"}],\
         \"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Weather?\"}]},\
         {\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"Hm\"},\
         {\"type\":\"text\",\"text\":\"Looking.\"},\
         {\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"look\",\"input\":{\"place\":\"Paris\"}}]},\
         {\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\
         \"content\":[{\"type\":\"text\",\"text\":\"rain\"}]}]},\
         {\"role\":\"user\",\"content\":[{\"type\":\"image\",\
         \"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"AAAA\"}}]}]}"
    );
    assert_eq!(
        body(at(&inputs, 3)),
        "{\"model\":\"claude-sonnet-4-5\",\
         \"tools\":[{\"name\":\"look\",\"description\":\"Looks.\",\"input_schema\":{\"type\":\"object\"}}],\
         \"system\":[{\"type\":\"text\",\"text\":\"Be brief.\"}],\
         \"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Weather?\"}]},\
         {\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Looking.\"},\
         {\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"look\",\"input\":{\"place\":\"Paris\"}}]},\
         {\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\
         \"content\":[{\"type\":\"text\",\"text\":\"rain\"}]}]}]}"
    );
    assert_eq!(
        body(at(&inputs, 5)),
        "{\"model\":\"claude-sonnet-4-5\",\"tools\":[{\"name\":\"look\",\"input_schema\":{\"type\":\"object\"}}],\
         \"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Weather?\"}]},\
         {\"role\":\"assistant\",\
         \"content\":[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"look\",\"input\":{\"place\":\"Paris\"}}]}]}"
    );
    assert!(body(at(&inputs, 6)).contains("\"cache_control\""), "arguments of the call as they were");
    let hi = "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]}";
    assert!(body(at(&inputs, 8)).ends_with(hi) && body(at(&inputs, 10)).ends_with(hi));
    assert_eq!(body(at(&inputs, 9)), "{\"model\":\"claude-opus-4-8\",\"messages\":[]}");
}

#[test]
fn an_export_that_breaks_off_keeps_the_spans_before_the_break() {
    let lines = text("traces.jsonl");
    let second = lines.find("ChatAnthropic.chat").unwrap();
    let inputs = memory(&lines[..second]);
    assert_eq!(inputs.exchanges().map(|exchange| exchange.origin.index).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(reasons(&inputs).len(), 1, "{:?}", reasons(&inputs));
    let pretty: Vec<String> = lines
        .lines()
        .map(|line| serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(line).unwrap()).unwrap())
        .collect();
    let inputs = memory(&pretty[1]);
    assert_eq!(inputs.exchanges().count(), 6, "one document");
    let cut = pretty[1].find("gpt-4o").unwrap();
    assert_eq!(memory(&pretty[1][..cut]).exchanges().count(), 2);
}

#[test]
fn numbers_that_no_count_can_be_are_refused() {
    let lines = text("traces.jsonl").replace("\"intValue\":\"700\"", "\"intValue\":\"-700\"");
    assert_eq!(
        reasons(&memory(&lines)),
        [(1, "exchange 1: `gen_ai.usage.cache_read.input_tokens` is no whole number from 0 to 10000000000")]
    );
    let lines = text("litellm.jsonl").replacen("\"prompt_tokens\":1731", "\"prompt_tokens\":\"many\"", 1);
    assert_eq!(reasons(&memory(&lines)), [(1, "exchange 0: `prompt_tokens` is a string, expected a whole number")]);
}

#[test]
fn a_trace_is_explained_by_its_changes_and_not_by_unrecorded_breakpoints() {
    let span = |id: u32, system: &str, input: u32, read: u32, written: u32| {
        let messages = r#"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Weather?\"}]}]"#;
        let count =
            |name: &str, value: u32| format!(r#"{{"key":"gen_ai.usage.{name}","value":{{"intValue":"{value}"}}}}"#);
        let text =
            |name: &str, value: &str| format!(r#"{{"key":"gen_ai.{name}","value":{{"stringValue":"{value}"}}}}"#);
        let attributes = [
            text("operation.name", "chat"),
            text("request.model", "claude-opus-4-8"),
            text(
                "system_instructions",
                &format!(
                    r#"[{{\"type\":\"text\",\"content\":\"Answer in one short sentence of plain words, and say where your figures come from. {system}\"}}]"#
                ),
            ),
            text("input.messages", messages),
            count("input_tokens", input),
            count("cache_read.input_tokens", read),
            count("cache_write.input_tokens", written),
            count("output_tokens", 5),
        ];
        format!(
            r#"{{"spanId":"{id}","name":"chat","startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":[{}]}}"#,
            1_770_924_644_000_000_000_u64 + u64::from(id) * 10_000_000_000,
            1_770_924_645_000_000_000_u64 + u64::from(id) * 10_000_000_000,
            attributes.join(",")
        )
    };
    // The system prompt changes between the first two; the third repeats the second.
    const ONE: &str = "It is 2026-11-20.";
    const TWO: &str = "It is 2026-11-21.";
    let spans = [span(0, ONE, 5000, 0, 4990), span(1, TWO, 5000, 0, 4990), span(2, TWO, 5000, 4990, 0)];
    let text = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","));
    let inputs = memory(&text);
    assert_eq!((inputs.exchanges().count(), inputs.unreadable.len()), (3, 0), "{:?}", inputs.unreadable);
    let replayed = replay(&inputs, &Options::default());
    let causes: Vec<Vec<&str>> = replayed
        .lines()
        .map(|line| line.explanation.iter().flat_map(|why| &why.missed).map(|missed| missed.cause.word()).collect())
        .collect();
    assert_eq!(causes, [vec![], vec!["system_changed"], vec![]]);
    for line in replayed.lines() {
        assert!(line.remarks.iter().any(|remark| remark.contains("no cache breakpoints")), "{:?}", line.remarks);
    }
}
