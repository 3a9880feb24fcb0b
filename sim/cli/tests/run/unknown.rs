//! What an input does not show is called unknown in every verb, and nothing is promised that its own figures refute.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{folder, forkcast, json as read_json, said};

fn role(at: usize) -> &'static str {
    ["user", "assistant"][at % 2]
}

/// Six turns of a conversation without breakpoints; `system` is its system prompt in each turn.
pub(super) fn unmarked(system: fn(usize) -> String) -> Vec<Value> {
    let turn = |at: usize| {
        let text = |at: usize| json!([{"type": "text", "text": format!("Step {at}. ").repeat(900)}]);
        let said = |at: usize| json!({"role": role(at), "content": text(at)});
        let messages: Vec<Value> = (0..=2 * at).map(said).collect();
        json!({"model": "claude-opus-4-8", "max_tokens": 9, "system": [{"type": "text", "text": system(at)}],
            "messages": messages})
    };
    (0..6).map(turn).collect()
}

pub(super) fn steady(_: usize) -> String {
    "Be kind. ".repeat(1_500)
}

pub(super) fn dated(turn: usize) -> String {
    format!("It is day {turn}. {}", steady(turn))
}

pub(super) fn write_bodies(place: &Path, bodies: &[Value]) {
    fs::create_dir_all(place.join("bodies")).unwrap();
    for (at, body) in bodies.iter().enumerate() {
        fs::write(place.join(format!("bodies/{at}.json")), body.to_string()).unwrap();
    }
}

/// The same with instants, as an exchange log.
pub(super) fn write_log(place: &Path, bodies: &[Value]) {
    let line = |(at, body): (usize, &Value)| {
        let at_ms = 1_785_000_000_000_u64 + at as u64 * 10_000;
        format!("{}\n", json!({"v": 1, "at_ms": at_ms, "ended_ms": at_ms + 1_000, "chain": "main", "request": body}))
    };
    fs::write(place.join("log.jsonl"), bodies.iter().enumerate().map(line).collect::<String>()).unwrap();
}

