//! Files that are almost correct: each gives one sentence that says what it is and what to do.

use forkcast_replay::input::{InputFormat, Inputs};

/// The result for a file.
#[derive(Debug, PartialEq)]
struct Outcome {
    exchanges: usize,
    /// Skipped, repaired and unreadable, one after the other.
    said: Vec<String>,
}

fn outcome(bytes: &[u8]) -> Outcome {
    let inputs = Inputs::from_bytes("memory", bytes, InputFormat::Auto);
    let skipped = inputs.skipped.iter().map(|skipped| format!("skipped: {}", skipped.reason));
    let repaired =
        inputs.repaired.iter().map(|repaired| format!("repaired, line {}: {}", repaired.line, repaired.what));
    let unreadable =
        inputs.unreadable.iter().map(|broken| format!("unreadable, line {}: {}", broken.line, broken.reason));
    Outcome { exchanges: inputs.exchanges().count(), said: skipped.chain(repaired).chain(unreadable).collect() }
}

fn archive(entries: &[&str]) -> String {
    format!("{{\"log\":{{\"version\":\"1.2\",\"entries\":[\n{}\n]}}}}", entries.join(",\n"))
}

/// An entry of an archive with the given `postData` and `content`.
fn entry(post: &str, content: &str) -> String {
    format!(
        "{{\"request\":{{\"method\":\"POST\",\"url\":\"https://api.anthropic.com/v1/messages\",\"headers\":[]{post}}},\
         \"response\":{{\"status\":200,\"headers\":[],\"content\":{content}}}}}"
    )
}

const POST: &str = r#","postData":{"text":"{\"model\":\"claude-opus-4-8\",\"messages\":[]}"}"#;
const CONTENT: &str = r#"{"text":"{\"usage\":{\"input_tokens\":1}}"}"#;

const START: &str = "event: message_start\\ndata: {\\\"type\\\":\\\"message_start\\\",\\\"message\\\":{\\\"usage\\\":{\\\"input_tokens\\\":1,\\\"output_tokens\\\":1}}}\\n\\n";

