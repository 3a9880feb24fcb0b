//! `forkcast run` from the command line: the embedded fan-out, changed options, mistakes, two processes, folders.

mod alike;
mod doors;
mod named;
mod otherwise;
mod recorded;
mod unknown;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{code, fine, folder, forkcast, json, said, stdout};

/// A scenario with one agent that answers one word.
pub const WORD: &str = "about: One word.\nscript:\n  main:\n    - {say: Yes., output_tokens: 2}\nuser:\n  - {at_ms: 0, types: Well?}\nexpect:\n  figures: {requests: 1}\n";

fn word(folder: &Path, here: &str, there: &str) {
    assert!(WORD.contains(here), "{here}");
    fs::write(folder.join("word.yaml"), WORD.replacen(here, there, 1)).unwrap();
}

#[test]
fn a_run_has_the_reports_and_limits_of_a_replay() {
    let place = folder("run-asked");
    let run =
        json(&forkcast(&place, &["run", "--what-if", "no-cache", "--by", "agent", "--format", "json", "--quiet"]));
    let (totals, replay) = (&run["totals"], &run["replay"]);
    assert_eq!(replay["schema"], "forkcast.replay/1");
    assert_eq!(replay["totals"]["recorded"]["cost_usd"], totals["cost_usd"]);
    let groups: Vec<&str> =
        replay["groups"].as_array().unwrap().iter().filter_map(|group| group["key"].as_str()).collect();
    assert_eq!(groups.len(), 6, "{groups:?}");
    let what_if = &replay["totals"]["what_if"][0];
    assert_eq!((&what_if["name"], &what_if["cost_usd"]), (&"no-cache".into(), &totals["cost_without_cache_usd"]));
    let shown = forkcast(&place, &["run", "--what-if", "no-cache", "--max-cost", "0.01", "--quiet"]);
    let (code, stdout, stderr) = said(&shown);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("--max-cost: found $0.6"), "{stderr}");
    for part in ["fork#5", "What if", "no-cache", "FAILED"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let table = forkcast(&place, &["run", "--by", "agent", "--table", "groups", "--quiet"]);
    assert_eq!(said(&table).1.lines().count(), 7, "{}", said(&table).1);
    assert!(json(&forkcast(&place, &["run", "--format", "json", "--quiet"])).get("replay").is_none());
}

#[test]
fn several_scenarios_are_one_document_that_names_each() {
    let place = folder("run-several");
    word(&place, "Yes.", "Yes.");
    fs::copy(place.join("word.yaml"), place.join("other.yaml")).unwrap();
    let shown = |more: &[&str]| {
        let output = forkcast(&place, &[&["run", "word.yaml", "other.yaml", "--quiet"], more].concat());
        fine(&output).to_owned()
    };
    let list: Value = serde_json::from_str(&shown(&["--format", "json"])).unwrap();
    let names: Vec<&Value> = list.as_array().unwrap().iter().map(|run| &run["scenario"]).collect();
    assert_eq!(names, ["word", "other"]);
    for (table, names) in [("requests", 2), ("sessions", 2), ("totals", 2), ("causes", 0)] {
        let text = shown(&["--table", table]);
        let mut rows = text.lines();
        assert!(rows.next().unwrap().starts_with("scenario,"), "{table}: {text}");
        assert_eq!(rows.filter(|row| row.starts_with("word,") || row.starts_with("other,")).count(), names, "{text}");
        assert_eq!(text.lines().count(), names + 1, "{text}");
    }
    let csv = shown(&["--format", "csv"]);
    assert_eq!(csv, shown(&["--table", "requests"]));
    assert_eq!(shown(&["--format", "jsonl"]).lines().count(), 2);
    let human = shown(&[]);
    assert!(human.contains("\n\nother: 1 request"), "{human}");
    // The session of a table is the one of the ledger.
    let misses = forkcast(&place, &["run", "--table", "misses", "--quiet"]);
    assert!(stdout(&misses).lines().skip(1).all(|line| line.contains(",forks/fan-out,")), "{}", stdout(&misses));
}