pub(super) fn replay(place: &Path, arguments: &[&str]) -> Value {
    let quiet = ["--format", "json", "--quiet"];
    let output = forkcast(place, &[&["replay"], arguments, &quiet].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The whole loss of a chain is that of all its requests, and each day has so many requests.
#[test]
fn a_day_pays_the_share_of_each_request() {
    let place = folder("unknown-day");
    write_bodies(&place, &unmarked(steady));
    let asked = ["check", "bodies", "--lock", "none", "--requests-per-day", "1000", "--quiet"];
    let check = forkcast(&place, &[&asked[..], &["--format", "json"]].concat());
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    let [found] = check["findings"].as_array().unwrap().as_slice() else { panic!("{check}") };
    let [all, day] = ["cost_usd", "cost_usd_per_day"].map(|field| found[field].as_f64().unwrap());
    assert!(all > 0.0 && (day - all * 1_000.0 / 5.0).abs() < 1e-6, "{all} {day}");
    let output = forkcast(&place, &asked);
    let shown = said(&output).1;
    assert!(shown.starts_with("repeated history is not cached: 1 finding in"), "nothing changed: {shown}");
    let cost = "in 5 requests together, the writes that reading takes included";
    assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(cost), "{shown}");
}

/// The system prompt differs in each request: a breakpoint at the end would only be written, and never read.
#[test]
fn advice_on_breakpoints_saves_no_more_than_the_lower_bound() {
    let place = folder("unknown-advice");
    write_log(&place, &unmarked(dated));
    let advice = |report: &Value| -> Option<f64> {
        let actions = report["actions"].as_array().unwrap().iter();
        let found = actions.filter(|action| action["code"] == "breakpoints" && action["what_if"].is_null());
        found.map(|action| action["saved_usd"].as_f64().unwrap()).next()
    };
    let report = replay(&place, &["log.jsonl"]);
    let cost = report["totals"]["predicted"]["cost_usd"].as_f64().unwrap();
    let bound = report["totals"]["cost_lower_bound_usd"].as_f64().unwrap();
    let missed = report["totals"]["causes"][0]["cost_usd"].as_f64().unwrap();
    assert!(missed > cost - bound, "the misses are dearer: {missed}, {cost}, {bound}");
    assert!(advice(&report).is_none_or(|saved| saved <= cost - bound + 1e-9), "{}", report["actions"]);
    // Where a breakpoint would be read, it is advised, unless a what-if says what it saves.
    write_log(&place, &unmarked(steady));
    assert!(advice(&replay(&place, &["log.jsonl"])).is_some());
    assert_eq!(advice(&replay(&place, &["log.jsonl", "--what-if", "breakpoints=tail"])), None);
}

/// Lost reads cost more than a breakpoint saves, because it has to be written first.
#[test]
fn advice_on_breakpoints_saves_what_its_placement_saves() {
    let place = folder("unknown-placement");
    write_log(&place, &unmarked(steady));
    write_bodies(&place, &unmarked(steady));
    for input in ["log.jsonl", "bodies"] {
        let report = replay(&place, &[input]);
        let advice = &report["actions"][0];
        assert_eq!(advice["code"], "breakpoints", "{input}");
        let (_, placed) = advice["what"].as_str().unwrap().trim_end_matches(')').rsplit_once("; as ").unwrap();
        let tried = replay(&place, &["log.jsonl", "--what-if", placed]);
        let columns = tried["totals"]["what_if"].as_array().unwrap().iter();
        let column = columns.rev().find(|column| column["name"] == placed).unwrap();
        let [saved, lost] =
            [&advice["saved_usd"], &report["totals"]["causes"][0]["cost_usd"]].map(|usd| usd.as_f64().unwrap());
        assert!((saved + column["delta_usd"].as_f64().unwrap()).abs() < 1e-9, "{advice} {column}");
        assert!(saved < lost, "{saved} {lost}");
    }
}

/// Requests that are sent together cannot read what one of them writes.
#[test]
fn requests_sent_together_are_not_advised_to_place_breakpoints() {
    let place = folder("unknown-together");
    let bodies = unmarked(steady);
    let line =
        |at_ms: u64| format!("{}\n", json!({"v": 1, "at_ms": at_ms, "ended_ms": at_ms + 9_000, "request": bodies[0]}));
    let codes = |times: [u64; 3]| -> Vec<Value> {
        fs::write(place.join("log.jsonl"), times.map(line).concat()).unwrap();
        let report = replay(&place, &["log.jsonl"]);
        let actions = report["actions"].as_array().unwrap().iter().map(|action| action["code"].clone());
        actions.filter(|code| code == "breakpoints").collect()
    };
    let start = 1_785_000_000_000;
    assert_eq!(codes([start; 3]), [] as [Value; 0]);
    assert_eq!(codes([start, start + 20_000, start + 40_000]), ["breakpoints"]);
}

#[test]
fn what_ifs_that_need_instants_are_not_left_out_silently() {
    let place = folder("unknown-instants");
    write_bodies(&place, &unmarked(steady));
    // The second is one that every replay with instants has.
    for what_if in ["no-cache", "ttl=1h"] {
        let output = forkcast(&place, &["replay", "bodies", "--what-if", what_if, "--quiet"]);
        assert!(said(&output).1.contains("The recording has no instants: what-ifs are left out."), "{output:?}");
    }
    // Advice costs the same whether or not a column was asked for and left out.
    let advised = |arguments: &[&str]| replay(&place, &[&["bodies"], arguments].concat())["actions"].clone();
    assert_eq!(advised(&[]), advised(&["--what-if", "breakpoints=both"]));
    let output = forkcast(&place, &["replay", "bodies", "--quiet"]);
    let shown = said(&output).1;
    assert!(!shown.contains("no instants") && !shown.contains("what-ifs"), "{shown}");
}

/// A change of a provider whose cache is not modelled costs an unknown amount, which does not hide the known one.
#[test]
fn the_title_of_a_check_has_the_part_of_the_cost_that_is_known() {
    let place = folder("unknown-part");
    let bodies = |model: &str| -> Vec<Value> {
        let of = |(turn, mut body): (usize, Value)| {
            let system = json!([{"type": "text", "text": dated(turn), "cache_control": {"type": "ephemeral"}}]);
            (body["system"], body["model"]) = (system, model.into());
            body
        };
        unmarked(steady).into_iter().take(3).enumerate().map(of).collect()
    };
    write_bodies(&place.join("known"), &bodies("claude-opus-4-8"));
    let title =
        |place: &Path| said(&forkcast(place, &["check", ".", "--lock", "none"])).1.lines().next().unwrap().to_owned();
    let cost = |title: &str| title.split_once('$').map(|(_, cost)| cost.split(' ').next().unwrap().to_owned());
    let known = title(&place);
    assert!(known.contains("requests, $") && known.contains(" extra cost"), "{known}");
    write_bodies(&place.join("other"), &bodies("grok-4"));
    let both = title(&place);
    assert!(both.contains(", at least $") && cost(&both) == cost(&known), "{both} {known}");
}

/// No instants: the rules and the prices of today, as `replay` has them.
#[test]
fn a_cast_without_instants_has_no_prices_of_1970() {
    let place = folder("unknown-cast");
    let usage = json!({"input_tokens": 9_000, "output_tokens": 5});
    let line = |body: &Value| format!("{}\n", json!({"v": 1, "request": body, "response": {"usage": usage}}));
    fs::write(place.join("log.jsonl"), unmarked(steady).iter().map(line).collect::<String>()).unwrap();
    let replayed = read_json(&forkcast(&place, &["replay", "log.jsonl", "--format", "json", "--quiet"]));
    let output = forkcast(&place, &["run", "--recording", "log.jsonl", "--quiet"]);
    let shown = said(&output).1;
    let rules = replayed["options"]["cache"].as_str().unwrap_or("docs-2026-09");
    assert!(!shown.contains("1970") && shown.contains(&format!("Cache rules {rules}")), "{shown}");
}

/// A model with a price, whose provider's cache is not modelled, without recorded usage.
#[test]
fn a_cost_that_is_unknown_is_no_missing_price_no_zero_and_keeps_no_budget() {
    let place = folder("unknown-cost");
    let said_by = |at: usize| json!({"role": role(at), "content": "Look at it. ".repeat(900)});
    let turn = |turns: usize| {
        let messages: Vec<Value> = (0..turns).map(said_by).collect();
        json!({"model": "gpt-5.1", "messages": messages})
    };
    write_bodies(&place, &[turn(1), turn(3), turn(5)]);
    let output = forkcast(&place, &["replay", "bodies", "--quiet"]);
    let shown = said(&output).1;
    assert!(shown.starts_with("Cost unknown · ") && !shown.contains("Spent on"), "{shown}");
    let gate = &replay(&place, &["bodies", "--max-cost", "0.01"])["gates"][0];
    assert_eq!([&gate["found"], &gate["passed"]], [&Value::Null, &json!(false)]);
    fs::write(place.join("rules.toml"), "[budget]\nmin_hit_rate = 0.01\n").unwrap();
    let output = forkcast(&place, &["check", "bodies", "--rules", "rules.toml", "--lock", "none", "--quiet"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).1.contains("no cache of their provider is modelled"), "{output:?}");
}

/// Bodies on the lines of one file.
#[test]
fn requests_of_one_file_have_names_of_their_own() {
    let place = folder("unknown-names");
    let lines: String = unmarked(dated).iter().map(|body| format!("{body}\n")).collect();
    fs::write(place.join("all.jsonl"), lines).unwrap();
    let output = forkcast(&place, &["replay", "all.jsonl", "--details", "--quiet"]);
    let shown = said(&output).1;
    assert!((1..6).all(|at| shown.contains(&format!("all.jsonl#{at}"))), "{shown}");
    let output = forkcast(&place, &["explain", "all.jsonl", "all.jsonl#3"]);
    assert!(said(&output).1.starts_with("Request 3, all.jsonl#3"), "{output:?}");
}
