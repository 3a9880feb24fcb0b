//! Invalid locks: the line, the finding, the expectation.

use forkcast_sim::guard::lock::{BadLock, Lock};

use super::stage::Talk;

fn complaint(text: &str) -> String {
    Lock::parse(text).unwrap_err().to_string()
}

fn line_of(text: &str, word: &str) -> usize {
    text.lines().position(|line| line.contains(word)).unwrap() + 1
}

/// The text with a number that is neither a count nor a cost.
fn with_number(text: &str, before: &str) -> String {
    let start = text.find(before).unwrap_or_else(|| panic!("no {before} in {text}")) + before.len();
    let digits = text[start..].find(|byte: char| !byte.is_ascii_digit()).unwrap();
    format!("{}9223372036854775807{}", &text[..start], &text[start + digits..])
}

#[test]
fn a_newer_version_says_what_to_do() {
    let newer = Talk::new().lock().text().replace("version = 1", "version = 3") + "\n[unheard]\nof = {}\n";
    assert_eq!(
        complaint(&newer),
        "written by a newer forkcast (version 3, this program knows 1): update forkcast, or rewrite the lock with --update"
    );
    // Even if its syntax is unknown.
    assert!(matches!(Lock::parse("version = 9\n<~~ new syntax"), Err(BadLock::Newer { found: 9, known: 1 })));
}

#[test]
fn other_versions_are_refused() {
    let text = Talk::new().lock().text();
    assert_eq!(
        complaint(&text.replace("version = 1", "version = 0")),
        format!("line {}: found version 0, expected version 1", line_of(&text, "version = "))
    );
    let without = text.replace("version = 1\n", "");
    assert!(complaint(&without).contains("version"), "{}", complaint(&without));
}

#[test]
fn a_merge_conflict_is_named() {
    let text = Talk::new().lock().text();
    let merged = text.replacen("model = ", "<<<<<<< ours\nmodel = \"x\"\n=======\nmodel = ", 1);
    let said = complaint(&merged);
    assert!(said.starts_with(&format!("line {}:", line_of(&merged, "<<<<<<<"))), "{said}");
    assert!(said.contains("merge conflict"), "{said}");
}

#[test]
fn every_truncation_is_detected() {
    let text = Talk::new().lock().text();
    for (end, _) in text.char_indices().filter(|(at, _)| text.as_bytes()[*at] == b'\n') {
        if text[end..].trim().is_empty() {
            continue;
        }
        let cut = &text[..end];
        assert!(Lock::parse(cut).is_err(), "cut at {end}:\n{cut}");
    }
    let requests: Vec<usize> = text.match_indices("\n[[chain.request]]").map(|(at, _)| at).collect();
    let cut = complaint(&text[..*requests.last().unwrap()]);
    assert!(cut.contains("found 2 requests in the file, expected 3") && cut.contains("cut off"), "{cut}");
}

#[test]
fn broken_fields_are_named_with_their_lines() {
    let text = Talk::new().lock().text();
    let system = line_of(&text, "[\"system[0]\"");
    let row = text.lines().nth(system - 1).unwrap();
    let [name, digest] = [5, 7].map(|at| row.split('"').nth(at).unwrap());
    for (broken, line, words) in [
        (text.replacen(digest, "xyz", 1), system, vec!["digest `xyz`", "16 digits"]),
        (
            text.replacen("\"system[0]\", \"text\"", "\"system[0]\", \"poem\"", 1),
            system,
            vec!["kind `poem`", "tool_use"],
        ),
        (
            text.replacen("\"system[0]\"", "\"system[x]\"", 1),
            system,
            vec!["path `system[x]`", "messages[3].content[1]"],
        ),
        (
            text.replacen("system[0] 1h", "system[0] 2h", 1),
            line_of(&text, "breakpoints"),
            vec!["lifetime `2h`", "5m or 1h"],
        ),
        (text.replacen("system[0] 1h", "system[7] 1h", 1), line_of(&text, "breakpoints"), vec!["`system[7]`"]),
        (
            text.replacen("request = 0, blocks = 4", "request = 0, blocks = 40", 1),
            line_of(&text, "keeps"),
            vec!["40 blocks"],
        ),
        (
            text.replacen("request = 0, blocks = 4", "request = 7, blocks = 4", 1),
            line_of(&text, "keeps"),
            vec!["request 7"],
        ),
        (
            with_number(&text, "expected = { read = "),
            line_of(&text, "expected = "),
            vec!["tokens", "at most 10000000000"],
        ),
        (with_number(&text, "cost_usd = \""), line_of(&text, "cost_usd"), vec!["cost `9223", "1000000000000"]),
        (
            with_number(&text, &format!("\"system[0]\", \"text\", \"{name}\", ")),
            system,
            vec!["tokens", "at most 10000000000"],
        ),
    ] {
        let said = complaint(&broken);
        assert!(said.starts_with(&format!("line {line}: found ")), "{line}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
    }
}

#[test]
fn a_lost_or_edited_line_is_detected_by_its_levels_digest() {
    let text = Talk::new().lock().text();
    let lines: Vec<&str> = text.lines().collect();
    let tool = line_of(&text, "[\"tools[1]\"") - 1;
    let lost: String =
        lines.iter().enumerate().filter(|(at, _)| *at != tool).map(|(_, line)| format!("{line}\n")).collect();
    let said = complaint(&lost);
    assert!(said.contains("of `tools`") && said.contains("a line was changed or lost"), "{said}");
}

#[test]
fn two_chains_of_one_name_are_refused() {
    let text = Talk::new().lock().text();
    let chain = &text[text.find("[[chain]]").unwrap()..];
    let said = complaint(&format!("{text}\n{chain}"));
    assert!(said.contains("a second chain `main`"), "{said}");
}

#[test]
fn other_files_are_not_locks() {
    for text in ["", "{\"a\": 1}", "version = \"one\"", "\u{0}\u{1}", "name = 1\n", "version = -1"] {
        let said = complaint(text);
        assert!(said.starts_with("line ") && said.contains("expected"), "{text:?}: {said}");
    }
}
