//! The same requests through every door: `run`, and `replay` and `check` of its folder, of its bodies, and of an exchange log
//! of them with and without names. One question has one answer (`design.md` 2).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use forkcast_fixtures::{beside, fixture, workspace};
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

pub(super) fn lines(ledger: &Path) -> Vec<Value> {
    of_lines(&fs::read_to_string(ledger).unwrap())
}

fn of_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The ledger that `replay` prints, which is the one that it writes.
fn replayed(place: &Path, input: &str, options: &[&str]) -> Vec<Value> {
    let output = forkcast(place, &[&["replay", input, "--quiet", "--format", "jsonl"], options].concat());
    assert_ne!(output.status.code(), Some(2), "{input}: {}", String::from_utf8_lossy(&output.stderr));
    of_lines(std::str::from_utf8(&output.stdout).unwrap())
}

/// The answer of a ledger; `number` finds the request's number in the run.
fn answer(ledger: &[Value], number: fn(&Value) -> usize) -> Answer {
    let mut chains: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut causes = BTreeMap::new();
    for line in ledger {
        let words = line["causes"].as_array().unwrap().iter().map(|part| part["cause"].as_str().unwrap().to_owned());
        causes.insert(number(line), words.collect());
        chains.entry(line["chain"].to_string()).or_default().push(number(line));
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

/// What `replay` and `check` say of `input`: both have the same chains, and the same tokens and money lost by each change.
fn through(place: &Path, input: &str, rules: &str, number: fn(&Value) -> usize) -> Answer {
    let ledger = replayed(place, input, &["--cache", rules]);
    let found = answer(&ledger, number);
    let check = forkcast(place, &["check", input, "--lock", "none", "--quiet", "--format", "json", "--cache", rules]);
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    let said = format!("{}: {input}: replay and check", place.display());
    assert_eq!(check["requests"], found.causes.len(), "{said}");
    assert_eq!(check["chains"].as_u64(), Some(found.chains.len() as u64), "{said}");
    let of_replay = losses(&ledger, |line| number(line).into());
    assert_eq!(losses_of_check(&check, "request"), of_replay, "{said}");
    found
}

/// Scenarios in which bytes alone do not tell every agent from another, and why.
const ALIKE: [(&str, &str); 13] = [
    ("contract/E03", "a helper continues the prompt of its parent"),
    ("contract/E04", "a helper continues the prompt of its parent"),
    ("contract/E08", "two agents begin with one message under two system prompts"),
    ("contract/E09", "two agents begin with one prompt"),
    ("contract/E11", "three agents begin with one message and other tools"),
    ("contract/E16+strip-history", "forks begin without the history by which they are known"),
    ("contract/E17+after-compaction", "an agent continues without any of its messages"),
    ("contract/E17+without-either", "an agent continues without any of its messages"),
    ("contract/E20+fork", "two forks begin with one directive"),
    ("contract/E22", "a helper continues the prompt of its parent"),
    ("day/long-day", "a helper continues the prompt of its parent"),
    ("day/long-day+coordinator", "a helper continues the prompt of its parent"),
    ("forks/G02-siblings", "four agents begin with one prompt"),
];

/// Compares the chains of a run with those of its bodies under other forms.
fn every_door_has_the_chains(place: &Path, arguments: &[&str], rules: &str, ran: &[Value]) {
    let said = format!("{arguments:?}");
    let of_run = answer(ran, by_position);
    let named = log(place, ran, true);
    assert_eq!(through(place, named, rules, by_position).chains, of_run.chains, "{said}: log with names");
    let nameless = log(place, ran, false);
    let bodies = through(place, "r/bodies", rules, by_file);
    let log = through(place, nameless, rules, by_position);
    assert_eq!(bodies.chains, log.chains, "{said}: bodies and log without names");
    assert_eq!(bodies.causes, log.causes, "{said}: bodies and log without names");
    let is_known = ALIKE.iter().all(|(scenario, _)| *scenario != arguments[0]);
    assert_eq!(log.chains == of_run.chains, is_known, "{said}: {:?}, of the run {:?}", log.chains, of_run.chains);
}

/// All scenarios of the catalog.
fn catalog() -> Vec<String> {
    let listed = read_json(&forkcast(&folder("doors-listed"), &["list", "scenarios", "--format", "json"]));
    let scenarios = listed["scenarios"].as_array().unwrap().iter();
    scenarios.map(|scenario| scenario["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn five_forks_miss_the_same_through_every_door() {
    let place = folder("doors-forks");
    forkcast(&place, &["run", "--out", "r", "--bodies", "--quiet"]);
    let ran = lines(&place.join("r/ledger.jsonl"));
    let of_run = answer(&ran, by_position);
    let missed = of_run.causes.values().filter(|causes| !causes.is_empty());
    assert_eq!(missed.collect::<Vec<_>>(), [&["no_breakpoint"]; 5]);
    let nameless = log(&place, &ran, false);
    for (input, number) in [("r", by_position as fn(&Value) -> usize), ("r/bodies", by_file), (nameless, by_position)] {
        let found = through(&place, input, "docs-2026-09", number);
        assert_eq!(found.chains, of_run.chains, "{input}");
        assert_eq!(found.causes, of_run.causes, "{input}");
    }
}

/// What a run and the replay of its folder say alike of each request.
const SAME: [&str; 7] = ["chain", "predicted", "cost_usd", "perfect_cost_usd", "unread_writes_usd", "causes", "notes"];

/// Causes that no change of bytes has: `check` tells the reasons of these otherwise, or leaves them to `replay`, which knows
/// when entries are written and expire.
const WITHOUT_CHANGE: [&str; 7] =
    ["no_breakpoint", "expired", "in_flight", "below_minimum", "beyond_lookback", "first_request", "unexplained"];

/// Tokens and picodollars lost, by request (or its file) and cause.
pub(super) type Losses = BTreeMap<(String, String), (u64, i64)>;

fn add(losses: &mut Losses, request: &Value, [cause, tokens, cost]: [&Value; 3]) {
    let cause = cause.as_str().unwrap();
    let tokens = tokens.as_u64().unwrap_or(0);
    if tokens == 0 || WITHOUT_CHANGE.contains(&cause) {
        return;
    }
    let lost = losses.entry((request.to_string(), cause.to_owned())).or_default();
    #[allow(clippy::cast_possible_truncation)] // Far below what an integer holds.
    let cost_picousd = (cost.as_f64().unwrap_or(0.0) * 1e12).round() as i64;
    *lost = (lost.0 + tokens, lost.1 + cost_picousd);
}

/// What the lines of a ledger say was lost; `whose` finds the number of a request, or its file.
pub(super) fn losses(lines: &[Value], whose: impl Fn(&Value) -> Value) -> Losses {
    let mut losses = Losses::new();
    for line in lines {
        for missed in line["causes"].as_array().unwrap() {
            add(&mut losses, &whose(line), ["cause", "tokens", "cost_usd"].map(|field| &missed[field]));
        }
    }
    losses
}

/// What `check` says was lost. What siblings would save by sharing was lost by no change (`design.md` 6).
pub(super) fn losses_of_check(check: &Value, whose: &str) -> Losses {
    let mut losses = Losses::new();
    let findings = check["findings"].as_array().unwrap();
    for found in findings.iter().filter(|found| found["with_sibling"] == false) {
        add(&mut losses, &found[whose], ["cause", "tokens_lost", "cost_usd"].map(|field| &found[field]));
    }
    losses
}

/// Runs with these arguments, and asks `replay`, `check` and `explain` about the folder and about its bodies: all say the same, to
/// the last unit.
fn every_door_agrees(place: &Path, arguments: &[&str]) {
    let said = format!("{arguments:?}");
    let run = [&["run"], arguments, &["--out", "r", "--bodies", "--quiet", "--format", "json"]].concat();
    let run = read_json(&forkcast(place, &run));
    let rules = run["options"]["cache"].as_str().unwrap();
    let ran = lines(&place.join("r/ledger.jsonl"));
    let again = replayed(place, "r", &[]);
    assert_eq!(again.len(), ran.len(), "{said}");
    for (ran, again) in ran.iter().zip(&again) {
        for field in SAME {
            assert_eq!(again[field], ran[field], "{said}: {field} of request {}", ran["index"]);
        }
    }
    every_figure_of_its_log_agrees(place, rules, &said);
    let check = forkcast(place, &["check", "r", "--lock", "none", "--quiet", "--format", "json"]);
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    assert_eq!(check["cache"].as_str(), Some(rules), "{said}");
    assert_eq!(losses_of_check(&check, "request"), losses(&ran, |line| line["index"].clone()), "{said}: check");
    explains_itself(place, "r", &ran);
    every_door_has_the_chains(place, arguments, rules, &ran);
}

/// `replay` of the exchange log of the run folder `r` says what `replay` of the folder says, figure by figure. Three things differ,
/// because one of the two holds less:
///
/// * the names of the files, of the session and of its format;
/// * calls that the provider refused have no line in the ledger of a run: only the log counts them, and lists them as an agent of
///   their own, without usage;
/// * the folder also has the cache rules and the prices of the run, which are given to both here.
fn every_figure_of_its_log_agrees(place: &Path, rules: &str, said: &str) {
    let [mut folder, mut log] = ["r", "r/exchanges.jsonl"].map(|input| {
        let replay = ["replay", input, "--quiet", "--format", "json", "--cache", rules, "--prices", "2026-11-20"];
        read_json(&forkcast(place, &replay))
    });
    let refused = log["unseen"]["requests_without_usage"].as_u64().unwrap();
    let text = fs::read_to_string(place.join("r/exchanges.jsonl")).unwrap();
    let calls: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let failed = calls.iter().filter(|call| call["status"].as_u64().is_some_and(|status| status >= 400)).count() as u64;
    assert_eq!(refused, failed, "{said}: only refused calls have no usage");
    for replay in [&mut folder, &mut log] {
        replay["inputs"] = Value::Null;
        replay["options"] = Value::Null;
        replay["actions"].as_array_mut().unwrap().iter_mut().for_each(|action| action["sessions"] = Value::Null);
        let session = &mut replay["sessions"][0];
        ["id", "source", "format", "project"].into_iter().for_each(|name| session[name] = Value::Null);
    }
    if refused > 0 {
        log["unseen"]["requests_without_usage"] = 0.into();
        log["remarks"] = folder["remarks"].clone();
        let agents = log["sessions"][0]["agents"].as_array_mut().unwrap();
        let at = agents.iter().position(|agent| agent["id"] == "refused").unwrap();
        let removed = agents.remove(at);
        assert_eq!((removed["requests"].as_u64(), &removed["cost_usd"]), (Some(refused), &Value::Null), "{said}");
        for sums in [&["sessions", "0"][..], &["totals"]] {
            let pointer = format!("/{}", sums.join("/"));
            let sums = log.pointer_mut(&pointer).unwrap();
            sums["requests"] = (sums["requests"].as_u64().unwrap() - refused).into();
            let without = &mut sums["agreement"]["not_comparable"]["no_usage"];
            *without = (without.as_u64().unwrap() - refused).into();
        }
    }
    same_figures(&folder, &log, said, "");
}

/// Compares two reports and names the first figure that differs.
fn same_figures(one: &Value, other: &Value, said: &str, path: &str) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            assert!(one.keys().eq(other.keys()), "{said}: fields of {path}");
            one.iter().for_each(|(key, value)| same_figures(value, &other[key], said, &format!("{path}.{key}")));
        }
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len(), "{said}: {path}");
            let both = one.iter().zip(other).enumerate();
            both.for_each(|(at, (one, other))| same_figures(one, other, said, &format!("{path}[{at}]")));
        }
        _ => assert_eq!(one, other, "{said}: {path}"),
    }
}

