//! The same input gives the same bytes in every environment: in another folder, language, time zone and home, with
//! files that were created in another order and at another time; and anonymous output does not depend on names either.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::{FIRST, SECOND, code, command, folder, stderr, stdout};
use crate::program::files;

/// Every verb, and every format of each. People read days and times in their own zone unless they name one.
const COMMANDS: [&str; 52] = [
    "replay logs --timezone UTC",
    "replay logs --format json --by model --what-if ttl=1h",
    "replay logs --format csv --table misses",
    "replay logs --format markdown --by day --timezone UTC",
    "replay logs --out replayed --bodies --timezone UTC",
    "replay replayed --timezone UTC",
    "run",
    "run --format json",
    "run --format csv",
    "run --format markdown",
    "run forks/fan-out --out run --bodies",
    "run --interleave 7 --format json",
    "replay run --format json",
    "fanout",
    "fanout --format json --children 2,5 --launch burst,primed",
    "fanout --format csv --children 2,5",
    "fanout --format markdown --children 2,5",
    "fanout --children 2,5 --launch burst,primed --out fanout",
    "sweep plan fanout --set children=1,2 -o plan.json",
    "sweep run plan.json --out parts",
    "sweep status plan.json --out parts",
    "sweep merge plan.json --out parts",
    "sweep merge plan.json --out parts --format csv",
    "lock bodies -o bodies.lock",
    "check bodies --lock bodies.lock",
    "check bodies --lock none",
    "check bodies --lock none --format json",
    "check bodies --lock none --format csv",
    "check bodies --lock none --format markdown",
    "check bodies --lock none --format junit",
    "check bodies --lock none --format github",
    "check bodies --lock none --format sarif",
    "check logs/log.jsonl --lock none --format json",
    "diff bodies/1.json bodies/2.json",
    "diff bodies/1.json bodies/2.json --format json",
    "diff bodies/1.json bodies/2.json --format csv",
    "diff bodies/1.json bodies/2.json --format markdown",
    "explain run 7 --timezone UTC",
    "explain run 7 --format json",
    "explain run 7 --format csv",
    "explain run 7 --format markdown",
    "explain logs/log.jsonl 1 --timezone UTC",
    "list models",
    "list models --format json",
    "list prices --format csv",
    "list profiles --format markdown",
    "list schemas --out schemas",
    "list scenarios",
    "completions bash",
    "completions zsh",
    "man",
    "man replay",
];

/// Differences between machines that must have no effect.
struct Environment {
    /// The folder that the program runs in.
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    /// The order in which the files are created, and the time.
    last_first: bool,
    made_s: u64,
}

const ENVIRONMENTS: [Environment; 3] = [
    Environment { name: "environments/plain", variables: &[], last_first: false, made_s: 1_700_000_000 },
    Environment {
        name: "environments/turkish home/ä",
        variables: &[
            ("LANG", "tr_TR.UTF-8"),
            ("LC_ALL", "tr_TR.UTF-8"),
            ("TZ", "Asia/Kathmandu"),
            ("HOME", "/nonexistent"),
            ("TMPDIR", "/nonexistent"),
            ("RUST_BACKTRACE", "full"),
        ],
        last_first: true,
        made_s: 0,
    },
    Environment {
        name: "environments/c",
        variables: &[
            ("LANG", "C"),
            ("LC_ALL", "C"),
            ("TZ", "America/St_Johns"),
            ("HOME", "/"),
            ("TERM", "dumb"),
            ("RAYON_NUM_THREADS", "1"),
            ("TOKIO_WORKER_THREADS", "1"),
            ("CI", "true"),
            ("GITHUB_ACTIONS", "true"),
        ],
        last_first: true,
        made_s: 4_000_000_000,
    },
];

/// Contents of files, by path.
type Files = BTreeMap<String, Vec<u8>>;

fn inputs() -> Files {
    let fixtures = forkcast_fixtures::fixture("");
    let mut inputs = Files::new();
    for entry in fs::read_dir(fixtures).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            continue;
        }
        inputs.insert(format!("logs/{}", entry.file_name().to_str().unwrap()), fs::read(entry.path()).unwrap());
    }
    inputs.insert("bodies/1.json".to_owned(), FIRST.into());
    inputs.insert("bodies/2.json".to_owned(), SECOND.into());
    inputs
}

fn write(place: &Path, inputs: &Files, environment: &Environment) {
    let mut files: Vec<_> = inputs.iter().collect();
    if environment.last_first {
        files.reverse();
    }
    for (name, content) in files {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let made = UNIX_EPOCH + Duration::from_secs(environment.made_s);
        File::options().write(true).open(&path).unwrap().set_modified(made).unwrap();
    }
}

