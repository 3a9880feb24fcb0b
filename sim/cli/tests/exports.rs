//! Files of viewers, read by parsers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{folder, forkcast};

/// A file that the sample is written as.
fn exported(place: &Path, options: &[&str]) -> String {
    let arguments: Vec<&str> = ["demo", "--quiet"].into_iter().chain(options.iter().copied()).collect();
    let output = forkcast(place, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(place.join(options[1])).unwrap()
}

fn totals(place: &Path, arguments: &[&str]) -> Value {
    let output = forkcast(place, arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["totals"].clone()
}

#[test]
fn calls_of_a_thread_never_overlap_and_all_are_there() {
    let trace: Value = serde_json::from_str(&exported(&folder("trace"), &["--trace", "t.json"])).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut ends: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut requests = 0;
    for event in events {
        let number = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("{name}: {event}"));
        let key = (number("pid"), number("tid"));
        match event["ph"].as_str().unwrap() {
            "X" => {
                let end = ends.entry(key).or_default();
                assert!(number("ts") >= *end, "{event}");
                *end = number("ts") + number("dur");
                requests += 1;
            }
            "b" => requests += 1,
            "e" | "s" | "f" | "M" => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(requests, 14);
    let named = events.iter().filter(|event| event["name"] == "thread_name");
    let names: Vec<&str> = named.map(|event| event["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["main", "review-1", "review-2"]);
    assert_eq!(events.iter().filter(|event| event["ph"] == "s").count(), 2, "both reviews were started");
}

#[test]
fn stacks_add_up_to_the_bill_and_to_the_tokens() {
    let place = folder("stacks");
    let sum =
        |text: &str| -> i64 { text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap()).sum() };
    let money = exported(&place, &["--stacks", "usd.txt"]);
    let bill = totals(&place, &["demo", "--format", "json"])["recorded"].clone();
    let micros = bill["cost_usd"].as_f64().unwrap() * 1e6;
    assert!((sum(&money) as f64 - micros).abs() <= money.lines().count() as f64, "{} and {micros}", sum(&money));
    assert!(money.lines().all(|line| line.split(';').count() >= 5), "{money}");
    assert!(money.contains(";main;review-1;claude-opus-4-8;write 5m "), "{money}");
    let tokens = exported(&place, &["--stacks", "tokens.txt", "--stacks-by", "tokens"]);
    let all: i64 = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"]
        .iter()
        .map(|name| bill[name].as_i64().unwrap())
        .sum();
    assert_eq!(sum(&tokens), all);
}

#[test]
fn spans_are_read_back_with_the_same_tokens() {
    let place = folder("spans");
    let text = exported(&place, &["--otlp", "spans.json"]);
    assert!(!text.contains("You are"), "no text of prompts");
    let written = totals(&place, &["demo", "--format", "json"])["recorded"].clone();
    let read = totals(&place, &["replay", "spans.json", "--format", "json"])["recorded"].clone();
    for name in ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"] {
        assert_eq!(read[name], written[name], "{name}");
    }
}

/// Fields of a span in the JSON form of OTLP (opentelemetry-proto, `trace/v1/trace.proto`, in lower camel case).
const SPAN: [&str; 14] = [
    "traceId",
    "spanId",
    "traceState",
    "parentSpanId",
    "flags",
    "name",
    "kind",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "attributes",
    "droppedAttributesCount",
    "events",
    "links",
    "status",
];

/// An attribute in the form of `common/v1/common.proto`: one value; whole numbers are text.
fn attribute(one: &Value) -> (&str, &Value) {
    assert_eq!(one.as_object().unwrap().len(), 2, "{one}");
    let value = one["value"].as_object().unwrap();
    let (kind, value) = value.iter().next().unwrap();
    match &**kind {
        "stringValue" => assert!(value.is_string(), "{one}"),
        "intValue" => assert!(value.as_str().is_some_and(|text| text.parse::<i64>().is_ok()), "{one}"),
        "doubleValue" => assert!(value.is_f64(), "{one}"),
        other => panic!("{other}: {one}"),
    }
    (one["key"].as_str().unwrap(), value)
}

#[test]
fn spans_have_the_shape_that_collectors_read() {
    let text = exported(&folder("shape"), &["--otlp", "spans.json"]);
    let sent: Value = serde_json::from_str(&text).unwrap();
    let scoped = &sent["resourceSpans"][0]["scopeSpans"][0];
    let named: Vec<_> = sent["resourceSpans"][0]["resource"]["attributes"].as_array().unwrap().iter().collect();
    assert!(named.into_iter().map(attribute).any(|(key, value)| key == "service.name" && value == "forkcast"));
    let is_id = |value: &Value, digits: usize| {
        let text = value.as_str().unwrap();
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let mut known: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for span in scoped["spans"].as_array().unwrap() {
        assert!(span.as_object().unwrap().keys().all(|key| SPAN.contains(&&**key)), "{span}");
        assert!(is_id(&span["traceId"], 32) && is_id(&span["spanId"], 16), "{span}");
        assert!((1..=5).contains(&span["kind"].as_u64().unwrap()), "{span}");
        let nanos = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
        let (start, end) = (nanos("startTimeUnixNano"), nanos("endTimeUnixNano"));
        assert!(start <= end, "{span}");
        let attributes: BTreeMap<&str, &Value> = span["attributes"].as_array().unwrap().iter().map(attribute).collect();
        let is_chat = span["name"].as_str().unwrap().starts_with("chat ");
        assert_eq!(attributes["gen_ai.operation.name"], if is_chat { "chat" } else { "invoke_agent" });
        // An agent's span is written before its requests', and is around them.
        if is_chat {
            let (begun, ended) = known[span["parentSpanId"].as_str().unwrap()];
            assert!(begun <= start && end <= ended, "{span}");
        }
        let is_new = known.insert(span["spanId"].as_str().unwrap().to_owned(), (start, end)).is_none();
        assert!(is_new, "{span}");
    }
    assert_eq!(known.len(), 14 + 3, "requests and agents");
}

/// A frame of a flame graph with its own weight and its callees.
#[derive(Default)]
struct Frame {
    own: u64,
    callees: BTreeMap<String, Frame>,
}

impl Frame {
    fn total(&self) -> u64 {
        self.own + self.callees.values().map(Self::total).sum::<u64>()
    }
}

#[test]
fn stacks_are_read_as_a_tree_by_a_viewer() {
    let text = exported(&folder("tree"), &["--stacks", "usd.txt"]);
    // As speedscope's importer does: a line is frames, a space, and a whole number.
    let mut root = Frame::default();
    for line in text.lines() {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        let mut at = &mut root;
        for frame in stack.split(';') {
            assert!(!frame.is_empty(), "{line}");
            at = at.callees.entry(frame.to_owned()).or_default();
        }
        assert_eq!(at.own, 0, "each stack once: {line}");
        at.own = weight.parse().unwrap();
    }
    let sample = &root.callees.values().next().unwrap().callees["sample"];
    let main = &sample.callees["main"];
    assert_eq!(main.callees.keys().collect::<Vec<_>>(), ["claude-opus-4-8", "review-1", "review-2"]);
    assert_eq!(sample.total(), root.total());
    assert!(main.callees["review-1"].total() < main.total());
}

#[test]
fn events_that_begin_also_end() {
    let trace: Value = serde_json::from_str(&exported(&folder("pairs"), &["--trace", "t.json"])).unwrap();
    let mut open: BTreeMap<(String, String), u64> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        let key = (event["cat"].to_string(), event["id"].to_string());
        match event["ph"].as_str().unwrap() {
            "b" | "s" => assert!(open.insert(key, event["ts"].as_u64().unwrap()).is_none(), "{event}"),
            "e" | "f" => {
                let begun = open.remove(&key).unwrap_or_else(|| panic!("nothing begins: {event}"));
                assert!(event["ts"].as_u64().unwrap() >= begun, "{event}");
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Its cells are compared with those of the table by a reader, in the tests of the reports.
#[test]
fn a_parquet_file_is_whole() {
    let place = folder("parquet");
    for verb in [&["demo"][..], &["run"]] {
        let output = forkcast(&place, &[verb, &["--quiet", "--parquet", verb[0]]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = fs::read(place.join(verb[0])).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{verb:?}");
    }
}

#[test]
fn files_that_are_not_ours_stay() {
    let place = folder("foreign-exports");
    for option in ["--html", "--trace", "--stacks", "--otlp", "--parquet"] {
        fs::write(place.join("mine"), "my own notes").unwrap();
        let output = forkcast(&place, &["demo", option, "mine"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert_eq!(fs::read_to_string(place.join("mine")).unwrap(), "my own notes");
    }
    // Our own page is replaced.
    for _ in 0..2 {
        assert!(forkcast(&place, &["demo", "--html", "page.html"]).status.success());
    }
}

#[test]
fn an_option_without_its_file_says_what_it_wants() {
    for (option, example) in [
        ("--html", "--html page.html"),
        ("--trace", "--trace trace.json"),
        ("--stacks", "--stacks stacks.txt"),
        ("--otlp", "--otlp spans.json"),
        ("--parquet", "--parquet requests.parquet"),
        ("--out", "--out result"),
    ] {
        for arguments in [&["demo", option][..], &["demo", option, "--quiet"]] {
            let output = forkcast(&folder("no-file"), arguments);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains(&format!("such as {example}")), "{said}");
        }
    }
}