/// The request of the run folder `out` that missed most has the causes that its line has.
fn explains_itself(place: &Path, out: &str, lines: &[Value]) {
    let missed = lines.iter().max_by_key(|line| line["explanation"]["missed_tokens"].as_u64()).unwrap();
    let explained = read_json(&forkcast(place, &["explain", out, &missed["index"].to_string(), "--format", "json"]));
    let causes = |line: &Value| -> Vec<[Value; 3]> {
        let causes = line["causes"].as_array().unwrap();
        causes.iter().map(|part| ["cause", "tokens", "cost_usd"].map(|field| part[field].clone())).collect()
    };
    assert_eq!(causes(&explained), causes(missed), "{}: explain {out}", place.display());
    // Without a number it is the request of the first of the misses that `replay` lists.
    let parts = lines.iter().flat_map(|line| line["causes"].as_array().unwrap().iter().map(move |part| (line, part)));
    let rank = |(line, part): &(&Value, &Value)| {
        let cost = part["cost_usd"].as_f64().unwrap_or(0.0);
        (cost.to_bits(), part["tokens"].as_u64(), std::cmp::Reverse(line["index"].as_u64()))
    };
    let is_recorded = lines.iter().any(|line| !line["recorded"].is_null());
    let counted = |(line, _): &(&Value, &Value)| !is_recorded || !line["recorded"].is_null();
    if let Some((dearest, _)) = parts.filter(counted).max_by_key(rank) {
        let explained = read_json(&forkcast(place, &["explain", out, "--format", "json"]));
        assert_eq!(explained["request"], dearest["index"], "{}: explain {out}", place.display());
    }
}