#[test]
fn without_a_path_five_forks_of_a_warm_parent_run() {
    let place = folder("run-default");
    let output = forkcast(&place, &["run"]);
    let (code, stdout, stderr) = said(&output);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("embedded `forks/fan-out`"), "{stderr}");
    for part in ["fork#1", "fork#5", "Laws held", "Cost", "All expectations hold"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let run = json(&forkcast(&place, &["run", "--format", "json", "--quiet"]));
    assert_eq!(run["schema"], "forkcast.run/1");
    let kinds: Vec<&str> =
        run["agents"].as_array().unwrap().iter().filter_map(|agent| agent["kind"].as_str()).collect();
    assert_eq!(kinds, ["main", "fork", "fork", "fork", "fork", "fork"]);
    assert!(run["laws"].as_object().unwrap().values().all(|held| held == true));
}

#[test]
fn two_processes_give_one_digest() {
    let place = folder("run-twice");
    for more in [&[][..], &["--interleave", "3"]] {
        let output = forkcast(&place, &[&["run", "--twice", "--format", "json"][..], more].concat());
        let (code, _, stderr) = said(&output);
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.contains("two processes, one digest"), "{stderr}");
    }
}

#[test]
fn options_override_the_scenario() {
    let place = folder("run-options");
    let default = json(&forkcast(&place, &["run", "--format", "json", "--quiet"]));
    let unmarked = json(&forkcast(&place, &["run", "--format", "json", "--quiet", "--breakpoints", "none"]));
    assert_eq!(unmarked["totals"]["usage"]["cache_read_input_tokens"], 0);
    assert_eq!(unmarked["options"]["breakpoints"], "none");
    let longer = json(&forkcast(&place, &["run", "--format", "json", "--quiet", "--ttl", "1h"]));
    let written = |run: &Value| run["totals"]["usage"]["cache_creation"]["ephemeral_1h_input_tokens"].as_u64().unwrap();
    assert!(written(&default) == 0 && written(&longer) > 0);
    let set =
        json(&forkcast(&place, &["run", "--format", "json", "--quiet", "--seed", "9", "--set", "about=Another."]));
    let launched = json(&forkcast(&place, &["run", "--format", "json", "--quiet", "--launch", "stagger=2000"]));
    let asked = |run: &Value| -> Vec<u64> {
        let first = |agent: &Value| {
            let requests = run["requests"].as_array().unwrap().iter();
            requests
                .filter(|request| request["agent"] == agent["id"])
                .filter_map(|request| request["at_ms"].as_f64())
                .next()
        };
        let forks = run["agents"].as_array().unwrap().iter().filter(|agent| agent["kind"] == "fork");
        forks.map(|agent| first(agent).unwrap() as u64).collect()
    };
    let apart = |run: &Value| asked(run).windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    assert_eq!((apart(&default), apart(&launched)), (vec![0; 4], vec![2000; 4]));
    assert_eq!((set["seed"].as_u64(), &set["options"]["set"][0]), (Some(9), &Value::from("about=Another.")));
}

#[test]
fn failed_expectations_are_reported_with_their_place() {
    let place = folder("run-fails");
    word(&place, "requests: 1", "requests: 2");
    let output = forkcast(&place, &["run", "word.yaml"]);
    let (code, _, stderr) = said(&output);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("word.yaml:8:23: `expect.figures.requests`: `requests` is 1; expected 2"), "{stderr}");
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let place = folder("run-mistakes");
    word(&place, "about:", "abuot:");
    let output = forkcast(&place, &["run", "word.yaml"]);
    let (code, stdout, stderr) = said(&output);
    assert_eq!((code, stdout), (2, ""));
    assert!(stderr.contains("word.yaml:1:1: `abuot`") && stderr.contains("did you mean `about`?"), "{stderr}");
    word(&place, "types: Well?}", "types: Well?}\n  - {at_ms: 9000, types: Sure?}");
    let output = forkcast(&place, &["run", "word.yaml"]);
    let (code, _, stderr) = said(&output);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("`main`") && stderr.contains("Add a reply"), "{stderr}");
    let output = forkcast(&place, &["run", "nowhere.yaml"]);
    assert_eq!(said(&output).0, 2);
    let output = forkcast(&place, &["run", "--set", "session.modle=x"]);
    let (code, _, stderr) = said(&output);
    assert!(code == 2 && stderr.contains("did you mean `model`?"), "{stderr}");
}

