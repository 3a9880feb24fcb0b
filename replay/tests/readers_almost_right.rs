//! Files that are almost what they should be: each gives one sentence that says what it is and what to do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.

use forkcast_replay::input::{InputFormat, Inputs};

/// What a file gives.
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

#[test]
fn each_gives_one_sentence() {
    let bare = entry("", "{\"size\":0}");
    let no_answer = entry(POST, "{\"size\":120,\"mimeType\":\"text/event-stream\"}");
    let good = entry(POST, CONTENT);
    let elsewhere = entry(r#","postData":{"_file":"a.json"}"#, "{}");
    let broken_stream = entry(POST, &format!("{{\"text\":\"{START}\"}}"));
    let not_base64 = entry(POST, r#"{"text":"*","encoding":"base64"}"#);
    let cut = archive(&[&good, &good]);
    let column = cut.rfind("usage").unwrap() - cut.rfind("{\"request").unwrap() + 1;
    let cut_inside = format!("unreadable, line 3: column {column}: the text ends inside a string");
    let cases: Vec<(&str, Vec<u8>, usize, &str)> = vec![
        (
            "an archive without bodies",
            archive(&[&bare, &bare]).into_bytes(),
            0,
            "unreadable, line 2: 2 entries, the first of them 0, hold no body of their request (`postData.text`): export \
             the archive with contents, from a proxy if a browser leaves streamed answers out",
        ),
        (
            "an archive without one answer's content",
            archive(&[&good, &no_answer]).into_bytes(),
            2,
            "unreadable, line 3: entry 1 holds no body of its answer (`content.text`): export the archive with contents, \
             from a proxy if a browser leaves streamed answers out",
        ),
        (
            "an archive whose bodies lie in other files",
            archive(&[&elsewhere]).into_bytes(),
            0,
            "unreadable, line 2: entry 0: the body of the request lies in another file (`_file`), embed contents instead",
        ),
        (
            "an archive that is cut in the middle",
            cut.as_bytes()[..cut.rfind("usage").unwrap()].to_vec(),
            1,
            &cut_inside,
        ),
        (
            "an archive with a stream without its end",
            archive(&[&broken_stream]).into_bytes(),
            1,
            "repaired, line 2: exchange 0: the stream breaks off after 1 events (no `message_stop`)",
        ),
        (
            "an archive whose base64 is none",
            archive(&[&not_base64]).into_bytes(),
            1,
            "unreadable, line 2: exchange 0: body of the answer is no base64: Invalid symbol 42, offset 0.",
        ),
        (
            "an archive that is none",
            br#"{"log":{"creator":{},"entries":{}}}"#.to_vec(),
            0,
            "unreadable, line 1: column 32: found `{`, expected the list `log.entries`",
        ),
        (
            "a flow file",
            b"4711:7:version;2:21#4:type;4:http;5:error;0:~7:request;999:\0\0".to_vec(),
            0,
            "skipped: a mitmproxy flow file (tnetstring); export it as HAR: `mitmdump -nr FLOWS --set hardump=FILE.har`",
        ),
        (
            "a flow file that is cut",
            b"4711:7:version;2:2".to_vec(),
            0,
            "skipped: a mitmproxy flow file (tnetstring); export it as HAR: `mitmdump -nr FLOWS --set hardump=FILE.har`",
        ),
        (
            "traces in protobuf",
            b"\n\xc4\x01\n\x1e\n\x1c\n\x0cservice.name\x12\x0c\n\nmy-service\x12".to_vec(),
            0,
            "skipped: OTLP traces in protobuf; export them as JSON (file exporter of the collector, `format: json`)",
        ),
        (
            "metrics",
            br#"{"resourceMetrics":[]}"#.to_vec(),
            0,
            "skipped: OTLP metrics or logs; requests are in traces (`resourceSpans`)",
        ),
        (
            "a Postman collection",
            br#"{"info":{"_postman_id":"1"},"item":[{"request":{"method":"POST"}}]}"#.to_vec(),
            0,
            "skipped: a Postman collection holds requests without their answers; record them through a proxy and export HAR",
        ),
        (
            "an Insomnia export",
            br#"{"_type":"export","__export_format":4,"resources":[]}"#.to_vec(),
            0,
            "skipped: an Insomnia export holds requests without their answers; export the timeline as HAR",
        ),
        (
            "an Insomnia collection",
            b"type: collection.insomnia.rest/5.0\nname: x\ncollection: []\n".to_vec(),
            0,
            "skipped: an Insomnia collection holds requests without their answers; export the timeline as HAR",
        ),
        (
            "a session of Charles",
            br#"[{"status":"COMPLETE","method":"POST","protocolVersion":"HTTP/1.1","host":"api.anthropic.com"}]"#
                .to_vec(),
            0,
            "skipped: a session of Charles; export it as HAR",
        ),
        (
            "a cassette of VCR 1",
            b"--- \n- !ruby/struct:VCR::HTTPInteraction\n  request: !ruby/struct:VCR::Request\n".to_vec(),
            0,
            "skipped: a cassette of VCR 1 (ruby objects); migrate it: `rake vcr:migrate_cassettes`",
        ),
        ("a ZIP archive", b"PK\x03\x04....".to_vec(), 0, "skipped: a ZIP archive; unpack it and name what is in it"),
        (
            "a database",
            b"SQLite format 3\0....".to_vec(),
            0,
            "skipped: an SQLite database; export its rows as JSON lines",
        ),
        (
            "a packed file that is cut at once",
            vec![0x28, 0xb5, 0x2f, 0xfd],
            0,
            "unreadable, line 0: zstd breaks off before its first byte: failed to fill whole buffer",
        ),
    ];
    for (name, bytes, exchanges, sentence) in cases {
        let expected = Outcome { exchanges, said: vec![sentence.to_owned()] };
        assert_eq!(outcome(&bytes), expected, "{name}");
    }
}
