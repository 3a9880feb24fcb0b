//! Recordings of HTTP calls whose recorders keep bodies or headers in their own way.

use std::fs;

use forkcast_fixtures::tempdir;
use forkcast_replay::exchange::Exchange;
use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_sim::pricing::ServiceTier;

use crate::places::{counts, fixture, instants, memory, notes, read, reasons};

#[test]
fn a_braintrust_cassette_has_bodies_of_several_kinds() {
    let inputs = read("braintrust.json");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::Braintrust, vec![]));
    assert_eq!(counts(&inputs), [(0, Some((3, 20, 10, 4))), (2, Some((5, 30, 0, 6))), (3, Some((9, 0, 0, 8)))]);
    let all: Vec<_> = inputs.exchanges().collect();
    assert_eq!(instants(all[0]), [Some(1500.0), None, Some(2250.0)], "the provider's latency before `recordedAt`");
    let skipped: Vec<_> = inputs.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!(skipped, ["entry 1, line 28: `GET api.openai.com/v1/responses` is no model request"]);
}

/// The cassette with a body that is in the file at `path`.
fn with_a_file(path: &str) -> String {
    let text = String::from_utf8(fixture("braintrust.json")).unwrap();
    let line = text.lines().find(|line| line.contains("\"Ho\"")).unwrap();
    let body =
        format!(r#""body": {{"contentType": "application/json", "kind": "binary", "path": "{path}", "sha256": "0"}},"#);
    text.replace(line, &body)
}

#[test]
fn a_folder_of_bodies_is_read_alone_only_without_its_recording() {
    let place = tempdir().unwrap();
    let folder = place.path();
    let body = r#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":"From a file"}],"max_tokens":16}"#;
    fs::create_dir_all(folder.join("in/calls.cassette.blobs")).unwrap();
    fs::write(folder.join("in/calls.cassette.blobs/asked.bin"), body).unwrap();
    let alone = Inputs::read(&[folder.join("in")], InputFormat::Auto).unwrap();
    assert_eq!((alone.exchanges().count(), alone.scopes[0].files[0].format), (1, Format::Bodies));
    fs::write(folder.join("in/calls.cassette.json"), with_a_file("calls.cassette.blobs/asked.bin")).unwrap();
    let both = Inputs::read(&[folder.join("in")], InputFormat::Auto).unwrap();
    assert_eq!((both.exchanges().count(), both.files, reasons(&both)), (3, 2, vec![]), "the cassette and the folder");
    assert_eq!(both.exchanges().nth(1).unwrap().body, body.as_bytes(), "the bytes of the file");
    let skipped = both.skipped.iter().any(|skipped| {
        skipped.file.ends_with("calls.cassette.blobs") && skipped.reason.starts_with("bodies, read with the recording")
    });
    assert!(skipped, "{:?}", both.skipped);
}

#[test]
fn bodies_are_only_read_below_the_folder_of_their_recording() {
    let place = tempdir().unwrap();
    let folder = place.path();
    fs::create_dir_all(folder.join("in")).unwrap();
    fs::write(folder.join("secret.json"), r#"{"model":"claude-opus-4-8","messages":[]}"#).unwrap();
    for (other, expected) in [
        ("../secret.json", "does not lead below"),
        ("/etc/hostname", "does not lead below"),
        ("", "missing"),
        (".", "does not lead below"),
        ("missing.bin", "missing"),
    ] {
        fs::write(folder.join("in/a.json"), with_a_file(other)).unwrap();
        let inputs = Inputs::read(&[folder.join("in")], InputFormat::Auto).unwrap();
        assert_eq!(inputs.exchanges().count(), 2, "{other}: the other calls are kept");
        let [(_, reason)] = reasons(&inputs)[..] else { panic!("{other}: {:?}", inputs.unreadable) };
        assert!(reason.starts_with("entry 2: ") && reason.contains(expected), "{other}: {reason}");
        assert!(!reason.contains("secret"), "{reason}");
    }
    let inputs = memory(&with_a_file("asked.bin"));
    let [(_, reason)] = reasons(&inputs)[..] else { panic!("one damaged entry") };
    assert!(reason.contains("only read beside a recording that is a file"), "{reason}");
}

#[test]
fn a_call_of_datadog_is_one_file() {
    let inputs = read("datadog.json");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::Datadog, vec![]));
    assert_eq!(counts(&inputs), [(0, Some((3, 20, 10, 4)))]);
    let all: Vec<_> = inputs.exchanges().collect();
    assert_eq!(instants(all[0]), [Some(1000.0), None, Some(1000.0)]);
    assert_eq!(all[0].client.as_deref(), Some("claude-cli/2.1.198"));
    let text = String::from_utf8(fixture("datadog.json")).unwrap();
    let body = text.lines().rev().find(|line| line.contains("\"body\"")).unwrap();
    let packed = text.replace(body, "    \"body\": \"base64:eyJ1c2FnZSI6eyJpbnB1dF90b2tlbnMiOjQyfX0=\"");
    assert_eq!(counts(&memory(&packed)), [(0, Some((42, 0, 0, 0)))]);
    let damaged = memory(&text.replace(body, "    \"body\": \"base64:!\""));
    assert_eq!(damaged.exchanges().count(), 1, "the request is kept");
    assert!(reasons(&damaged)[0].1.contains("is no base64"), "{:?}", reasons(&damaged));
}