#[test]
fn a_folder_contains_the_run() {
    let place = folder("run-out");
    let output = forkcast(&place, &["run", "--out", "result", "--bodies", "--quiet"]);
    let (code, _, stderr) = said(&output);
    assert_eq!(code, 0, "{stderr}");
    let run: Value = serde_json::from_str(&fs::read_to_string(place.join("result/run.json")).unwrap()).unwrap();
    let requests = run["requests"].as_array().unwrap().len();
    let lines = |file: &str| fs::read_to_string(place.join("result").join(file)).unwrap().lines().count();
    assert_eq!((lines("ledger.jsonl"), lines("requests.csv")), (requests, requests + 1));
    assert_eq!(fs::read_dir(place.join("result/bodies")).unwrap().count(), requests);
    assert!(fs::read_to_string(place.join("result/timeline.svg")).unwrap().contains("fork#5"));
    assert!(fs::read_to_string(place.join("result/ribbon.svg")).unwrap().contains("fork#5"));
    assert!(place.join("result/timeline.png").is_file() && place.join("result/ribbon.png").is_file());
}

/// The log of a run folder, alone and in a folder of others, has the bill of the run once.
#[test]
fn the_log_of_a_run_folder_is_read_once() {
    let place = folder("run-log");
    fine(&forkcast(&place, &["run", "--out", "all/result", "--bodies", "--quiet"]));
    let run: Value = serde_json::from_str(&fs::read_to_string(place.join("all/result/run.json")).unwrap()).unwrap();
    for path in ["all/result/exchanges.jsonl", "all"] {
        let output = forkcast(&place, &["replay", path, "--format", "json", "--quiet"]);
        let replayed: Value = serde_json::from_str(fine(&output)).unwrap();
        assert_eq!(replayed["totals"]["requests"], run["totals"]["requests"], "{path}");
        let recorded = &replayed["totals"]["recorded"];
        for sum in ["input_tokens", "cache_read_input_tokens", "cache_creation", "output_tokens"] {
            assert_eq!(recorded[sum], run["totals"]["usage"][sum], "{path}: {sum}");
        }
        assert_eq!(recorded["cost_usd"], run["totals"]["cost_usd"], "{path}");
    }
}

/// One list of columns for both verbs, so that a data frame of a run and one of its replay can be joined.
#[test]
fn the_requests_of_a_run_and_of_its_replay_are_one_table() {
    let place = folder("run-table");
    fine(&forkcast(&place, &["run", "--out", "result", "--bodies", "--quiet"]));
    let of_run = fs::read_to_string(place.join("result/requests.csv")).unwrap();
    let replayed = forkcast(&place, &["replay", "result", "--table", "requests", "--quiet"]);
    let (head, replayed) = fine(&replayed).split_once('\n').unwrap();
    let (own_head, own) = of_run.split_once('\n').unwrap();
    assert_eq!(own_head, head);
    let columns = ["chain", "agent_kind", "model", "predicted_cache_read_input_tokens", "cost_usd", "missed_tokens"];
    let at = columns.map(|column| head.split(',').position(|word| word == column).unwrap());
    let cells = |rows: &str| -> Vec<String> {
        let of = |row: &str| at.map(|at| row.split(',').nth(at).unwrap_or_default().to_owned()).join(" ");
        rows.lines().map(of).collect()
    };
    assert_eq!(cells(own), cells(replayed));
    assert!(cells(own)[0].starts_with("main main ") && cells(own)[12].contains(" fork "), "{own}");
}

