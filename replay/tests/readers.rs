//! Readers on fixtures made by hand: what each format means, and what damage costs.

use forkcast_replay::exchange::{Dialect, Exchange};
use forkcast_replay::formats::Format;
use forkcast_replay::formats::exchange_log::{RawAnswer, write_line};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::time::Instant;

use crate::places::{fixture, read};

fn exchanges(inputs: &Inputs) -> Vec<&Exchange> {
    inputs.exchanges().collect()
}

fn body(exchange: &Exchange) -> &str {
    std::str::from_utf8(&exchange.body).unwrap()
}

/// input, read, 5m, 1h, output
fn counts(exchange: &Exchange) -> Option<(u64, u64, u64, u64, u64)> {
    let usage = exchange.usage?.usage;
    let written = (usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens);
    Some((usage.input_tokens, usage.cache_read_input_tokens, written.0, written.1, usage.output_tokens))
}

fn reasons(inputs: &Inputs) -> Vec<(usize, &str)> {
    inputs.unreadable.iter().map(|unreadable| (unreadable.line, unreadable.reason.as_str())).collect()
}

#[test]
fn a_cassette_gives_exchanges_and_reports_skipped_entries() {
    let inputs = read("cassette.yaml");
    let all = exchanges(&inputs);
    assert_eq!(all.iter().map(|exchange| exchange.origin.index).collect::<Vec<_>>(), [0, 1, 3, 4]);
    assert_eq!(all[0].origin.line, 2);
    assert_eq!(counts(all[0]), Some((9, 0, 0, 0, 4)));
    assert_eq!(counts(all[1]), Some((3, 0, 200, 1000, 42)));
    let stream = all[1].usage.unwrap();
    assert!(stream.server_passes && stream.split_by_ttl && !stream.output_is_start_value);
    assert_eq!((all[2].usage, all[2].status, all[2].failed()), (None, Some(529), true));
    assert_eq!(all[3].provider, "openai");
    assert_eq!(inputs.skipped.len(), 1);
    assert_eq!(
        inputs.skipped[0].reason,
        "interaction 2, line 50: `GET api.anthropic.com/v1/models` is no model request"
    );
    assert_eq!(inputs.scopes[0].files[0].notes, ["exchange 1: 1 stream events of unknown kinds"]);
    assert_eq!((reasons(&inputs), inputs.repaired.len()), (vec![(68, "exchange 4: answer has no `usage`")], 0));
}

#[test]
fn instants_of_a_cassette_come_from_date_and_latency_and_rounding_makes_no_overlap() {
    let inputs = read("cassette.yaml");
    let all = exchanges(&inputs);
    let second = 1_770_924_644_000;
    assert_eq!(all[0].ended_at, Some(Instant::from_millis(second)));
    assert_eq!(all[0].sent_at, Some(Instant::from_millis(second - 1_500)));
    assert_eq!(all[1].sent_at, Some(Instant::from_millis(second)), "300 ms of overlap are the header's rounding");
    assert_eq!(all[1].ended_at, Some(Instant::from_millis(second + 1_000)));
    assert_eq!(all[2].sent_at, None);
}

#[test]
fn parsed_bodies_keep_the_order_of_their_keys_and_the_writers_meaning_of_scalars() {
    let inputs = read("cassette-parsed.yaml");
    let all = exchanges(&inputs);
    assert_eq!(
        body(all[0]),
        "{\"zeta\":\"1e5\",\"messages\":[{\"content\":[{\"cache_control\":{\"ttl\":\"1h\",\"type\":\"ephemeral\"},\
         \"text\":\"two\\nlines\",\"type\":\"text\"}],\"role\":\"user\"}],\"model\":\"claude-sonnet-4-6\",\
         \"temperature\":0.5,\"stream\":false,\"none\":null,\"seed\":-7,\"word\":\"null\",\"picture\":\"aGVsbG8=\"}"
    );
    assert_eq!(counts(all[0]), Some((120, 0, 500, 0, 35)), "a compaction pass is billed besides the top level");
    let usage = all[0].usage.unwrap();
    assert!(usage.server_passes && usage.split_by_ttl);
    assert_eq!(usage.applied_edits, 1);
}

