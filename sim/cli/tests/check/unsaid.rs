//! Only terminal output contains text of a prompt unless requested: `check`, `diff` and `explain`.

use std::fs;

use super::bodies::{CALM, SECRET, Turn, body, code, folder, forkcast, restless, stderr, stdout, write};

#[test]
fn diff_and_explain_write_text_to_files_only_on_request() {
    let place = folder("unsaid");
    let line = |(at, turn): (usize, Turn)| {
        let request = body(Turn { steps: at, ..turn });
        format!(r#"{{"v":1,"at_ms":{},"chain":"main","request":{request}}}"#, 1_790_000_000_000 + at * 1000) + "\n"
    };
    let log: String = restless().into_iter().enumerate().map(line).collect();
    fs::write(place.join("log.jsonl"), log).unwrap();
    let diff = ["diff", "log.jsonl#1", "log.jsonl#2"];
    let explain = ["explain", "log.jsonl", "2"];
    for verb in [&diff[..], &explain[..]] {
        for format in ["human", "markdown", "json", "csv"] {
            let run = |options: &[&str]| {
                let output = forkcast(&place, &[verb, &["--format", format], options].concat());
                assert_eq!(code(&output), 0, "{verb:?} {format}: {}", stderr(&output));
                stdout(&output).to_owned()
            };
            let (unasked, asked, hidden) = (run(&[]), run(&["--show-content"]), run(&["--anonymize"]));
            let shows = |text: &str| text.contains("aturday") || text.contains(SECRET);
            assert_eq!(shows(&unasked), format == "human", "{verb:?} {format}: {unasked}");
            assert_eq!(shows(&asked), format != "csv", "{verb:?} {format}: {asked}");
            assert!(!shows(&hidden), "{verb:?} {format}: {hidden}");
        }
    }
}

#[test]
fn the_output_of_lock_contains_no_text() {
    let place = folder("unsaid-lock");
    write(&place.join("bodies"), &[CALM; 2]);
    for format in ["human", "markdown", "json", "csv"] {
        let output = forkcast(&place, &["lock", "bodies", "--format", format]);
        assert!(!stdout(&output).contains(SECRET), "{format}: {}", stdout(&output));
        assert!(!fs::read_to_string(place.join("forkcast.lock")).unwrap().contains(SECRET));
    }
}
