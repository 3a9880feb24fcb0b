//! Recordings with instants and with ids.

use forkcast_replay::input::{InputFormat, Inputs, ReadOptions, SAMPLE};
use forkcast_replay::replay::{Options, replay};
use forkcast_sim::diagnosis::Cause;
use serde_json::{Value, json};

use super::stage::{Folder, body, breaks, chains, check_with};

fn line(at_ms: usize, chain: Option<&str>, request: &Value) -> String {
    let mut line = json!({"v": 1, "at_ms": at_ms, "request": request});
    if let Some(chain) = chain {
        line["chain"] = json!(chain);
    }
    line.to_string()
}

fn log(lines: &[String]) -> String {
    lines.join("\n")
}

#[test]
fn recordings_of_one_path_meet_in_time() {
    // One conversation, recorded by two processes in turn. File by file it would seem to go back.
    let of = |turns: &[usize]| {
        log(&turns.iter().map(|turn| line(turn * 1000, None, &body("bees", *turn))).collect::<Vec<_>>())
    };
    let folder = Folder::new(&[("a.jsonl", of(&[1, 3, 5])), ("b.jsonl", of(&[2, 4, 6])), ("c.jsonl", of(&[7, 8]))]);
    let kept = check_with(&[folder.path("")], &ReadOptions::default()).1;
    assert_eq!(kept.report.findings, []);
    assert_eq!(chains(&kept), [("captures#1".to_owned(), 8)]);
    let files: Vec<&str> = kept.origins.iter().map(|origin| origin.file.rsplit('/').next().unwrap()).collect();
    assert_eq!(files[..4], ["a.jsonl", "b.jsonl", "a.jsonl", "b.jsonl"]);
    // The same if nothing is kept and each file is read again.
    let again = check_with(&[folder.path("")], &ReadOptions { memory_bytes_max: 0, ..ReadOptions::default() }).1;
    assert_eq!((&again.report.findings, &again.origins), (&kept.report.findings, &kept.origins));
    assert_eq!(again.lock.unwrap().text(), kept.lock.unwrap().text());
}

#[test]
fn ids_decide_if_the_recording_has_them() {
    // The second agent repeats the first one's history word by word.
    let lines = [
        line(1000, Some("one"), &body("bees", 1)),
        line(2000, Some("two"), &body("bees", 2)),
        line(3000, Some("one"), &body("bees", 2)),
        line(4000, Some("two"), &body("bees", 3)),
    ];
    let (_, outcome) = Folder::new(&[("log.jsonl", log(&lines))]).check();
    assert_eq!(chains(&outcome), [("one".to_owned(), 2), ("two".to_owned(), 2)]);
    assert_eq!(breaks(&outcome), []);
}

#[test]
fn a_recording_without_instants_has_a_cache_of_its_own() {
    let lines = |turns: std::ops::Range<usize>| {
        let lines = turns.map(|turn| json!({"v": 1, "request": body("bees", turn)}).to_string());
        lines.collect::<Vec<_>>().join("\n")
    };
    let (_, outcome) = Folder::new(&[("a.jsonl", lines(1..3)), ("b.jsonl", lines(1..4))]).check();
    assert_eq!(chains(&outcome), [("captures/a.jsonl#1".to_owned(), 2), ("captures/b.jsonl#1".to_owned(), 3)]);
    assert_eq!(breaks(&outcome), []);
}

#[test]
fn blocks_of_a_request_without_usage_have_the_sizes_shown_by_usage_and_the_bill_agrees() {
    let usage = json!({"input_tokens": 0, "cache_creation_input_tokens": 40_000, "output_tokens": 9});
    let mut first: Value = serde_json::from_str(&line(1000, Some("one"), &body("bees", 2))).unwrap();
    first["response"] = json!({"usage": usage});
    let mut changed = body("bees", 3);
    changed["tools"][0]["description"] = json!("Reads a file.");
    let lines = [first.to_string(), line(9000, Some("one"), &changed)];
    let folder = Folder::new(&[("log.jsonl", log(&lines))]);
    let (_, outcome) = folder.check();
    let lost: u64 = outcome.report.findings.iter().filter_map(|finding| finding.tokens_lost()).sum();
    // By their lengths, these blocks would have about five thousand.
    assert!((35_000..40_000).contains(&lost), "{lost}");
    let inputs = Inputs::read(&[folder.path("")], InputFormat::Auto).unwrap();
    let replayed = replay(&inputs, &Options::default());
    let missed = replayed.lines().flat_map(|line| line.explanation.iter().flat_map(|why| &why.missed));
    let content = missed.filter(|missed| missed.cause == Cause::ToolChanged);
    assert_eq!(content.map(|missed| missed.tokens).sum::<u64>(), lost);
}

