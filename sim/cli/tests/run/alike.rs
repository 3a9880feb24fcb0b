//! One thing has one name, one figure and one reason in every verb, and no option is ignored.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::unknown::{dated, replay, steady, unmarked, write_bodies, write_log};
use super::{folder, forkcast, said};

/// Bodies on the lines of one file, without ids.
fn write_lines(place: &Path, bodies: &[Value]) {
    fs::write(place.join("all.jsonl"), bodies.iter().map(|body| format!("{body}\n")).collect::<String>()).unwrap();
}

fn shown(place: &Path, arguments: &[&str]) -> String {
    said(&forkcast(place, arguments)).1.to_owned()
}

#[test]
fn a_chain_without_an_id_has_one_name() {
    let place = folder("alike-names");
    write_lines(&place, &unmarked(dated));
    for arguments in [
        &["explain", "all.jsonl", "2"][..],
        &["replay", "all.jsonl", "--by", "agent", "--quiet"],
        &["lock", "all.jsonl", "--quiet"],
        &["check", "all.jsonl", "--lock", "none", "--quiet"],
    ] {
        let shown = shown(&place, arguments);
        assert!(shown.contains("all.jsonl#1") && !shown.contains("chain-"), "{arguments:?}: {shown}");
    }
}

#[test]
fn a_recording_without_usage_is_played_at_the_sizes_of_its_replay() {
    let place = folder("alike-unmeasured");
    forkcast(&place, &["run", "--out", "r", "--bodies", "--quiet"]);
    let mut paths: Vec<_> = fs::read_dir(place.join("r/bodies")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let bodies: Vec<Value> =
        paths.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect();
    write_lines(&place, &bodies);
    let replayed = replay(&place, &["all.jsonl"]);
    let rate = replayed["totals"]["predicted"]["hit_rate"].as_f64().unwrap();
    let output = forkcast(&place, &["run", "--recording", "all.jsonl"]);
    let title = said(&output).1.lines().next().unwrap().to_owned();
    let played: f64 = title.rsplit_once("hit rate ").unwrap().1.trim_end_matches(" %").parse().unwrap();
    assert!((played - rate * 100.0).abs() < 2.0, "{title}, replayed {rate}");
    assert!(said(&output).2.contains("36 requests have no usage: prompts are sized by length"), "{output:?}");
    assert!(said(&output).1.contains("The recording has no usage, so this bill is compared with none."), "{output:?}");
}

#[test]
fn a_lock_expects_no_cost_where_no_cache_is_modelled() {
    let place = folder("alike-lock");
    let body = json!({"model": "gpt-5.1", "messages": [{"role": "user", "content": "Look at it. ".repeat(900)}]});
    write_bodies(&place, &[body.clone(), body]);
    let shown = shown(&place, &["lock", "bodies", "--quiet"]);
    assert!(
        shown.contains("Expected cost unknown") && !shown.contains("Expected: $") && !shown.contains(" %"),
        "{shown}"
    );
    let lock = fs::read_to_string(place.join("forkcast.lock")).unwrap();
    assert!(!lock.contains("cost_usd"), "{lock}");
}

/// Three short prompts: no breakpoint would make them long enough to be cached.
#[test]
fn nothing_is_advised_for_prompts_below_the_minimum() {
    let place = folder("alike-short");
    let body = |more: &str| {
        let system = [json!({"type": "text", "text": format!("Be kind. {more}")})];
        let messages = json!([{"role": "user", "content": "Hello, who are you and what can you do for me?"}]);
        json!({"model": "claude-haiku-4-5", "max_tokens": 9, "system": system, "messages": messages})
    };
    write_bodies(&place, &[body(""), body(""), body("")]);
    let report = replay(&place, &["bodies"]);
    let causes = report["totals"]["causes"].as_array().unwrap();
    assert_eq!(causes.iter().map(|cause| cause["cause"].clone()).collect::<Vec<_>>(), ["below_minimum"]);
    assert_eq!(report["actions"], json!([]));
    // Long enough for its model, it lacks nothing but the breakpoint.
    let long = "Be kind. ".repeat(9_000);
    write_bodies(&place, &[body(&long), body(&long), body(&long)]);
    let report = replay(&place, &["bodies"]);
    assert_eq!(report["totals"]["causes"][0]["cause"], "no_breakpoint");
    assert_eq!(report["actions"][0]["code"], "breakpoints");
}

#[test]
fn requests_without_usage_move_no_average() {
    let place = folder("alike-average");
    let usage = json!({"input_tokens": 9_000, "output_tokens": 5});
    let line = |body: &Value, usage: &Value| format!("{}\n", json!({"v": 1, "request": body, "response": usage}));
    let bodies = unmarked(steady);
    let with: String = bodies.iter().map(|body| line(body, &json!({ "usage": usage }))).collect();
    let without: String = bodies.iter().map(|body| line(body, &Value::Null)).collect();
    fs::write(place.join("few.jsonl"), &with).unwrap();
    fs::write(place.join("more.jsonl"), with + &without).unwrap();
    let output = forkcast(&place, &["compare", "few.jsonl", "more.jsonl", "--max-rise-per-request", "1%"]);
    let shown = said(&output).1;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(shown.matches("6 requests").count(), 2, "{shown}");
}

#[test]
fn a_period_without_requests_costs_nothing() {
    let place = folder("alike-empty");
    write_log(&place, &unmarked(steady));
    let asked = ["compare", "log.jsonl", "--since", "2026-07-25", "--until", "2026-07-26", "--quiet"];
    let shown = shown(&place, &asked);
    assert!(shown.starts_with("$0 → $") && !shown.contains("no price"), "{shown}");
}

#[test]
fn options_that_cannot_matter_are_refused() {
    let place = folder("alike-options");
    forkcast(&place, &["run", "--out", "r", "--bodies", "--quiet"]);
    for (arguments, why) in [
        (&["run", "forks/fan-out", "--model", "all=claude-haiku-4-5"][..], "--model is about a recorded session"),
        (&["run", "forks/fan-out", "--with", "forks"], "--with is about a recorded session"),
        (&["run", "forks/fan-out", "--session", "a"], "--session is about a recorded session"),
        (&["run", "forks/fan-out", "--tools-sorted"], "--tools-sorted is about a recorded session"),
        (&["run", "E15+nope"], "E15+nope: unknown variant, expected one of: "),
        (&["replay", "r", "--input-format", "codex"], "leave out --input-format"),
        (&["check", "r", "--input-format", "codex"], "leave out --input-format"),
        (&["replay", "r", "--what-if", "keepalive=0@240"], "keepalive=N@SECONDS, as in 2@270"),
    ] {
        let output = forkcast(&place, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(said(&output).2.contains(why), "{arguments:?}: {output:?}");
    }
}

#[test]
fn a_bill_of_nothing_says_that_the_provider_would_refuse_the_requests() {
    let place = folder("alike-refused");
    let text = json!({"type": "text", "text": "Look at it. ".repeat(900), "cache_control": {"type": "ephemeral"}});
    let body = json!({"model": "claude-opus-4-8", "max_tokens": 100, "messages": [{"role": "user", "content": vec![text; 5]}]});
    write_bodies(&place, &[body.clone(), body]);
    let shown = shown(&place, &["replay", "bodies"]);
    assert!(shown.contains("$0 predicted · 2 requests"), "{shown}");
    assert!(shown.contains("The provider would refuse 2 requests (HTTP 400)"), "{shown}");
}

/// The advice of a variant would save nothing if the variant were stronger.
#[test]
fn the_command_line_is_stronger_than_a_variant() {
    let place = folder("alike-variant");
    let cost = |arguments: &[&str]| {
        let run = forkcast(&place, &[arguments, &["--format", "json"]].concat()).stdout;
        serde_json::from_slice::<Value>(&run).unwrap()["totals"]["cost_usd"].as_f64().unwrap()
    };
    let burst = cost(&["run", "E15+cold-burst"]);
    let primed = cost(&["run", "E15+cold-burst", "--launch", "primed"]);
    assert!(primed < burst * 0.6, "{primed} and {burst}");
    assert!(shown(&place, &["run", "E15+cold-burst"]).contains("--launch primed, $1.15 instead of $2.27"));
}

/// One number of turns has no turning point, but agents with a brief are cheaper there.
#[test]
fn forks_are_not_called_cheaper_where_they_are_dearer() {
    let place = folder("alike-turns");
    let title = |arguments: &[&str]| shown(&place, arguments).lines().next().unwrap().to_owned();
    let answer = &["fanout", "--answer", "fork-or-spawn", "--prefix", "50k"];
    let one = title(&[&answer[..], &["--turns", "8"]].concat());
    assert_eq!(one, title(answer), "costs are nearly straight lines");
}

#[test]
fn a_question_refuses_what_it_sets_itself() {
    let place = folder("alike-answer");
    for option in [["--launch", "burst"], ["--breakpoints", "tail"]] {
        let output = forkcast(&place, &[&["fanout", "--answer", "prime"][..], &option].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(said(&output).2.contains(option[0]), "{output:?}");
    }
}

#[test]
fn a_refused_request_costs_nothing_in_any_verb() {
    let place = folder("alike-nothing");
    let text = |turn: usize| json!({"type": "text", "text": format!("Look at {turn}. ").repeat(900), "cache_control": {"type": "ephemeral"}});
    let body = |turns: usize| {
        let texts: Vec<Value> = (0..turns).map(text).collect();
        json!({"model": "claude-opus-4-8", "max_tokens": 100, "messages": [{"role": "user", "content": texts}]})
    };
    write_bodies(&place, &[body(5), body(6), body(7)]);
    let check = shown(&place, &["check", "bodies", "--lock", "none"]);
    assert!(check.contains("nothing of the request is read, written or billed"), "{check}");
    assert!(!check.contains("extra cost") && !check.contains("Together"), "{check}");
    let lock = shown(&place, &["lock", "bodies"]);
    assert!(lock.contains("the provider would refuse each request"), "{lock}");
}

#[test]
fn two_empty_periods_are_not_compared() {
    let place = folder("alike-empty");
    let log = json!({"v": 1, "at_ms": 1_785_000_000_000_u64, "request": unmarked(steady)[0], "response": {"usage": {"input_tokens": 9, "output_tokens": 1}}});
    fs::write(place.join("log.jsonl"), format!("{log}\n")).unwrap();
    let output = forkcast(&place, &["compare", "log.jsonl", "--since", "2020-02-01", "--until", "2020-02-03"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(said(&output).2.contains("no request was sent in either period"), "{output:?}");
}

#[test]
fn a_recording_without_usage_is_compared_with_itself_as_played() {
    let place = folder("alike-otherwise");
    write_lines(&place, &unmarked(steady));
    let shown = shown(&place, &["run", "--recording", "all.jsonl", "--ttl", "1h"]);
    assert!(!shown.contains("(as recorded)") && shown.contains("(as played)"), "{shown}");
    let played = shown.lines().find(|line| line.contains("(as played)")).unwrap();
    assert!(played.contains('$') && !played.contains("$0 "), "{played}");
    let output = forkcast(&place, &["run", "--recording", "all.jsonl", "--model", "main=nothing-known"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(said(&output).2.contains("`nothing-known` has no price"), "{output:?}");
}

#[test]
fn lengths_of_compaction_are_what_ifs() {
    let place = folder("alike-compactions");
    forkcast(&place, &["demo", "--out", "r", "--quiet"]);
    let rows = |arguments: &[&str]| {
        let report = replay(&place, &[&["r"], arguments].concat());
        report["totals"]["what_if"].as_array().unwrap().clone()
    };
    let listed = rows(&["--compact-at", "20k..40k:20k"]);
    assert_eq!(listed, rows(&["--what-if", "compact-at=20k", "--what-if", "compact-at=40000"]));
    let names: Vec<&str> = listed.iter().rev().take(2).map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["compact-at=40k", "compact-at=20k"]);
    let screen = shown(&place, &["replay", "r", "--compact-at", "20k", "--quiet"]);
    assert!(screen.contains("Compacting: nothing at these lengths, for no conversation"), "{screen}");
}

#[test]
fn what_is_not_tried_is_said() {
    let place = folder("alike-untried");
    let codex = forkcast_fixtures::fixture("codex.jsonl");
    let screen = |options: &[&str]| shown(&place, &[&["replay", codex.to_str().unwrap(), "--quiet"], options].concat());
    let said = "No cache of these models is modelled: what-ifs are left out.";
    assert!(screen(&["--compact-at", "60k"]).contains(said) && !screen(&[]).contains(said));
    let answer =
        shown(&place, &["fanout", "--answer", "fork-or-spawn", "--prefix", "20k", "--turns", "1,2", "--quiet"]);
    assert!(answer.contains("the words that start them; with parent: its other requests too"), "{answer}");
    assert!(!answer.contains("which decides the"), "{answer}");
}
