//! The table of exit codes: every verb with every outcome, and with readable and closed outputs.

use std::fs::{self, File};
use std::io::{self, PipeWriter};
use std::path::Path;
use std::process::Stdio;

use super::{FIRST, SECOND, command, folder, forkcast, stderr, stdout};
use crate::run::WORD;

/// A verb in a folder that [`prepared`] made.
struct Verb {
    /// A command that succeeds.
    fine: &'static str,
    /// A command that breaks a limit; `None` for verbs without limits.
    failed: Option<&'static str>,
    /// A command with bad input.
    bad: &'static str,
    /// Whether it prints on standard output when it succeeds.
    prints: bool,
}

const fn verb(fine: &'static str, failed: Option<&'static str>, bad: &'static str) -> Verb {
    Verb { fine, failed, bad, prints: true }
}

/// A session of one turn.
const SESSION: &str = concat!(
    r#"{"type":"user","sessionId":"s","uuid":"u","parentUuid":null,"timestamp":"2026-07-01T10:00:00.000Z","cwd":"/home/me/p","version":"2.1.150","message":{"role":"user","content":"Hello"}}"#,
    "\n",
    r#"{"type":"assistant","sessionId":"s","uuid":"a","parentUuid":"u","timestamp":"2026-07-01T10:00:04.000Z","cwd":"/home/me/p","version":"2.1.150","requestId":"r","message":{"id":"m","model":"claude-opus-4-8","role":"assistant","type":"message","stop_reason":"end_turn","content":[{"type":"text","text":"Hi."}],"usage":{"input_tokens":3,"cache_creation_input_tokens":15000,"cache_read_input_tokens":0,"output_tokens":5}}}"#,
    "\n"
);

const VERBS: [Verb; 23] = [
    verb("run word.yaml", Some("run wrong.yaml"), "run absent.yaml"),
    verb("run word.yaml --format json", Some("run wrong.yaml --format json"), "run absent.yaml --format json"),
    verb("run --recording session.jsonl", None, "run --recording absent.jsonl"),
    verb("cast session.jsonl", None, "cast absent.jsonl"),
    verb("fanout", None, "fanout --children none"),
    verb("sweep plan word.yaml --set seed=1,2", None, "sweep plan absent.yaml --set seed=1"),
    Verb { prints: false, ..verb("sweep run plan.json --out parts", None, "sweep run absent.json --out parts") },
    verb("sweep merge plan.json --out parts", None, "sweep merge plan.json --out hollow"),
    verb(
        "sweep status plan.json --out parts",
        Some("sweep status plan.json --out hollow"),
        "sweep status absent.json --out parts",
    ),
    verb("replay same", Some("replay same --max-cost 0"), "replay absent"),
    verb("replay same --format json", Some("replay same --max-cost 0 --format json"), "replay cut.json --format json"),
    verb("demo", Some("demo --max-cost 0"), "demo same"),
    verb("lock same --output my.lock", None, "lock cut --output other.lock"),
    verb("check same --lock none", Some("check moved --in-tests --lock none"), "check cut --lock none"),
    verb(
        "check same --lock none --format junit",
        Some("check moved --in-tests --lock none --format junit"),
        "check cut --lock none --format junit",
    ),
    verb("diff same/0.json moved/1.json", None, "diff same/0.json cut.json"),
    verb("compare same moved", Some("compare same session.jsonl --max-rise 0"), "compare same absent"),
    Verb { prints: false, ..verb("report kept -o page.html", None, "report same -o page.html") },
    verb("explain same 0", None, "explain same 7"),
    verb("list models", None, "list fonts"),
    verb("completions bash", None, "completions klingon"),
    verb("man", None, "man cook"),
    verb("--help", None, "--halp"),
];