/// Recordings with bodies: the sample, and those of real requests next to the workspace, cassettes and captures.
fn recordings() -> Vec<PathBuf> {
    let sample = workspace().join("replay/sample/sample.exchanges.jsonl");
    let Some(data) = beside("") else { return vec![sample] };
    let found = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("cassettes-") || name == "wire-cache-fix"
    });
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    found.push(sample);
    found
}

#[test]
fn every_door_of_a_recording_agrees() {
    for recording in recordings() {
        let name = recording.file_name().unwrap().to_string_lossy().into_owned();
        let place = folder(&format!("doors-{name}"));
        let input = recording.to_str().unwrap();
        for rules in ["docs-2026-09", "observed-2026-08"] {
            let replayed = forkcast(&place, &["replay", input, "--out", rules, "--quiet", "--cache", rules]);
            assert_ne!(replayed.status.code(), Some(2), "{name}: {replayed:?}");
            let lines = lines(&place.join(rules).join("ledger.jsonl"));
            let check = ["check", input, "--lock", "none", "--quiet", "--format", "json", "--cache", rules];
            let check: Value = serde_json::from_slice(&forkcast(&place, &check).stdout).unwrap();
            // Embeddings have no prompt cache, and are not checked.
            assert!(check["requests"].as_u64().unwrap() <= lines.len() as u64, "{name}");
            assert_eq!(
                losses_of_check(&check, "file"),
                losses(&lines, |line| line["origin"]["file"].clone()),
                "{name} under {rules}"
            );
            explains_itself(&place, rules, &lines);
        }
    }
}

