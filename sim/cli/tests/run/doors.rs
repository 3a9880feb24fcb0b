//! The same requests through every door: `run`, and `replay` and `check` of its folder, of its bodies, and of an exchange log
//! of them with and without names. One question has one answer (`design.md` 2).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{folder, forkcast, json as read_json};

/// Scenarios of every kind: forks, named agents, a long day, cold and warm parents, edited prompts.
const SCENARIOS: [&str; 6] =
    ["forks/fan-out", "forks/G02-siblings", "day/working-day", "contract/E15", "contract/E16", "contract/E11"];

/// What one door says of each request, by its number in the run.
struct Answer {
    /// Requests of each chain.
    chains: BTreeSet<Vec<usize>>,
    /// Causes of missed tokens.
    causes: BTreeMap<usize, Vec<String>>,
}

fn lines(ledger: &Path) -> Vec<Value> {
    let text = fs::read_to_string(ledger).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The answer of a ledger; `number` finds the request's number in the run.
fn answer(ledger: &Path, number: fn(&Value) -> usize) -> Answer {
    let mut chains: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut causes = BTreeMap::new();
    for line in lines(ledger) {
        let words = line["causes"].as_array().unwrap().iter().map(|part| part["cause"].as_str().unwrap().to_owned());
        causes.insert(number(&line), words.collect());
        chains.entry(line["chain"].to_string()).or_default().push(number(&line));
    }
    chains.values_mut().for_each(|requests| requests.sort_unstable());
    Answer { chains: chains.into_values().collect(), causes }
}

fn by_position(line: &Value) -> usize {
    usize::try_from(line["origin"]["index"].as_u64().unwrap()).unwrap()
}

/// Bodies are called by their numbers.
fn by_file(line: &Value) -> usize {
    Path::new(line["origin"]["file"].as_str().unwrap()).file_stem().unwrap().to_str().unwrap().parse().unwrap()
}

/// Writes the run's bodies as an exchange log, with the names of their chains or without.
fn log(place: &Path, run: &[Value], names: bool) -> &'static str {
    let name = if names { "named.jsonl" } else { "nameless.jsonl" };
    let text: String = run
        .iter()
        .map(|line| {
            let body = fs::read_to_string(place.join(format!("r/bodies/{:05}.json", line["index"].as_u64().unwrap())));
            let request: Value = serde_json::from_str(&body.unwrap()).unwrap();
            let mut entry = json!({"v": 1, "request": request});
            if names {
                entry["chain"] = line["chain"].clone();
            }
            format!("{entry}\n")
        })
        .collect();
    fs::write(place.join(name), text).unwrap();
    name
}

/// What `replay` and `check` say of `input`; both have the same number of chains.
fn through(place: &Path, input: &str, rules: &str, number: fn(&Value) -> usize) -> Answer {
    let out = format!("out-{}", input.replace('/', "-"));
    read_json(&forkcast(place, &["replay", input, "--out", &out, "--quiet", "--cache", rules, "--format", "json"]));
    let found = answer(&place.join(&out).join("ledger.jsonl"), number);
    let check = forkcast(place, &["check", input, "--lock", "none", "--quiet", "--format", "json"]);
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    assert_eq!(check["requests"], found.causes.len(), "{input}");
    assert_eq!(check["chains"].as_u64(), Some(found.chains.len() as u64), "{input}: replay and check");
    found
}