#[test]
fn a_cassette_of_go_vcr_has_addresses_and_status_of_its_own() {
    let inputs = read("go-vcr.yaml");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::Vcr, vec![]));
    assert_eq!(
        counts(&inputs),
        [(0, Some((3, 20, 10, 4))), (1, Some((26, 64, 0, 5))), (2, Some((5, 30, 0, 6)))],
        "blank lines before JSON, and binary bodies"
    );
    let all: Vec<_> = inputs.exchanges().collect();
    assert_eq!(instants(all[0]), [None; 3], "a duration is no instant");
    assert_eq!((all[0].status, all[0].client.as_deref()), (Some(200), Some("Charm-Fantasy/0.33.1")));
    assert_eq!((all[1].provider.as_str(), all[1].upstream.as_deref()), ("openrouter", Some("Z.AI")));
    assert_eq!(notes(&inputs), Vec::<&str>::new());
    let text = String::from_utf8(fixture("go-vcr.yaml")).unwrap();
    let cut = memory(text.trim_end().strip_suffix("duration: 1s").unwrap());
    assert_eq!((cut.exchanges().count(), notes(&cut).len()), (3, 1), "{:?}", notes(&cut));
    let first = memory(&text.replace("version: 2", "version: 1").replace("200 OK", "429 Too Many Requests"));
    assert_eq!(first.exchanges().map(|exchange| exchange.status).collect::<Vec<_>>(), [Some(429); 3]);
}

#[test]
fn names_of_headers_that_python_made_are_text() {
    let text = "interactions:\n- request:\n    body: '{\"model\":\"claude-opus-4-8\",\"messages\":[]}'\n    headers:\n      \
        ? !!python/object/apply:multidict._multidict.istr\n      - User-Agent\n      : - claude-cli/2.1.63 (external)\n    \
        method: POST\n    uri: https://api.anthropic.com/v1/messages\nversion: 1\n";
    let inputs = memory(text);
    assert_eq!(reasons(&inputs), vec![]);
    assert_eq!(inputs.exchanges().next().unwrap().client.as_deref(), Some("claude-cli/2.1.63"));
}