fn prepared(name: &str) -> std::path::PathBuf {
    let place = folder(name);
    for (path, text) in [
        ("same/0.json", FIRST),
        ("same/1.json", FIRST),
        ("moved/0.json", FIRST),
        ("moved/1.json", SECOND),
        ("cut/0.json", FIRST),
        ("cut/1.json", &SECOND[..100]),
        ("cut.json", &SECOND[..100]),
        ("word.yaml", WORD),
        ("session.jsonl", SESSION),
        ("wrong.yaml", &WORD.replace("requests: 1", "requests: 2")),
    ] {
        let path = place.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(place.join("hollow")).unwrap();
    for line in [
        "sweep plan word.yaml --set seed=1,2 -o plan.json",
        "sweep run plan.json --out parts",
        "replay same --out kept",
    ] {
        let output = forkcast(&place, &words(line));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    place
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// A pipe without a reader.
fn closed() -> PipeWriter {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    writer
}

fn code(place: &Path, line: &str, stdout: Stdio, stderr: Stdio) -> Option<i32> {
    command(place, &words(line)).stdin(Stdio::null()).stdout(stdout).stderr(stderr).status().unwrap().code()
}

/// Each line of the table with its exit code, if the output is read.
fn lines() -> impl Iterator<Item = (&'static str, i32, bool)> {
    VERBS.iter().flat_map(|verb| {
        let fine = (verb.fine, 0, verb.prints);
        [Some(fine), verb.failed.map(|line| (line, 1, true)), Some((verb.bad, 2, false))].into_iter().flatten()
    })
}

#[test]
fn every_verb_is_in_the_table() {
    let help = forkcast(&folder("codes-help"), &["--help"]);
    let (_, verbs) = stdout(&help).split_once("Commands:\n").unwrap();
    let named = verbs.lines().take_while(|line| !line.is_empty()).filter_map(|line| {
        let (indent, name) = line.split_at_checked(2)?;
        (indent == "  ").then(|| name.split(' ').next().unwrap_or_default())
    });
    // `new` replaces nothing, so it ends well once alone: `tests/start.rs` has its codes.
    for name in named.filter(|name| !["", "help", "new"].contains(name)) {
        assert!(VERBS.iter().any(|verb| verb.fine.split(' ').next() == Some(name)), "{name}");
    }
}

#[test]
fn the_exit_code_does_not_depend_on_the_reader() {
    let place = prepared("codes");
    for (line, expected, _) in lines() {
        let output = forkcast(&place, &words(line));
        assert_eq!(output.status.code(), Some(expected), "{line}: {}", stderr(&output));
        assert_eq!(code(&place, line, closed().into(), Stdio::null()), Some(expected), "stdout closed: {line}");
        assert_eq!(code(&place, line, closed().into(), closed().into()), Some(expected), "both closed: {line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_bad_input_and_not_a_fault() {
    let place = prepared("codes-full");
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for (line, expected, prints) in lines() {
        let mut command = command(&place, &words(line));
        let output = command.stdin(Stdio::null()).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let expected = if prints { 2 } else { expected };
        assert_eq!(output.status.code(), Some(expected), "{line}: {}", stderr(&output));
        let told = stderr(&output).contains("standard output cannot be written: No space left on device");
        assert!(told || !prints, "{line}: {}", stderr(&output));
    }
    // Other problems are reported too.
    let mut command = command(&place, &["replay", "same", "--max-cost", "0"]);
    let output = command.stdin(Stdio::null()).stdout(full()).stderr(Stdio::piped()).output().unwrap();
    assert!(stderr(&output).contains("--max-cost"), "{}", stderr(&output));
}

#[test]
fn a_folder_is_written_even_if_standard_output_is_closed() {
    let place = prepared("codes-out");
    for (line, expected) in [
        ("replay same --max-cost 0 --out result", 1),
        ("run wrong.yaml --out ran", 1),
        ("fanout --out fans", 0),
        ("sweep merge plan.json --out parts", 0),
    ] {
        assert_eq!(code(&place, line, closed().into(), closed().into()), Some(expected), "{line}");
    }
    for file in ["result/run.json", "ran/run.json", "fans/fanout.json", "parts/sweep.json"] {
        assert!(place.join(file).is_file(), "{file}");
    }
}

/// A command that exits with 0, and the message of `--strict` about its input.
const DOUBTFUL: [(&str, &str); 13] = [
    ("replay damaged", "damaged/1.json:1"),
    ("replay empty", "empty/1.json: empty file"),
    ("replay dear", "no price for `claude-opus-9`"),
    ("replay unmetered.jsonl", "no recorded usage, in no sum: 1 request"),
    ("check dear --lock none", "no price for `claude-opus-9`"),
    ("check empty --lock none", "empty/1.json: empty file"),
    ("lock dear -o my.lock", "no price for `claude-opus-9`"),
    ("diff dear/0.json dear/0.json", "no price for `claude-opus-9`"),
    ("explain damaged 0", "damaged/1.json:1"),
    ("run word.yaml --set session.model=claude-3-opus", "no price for `claude-3-opus`"),
    ("fanout --model claude-3-opus", "no price for `claude-3-opus`"),
    ("compare damaged dear", "damaged/1.json:1"),
    ("compare dear damaged", "no price for `claude-opus-9`"),
];

#[test]
fn strict_has_the_same_meaning_for_all_verbs() {
    let place = prepared("codes-strict");
    let answered = |usage: &str| format!("{{\"v\":1,\"request\":{FIRST},\"response\":{{{usage}}}}}\n");
    let usage = r#""usage":{"input_tokens":9,"output_tokens":4}"#;
    for (path, text) in [
        ("damaged/0.json", FIRST),
        ("damaged/1.json", &SECOND[..100]),
        ("empty/0.json", FIRST),
        ("empty/1.json", ""),
        ("dear/0.json", &FIRST.replace("claude-opus-4-8", "claude-opus-9")),
        ("unmetered.jsonl", &(answered(usage) + &answered(""))),
    ] {
        let path = place.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for (line, told) in DOUBTFUL {
        let output = forkcast(&place, &words(line));
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        let output = forkcast(&place, &[&words(line)[..], &["--strict"]].concat());
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(told) && stderr(&output).contains("(--strict)"),
            "{line}: {}",
            stderr(&output)
        );
    }
    for line in lines().filter_map(|(line, code, _)| (code == 0).then_some(line)) {
        if ["run", "fanout", "replay", "lock", "check", "diff", "explain", "compare", "sweep merge"]
            .iter()
            .any(|verb| line.starts_with(verb))
        {
            let output = forkcast(&place, &[&words(line)[..], &["--strict"]].concat());
            assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        }
    }
}
