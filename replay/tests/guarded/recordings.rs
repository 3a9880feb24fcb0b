//! Recordings with instants and with ids.

use forkcast_replay::input::{ReadOptions, SAMPLE};
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
    // The same where nothing is kept and each file is read once more.
    let again = check_with(&[folder.path("")], &ReadOptions { memory_bytes_max: 0, ..ReadOptions::default() }).1;
    assert_eq!((&again.report.findings, &again.origins), (&kept.report.findings, &kept.origins));
    assert_eq!(again.lock.unwrap().text(), kept.lock.unwrap().text());
}

#[test]
fn ids_decide_where_the_recording_has_them() {
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
fn the_sample_tells_its_story() {
    let (fed, outcome) = Folder::new(&[("sample.jsonl", SAMPLE.to_owned())]).check();
    assert!(fed.requests >= 10, "{}", fed.requests);
    let found: Vec<&str> = breaks(&outcome).iter().map(|found| found.1).collect();
    assert!(found.contains(&"system_changed") && found.contains(&"tools_added"), "{found:?}");
}