#[test]
fn every_door_has_the_chains_of_the_run() {
    for scenario in SCENARIOS {
        let place = folder(&format!("doors-{}", scenario.replace('/', "-")));
        let run =
            read_json(&forkcast(&place, &["run", scenario, "--out", "r", "--bodies", "--quiet", "--format", "json"]));
        let rules = run["options"]["cache"].as_str().unwrap();
        let ledger = place.join("r/ledger.jsonl");
        let of_run = answer(&ledger, by_position);
        let named = log(&place, &lines(&ledger), true);
        for (input, found) in [
            ("run folder", through(&place, "r", rules, by_position)),
            ("log with names", through(&place, named, rules, by_position)),
        ] {
            assert_eq!(found.chains, of_run.chains, "{scenario}: {input}");
        }
        // Bytes alone do not tell every agent from another, but they tell both doors the same.
        let nameless = log(&place, &lines(&ledger), false);
        let bodies = through(&place, "r/bodies", rules, by_file);
        let log = through(&place, nameless, rules, by_position);
        assert_eq!(bodies.chains, log.chains, "{scenario}: bodies and log without names");
        assert_eq!(bodies.causes, log.causes, "{scenario}: bodies and log without names");
    }
}

#[test]
fn five_forks_miss_the_same_through_every_door() {
    let place = folder("doors-forks");
    forkcast(&place, &["run", "--out", "r", "--bodies", "--quiet"]);
    let ledger = place.join("r/ledger.jsonl");
    let of_run = answer(&ledger, by_position);
    let missed = of_run.causes.values().filter(|causes| !causes.is_empty());
    assert_eq!(missed.collect::<Vec<_>>(), [&["no_breakpoint"]; 5]);
    let nameless = log(&place, &lines(&ledger), false);
    for (input, number) in [("r", by_position as fn(&Value) -> usize), ("r/bodies", by_file), (nameless, by_position)] {
        let found = through(&place, input, "docs-2026-09", number);
        assert_eq!(found.chains, of_run.chains, "{input}");
        assert_eq!(found.causes, of_run.causes, "{input}");
    }
}

/// What a run and the replay of its folder say alike of each request.
const SAME: [&str; 7] = ["chain", "predicted", "cost_usd", "perfect_cost_usd", "unread_writes_usd", "causes", "notes"];

/// A run knows the sizes of its blocks and whose forks are: replayed from its folder it says the same, to the last unit.
#[test]
fn the_folder_of_every_scenario_replays_as_it_ran() {
    let listed = read_json(&forkcast(&folder("doors-listed"), &["list", "scenarios", "--format", "json"]));
    let names = listed["scenarios"].as_array().unwrap().iter().map(|scenario| scenario["name"].as_str().unwrap());
    for scenario in names {
        let place = folder(&format!("doors-folder-{}", scenario.replace('/', "-")));
        let arguments = ["run", scenario, "--out", "r", "--bodies", "--quiet", "--format", "json"];
        let run = read_json(&forkcast(&place, &arguments));
        let rules = run["options"]["cache"].as_str().unwrap();
        forkcast(&place, &["replay", "r", "--out", "again", "--quiet", "--cache", rules]);
        let [ran, again] = ["r", "again"].map(|out| lines(&place.join(out).join("ledger.jsonl")));
        assert_eq!(again.len(), ran.len(), "{scenario}");
        for (ran, again) in ran.iter().zip(&again) {
            for field in SAME {
                assert_eq!(again[field], ran[field], "{scenario}: {field} of request {}", ran["index"]);
            }
        }
    }
}

/// A run that is asked what a replay is asked answers as it has on the same screen.
#[test]
fn a_run_asked_again_misses_to_the_token_what_it_missed() {
    for scenario in SCENARIOS {
        let place = folder(&format!("doors-again-{}", scenario.replace('/', "-")));
        let run = read_json(&forkcast(&place, &["run", scenario, "--out", "r", "--by", "agent", "--format", "json"]));
        let sums = |causes: &mut dyn Iterator<Item = &Value>| {
            let mut sums: BTreeMap<String, u64> = BTreeMap::new();
            for cause in causes {
                *sums.entry(cause["cause"].to_string()).or_default() += cause["tokens"].as_u64().unwrap();
            }
            sums
        };
        let again = sums(&mut run["replay"]["totals"]["causes"].as_array().unwrap().iter());
        let ran = lines(&place.join("r/ledger.jsonl"));
        assert_eq!(again, sums(&mut ran.iter().flat_map(|line| line["causes"].as_array().unwrap())), "{scenario}");
    }
}