#[test]
fn a_damaged_interaction_affects_no_other() {
    let inputs = read("cassette-damaged.yaml");
    let read: Vec<_> =
        exchanges(&inputs).iter().map(|exchange| (exchange.origin.index, counts(exchange).unwrap().0)).collect();
    assert_eq!(read, [(0, 1), (2, 3)]);
    let [(line, reason)] = reasons(&inputs)[..] else { panic!("{:?}", inputs.unreadable) };
    assert!((11..=18).contains(&line), "{line}");
    assert!(reason.contains("YAML") && reason.contains("column"), "{reason}");
}

#[test]
fn bytes_that_are_no_text_cost_their_interaction() {
    let text = fixture("cassette.yaml");
    let at = text.windows(5).rposition(|window| window == b"gpt-4").unwrap();
    let mut bytes = text;
    bytes[at] = 0xff;
    let inputs = Inputs::from_bytes("memory", &bytes, InputFormat::Auto);
    assert_eq!(exchanges(&inputs).len(), 3);
    assert_eq!(reasons(&inputs).len(), 1);
    assert!(reasons(&inputs)[0].1.contains("found byte 0xff, expected UTF-8"), "{:?}", reasons(&inputs));
}

#[test]
fn usage_that_cannot_be_believed_is_refused_and_the_request_kept() {
    let inputs = read("cassette-usage.yaml");
    let all = exchanges(&inputs);
    assert_eq!(
        all.iter().map(|exchange| counts(exchange)).collect::<Vec<_>>(),
        [None, None, None, None, Some((7, 2000, 0, 0, 2))]
    );
    assert!(all[4].usage.unwrap().output_is_start_value);
    assert_eq!(
        reasons(&inputs),
        [
            (2, "exchange 0: `input_tokens` is -3, expected a whole number from 0 to 10000000000"),
            (4, "exchange 1: `input_tokens` is 9007199254740993, expected a whole number from 0 to 10000000000"),
            (6, "exchange 2: `input_tokens` is a string, expected a whole number"),
            (8, "exchange 3: found an empty answer, expected JSON or a stream"),
            (12, "interaction 5: request body, byte 0: found `n`, expected a request body (a JSON object)"),
        ]
    );
    assert_eq!(inputs.repaired.len(), 1);
    assert!(inputs.repaired[0].what.contains("breaks off after 1 events"), "{}", inputs.repaired[0].what);
}

