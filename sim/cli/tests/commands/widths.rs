//! No line of any report is wider than the screen, whatever names a recording has.

use std::fs;
use std::path::Path;

use forkcast_fixtures::{fixture, workspace};

use crate::program::{command, folder};

/// Columns of a line: characters of Chinese and Japanese have two.
fn width(line: &str) -> usize {
    line.chars().map(|c| if c >= '\u{2e80}' { 2 } else { 1 }).sum()
}

/// The sample with long and wide names of its chains, tools and files.
fn hostile(place: &Path) {
    let sample = fs::read_to_string(workspace().join("replay/sample/sample.exchanges.jsonl")).unwrap();
    let long = "名前の長い".repeat(12);
    let text = sample
        .replace("\"main\"", &format!("\"{long}-main\""))
        .replace("review-1", &format!("review-{}", "x".repeat(150)))
        .replace("edit_file", &format!("edit_{}", "file_".repeat(20)));
    fs::write(place.join(format!("{}.jsonl", "長い".repeat(25))), text).unwrap();
    let body = |name: &str| {
        let tool =
            format!("{{\"name\":\"{name}\",\"description\":\"{}\",\"input_schema\":{{}}}}", "long ".repeat(4_000));
        let message = "{\"role\":\"user\",\"content\":\"Hello\"}";
        format!("{{\"model\":\"claude-opus-4-8\",\"max_tokens\":9,\"tools\":[{tool}],\"messages\":[{message}]}}")
    };
    fs::create_dir(place.join("bodies")).unwrap();
    for (at, name) in [long.as_str(), "other", "third"].iter().enumerate() {
        fs::write(place.join(format!("bodies/{at}-{}.json", "n".repeat(120))), body(name)).unwrap();
    }
}

#[test]
fn reports_are_as_wide_as_the_screen() {
    let place = folder("widths");
    hostile(&place);
    let lines = [
        "replay .",
        "replay . --details",
        "replay . --by agent",
        "replay . --by project,model --what-if model=claude-haiku-4-5,ttl=1h",
        "explain .",
        "explain level_parameter",
        "check bodies --in-tests --requests-per-day 1000",
        "run",
        "run --what-if ttl=1h --by agent",
        "run day/working-day",
        "fanout --children 2,4 --parent warm,cold --breakpoints both,tail --launch burst,primed",
        "fanout --answer all",
        "sweep --help",
        "--help",
        "demo --details",
    ];
    let lists = [
        "causes",
        "notes",
        "models",
        "prices",
        "profiles",
        "habits",
        "policies",
        "formats",
        "scenarios",
        "what-ifs",
        "schemas",
    ];
    let lines = lines.map(str::to_owned).into_iter().chain(lists.map(|list| format!("list {list}")));
    for line in lines {
        for columns in [40, 80] {
            // At 40 columns, examples of commands are wider.
            if columns == 40 && line.contains("--help") {
                continue;
            }
            let arguments: Vec<&str> = line.split(' ').collect();
            let output = command(&place, &arguments).env("COLUMNS", columns.to_string()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.lines().count() > 5, "{line}: {}", String::from_utf8_lossy(&output.stderr));
            // On a screen of usual width no column is lost that is not optional.
            assert!(columns < 80 || !text.contains("Too narrow for"), "{line}: {text}");
            for found in text.lines() {
                assert!(width(found) <= columns, "{line}: {} of {columns} columns: {found}", width(found));
            }
        }
    }
}

/// Notes and errors too, those of the command line among them; without a width they are lines for other programs.
#[test]
fn standard_error_is_as_wide_as_the_screen() {
    let place = folder("widths-errors");
    let fixture = fixture("codex.jsonl").display().to_string();
    fs::create_dir(place.join("other")).unwrap();
    fs::write(place.join("other/a_list_with_a_long_name.jsonl"), "{\"capture\":1,\"at\":2}\n".repeat(3)).unwrap();
    for arguments in [
        &["run", "--quiet", "--seed", "x"][..],
        &["run"],
        &["replay", "--timezone", "Mars"],
        &["replay", "--last", "3y"],
        &["replay", "/nonexistent/place/with/a/long/name/in/it"],
        &["fanout", "--from", &fixture],
        &["replay", "--table", "nope"],
        &["replay", "other"],
    ] {
        let output = command(&place, arguments).env("COLUMNS", "50").output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!text.is_empty(), "{arguments:?}");
        let wide = text.lines().filter(|line| width(line) > 50).collect::<Vec<_>>();
        assert!(wide.is_empty(), "{arguments:?}: {wide:?}");
        let output = command(&place, arguments).output().unwrap();
        let joined = String::from_utf8(output.stderr).unwrap();
        let words = |text: &str| text.replace('/', "/ ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&text), words(&joined), "{arguments:?}: the same words");
    }
}

#[test]
fn a_narrow_table_keeps_the_columns_that_answer() {
    let place = folder("narrow");
    let fanout = "fanout --children 2,4 --parent warm,cold --breakpoints both,tail --launch burst,primed";
    let answers: [(&str, &[&str]); 3] = [
        (fanout, &["best", "cost, time", "primed"]),
        ("run", &["Missed", "no_breakpoint", "End", "completed"]),
        ("demo --details", &["Difference", "tools_added", "system_changed"]),
    ];
    for (line, words) in answers {
        let arguments: Vec<&str> = line.split(' ').collect();
        let output = command(&place, &arguments).env("COLUMNS", "60").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for word in words {
            assert!(text.contains(word), "{line}: {word}: {text}");
        }
    }
}