#[test]
fn scenarios_are_listed() {
    let output = forkcast(&folder("run-list"), &["list", "scenarios"]);
    let (code, stdout, _) = said(&output);
    assert_eq!(code, 0);
    assert!(stdout.contains("day/working-day") && stdout.contains("contract/E05"), "{stdout}");
}

/// A variant is given after its scenario, built in or in a file; `--twice` finds it too.
#[test]
fn a_variant_is_given_after_its_scenario() {
    let place = folder("run-variant");
    let built_in = json(&forkcast(&place, &["run", "E02+without-executor", "--twice", "--format", "json", "--quiet"]));
    assert_eq!(built_in["scenario"], "contract/E02+without-executor");
    let variants = "variants:\n  no:\n    about: Another word.\n    set: {'script.main[0].say': No., 'script.main[0].output_tokens': 3}\nuser:";
    word(&place, "user:", variants);
    let digest = |name: &str| json(&forkcast(&place, &["run", name, "--format", "json", "--quiet"]))["digest"].clone();
    assert_ne!(digest("word.yaml+no"), digest("word.yaml"));
    let output = forkcast(&place, &["run", "word.yaml+yes"]);
    let (code, _, stderr) = said(&output);
    assert_ne!(code, 0);
    assert!(stderr.contains("word.yaml+yes: unknown variant, expected one of: word+no"), "{stderr}");
}

#[test]
fn progress_is_reported_on_request_and_changes_nothing() {
    let place = folder("progress");
    let told = |more: &[&str]| {
        let output = forkcast(&place, &[&["run", "contract/E01", "--format", "json"], more].concat());
        let (code, stdout, stderr) = said(&output);
        assert_eq!(code, 0, "{stderr}");
        (stdout.to_owned(), stderr.to_owned())
    };
    let (unasked, silent) = told(&[]);
    assert_eq!(silent, "", "standard error is not a terminal here");
    assert_eq!(told(&["--progress", "plain"]), (unasked.clone(), "forkcast: running contract/E01\n".to_owned()));
    assert_eq!(told(&["--progress", "none"]), (unasked.clone(), String::new()));
    assert_eq!(told(&["--progress", "plain", "--quiet"]), (unasked, String::new()));
}

#[test]
fn the_table_of_requests_is_one_in_every_output() {
    let place = folder("one-table");
    let table = forkcast(&place, &["run", "--quiet", "--table", "requests"]);
    let csv = forkcast(&place, &["run", "--quiet", "--format", "csv", "--out", "r"]);
    assert_eq!(stdout(&table), stdout(&csv));
    assert_eq!(fs::read_to_string(place.join("r/requests.csv")).unwrap(), stdout(&csv));
}

/// A run with all its calls is a recording: its agents send the same requests again, byte for byte.
#[test]
fn a_run_is_played_again_from_its_exchanges() {
    let place = folder("run-again");
    for (scenario, requests) in [("forks/fan-out", 36), ("contract/E02", 3)] {
        let out = scenario.replace('/', "-");
        let first = forkcast(&place, &["run", scenario, "--quiet", "--bodies", "--out", &out]);
        assert_eq!(code(&first), 0);
        let log = format!("{out}/exchanges.jsonl");
        for fidelity in ["strict", "cast", "loose"] {
            let options = ["run", "--recording", &log, "--quiet", "--format", "json", "--fidelity", fidelity];
            let again = forkcast(&place, &options);
            let played = json(&again);
            assert_eq!(played["simulated"]["requests"], requests, "{scenario} {fidelity}");
            let whole = |side: &str| played[side]["total_input_tokens"].clone();
            assert_eq!(whole("recorded"), whole("simulated"), "{scenario} {fidelity}");
            // Within a request tokens are shared by bytes, so a breakpoint inside of it may be a few tokens off.
            let read = |side: &str| played[side]["cache_read_input_tokens"].as_u64().unwrap();
            assert!(read("recorded").abs_diff(read("simulated")) <= 16, "{scenario} {fidelity}");
            // Only a cast has the durations of tools that run beside an answer: without them the last one comes 45 s off.
            let is_late = scenario == "contract/E02" && fidelity != "cast";
            let departure = if is_late { "late".into() } else { Value::Null };
            assert_eq!(played["departure"], departure, "{scenario} {fidelity}");
        }
    }
}