/// Files of other kinds: each is skipped with a sentence.
const FOREIGN: &[(&str, &[u8], &str)] = &[
    (
        "a flow file",
        b"4711:7:version;2:21#4:type;4:http;5:error;0:~7:request;999:\0\0",
        "a mitmproxy flow file (tnetstring); export it as HAR: `mitmdump -nr FLOWS --set hardump=FILE.har`",
    ),
    (
        "a flow file that is cut",
        b"4711:7:version;2:2",
        "a mitmproxy flow file (tnetstring); export it as HAR: `mitmdump -nr FLOWS --set hardump=FILE.har`",
    ),
    (
        "traces in protobuf",
        b"\n\xc4\x01\n\x1e\n\x1c\n\x0cservice.name\x12\x0c\n\nmy-service\x12",
        "OTLP traces in protobuf; export them as JSON (file exporter of the collector, `format: json`)",
    ),
    ("metrics", br#"{"resourceMetrics":[]}"#, "OTLP metrics or logs; requests are in traces (`resourceSpans`)"),
    (
        "a Postman collection",
        br#"{"info":{"_postman_id":"1"},"item":[{"request":{"method":"POST"}}]}"#,
        "a Postman collection holds requests without their answers; record them through a proxy and export HAR",
    ),
    (
        "an Insomnia export",
        br#"{"_type":"export","__export_format":4,"resources":[]}"#,
        "an Insomnia export holds requests without their answers; export the timeline as HAR",
    ),
    (
        "an Insomnia collection",
        b"type: collection.insomnia.rest/5.0\nname: x\ncollection: []\n",
        "an Insomnia collection holds requests without their answers; export the timeline as HAR",
    ),
    (
        "a session of Charles",
        br#"[{"status":"COMPLETE","method":"POST","protocolVersion":"HTTP/1.1","host":"api.anthropic.com"}]"#,
        "a session of Charles; export it as HAR",
    ),
    (
        "a cassette of VCR 1",
        b"--- \n- !ruby/struct:VCR::HTTPInteraction\n  request: !ruby/struct:VCR::Request\n",
        "a cassette of VCR 1 (ruby objects); migrate it: `rake vcr:migrate_cassettes`",
    ),
    (
        "spans of the console exporter",
        b"{\n    \"name\": \"chat\",\n    \"context\": {},\n    \"start_time\": \"x\",\n    \"attributes\": {}\n}\n",
        "spans as the console exporter of OpenTelemetry prints them; export them as OTLP in JSON",
    ),
    (
        "traces of Jaeger",
        br#"{"data":[{"traceID":"1","spans":[]}],"total":0}"#,
        "traces as Jaeger exports them; export them as OTLP in JSON",
    ),
    ("a ZIP archive", b"PK\x03\x04....", "a ZIP archive; unpack it and name what is in it"),
    ("a database", b"SQLite format 3\0....", "an SQLite database; export its rows as JSON lines"),
];

#[test]
fn files_of_other_tools_are_reported_with_advice() {
    for (name, bytes, sentence) in FOREIGN {
        assert_eq!(outcome(bytes), Outcome { exchanges: 0, said: vec![format!("skipped: {sentence}")] }, "{name}");
    }
}

#[test]
fn an_incomplete_archive_is_reported_once() {
    let bare = entry("", "{\"size\":0}");
    let no_answer = entry(POST, "{\"size\":120,\"mimeType\":\"text/event-stream\"}");
    let good = entry(POST, CONTENT);
    let elsewhere = entry(r#","postData":{"_file":"a.json"}"#, "{}");
    let not_base64 = entry(POST, r#"{"text":"*","encoding":"base64"}"#);
    let advice = "export the archive with contents, from a proxy if a browser leaves streamed answers out";
    for (entries, exchanges, sentence) in [
        (
            vec![&bare, &bare],
            0,
            format!(
                "line 2: 2 entries, the first of them 0, hold no body of their request (`postData.text`): {advice}"
            ),
        ),
        (vec![&good, &no_answer], 2, format!("line 3: entry 1 holds no body of its answer (`content.text`): {advice}")),
        (
            vec![&elsewhere],
            0,
            "line 2: entry 0: the body of the request lies in another file (`_file`), embed contents instead"
                .to_owned(),
        ),
        (
            vec![&not_base64],
            1,
            "line 2: exchange 0: body of the answer is no base64: Invalid symbol 42, offset 0.".to_owned(),
        ),
    ] {
        let entries: Vec<&str> = entries.into_iter().map(String::as_str).collect();
        let expected = Outcome { exchanges, said: vec![format!("unreadable, {sentence}")] };
        assert_eq!(outcome(archive(&entries).as_bytes()), expected);
    }
    assert_eq!(
        outcome(br#"{"log":{"creator":{},"entries":{}}}"#).said,
        ["unreadable, line 1: column 32: found `{`, expected the list `log.entries`"]
    );
}

#[test]
fn a_truncated_file_keeps_its_beginning() {
    let good = entry(POST, CONTENT);
    let whole = archive(&[&good, &good]);
    let cut = whole.rfind("usage").unwrap();
    let column = cut - whole.rfind("{\"request").unwrap() + 1;
    let inside = format!("unreadable, line 3: column {column}: the text ends inside a string");
    assert_eq!(outcome(&whole.as_bytes()[..cut]), Outcome { exchanges: 1, said: vec![inside] });
    let stream = archive(&[&entry(POST, &format!("{{\"text\":\"{START}\"}}"))]);
    let broken = "repaired, line 2: exchange 0: the stream breaks off after 1 events (no `message_stop`)";
    assert_eq!(outcome(stream.as_bytes()), Outcome { exchanges: 1, said: vec![broken.to_owned()] });
    let nothing = "unreadable, line 0: zstd breaks off before its first byte: failed to fill whole buffer";
    assert_eq!(outcome(&[0x28, 0xb5, 0x2f, 0xfd]), Outcome { exchanges: 0, said: vec![nothing.to_owned()] });
}