/// Folders with sessions of Claude Code and pi, and the one session of them that was resumed and compacted.
fn transcripts() -> Vec<PathBuf> {
    let folders = ["cc-oh-my-posh", "cc-entire-auth-go", "cc-entireio-cli", "cc-marot-spotter", "pi-mono-fixtures"];
    let alone = "cc-oh-my-posh/6c0a282a-886f-458d-a426-93d95104b4a6.jsonl.gz";
    folders.into_iter().chain([alone]).filter_map(beside).chain([fixture("claude-code.jsonl")]).collect()
}

#[test]
fn every_door_of_a_transcript_agrees() {
    for transcript in transcripts() {
        let name = transcript.file_name().unwrap().to_string_lossy().into_owned();
        let place = folder(&format!("doors-{name}"));
        let input = transcript.to_str().unwrap();
        let lines = replayed(&place, input, &[]);
        let check = forkcast(&place, &["check", input, "--lock", "none", "--quiet", "--format", "json"]);
        let check: Value = serde_json::from_slice(&check.stdout).unwrap();
        assert_eq!(check["requests"].as_u64(), Some(lines.len() as u64), "{name}");
        let of_replay = losses(&lines, |line| line["origin"]["file"].clone());
        assert_eq!(losses_of_check(&check, "file"), of_replay, "{name}");
        // Time and rules are notes of the check, one for each request.
        let causes =
            |line: &Value, word: &str| line["causes"].as_array().unwrap().iter().any(|part| part["cause"] == word);
        for word in WITHOUT_CHANGE {
            let missed = lines.iter().filter(|line| causes(line, word)).count();
            let noted = check["notes"].as_array().unwrap().iter().filter(|note| note["note"] == word).count();
            assert_eq!(noted, missed, "{name}: {word}");
        }
    }
}

/// Most of the time goes into other processes, so two at a time.
#[test]
fn every_door_of_every_scenario_agrees() {
    let catalog = catalog();
    let of = |first: usize| {
        for scenario in catalog.iter().skip(first).step_by(2) {
            let place = folder(&format!("doors-folder-{}", scenario.replace('/', "-")));
            every_door_agrees(&place, &[scenario]);
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| of(1));
        of(0);
        other.join().unwrap();
    });
}

/// Fan-outs of both fork profiles, under every launch policy, with breakpoints that keep and that lose the prefix.
#[test]
fn every_door_of_a_fan_out_agrees() {
    let profiles =
        [("forks/fan-out", "documents"), ("forks/G02-siblings", "documents"), ("forks/G15-review", "client-2026")];
    for (scenario, profile) in profiles {
        let profile = format!("session.forks.profile={profile}");
        for launch in ["burst", "primed", "stagger=700", "waves=2"] {
            for (breakpoints, rules) in [("client-2026", "docs-2026-09"), ("tail", "observed-2026-08")] {
                let place = folder(&format!("doors-fan-{}-{launch}-{breakpoints}", scenario.replace('/', "-")));
                let set = [scenario, "--set", &profile, "--launch", launch];
                let arguments = [&set[..], &["--breakpoints", breakpoints, "--cache", rules]].concat();
                every_door_agrees(&place, &arguments);
            }
        }
    }
}

/// A run that is asked what a replay is asked answers as it has on the same screen.
#[test]
fn a_repeated_run_misses_exactly_the_same_tokens() {
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