#[test]
fn a_recording_of_httpmock_is_read_document_by_document() {
    let inputs = read("httpmock.yaml");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::HttpMock, vec![]));
    assert_eq!(counts(&inputs), [(0, Some((3, 20, 10, 4))), (2, Some((5, 30, 0, 6))), (3, Some((4, 5, 0, 8)))]);
    assert_eq!(inputs.skipped[0].reason, "call 1, line 16: `GET /v1/models` is no model request");
    let providers: Vec<_> = inputs.exchanges().map(|exchange| exchange.provider.as_str()).collect();
    assert_eq!(providers, ["anthropic", "anthropic", "alibaba"], "by the model, because no folder names one");
    assert_eq!(instants(inputs.exchanges().next().unwrap()), [None; 3]);
}

#[test]
fn a_folder_names_the_provider_of_calls_without_hosts() {
    let place = tempdir().unwrap();
    let folder = place.path();
    for provider in ["llamacpp", "venice", "other"] {
        fs::create_dir_all(folder.join(provider).join("area")).unwrap();
        fs::write(folder.join(provider).join("area/call.yaml"), fixture("httpmock.yaml")).unwrap();
    }
    let inputs = Inputs::read(&[folder], InputFormat::Auto).unwrap();
    let chats = inputs.exchanges().filter(|exchange| exchange.origin.index == 3);
    assert_eq!(chats.map(|exchange| exchange.provider.as_str()).collect::<Vec<_>>(), ["llamacpp", "alibaba", "venice"]);
}

#[test]
fn a_damaged_document_of_httpmock_affects_no_other() {
    let text = String::from_utf8(fixture("httpmock.yaml")).unwrap();
    let torn = text.replacen("- name: content-type", "- name: [content-type", 1);
    let inputs = memory(&torn);
    assert_eq!(inputs.exchanges().map(|exchange| exchange.origin.index).collect::<Vec<_>>(), [2, 3]);
    let [(line, reason)] = reasons(&inputs)[..] else { panic!("{:?}", inputs.unreadable) };
    assert!((6..9).contains(&line) && reason.contains("YAML"), "{line}: {reason}");
}

#[test]
fn two_calls_of_httpmock_that_run_into_each_other_are_reported() {
    let text = String::from_utf8(fixture("httpmock.yaml")).unwrap();
    let joined = text.replacen("---\nwhen:", "---!when:", 1);
    let inputs = memory(&joined);
    let [(_, reason)] = reasons(&inputs)[..] else { panic!("not reported") };
    assert!(reason.contains("found `then` twice"), "{reason}");
}

#[test]
fn two_interactions_of_a_cassette_that_run_into_each_other_are_reported() {
    let text = String::from_utf8(fixture("ruby.yml")).unwrap();
    let joined = text.replacen("GMT\n- request:", "GMT\n  request:", 1);
    let inputs = memory(&joined);
    let [(_, reason)] = reasons(&inputs)[..] else { panic!("not reported") };
    assert!(reason.contains("found `request` twice"), "{reason}");
}

#[test]
fn a_fixture_of_req_llm_is_one_call_with_packed_bodies() {
    let inputs = read("req-llm.json");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::ReqLlm, vec![]));
    assert_eq!(counts(&inputs), [(0, Some((13, 20, 0, 4)))]);
    let exchange = inputs.exchanges().next().unwrap();
    assert_eq!(instants(exchange), [Some(1000.0), None, Some(2250.0)]);
    assert!(exchange.body.starts_with(b"{\"model\":\"grok-4\",\"messages\""), "the bytes sent, not the sorted ones");
    let text = String::from_utf8(fixture("req-llm.json")).unwrap();
    let whole = text.replace("\"body\": null", r#""body": {"usage":{"prompt_tokens":42,"completion_tokens":1}}"#);
    assert_eq!(counts(&memory(&whole)), [(0, Some((42, 0, 0, 1)))]);
}

