//! Recordings of HTTP: archives, logs and cassettes made by hand as the tools write them. Packed bodies were packed by
//! other implementations (brotli 1.2.1, zstandard 0.25.0 and zlib of Python), streams of AWS framed with their checksums.

use forkcast_fixtures::{beside, unpacked};
use forkcast_replay::exchange::Dialect;
use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs};

use crate::places::{counts, fixture, instants, memory, notes, read, reasons};

fn format(inputs: &Inputs) -> Format {
    inputs.scopes[0].files[0].format
}

#[test]
fn an_archive_gives_exchanges_however_its_bodies_are_kept() {
    let inputs = read("archive.har");
    assert_eq!(format(&inputs), Format::Har);
    assert_eq!(
        counts(&inputs),
        [
            (0, Some((3, 20, 10, 4))),     // text
            (1, Some((5, 30, 0, 6))),      // base64 of gzip of a stream
            (2, Some((7, 0, 0, 8))),       // base64 of brotli
            (3, Some((9, 0, 0, 10))),      // base64 of zstd
            (4, Some((11, 0, 0, 12))),     // unpacked, the header left
            (6, Some((13, 0, 0, 14))),     // base64 of the request and of deflate
            (7, Some((15, 0, 100, 16))),   // Vertex
            (8, Some((17, 200, 0, 18))),   // Bedrock InvokeModel, binary stream
            (9, Some((19, 0, 300, 20))),   // Bedrock Converse, binary stream
            (10, Some((21, 400, 79, 22))), // OpenRouter
            (11, None),                    // no answer
            (12, None),                    // refused
        ]
    );
    assert_eq!(reasons(&inputs), []);
    assert_eq!(inputs.repaired, []);
    assert_eq!(notes(&inputs), ["exchange 11: no answer was recorded (status 0)"]);
    assert_eq!(inputs.skipped.len(), 1);
    assert!(inputs.skipped[0].reason.ends_with("`GET example.org/index.html` is no model request"));
    let all: Vec<_> = inputs.exchanges().collect();
    assert_eq!((all[10].status, all[11].status, all[11].failed()), (None, Some(529), true));
    assert_eq!(all[0].client.as_deref(), Some("claude-cli/2.1.63"));
}

#[test]
fn other_spellings_go_through_an_archive_as_through_a_cassette() {
    let inputs = read("archive.har");
    let named = |index: usize| inputs.exchanges().find(|exchange| exchange.origin.index == index).unwrap();
    assert_eq!((named(7).dialect, named(7).model.as_str()), (Dialect::Messages, "claude-sonnet-4-5@20250929"));
    assert_eq!(named(8).dialect, Dialect::BedrockInvoke);
    assert_eq!(named(8).model, "us.anthropic.claude-haiku-4-5-20251001-v1:0");
    assert_eq!(named(9).dialect, Dialect::BedrockConverse);
    assert!(String::from_utf8_lossy(&named(9).body).contains(
        "\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\",\"cache_control\":{\"type\":\"ephemeral\"}}]"
    ));
    assert_eq!(named(10).dialect, Dialect::OpenRouter);
    assert!(String::from_utf8_lossy(&named(10).body).contains(
        "\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\",\"cache_control\":{\"type\":\"ephemeral\"}}]"
    ));
}