#[test]
fn the_sample_has_its_known_misses() {
    let (fed, outcome) = Folder::new(&[("sample.jsonl", SAMPLE.to_owned())]).check();
    assert!(fed.requests >= 10, "{}", fed.requests);
    let found: Vec<&str> = breaks(&outcome).iter().map(|found| found.1).collect();
    assert!(found.contains(&"system_changed") && found.contains(&"tools_added"), "{found:?}");
}

/// Headers and body.
type Asked<'a> = (&'a [(&'a str, &'a str)], Value);

/// An archive of requests, each with the headers that its client sent.
fn archive(requests: &[Asked<'_>]) -> String {
    let entry = |(at, (headers, body)): (usize, &Asked<'_>)| {
        let headers: Vec<Value> = headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        json!({"startedDateTime": format!("2026-11-20T10:00:{at:02}.000Z"), "time": 900,
            "request": {"method": "POST", "url": "https://api.anthropic.com/v1/messages", "headers": headers,
                "postData": {"mimeType": "application/json", "text": body.to_string()}},
            "response": {"status": 200, "headers": [], "content": {"mimeType": "application/json",
                "text": json!({"type": "message", "usage": {"input_tokens": 3000, "output_tokens": 5}}).to_string()}}})
    };
    let entries: Vec<Value> = requests.iter().enumerate().map(entry).collect();
    json!({"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": entries}}).to_string()
}

/// Chains of the lock with their parents and the number of their requests.
fn family(text: String) -> Vec<(String, Option<String>, usize)> {
    let (_, outcome) = Folder::new(&[("a.har", text)]).check();
    let chains = outcome.lock.unwrap().chains;
    chains.into_iter().map(|chain| (chain.name, chain.parent, chain.requests.len())).collect()
}

#[test]
fn headers_of_opencode_identify_children_and_their_parents() {
    let title =
        json!({"model": "claude-haiku-4-5", "max_tokens": 20, "messages": [{"role": "user", "content": "A title."}]});
    let main: &[_] = &[("x-session-id", "ses_1"), ("x-session-affinity", "ses_1")];
    let child: &[_] = &[("x-session-id", "ses_2"), ("x-parent-session-id", "ses_1")];
    let found = family(archive(&[
        (main, title),
        (main, body("bees", 1)),
        (child, body("ants", 1)),
        (child, body("ants", 2)),
        (main, body("bees", 2)),
    ]));
    let expected = [("captures#1", None, 1), ("ses_1", None, 2), ("ses_2", Some("ses_1"), 2)];
    assert_eq!(found, expected.map(|(name, parent, count)| (name.to_owned(), parent.map(str::to_owned), count)));
}

#[test]
fn headers_of_claude_code_and_codex_identify_agents() {
    let found = family(archive(&[
        (&[("X-Claude-Code-Session-Id", "s")], body("bees", 1)),
        (&[("X-Claude-Code-Session-Id", "s"), ("x-claude-code-agent-id", "a1")], body("bees", 2)),
        (&[("session-id", "s"), ("thread-id", "t1")], body("ants", 1)),
        (&[("thread-id", "t2"), ("x-codex-parent-thread-id", "t1")], body("ants", 2)),
        (&[("X-Claude-Code-Session-Id", "s")], body("bees", 2)),
    ]));
    let expected = [("captures#1", None, 2), ("s/a1", None, 1), ("t1", None, 1), ("t2", Some("t1"), 1)];
    assert_eq!(found, expected.map(|(name, parent, count)| (name.to_owned(), parent.map(str::to_owned), count)));
}

#[test]
fn a_log_names_parents_of_its_chains() {
    let child = |turns| json!({"v": 1, "chain": "two", "parent": "one", "request": body("ants", turns)}).to_string();
    let lines = [json!({"v": 1, "chain": "one", "request": body("bees", 1)}).to_string(), child(1), child(2)];
    let (_, outcome) = Folder::new(&[("log.jsonl", log(&lines))]).check();
    let parents: Vec<_> = outcome.lock.as_ref().unwrap().chains.iter().map(|chain| chain.parent.as_deref()).collect();
    assert_eq!(parents, [None, Some("one")]);
}