#[test]
fn a_batch_file_has_the_bodies_of_two_providers() {
    let inputs = read("batch.jsonl");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::Batch, vec![]));
    let exchanges: Vec<_> = inputs.exchanges().collect();
    let batch = |exchange: &&Exchange| exchange.tier == ServiceTier::Batch && exchange.sent_at.is_none();
    assert_eq!(exchanges.iter().filter(|exchange| batch(exchange)).count(), 2);
    let origins: Vec<(usize, usize)> = exchanges.iter().map(|it| (it.origin.index, it.origin.line)).collect();
    assert_eq!(origins, [(0, 1), (1, 2)]);
    assert!(exchanges[1].body.starts_with(b"{\"model\": \"claude-opus-4-8\""), "the bytes of the line");
    let broken = memory("{\"custom_id\":\"a\",\"params\":7}\n");
    assert_eq!(reasons(&broken).len(), 1, "{:?}", reasons(&broken));
}

#[test]
fn a_stub_of_wiremock_has_its_body_in_the_stub_or_in_a_file() {
    let inputs = read("wiremock.json");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::WireMock, vec![]));
    assert_eq!(counts(&inputs), [(0, Some((3, 20, 10, 4)))]);
    assert_eq!(instants(inputs.exchanges().next().unwrap()), [Some(642.0), None, Some(1000.0)]);
    let text = String::from_utf8(fixture("wiremock.json")).unwrap();
    let line = text.lines().find(|line| line.trim_start().starts_with("\"body\"")).unwrap();
    let place = tempdir().unwrap();
    let folder = place.path();
    fs::create_dir_all(folder.join("mappings")).unwrap();
    fs::create_dir_all(folder.join("__files")).unwrap();
    fs::write(folder.join("mappings/a.json"), text.replace(line, "    \"bodyFileName\" : \"a.json\",")).unwrap();
    fs::write(folder.join("__files/a.json"), r#"{"usage":{"input_tokens":42,"output_tokens":1}}"#).unwrap();
    let inputs = Inputs::read(&[folder], InputFormat::Auto).unwrap();
    assert_eq!((counts(&inputs), reasons(&inputs)), (vec![(0, Some((42, 0, 0, 1)))], vec![]));
    assert_eq!(inputs.skipped.len(), 1, "the folder of bodies: {:?}", inputs.skipped);
}

#[test]
fn a_log_around_curl_has_instants_of_its_own() {
    let inputs = read("curl-log.jsonl");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::CurlLog, vec![]));
    assert_eq!(counts(&inputs), [(0, Some((13, 20, 0, 4))), (1, None)]);
    let all: Vec<_> = inputs.exchanges().collect();
    assert_eq!(instants(all[0]), [Some(250.0), None, Some(1500.0)]);
    assert!(all[1].failed());
}

#[test]
fn polly_keeps_bodies_that_are_no_text_in_parts() {
    let answer = r#"[\"eyJ1c2FnZSI6eyJpbnB1\",\"dF90b2tlbnMiOjQyfX0=\"]"#;
    let text = format!(
        r#"{{"log":{{"creator":{{"name":"Polly.JS"}},"entries":[{{"startedDateTime":"2026-02-12T19:30:44.000Z","time":1204,
        "request":{{"method":"POST","url":"https://api.anthropic.com/v1/messages","headers":[],
        "postData":{{"params":[],"text":"{{\"model\":\"claude-opus-4-8\",\"messages\":[]}}"}}}},
        "response":{{"status":200,"headers":[],"content":{{"encoding":"base64","text":"{answer}"}}}},
        "timings":{{"send":0,"wait":1204,"receive":0}}}}]}}}}"#
    );
    let inputs = memory(&text);
    assert_eq!((counts(&inputs), reasons(&inputs)), (vec![(0, Some((42, 0, 0, 0)))], vec![]));
}

#[test]
fn a_cached_object_of_gemini_is_billed_when_it_is_made() {
    let text = "when:\n  path: /v1beta/cachedContents\n  method: POST\n  \
        body: '{\"model\":\"models/gemini-2.5-flash\",\"contents\":[]}'\nthen:\n  status: 200\n  \
        body: '{\"usageMetadata\":{\"totalTokenCount\":2162}}'\n";
    assert_eq!(counts(&memory(text)), [(0, Some((2162, 0, 0, 0)))]);
}