#[test]
fn converse_is_translated_and_cache_points_become_markers() {
    let inputs = read("converse.yaml");
    let all = exchanges(&inputs);
    assert_eq!(all[0].dialect, Dialect::BedrockConverse);
    assert_eq!(all[0].model, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0");
    assert_eq!(
        body(all[0]),
        "{\"model\":\"eu.anthropic.claude-sonnet-4-5-20250929-v1:0\",\
         \"tool_choice\":{\"type\":\"tool\",\"name\":\"look\"},\
         \"max_tokens\":64,\"top_p\":1,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},\
         \"tools\":[{\"name\":\"look\",\"description\":\"Looks.\",\"input_schema\":{\"type\":\"object\"},\
         \"cache_control\":{\"type\":\"ephemeral\"}}],\
         \"system\":[{\"type\":\"text\",\"text\":\"Be brief.\",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}],\
         \"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Look.\"},\
         {\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"AAAA\"},\
         \"cache_control\":{\"type\":\"ephemeral\"}}]},\
         {\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"Hm\",\"signature\":\"sig\"},\
         {\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"look\",\"input\":{\"b\":1,\"a\":2}}]},\
         {\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\
         \"content\":[{\"type\":\"text\",\"text\":\"{\\\"z\\\":1}\"}],\"is_error\":true},\
         {\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":\"application/pdf\",\"data\":\"BBBB\"},\
         \"title\":\"plan\"}]}]}"
    );
    assert_eq!(counts(all[0]), Some((3, 100, 500, 1500, 5)));
    assert!(all[0].usage.unwrap().split_by_ttl);
    assert_eq!(all[1].provider, "bedrock");
    assert_eq!(
        (all[2].dialect, all[2].model.as_str()),
        (Dialect::BedrockInvoke, "anthropic.claude-3-5-haiku-20241022-v1:0")
    );
}

#[test]
fn openrouter_is_translated_and_its_usage_made_additive() {
    let inputs = read("openrouter.yaml");
    let all = exchanges(&inputs);
    assert_eq!(all[0].dialect, Dialect::OpenRouter);
    assert_eq!(
        body(all[0]),
        "{\"model\":\"anthropic/claude-sonnet-4.6\",\"max_tokens\":9,\
         \"tool_choice\":{\"type\":\"any\"},\"stream\":false,\
         \"tools\":[{\"name\":\"w\",\"description\":\"Weather.\",\"input_schema\":{\"type\":\"object\"},\
         \"cache_control\":{\"type\":\"ephemeral\"}}],\
         \"system\":[{\"type\":\"text\",\"text\":\"Be brief.\",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"5m\"}}],\
         \"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Weather?\"}]},\
         {\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"w\",\"input\":{\"y\":1,\"x\":2}},\
         {\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"w\",\"input\":{}}]},\
         {\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\
         \"content\":[{\"type\":\"text\",\"text\":\"rain\"}]},\
         {\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":[{\"type\":\"text\",\"text\":\"sun\"}],\
         \"cache_control\":{\"type\":\"ephemeral\"}}]},\
         {\"role\":\"user\",\"content\":[{\"type\":\"image\",\
         \"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"AAAA\"}}]}]}"
    );
    assert_eq!(counts(all[0]), Some((100, 1500, 400, 0, 7)));
    assert_eq!(counts(all[1]), Some((12, 0, 0, 0, 2)), "usage of a stream stands in its last chunk");
    assert_eq!(all[2].provider, "openrouter");
    assert_eq!((all[2].dialect, counts(all[2])), (Dialect::ChatCompletions, Some((12, 0, 0, 0, 2))));
    assert_eq!(reasons(&inputs).len(), 1, "more read and written than there was");
}

#[test]
fn outcomes_of_a_capture_find_their_requests_and_bodies_stay_raw() {
    let inputs = read("capture.json");
    let all = exchanges(&inputs);
    assert_eq!(
        body(all[0]),
        r#"{"model":"claude-opus-4-8",  "messages":[{"role":"user","content":"caf\u00e9 \/ 1.10"}]}"#
    );
    assert_eq!(counts(all[0]), Some((2, 0, 10, 60, 1)));
    assert_eq!((all[0].origin.line, all[0].altered, all[0].first_byte_at), (5, true, None));
    assert!(all[0].usage.unwrap().output_is_start_value);
    assert_eq!(counts(all[1]), None);
    assert_eq!(counts(all[2]), Some((2, 5, 0, 0, 1)), "3 ms away from one, 0 ms from the other");
    assert_eq!(inputs.scopes[0].files[0].notes, ["1 outcomes belong to no request of this capture"]);
    let pair = read("pair.jsonl");
    assert_eq!(pair.scopes[0].files[0].format, Format::WireCapture);
    assert_eq!(exchanges(&pair)[1].sent_at, exchanges(&pair)[0].sent_at.map(|at| Instant(at.0 + 10_500_000_000)));
}

#[test]
fn a_truncated_capture_keeps_its_beginning() {
    let text = fixture("capture.json");
    let cut = text.windows(16).position(|window| window == b"claude-haiku-4-5").unwrap();
    let inputs = Inputs::from_bytes("memory", &text[..cut], InputFormat::Auto);
    assert_eq!(exchanges(&inputs).len(), 1);
    assert_eq!(reasons(&inputs).len(), 1);
    assert_eq!(reasons(&inputs)[0].0, 6);
    assert!(reasons(&inputs)[0].1.contains("the text ends inside"), "{:?}", reasons(&inputs));
}

#[test]
fn bodies_are_read_with_and_without_their_answers() {
    let inputs = read("body.json");
    assert_eq!(exchanges(&inputs)[0].model, "claude-opus-4-8");
    assert!(body(exchanges(&inputs)[0]).contains("lone \\ud83d"));
    assert_eq!((exchanges(&inputs)[0].sent_at, exchanges(&inputs)[0].usage), (None, None));
    let inputs = read("request-response.json");
    let usage = exchanges(&inputs)[0].usage.unwrap();
    assert_eq!(
        counts(exchanges(&inputs)[0]),
        Some((5, 0, 7, 0, 6)),
        "parts that do not make up the total give way to it"
    );
    assert!(usage.server_passes && !usage.split_by_ttl);
}

#[test]
fn an_exchange_log_is_read_line_by_line() {
    let inputs = read("log.jsonl");
    let all = exchanges(&inputs);
    let first = all[0];
    assert_eq!(first.sent_at, Some(Instant(1_000_250_000)));
    assert_eq!(first.ended_at, Some(Instant(2_000_000_001)));
    assert_eq!(
        (first.chain.as_deref(), first.scope.as_deref(), first.tier),
        (Some("a"), Some("org"), ServiceTier::Batch)
    );
    assert_eq!(body(first), r#"{"model":"claude-opus-4-8","messages":[ ]}"#);
    let lines: Vec<_> = all.iter().map(|exchange| exchange.origin.line).collect();
    assert_eq!(lines, [1, 2, 2, 9, 10, 11]);
    assert_eq!(counts(all[3]), Some((4, 0, 0, 0, 9)));
    assert_eq!((all[4].usage, all[4].failed()), (None, true));
    assert_eq!(all[5].provider, "openai");
    assert_eq!(inputs.repaired[0].line, 2);
    let found = reasons(&inputs);
    let expected = [
        (4, "unknown field, expected"),
        (5, "another version"),
        (6, "`at_ms`: expected milliseconds"),
        (7, "both `response` and `response_sse`"),
        (8, "found `[`, expected a request body"),
        (12, "EOF while parsing a string"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((line, reason), (expected_line, part)) in found.iter().zip(expected) {
        assert!(*line == expected_line && reason.contains(part), "line {line}: {reason}, expected {part}");
    }
}

#[test]
fn a_written_log_can_be_read_back() {
    let inputs = read("log.jsonl");
    let mut out = Vec::new();
    for exchange in inputs.exchanges() {
        write_line(&mut out, exchange, RawAnswer::UsageOnly).unwrap();
    }
    let again = Inputs::from_bytes("memory", &out, InputFormat::Auto);
    assert_eq!((again.unreadable.len(), again.scopes[0].files[0].format), (0, Format::ExchangeLog));
    for (a, b) in inputs.exchanges().zip(again.exchanges()) {
        assert_eq!((&a.body, &a.model, a.usage), (&b.body, &b.model, b.usage));
        assert_eq!((a.sent_at, a.first_byte_at, a.ended_at), (b.sent_at, b.first_byte_at, b.ended_at));
        assert_eq!((&a.chain, &a.scope, a.tier, a.status), (&b.chain, &b.scope, b.tier, b.status));
    }
    let mut broken = exchanges(&inputs)[0].clone();
    broken.body = b"no".to_vec();
    assert!(write_line(&mut out, &broken, RawAnswer::UsageOnly).is_err());
    let mut lines = exchanges(&inputs)[0].clone();
    lines.body = b"{\r\n\"messages\":[]}".to_vec();
    let mut out = Vec::new();
    write_line(&mut out, &lines, RawAnswer::Events("data: {}\n\n")).unwrap();
    assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1);
}

#[test]
fn the_sample_is_complete_and_has_its_known_misses() {
    let inputs = Inputs::sample();
    let all = exchanges(&inputs);
    assert_eq!((all.len(), inputs.unreadable.len(), inputs.skipped.len(), inputs.repaired.len()), (14, 0, 0, 0));
    assert!(inputs.bytes < 150_000);
    let reads: Vec<_> = all.iter().map(|exchange| counts(exchange).unwrap().1).collect();
    assert_eq!(reads, [0, 1358, 1517, 1895, 2055, 0, 2519, 2674, 1282, 3037, 0, 0, 0, 3418]);
    let pair = (all[11].sent_at.unwrap(), all[12].sent_at.unwrap());
    assert_eq!(pair.1.since(pair.0).as_millis(), 2);
    assert!(all.iter().all(|exchange| exchange.usage.unwrap().split_by_ttl && exchange.chain.is_some()));
}

#[test]
fn formats_have_names_that_parse() {
    for format in Format::ALL {
        assert_eq!(format.name().parse::<InputFormat>().unwrap(), InputFormat::As(*format));
    }
    assert_eq!("auto".parse::<InputFormat>().unwrap(), InputFormat::Auto);
    let error = "saz".parse::<InputFormat>().unwrap_err().to_string();
    let names: Vec<_> = InputFormat::names().collect();
    assert_eq!(error, format!("unknown input format `saz`, expected one of: {}", names.join(", ")));
    for name in ["auto", "vcr", "ruby-vcr", "har", "claude-trace", "wire-capture", "bodies", "exchange-log"] {
        assert!(names.contains(&name), "{name}");
    }
}