/// An agent that its client moved to the background while it ran is in the background from its start, in the cast and in the
/// play of its recording: its caller goes on.
#[test]
fn a_recorded_day_is_played_with_all_its_requests() {
    let place = folder("run-day");
    fine(&forkcast(&place, &["run", "day/working-day", "--quiet", "--bodies", "--out", "r"]));
    let again = forkcast(&place, &["run", "--recording", "r/exchanges.jsonl", "--quiet", "--format", "json"]);
    let played: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&played["recorded"]["requests"], &played["simulated"]["requests"]), (&23.into(), &23.into()));
    fine(&forkcast(&place, &["cast", "r/exchanges.jsonl", "--out", "day.yaml", "--quiet"]));
    let cast = json(&forkcast(&place, &["run", "day.yaml", "--quiet", "--format", "json"]));
    assert_eq!(cast["requests"].as_array().unwrap().len(), 23);
}

/// The placeholders in a fork's history have their own size in a cast, not that of the results that their parent received. What
/// stays is shared by bytes.
#[test]
fn a_cast_of_forks_bills_what_the_forks_did() {
    let place = folder("run-cast-forks");
    let first = json(&forkcast(&place, &["run", "--quiet", "--bodies", "--out", "r", "--format", "json"]));
    fine(&forkcast(&place, &["cast", "r/exchanges.jsonl", "--out", "forks.yaml", "--quiet"]));
    let cast = json(&forkcast(&place, &["run", "forks.yaml", "--quiet", "--format", "json"]));
    let requests = |run: &Value| run["requests"].as_array().unwrap().clone();
    let fields = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let whole = |request: &Value| -> u64 { fields.iter().map(|field| request["usage"][field].as_u64().unwrap()).sum() };
    let [first, cast] = [first, cast].map(|run| requests(&run));
    assert_eq!(first.len(), cast.len());
    let [first_tokens, cast_tokens] = [&first, &cast].map(|requests| requests.iter().map(whole).sum::<u64>());
    assert!(first_tokens.abs_diff(cast_tokens) <= 50 * first.len() as u64, "{first_tokens}, in its cast {cast_tokens}");
}

/// A different byte ends a strict play with exit code 1, and is reported with its place.
#[test]
fn a_strict_play_names_the_first_byte_that_differs() {
    let place = folder("run-strict");
    assert_eq!(code(&forkcast(&place, &["run", "contract/E02", "--quiet", "--bodies", "--out", "r"])), 0);
    let log = fs::read_to_string(place.join("r/exchanges.jsonl")).unwrap();
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    let last = lines.pop().unwrap().replacen("tool_use_id", "tool_use_ib", 1);
    fs::write(place.join("edited.jsonl"), [lines.join("\n"), last].join("\n")).unwrap();
    let output = forkcast(&place, &["run", "--recording", "edited.jsonl", "--fidelity", "strict"]);
    let (code, _, stderr) = said(&output);
    assert_eq!(code, 1, "{stderr}");
    for part in ["agent `main`", "differs (", "first differing byte"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let transcript = r#"{"type":"user","sessionId":"s","uuid":"l0","parentUuid":null,"timestamp":"2026-07-01T10:00:00.000Z","cwd":"/home/me/p","version":"2.1.150","message":{"role":"user","content":"Begin."}}"#;
    fs::write(place.join("session.jsonl"), transcript).unwrap();
    let output = forkcast(&place, &["run", "--recording", "session.jsonl", "--fidelity", "strict"]);
    assert!(said(&output).2.contains("expected --fidelity cast, found strict"), "{}", said(&output).2);
}
