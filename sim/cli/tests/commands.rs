//! The program from the command line: what it prints, and its exit codes.
//!
//! Golden files are in `golden/`; `FORKCAST_UPDATE=1 cargo test -p forkcast` rewrites them.

mod codes;
mod environments;
#[cfg(unix)]
mod signals;
mod widths;
mod written;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::{code, command, fine, folder, forkcast, golden, heeds, stderr, stdout};

/// Two requests of a small session; the second differs in a date of its system prompt.
const FIRST: &str = r#"{"model":"claude-opus-4-8","system":"Today is 2026-11-20.","tools":[{"name":"Read","description":"Reads."}],"messages":[{"role":"user","content":[{"type":"text","text":"Go on.","cache_control":{"type":"ephemeral"}}]}]}"#;
const SECOND: &str = r#"{"model":"claude-opus-4-8","system":"Today is 2026-11-21.","tools":[{"name":"Read","description":"Reads."}],"messages":[{"role":"user","content":[{"type":"text","text":"Go on.","cache_control":{"type":"ephemeral"}}]}]}"#;

#[test]
fn the_sample_in_every_format() {
    let place = folder("sample");
    for (format, file) in
        [("human", "sample.txt"), ("json", "sample.json"), ("csv", "sample.csv"), ("markdown", "sample.md")]
    {
        let output = forkcast(&place, &["replay", "--format", format]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(stderr(&output).contains("embedded sample"), "{}", stderr(&output));
        golden(file, stdout(&output));
    }
}

#[test]
fn details_of_the_sample() {
    let output = forkcast(&folder("details"), &["replay", "-q", "--details"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    golden("details.txt", stdout(&output));
}

#[test]
fn quiet_prints_nothing() {
    let output = forkcast(&folder("quiet"), &["replay", "--quiet", "--progress", "plain"]);
    assert_eq!((code(&output), stderr(&output)), (0, ""));
}

#[test]
fn lists() {
    let place = folder("lists");
    for what in
        ["causes", "notes", "models", "prices", "profiles", "habits", "policies", "formats", "what-ifs", "schemas"]
    {
        for (format, ending) in [("human", "txt"), ("json", "json")] {
            let output = forkcast(&place, &["list", what, "--format", format]);
            assert_eq!((code(&output), stderr(&output)), (0, ""));
            golden(&format!("list-{what}.{ending}"), stdout(&output));
        }
    }
}

#[test]
fn a_folder_is_written_and_recognised() {
    let place = folder("out");
    let names = ["ledger.jsonl", "manifest.json", "requests.csv", "run.json", "timeline.png", "timeline.svg"];
    for _ in 0..2 {
        let output = forkcast(&place, &["replay", "--out", "result", "--quiet"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    let mut found: Vec<_> = fs::read_dir(place.join("result"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, names);
    assert!(fs::read(place.join("result/timeline.png")).unwrap().starts_with(b"\x89PNG"));
    golden("requests.csv", &fs::read_to_string(place.join("result/requests.csv")).unwrap());
    golden("ledger.jsonl", &fs::read_to_string(place.join("result/ledger.jsonl")).unwrap());
}

#[test]
fn a_foreign_folder_is_left_alone() {
    let place = folder("foreign");
    fs::create_dir(place.join("mine")).unwrap();
    fs::write(place.join("mine/run.json"), "{}").unwrap();
    let output = forkcast(&place, &["replay", "--out", "mine"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("mine") && stderr(&output).contains("--overwrite"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(place.join("mine/run.json")).unwrap(), "{}");
    let output = forkcast(&place, &["replay", "--out", "mine", "--overwrite", "-q"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("run.json: exists and is not listed as ours"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(place.join("mine/run.json")).unwrap(), "{}");
    let output = forkcast(&place, &["replay", "--out", "mine/run.json"]);
    assert_eq!(code(&output), 2);
}

/// Name of a file, its content, a word of the error.
const BAD_INPUTS: [(&str, &[u8], &str); 6] = [
    ("text.json", b"this is no JSON", "text of another kind"),
    ("cut.json", br#"{"model":"claude-opus-4-8","messages":[{"role":"#, "cut.json:1"),
    ("empty.jsonl", b"", "empty file"),
    ("binary.bin", b"\x00\x01\x02", "binary"),
    ("shape.json", br#"{"model":"claude-opus-4-8","messages":7}"#, "expected an array"),
    ("other.json", br#"{"a":1}"#, "another kind"),
];

#[test]
fn bad_input_is_located_and_ends_with_2() {
    let place = folder("bad");
    for (name, content, word) in BAD_INPUTS {
        fs::write(place.join(name), content).unwrap();
        for arguments in [vec!["replay", name], vec!["diff", name, name]] {
            let output = forkcast(&place, &arguments);
            let complaint = stderr(&output);
            assert_eq!((code(&output), stdout(&output)), (2, ""), "{name}: {complaint}");
            assert!(complaint.contains(name) && complaint.contains(word), "{name}: {complaint}");
            assert!(!complaint.contains('{') || complaint.contains('`'), "no debug output: {complaint}");
        }
    }
}

#[test]
fn paths_without_recordings_end_with_2() {
    let place = folder("nothing");
    fs::create_dir(place.join("hollow")).unwrap();
    for (path, word) in [("hollow", "no recordings"), ("absent.json", "No such file")] {
        let output = forkcast(&place, &["replay", path]);
        assert_eq!((code(&output), stdout(&output)), (2, ""));
        assert!(stderr(&output).contains(path) && stderr(&output).contains(word), "{}", stderr(&output));
    }
}

#[test]
fn usage_errors_end_with_2() {
    let place = folder("usage");
    for (arguments, word) in [
        (vec!["replay", "--cache", "docs-1999"], "observed-2026-08"),
        (vec!["replay", "--input-format", "csv"], "exchange-log"),
        (vec!["replay", "--prices", "yesterday"], "YYYY-MM-DD"),
        (vec!["replay", "--prices", "2026-13-01"], "YYYY-MM-DD"),
        (vec!["replay", "--format", "xml"], "markdown"),
        (vec!["replay", "--by", "hour"], "version"),
        (vec!["replay", "--since", "7d"], "YYYY-MM-DD"),
        (vec!["replay", "--since", "2026-11-02T10:00:00"], "offset"),
        (vec!["replay", "--since", "2026-11-02", "--until", "2026-11-01"], "--until is before"),
        (vec!["replay", "--min-hit-rate", "80"], "80%"),
        (vec!["replay", "--max-cost", "-1"], "negative"),
        (vec!["list", "fonts"], "formats"),
        (vec!["predict"], "predict"),
    ] {
        let output = forkcast(&place, &arguments);
        assert_eq!((code(&output), stdout(&output)), (2, ""), "{arguments:?}");
        assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn help_has_examples() {
    let place = folder("help");
    for verb in ["replay", "diff", "list"] {
        let output = forkcast(&place, &[verb, "--help"]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("Examples:"), "{verb}");
    }
    assert!(stdout(&forkcast(&place, &["--help"])).contains("Exit codes:"));
}

/// Damage inside a folder is listed, the rest is reported; `--strict` makes it an error.
#[test]
fn damage_in_a_folder_does_not_affect_other_files() {
    let place = folder("damaged");
    fs::create_dir(place.join("logs")).unwrap();
    fs::write(place.join("logs/a.json"), FIRST).unwrap();
    fs::write(place.join("logs/b.json"), &SECOND[..100]).unwrap();
    let output = forkcast(&place, &["replay", "logs"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("1 request · 1 recording"), "{}", stdout(&output));
    assert!(stdout(&output).contains("unreadable") && stdout(&output).contains("b.json:1"), "{}", stdout(&output));
    let output = forkcast(&place, &["replay", "logs", "--strict"]);
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).contains("1 request · 1 recording"));
    assert!(stderr(&output).contains("logs/b.json:1"), "{}", stderr(&output));
    // A file that the user named must be readable; the others are reported anyway.
    let output = forkcast(&place, &["replay", "logs/a.json", "logs/b.json"]);
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).contains("1 request · 1 recording"));
}

#[test]
fn a_model_without_a_price_counts_and_is_listed() {
    let place = folder("unpriced");
    let body = FIRST.replace("claude-opus-4-8", "claude-opus-9");
    fs::write(
        place.join("a.json"),
        format!(r#"{{"request":{body},"response":{{"usage":{{"input_tokens":9,"output_tokens":4}}}}}}"#),
    )
    .unwrap();
    let output = forkcast(&place, &["replay", "a.json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("claude-opus-9") && stdout(&output).contains("no price"), "{}", stdout(&output));
    let output = forkcast(&place, &["replay", "a.json", "--format", "json"]);
    assert!(stdout(&output).contains(r#""cost_usd": null"#) && stdout(&output).contains(r#""reason": "no_price""#));
    let output = forkcast(&place, &["replay", "a.json", "--strict"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("claude-opus-9"), "{}", stderr(&output));
}

/// The bill of the sample is $0.12199875, and 60.126 % of its input was read (`golden/sample.json`).
#[test]
fn broken_limits_end_with_1() {
    let place = folder("limits");
    let kept = ["replay", "-q", "--max-cost", "0.12199875", "--min-hit-rate", "60%", "--max-unexplained", "0"];
    let output = forkcast(&place, &kept);
    assert_eq!((code(&output), stderr(&output)), (0, ""));
    let output = forkcast(&place, &["replay", "-q", "--max-cost", "$0.12", "--min-hit-rate", "0.7"]);
    assert_eq!(code(&output), 1);
    assert_eq!(
        stderr(&output),
        "forkcast: --max-cost: found $0.12199875, allowed is at most $0.12\n\
         forkcast: --min-hit-rate: found 60.126 %, allowed is at least 70 %\n"
    );
    assert!(stdout(&output).contains("Spent on"), "the report comes first");
    let output = forkcast(&place, &["replay", "-q", "--max-cost", "0.12", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(report["gates"][0]["passed"], false);
}

/// Bad input may be the reason for a broken limit, so its code wins; both are reported.
#[test]
fn bad_input_takes_precedence_over_a_limit() {
    let place = folder("limits-bad");
    fs::write(place.join("a.json"), FIRST).unwrap();
    fs::write(place.join("b.json"), &SECOND[..100]).unwrap();
    let output = forkcast(&place, &["replay", "a.json", "b.json", "--max-cost", "1"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("b.json:1") && stderr(&output).contains("cannot be checked"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn groups_and_windows_in_every_format() {
    let place = folder("groups");
    for (format, file) in [("human", "groups.txt"), ("csv", "groups.csv"), ("markdown", "groups.md")] {
        let arguments = ["replay", "-q", "--by", "day", "--since", "2026-11-02", "--until", "2026-11-03T00:01:00Z"];
        let output = forkcast(&place, &[&arguments[..], &["--max-cost", "1", "--format", format]].concat());
        assert_eq!((code(&output), stderr(&output)), (0, ""));
        golden(file, stdout(&output));
    }
    let output = forkcast(&place, &["replay", "-q", "--since", "2030-01-01", "--timezone", "UTC"]);
    assert_eq!(code(&output), 0);
    let newest = "No request was sent in this period; the newest was sent 2026-11-03 00:01:37 ";
    assert!(stdout(&output).contains(newest), "{}", stdout(&output));
    assert!(stdout(&output).contains("14 other requests only filled the cache"), "{}", stdout(&output));
    for (options, limit) in [
        (&["--since", "2030-01-01"][..], "period"),
        (&["--project", "nope"], "project"),
        (&["--last", "1h", "--session", "nope"], "period and session"),
    ] {
        let output = forkcast(&place, &[&["replay", "-q"], options].concat());
        let title = format!("None of 14 requests is in this {limit}\n");
        assert!(fine(&output).starts_with(&title), "{}", stdout(&output));
    }
}

#[test]
fn two_keys_a_zone_and_the_first_rows() {
    let place = folder("views");
    let output = forkcast(&place, &["replay", "-q", "--by", "day,model", "--timezone", "UTC", "--top", "1"]);
    assert_eq!((code(&output), stderr(&output)), (0, ""));
    assert!(stdout(&output).contains("By day and model (UTC)"), "{}", stdout(&output));
    for (arguments, word) in [
        (["--by", "day,day"], "two different keys"),
        (["--timezone", "Mars/Olympus"], "IANA name"),
        (["--last", "soon"], "24h"),
        (["--top", "0"], "from 1"),
        (["--top", "x"], "such as 10"),
    ] {
        let output = forkcast(&place, &[&["replay"], &arguments[..]].concat());
        assert_eq!((code(&output), stdout(&output)), (2, ""), "{arguments:?}");
        assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
    }
    let output = forkcast(&place, &["replay", "-q", "--last", "1h", "--timezone", "UTC"]);
    let newest = "No request was sent in this period; the newest was sent 2026-11-03 00:01:37 ";
    assert!(stdout(&output).contains(newest), "{}", stdout(&output));
    let lines = forkcast(&place, &["replay", "-q", "--format", "jsonl"]);
    assert_eq!(stdout(&lines).lines().count(), 14);
    let refused = forkcast(&place, &["list", "models", "--format", "jsonl"]);
    assert_eq!((code(&refused), stdout(&refused)), (2, ""));
}

#[test]
fn a_run_prints_the_lines_of_its_ledger() {
    let place = folder("run-lines");
    let lines = forkcast(&place, &["run", "-q", "--format", "jsonl", "--out", "out"]);
    assert_eq!((code(&lines), stderr(&lines)), (0, ""));
    assert_eq!(stdout(&lines), fs::read_to_string(place.join("out/ledger.jsonl")).unwrap());
    assert!(stdout(&lines).lines().all(|line| line.contains("\"at\":null") && line.contains("\"read_usd\":")));
}

#[test]
fn two_requests_side_by_side() {
    let place = folder("diff");
    fs::write(place.join("a.json"), FIRST).unwrap();
    fs::write(place.join("b.json"), SECOND).unwrap();
    fs::write(place.join("log.jsonl"), format!("{{\"v\":1,\"request\":{FIRST}}}\n{{\"v\":1,\"request\":{SECOND}}}\n"))
        .unwrap();
    for (format, file) in [("human", "diff.txt"), ("json", "diff.json")] {
        let output = forkcast(&place, &["diff", "a.json", "b.json", "--format", format]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        golden(file, stdout(&output));
        let numbered = forkcast(&place, &["diff", "log.jsonl#0", "log.jsonl#1", "--format", format]);
        assert_eq!(code(&numbered), 0, "{}", stderr(&numbered));
    }
    let json = forkcast(&place, &["diff", "a.json", "b.json", "--format", "json"]);
    assert!(!stdout(&json).contains("Today"), "no text of the prompt unless asked for");
    let json = forkcast(&place, &["diff", "a.json", "b.json", "--format", "json", "--show-content"]);
    assert!(stdout(&json).contains("Today is 2026-11-20."));
    let json = forkcast(&place, &["diff", "a.json", "b.json", "--format", "human", "--anonymize"]);
    assert!(!stdout(&json).contains("Today"), "{}", stdout(&json));
}

/// The files of a folder are a recording in order of time, and its requests have the numbers that `check` and `explain` show.
#[test]
fn the_numbers_of_a_folder_are_those_of_every_verb() {
    let place = folder("diff-numbers");
    fs::create_dir(place.join("d")).unwrap();
    for (file, at_ms, model) in
        [("a", 1_790_000_060_000_u64, "claude-opus-4-8"), ("b", 1_790_000_000_000, "claude-opus-5")]
    {
        let body = FIRST.replace("claude-opus-4-8", model);
        fs::write(place.join(format!("d/{file}.jsonl")), format!("{{\"v\":1,\"at_ms\":{at_ms},\"request\":{body}}}\n"))
            .unwrap();
    }
    assert!(stdout(&forkcast(&place, &["explain", "d", "0"])).starts_with("Request 0, b.jsonl#0: claude-opus-5"));
    let diff = forkcast(&place, &["diff", "d#0", "d#1"]);
    assert!(stdout(&diff).contains("model `claude-opus-5` became `claude-opus-4-8`"), "{}", stdout(&diff));
}

#[test]
fn a_missing_request_is_reported_with_the_valid_range() {
    let place = folder("range");
    fs::write(place.join("log.jsonl"), format!("{{\"v\":1,\"request\":{FIRST}}}\n{{\"v\":1,\"request\":{SECOND}}}\n"))
        .unwrap();
    for (name, word) in [
        ("log.jsonl#2", "log.jsonl#0 to log.jsonl#1"),
        ("log.jsonl", "log.jsonl#0 to log.jsonl#1"),
        ("log.jsonl#x", "a number"),
    ] {
        let output = forkcast(&place, &["diff", name, "log.jsonl#0"]);
        assert_eq!((code(&output), stdout(&output)), (2, ""));
        assert!(stderr(&output).contains(word), "{name}: {}", stderr(&output));
    }
}

#[test]
fn names_can_be_hidden() {
    let place = folder("anonymous");
    let log = |body: &str| format!("{{\"v\":1,\"chain\":\"billing-bot\",\"request\":{body}}}\n");
    let changed = FIRST.replace("Reads.", "Reads a file.");
    fs::write(place.join("secret.jsonl"), log(FIRST) + &log(&changed)).unwrap();
    for format in ["human", "json", "csv", "markdown"] {
        let output = forkcast(&place, &["replay", "secret.jsonl", "--anonymize", "--format", format, "--out", "out"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let written = ["run.json", "ledger.jsonl", "requests.csv", "timeline.svg"]
            .map(|name| fs::read_to_string(place.join("out").join(name)).unwrap());
        for text in written.iter().map(String::as_str).chain([stdout(&output)]) {
            for name in ["secret", "billing-bot", "`Read`", "Reads"] {
                assert!(!text.contains(name), "{name} in {format}: {text}");
            }
        }
    }
}

#[test]
fn standard_input_is_read() {
    let place = folder("stdin");
    let mut child = command(&place, &["replay", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(FIRST.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("forkcast.replay/1"));
}

/// A hostile name: it sets the window's title, reverses the line, and gives a workflow's runner a command.
const HOSTILE: &str = "evil\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{7f}\n::error::x";

#[test]
fn names_cannot_control_the_terminal() {
    let place = folder("hostile");
    let (first, second) = (format!("1{HOSTILE}.json"), format!("2{HOSTILE}.json"));
    let tool = serde_json::to_string(&format!("Read{HOSTILE}")).unwrap();
    for (name, body) in [(&first, FIRST), (&second, SECOND)] {
        fs::write(place.join(name), body.replace("\"Read\"", &tool)).unwrap();
    }
    let damaged = format!("damaged{HOSTILE}");
    fs::write(place.join(&damaged), "[[price]]\nmodel = \"a\"\n").unwrap();
    let absent = format!("absent{HOSTILE}");
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["replay", &damaged],
        vec!["replay", &absent],
        vec!["replay", &first, "--price-book", &damaged],
        vec!["check", &damaged],
        vec!["run", &damaged],
        vec!["diff", &first, &damaged],
        vec!["check", &first, "--lock", &damaged],
        vec!["replay", &first, "--input-format", HOSTILE],
        vec!["replay", ".", "--out", "out"],
        vec!["explain", "out", "1"],
        vec!["explain", &absent, "1"],
    ];
    for format in ["human", "json", "csv", "markdown"] {
        commands.push(vec!["replay", &first, &second, "--format", format]);
        commands.push(vec!["diff", &first, &second, "--format", format]);
        commands.push(vec!["explain", "out", "1", "--format", format]);
    }
    for format in ["human", "json", "csv", "markdown", "junit", "github", "sarif"] {
        commands.push(vec!["check", &first, &second, "--format", format]);
    }
    for arguments in commands {
        let output = forkcast(&place, &arguments);
        assert!(code(&output) <= 2, "{arguments:?}: {}", stderr(&output));
        let is_github = arguments.contains(&"github");
        for text in [stdout(&output), stderr(&output)] {
            let hidden = text.chars().find(|c| *c != '\n' && forkcast_sim::outside::is_hidden(*c));
            assert_eq!(hidden, None, "{arguments:?}: {text}");
            let command = text.lines().find(|line| line.trim_start().starts_with("::"));
            assert!(command.is_none() || is_github, "{arguments:?}: {text}");
            let is_data =
                arguments.iter().any(|argument| ["json", "csv", "markdown", "sarif", "junit"].contains(argument));
            assert!(is_data || !text.contains("##["), "{arguments:?}: {text}");
        }
    }
}

/// Runs with `text` on a pipe at `/dev/fd/0`, as with `<(…)` in a shell.
#[cfg(unix)]
fn piped(place: &Path, arguments: &[&str], text: &str) -> Output {
    let mut child =
        command(place, arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[cfg(unix)]
#[test]
fn every_verb_reads_a_named_pipe() {
    let place = folder("pipes");
    fs::write(place.join("first.json"), FIRST).unwrap();
    fs::write(place.join("second.json"), SECOND).unwrap();
    for arguments in [
        &["replay", "/dev/fd/0", "--quiet"][..],
        &["check", "/dev/fd/0", "--lock", "none", "--quiet"],
        &["lock", "/dev/fd/0", "-o", "out.lock", "--quiet"],
        &["diff", "first.json", "/dev/fd/0"],
        &["explain", "/dev/fd/0", "0"],
    ] {
        let output = piped(&place, arguments, SECOND);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
        assert!(!stdout(&output).is_empty(), "{arguments:?}");
    }
    let same = |arguments: &[&str]| stdout(&piped(&place, arguments, SECOND)).replace("/dev/fd/0", "second.json");
    assert_eq!(
        same(&["diff", "first.json", "/dev/fd/0"]),
        stdout(&forkcast(&place, &["diff", "first.json", "second.json"]))
    );
    let lock = fs::read_to_string(place.join("out.lock")).unwrap();
    let output = piped(&place, &["check", "second.json", "--lock", "/dev/fd/0", "--quiet"], &lock);
    assert_ne!(code(&output), 2, "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_and_one_in_a_folder_is_skipped() {
    let place = folder("fifos");
    fs::write(place.join("first.json"), FIRST).unwrap();
    assert!(Command::new("mkfifo").arg(place.join("pipe")).status().unwrap().success());
    let output = forkcast(&place, &["replay", ".", "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("neither file nor folder"));
    let pipe = place.join("pipe");
    let writer = std::thread::spawn(move || fs::write(pipe, SECOND).unwrap());
    let output = forkcast(&place, &["replay", "first.json", "pipe", "--format", "json"]);
    writer.join().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(found["totals"]["requests"], 2);
}