/// The output of a command, and its exit code.
#[derive(Debug, PartialEq, Eq)]
struct Printed {
    code: i32,
    stdout: String,
    stderr: String,
}

fn printed(place: &Path, line: &str, environment: &Environment) -> Printed {
    let arguments: Vec<&str> = line.split(' ').collect();
    let mut command = command(place, &arguments);
    command.env_remove("TZ").envs(environment.variables.iter().copied());
    let output = command.output().unwrap();
    Printed { code: code(&output), stdout: stdout(&output).to_owned(), stderr: stderr(&output).to_owned() }
}

#[test]
fn the_bytes_are_the_same_in_every_environment() {
    let inputs = inputs();
    let [plain, others @ ..] = ENVIRONMENTS.map(|environment| {
        let place = folder(environment.name);
        write(&place, &inputs, &environment);
        let printed = COMMANDS.map(|line| printed(&place, line, &environment));
        (environment.name, printed, files(&place))
    });
    for (line, printed) in COMMANDS.iter().zip(&plain.1) {
        assert!(printed.code <= 2, "{line}: {}", printed.stderr);
        assert!(!(printed.stdout.is_empty() && printed.stderr.is_empty()), "{line}: says nothing");
    }
    for (name, printed, files) in others {
        for ((line, found), expected) in COMMANDS.iter().zip(printed).zip(&plain.1) {
            assert_eq!(found, *expected, "{name}: {line}");
        }
        assert!(files.keys().eq(plain.2.keys()), "{name}: {:?}", files.keys());
        for (path, content) in files {
            assert!(content == plain.2[&path], "{name}: {path}");
        }
    }
}

/// Tables with only figures, and tables whose rows have file names.
const NAMELESS: [&str; 6] = ["totals", "groups", "models", "causes", "unpriced", "remarks"];
const NAMED: [&str; 5] = ["sessions", "damage", "misses", "exceptions", "requests"];

/// The path of the file number `at`; each naming gives the files another order.
fn called(at: usize, naming: usize, files: usize) -> String {
    let number = (at * [1, 7, 11][naming] + naming) % files;
    format!("d{}/f{number:02}", number % (naming + 2))
}

/// The sorted rows of a table with every file name replaced by its number; the first column of requests is their order
/// and is dropped.
fn rows(table: &str, name: &str, files: usize, naming: usize) -> Vec<String> {
    let mut table = table.to_owned();
    for at in 0..files {
        let path = called(at, naming, files);
        let stem = path.rsplit('/').next().unwrap();
        table = table.replace(&format!("logs/{path}"), &format!("<{at}>")).replace(stem, &format!("<{at}>"));
    }
    let is_numbered = matches!(name, "misses" | "exceptions" | "requests");
    // A chain without a name is named by its number.
    let nameless = |cell: &&str| !cell.starts_with("chain-");
    let row =
        |line: &str| line.split(',').skip(usize::from(is_numbered)).filter(nameless).collect::<Vec<_>>().join(",");
    let mut rows: Vec<String> = table.lines().map(row).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn the_figures_are_the_same_whatever_files_are_called() {
    // The names of bodies are their order and their agents.
    let is_named_freely =
        |name: &str| name.starts_with("logs/") && !name.contains("body") && !name.contains("request-");
    let logs = inputs().into_iter().filter(|(name, _)| is_named_freely(name));
    let logs: Vec<Vec<u8>> = logs.map(|(_, log)| log).collect();
    let mut first: Vec<Vec<String>> = Vec::new();
    for (naming, environment) in ENVIRONMENTS.iter().enumerate() {
        let place = folder(&format!("environments/naming-{naming}"));
        let paths = (0..logs.len()).map(|at| format!("logs/{}", called(at, naming, logs.len())));
        let files: Files = paths.zip(logs.iter().cloned()).collect();
        assert_eq!(files.len(), logs.len(), "a name for each");
        write(&place, &files, environment);
        let table = |name: &&str| {
            let line = format!("replay logs --format csv --by model --quiet --table {name}");
            let text = printed(&place, &line, environment).stdout;
            assert!(!text.is_empty(), "{name}");
            if NAMELESS.contains(name) { vec![text] } else { rows(&text, name, logs.len(), naming) }
        };
        let found: Vec<Vec<String>> = NAMELESS.iter().chain(&NAMED).map(table).collect();
        if first.is_empty() {
            first = found;
            continue;
        }
        for ((name, found), expected) in NAMELESS.iter().chain(&NAMED).zip(&found).zip(&first) {
            let other = found.iter().zip(expected).find(|(found, expected)| found != expected);
            assert!(found == expected, "{name}, naming {naming}: {other:?}");
        }
    }
}