#[test]
fn a_request_of_an_archive_begins_when_it_is_on_the_wire() {
    let inputs = read("archive.har");
    let all: Vec<_> = inputs.exchanges().collect();
    // 5 ms blocked and 20 ms connecting, then 1 + 800.25 to the first byte and 200 to the end.
    assert_eq!(instants(all[0]), [Some(25.0), Some(826.25), Some(1026.25)]);
    assert_eq!(instants(all[10]), [Some(0.0), None, None], "no answer");
    let entry = |creator: &str, timings: &str| {
        let text = format!(
            r#"{{"log":{{"creator":{{"name":"{creator}"}},"entries":[{{"startedDateTime":"2026-02-12T19:30:44+00:00","time":1450,
            "request":{{"method":"POST","url":"https://api.anthropic.com/v1/messages","headers":[],
            "postData":{{"text":"{{\"model\":\"claude-opus-4-8\",\"messages\":[]}}"}}}},
            "response":{{"status":200,"headers":[],"content":{{"text":"{{\"usage\":{{\"input_tokens\":1}}}}"}}}},
            "timings":{timings}}}]}}}}"#
        );
        let inputs = memory(&text);
        instants(inputs.exchanges().next().unwrap())
    };
    let timings = r#"{"connect":300.5,"ssl":149.5,"send":100,"wait":800,"receive":100}"#;
    assert_eq!(entry("mitmproxy exporthar", timings), [Some(0.0), Some(900.0), Some(1000.0)]);
    assert_eq!(entry("Charles", "{}"), [Some(0.0), None, Some(1450.0)]);
    assert_eq!(entry("Charles", r#"{"send":null,"wait":-1,"receive":-1}"#), [Some(0.0), None, Some(1450.0)]);
}

#[test]
fn an_archive_that_is_cut_keeps_the_entries_before_the_cut() {
    let text = fixture("archive.har");
    let cut = memchr::memmem::find(&text, b"index.html").unwrap();
    let inputs = Inputs::from_bytes("memory", &text[..cut], InputFormat::Auto);
    assert_eq!(inputs.exchanges().count(), 5);
    let [(line, reason)] = reasons(&inputs)[..] else { panic!("{:?}", inputs.unreadable) };
    assert!(line > 100 && reason.contains("the text ends inside"), "{line}: {reason}");
    let inputs = Inputs::from_bytes("memory", &text[..40], InputFormat::Auto);
    assert_eq!((inputs.exchanges().count(), inputs.unreadable.len()), (0, 1), "{:?}", inputs.skipped);
}

#[test]
fn an_archive_names_some_of_many_other_requests() {
    let entry =
        r#"{"request":{"method":"GET","url":"https://example.org/a?b=c","headers":[]},"response":{"status":200}}"#;
    let text = format!(r#"{{"log":{{"entries":[{}]}}}}"#, [entry; 60].join(","));
    let inputs = memory(&text);
    let skipped: Vec<_> = inputs.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!(skipped.len(), 11);
    assert_eq!(skipped[0], "entry 0, line 1: `GET example.org/a` is no model request");
    assert_eq!(skipped[10], "50 more entries that are no model requests");
}

#[test]
fn a_claude_trace_is_read_pair_by_pair() {
    let inputs = read("trace.jsonl");
    assert_eq!(format(&inputs), Format::ClaudeTrace);
    assert_eq!(
        counts(&inputs),
        [
            (0, Some((3, 20, 10, 4))),
            (1, Some((5, 30, 0, 6))),
            (3, Some((17, 200, 0, 18))), // a binary stream that was kept as text
            (4, None),
            (5, None),
        ]
    );
    assert_eq!((reasons(&inputs), inputs.repaired.len()), (vec![], 0));
    assert_eq!(notes(&inputs), ["exchange 5: no answer came before the log ended"]);
    assert_eq!(inputs.skipped.len(), 1);
    let all: Vec<_> = inputs.exchanges().collect();
    assert_eq!(instants(all[0]), [Some(125.0), Some(1250.0), Some(2500.0)]);
    assert_eq!(instants(all[4]), [Some(125.0), None, None]);
    assert_eq!((all[3].failed(), all[4].status), (true, None));
    assert_eq!(
        String::from_utf8_lossy(&all[0].body),
        r#"{"model":"claude-opus-4-8","max_tokens":16,"messages":[{"role":"user","content":"Hi"}]}"#
    );
    assert_eq!(all[0].client.as_deref(), Some("claude-cli/2.1.63"));
}

#[test]
fn a_damaged_pair_affects_no_other() {
    let text = unpacked(&forkcast_fixtures::fixture("trace.jsonl"));
    let torn = text.replacen("\"timestamp\":", "\"timestamp\";", 1);
    let inputs = memory(&torn);
    assert_eq!(inputs.exchanges().map(|exchange| exchange.origin.index).collect::<Vec<_>>(), [1, 3, 4, 5]);
    assert_eq!(reasons(&inputs), [(1, "column 24: expected `:`")]);
    let inputs = memory(&text.replace("\"url\":", "\"uri\":"));
    assert_eq!(inputs.exchanges().count(), 0);
    assert_eq!(reasons(&inputs)[5], (6, "pair 5: found no `request.url`"));
}

#[test]
fn a_ruby_cassette_is_read_like_one_of_python() {
    let inputs = read("ruby.yml");
    assert_eq!(format(&inputs), Format::RubyVcr);
    assert_eq!(
        counts(&inputs),
        [(0, Some((3, 20, 10, 4))), (1, Some((5, 30, 0, 6))), (3, Some((7, 0, 0, 8))), (4, None)]
    );
    assert_eq!((reasons(&inputs), inputs.repaired.len()), (vec![], 0));
    let all: Vec<_> = inputs.exchanges().collect();
    assert_eq!(instants(all[0]), [Some(0.0), None, Some(2000.0)], "from `date` to `recorded_at`");
    assert_eq!(instants(all[1]), [Some(3500.0), None, Some(5000.0)], "the provider's own latency before `recorded_at`");
    assert_eq!(all[0].client.as_deref(), Some("Faraday v2.14.3"));
    assert!(inputs.skipped[0].reason.starts_with("interaction 2, line "), "{}", inputs.skipped[0].reason);
}

#[test]
fn a_ruby_cassette_in_json_is_the_same_cassette() {
    let text = r#"{"http_interactions": [{"request": {"method": "post", "uri": "https://api.anthropic.com/v1/messages",
        "body": {"encoding": "UTF-8", "string": "{\"model\":\"claude-opus-4-8\",\"messages\":[]}"}, "headers": {}},
        "response": {"status": {"code": 200, "message": "OK"}, "headers": {"Date": ["Thu, 12 Feb 2026 19:30:44 GMT"]},
        "body": {"encoding": "ASCII-8BIT", "base64_string": "eyJ1c2FnZSI6eyJpbnB1dF90b2tlbnMiOjQyfX0=\n"}},
        "recorded_at": "Thu, 12 Feb 2026 19:30:45 GMT"}], "recorded_with": "VCR 6.4.0"}"#;
    let inputs = memory(text);
    assert_eq!((format(&inputs), reasons(&inputs)), (Format::RubyVcr, vec![]));
    assert_eq!(counts(&inputs), [(0, Some((42, 0, 0, 0)))]);
    let inputs = memory(&text.replace("eyJ1c2FnZ", "!"));
    assert_eq!(inputs.exchanges().count(), 1, "the request is kept");
    assert!(reasons(&inputs)[0].1.contains("`base64_string` is no base64"), "{:?}", reasons(&inputs));
}

#[test]
fn every_cassette_of_ruby_llm_reads_without_damage() {
    let Some(folder) = beside("cassettes-ruby-llm") else { return };
    let inputs = Inputs::read(&[folder], InputFormat::Auto).unwrap();
    assert_eq!(reasons(&inputs), vec![]);
    // What cannot be believed of their usage: `usage/recorded.rs`.
    assert!(inputs.repaired.iter().all(|repaired| repaired.what.contains("are taken as plain input")));
    // As `derived/cassette_interactions.jsonl` and a count of `uri:` lines have it: 202 interactions in 100 files.
    assert_eq!(inputs.scopes[0].files.iter().filter(|file| file.format == Format::RubyVcr).count(), 100);
    let parts = inputs.skipped.iter().filter(|skipped| skipped.reason.starts_with("interaction ")).count();
    assert_eq!(inputs.exchanges().count() + parts, 202);
    assert!(inputs.exchanges().all(|exchange| exchange.sent_at.is_some() && exchange.client.is_some()));
    let without = inputs.exchanges().filter(|exchange| exchange.usage.is_none() && !exchange.failed()).count();
    assert_eq!(without, inputs.unreadable.len(), "usage is read or refused with a reason");
}
