//! What a recording shows of its requests holds in every verb: what was read, at which price and on which day, and what was
//! refused.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::doors::{lines, losses, losses_of_check};
use super::{folder, forkcast, json as read_json, said};

const OPUS: &str = "claude-opus-4-8";

/// A body whose last block has a breakpoint.
fn body(model: &str, system: &str, said: &[&str]) -> Value {
    let message = |(at, said): (usize, &&str)| {
        let role = ["user", "assistant"][at % 2];
        json!({"role": role, "content": [{"type": "text", "text": said.repeat(300)}]})
    };
    let mut messages: Vec<Value> = said.iter().enumerate().map(message).collect();
    messages.last_mut().unwrap()["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    json!({"model": model, "max_tokens": 9, "system": [{"type": "text", "text": system}], "messages": messages})
}

/// A line of an exchange log; the answer has these fields of usage besides its counts.
fn call(at_s: u64, body: &Value, [read, written]: [u64; 2], besides: &Value) -> Value {
    let mut usage = json!({"input_tokens": 3, "cache_read_input_tokens": read, "cache_creation_input_tokens": written, "output_tokens": 5});
    usage.as_object_mut().unwrap().extend(besides.as_object().unwrap().clone());
    json!({"v": 1, "at_ms": 1_785_000_000_000_u64 + at_s * 1_000, "chain": "main", "status": 200, "request": body,
        "response": {"usage": usage}})
}

/// What a command prints.
fn printed(place: &Path, arguments: &[&str]) -> String {
    said(&forkcast(place, arguments)).1.to_owned()
}

fn write(place: &Path, calls: &[Value]) {
    let log: String = calls.iter().map(|call| format!("{call}\n")).collect();
    fs::write(place.join("log.jsonl"), log).unwrap();
}

/// The model changes and changes back. By the rules the first model's entry is still there; the provider read nothing.
#[test]
fn a_check_loses_what_a_replay_loses_at_the_recorded_price() {
    let mut costs = Vec::new();
    for besides in
        [json!({}), json!({"speed": "fast"}), json!({"inference_geo": "us"}), json!({"service_tier": "batch"})]
    {
        let place = folder("recorded-price");
        let [one, two, three] = [&["a "][..], &["a ", "b ", "c "], &["a ", "b ", "c ", "d ", "e "]];
        write(
            &place,
            &[
                call(0, &body(OPUS, "Be brief.", one), [0, 50_000], &besides),
                call(10, &body("claude-sonnet-4-6", "Be brief.", two), [0, 51_000], &besides),
                call(20, &body(OPUS, "Be brief.", three), [0, 52_000], &besides),
            ],
        );
        forkcast(&place, &["replay", "log.jsonl", "--out", "r", "--quiet"]);
        let of_replay = losses(&lines(&place.join("r/ledger.jsonl")), |line| line["index"].clone());
        let check = forkcast(&place, &["check", "log.jsonl", "--lock", "none", "--quiet", "--format", "json"]);
        let check: Value = serde_json::from_slice(&check.stdout).unwrap();
        assert_eq!(losses_of_check(&check, "request"), of_replay, "{besides}");
        costs.push(of_replay.values().map(|(_, cost)| *cost).sum::<i64>());
    }
    assert!(costs[1..].iter().all(|cost| *cost > 0 && *cost != costs[0]), "{costs:?}");
}

#[test]
fn a_diff_of_recorded_requests_has_their_sizes_and_their_price() {
    let place = folder("recorded-diff");
    let said = ["a ", "b ", "c "];
    write(
        &place,
        &[
            call(0, &body(OPUS, "Be brief.", &said), [0, 50_000], &json!({"speed": "fast"})),
            call(10, &body(OPUS, "Be terse.", &said), [0, 50_000], &json!({"speed": "fast"})),
        ],
    );
    let replay = read_json(&forkcast(&place, &["replay", "log.jsonl", "--format", "json", "--quiet"]));
    let diff = read_json(&forkcast(&place, &["diff", "log.jsonl#0", "log.jsonl#1", "--format", "json"]));
    let lost = &replay["totals"]["causes"][0];
    assert_eq!(diff["cause"], lost["cause"]);
    assert_eq!([&diff["tokens_lost"], &diff["cost_usd"]], [&lost["tokens"], &lost["cost_usd"]]);
    assert!(diff["prices"].as_str().unwrap().ends_with("2026-07-25"), "{}", diff["prices"]);
}

/// Of four requests one has no answer, and one was refused: neither is billed, and the refused prompt was not sent before.
#[test]
fn requests_without_usage_are_counted_apart() {
    let place = folder("recorded-without");
    let [one, two] = [&["a "][..], &["a ", "b ", "c "]];
    let (first, next) = (body(OPUS, "Be brief.", one), body(OPUS, "Be brief.", two));
    let mut dropped = call(10, &next, [0, 0], &json!({}));
    (dropped["response"], dropped["status"]) = (Value::Null, Value::Null);
    let mut refused = call(20, &body(OPUS, "Be terse.", two), [0, 0], &json!({}));
    (refused["response"], refused["status"]) = (Value::Null, 529.into());
    write(
        &place,
        &[call(0, &first, [0, 50_000], &json!({})), dropped, refused, call(30, &next, [50_000, 1_000], &json!({}))],
    );
    let shown = printed(&place, &["replay", "log.jsonl", "--details", "--quiet"]);
    for part in ["2 requests · 2 without usage", "1 request is without recorded usage", "1 request was refused"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let replay = read_json(&forkcast(&place, &["replay", "log.jsonl", "--format", "json", "--quiet"]));
    // What the request without an answer would have written cannot be read before the first byte.
    let causes: Vec<&Value> = replay["totals"]["causes"].as_array().unwrap().iter().map(|one| &one["cause"]).collect();
    assert_eq!((causes, &replay["sessions"][0]["chains"]), (vec![&json!("in_flight")], &json!(1)));
    let check = |path: &str| {
        let check = forkcast(&place, &["check", path, "--lock", "none", "--format", "json", "--quiet"]);
        let check: Value = serde_json::from_slice(&check.stdout).unwrap();
        check["notes"].as_array().unwrap().iter().map(|found| found["note"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(check("log.jsonl"), ["in_flight"]);
    // In a file without any answers they were not recorded: its requests can be read.
    fs::create_dir_all(place.join("both")).unwrap();
    fs::copy(place.join("log.jsonl"), place.join("both/log.jsonl")).unwrap();
    let silent = [40, 50].map(|at| {
        let mut silent = call(at, &body(OPUS, &"Be kind. ".repeat(4_000), one), [0, 0], &json!({}));
        (silent["response"], silent["status"]) = (Value::Null, Value::Null);
        silent["chain"] = "silent".into();
        format!("{silent}\n")
    });
    fs::write(place.join("both/silent.jsonl"), silent.concat()).unwrap();
    let both = read_json(&forkcast(&place, &["replay", "both", "--format", "json", "--quiet"]));
    assert_eq!(both["totals"]["causes"], replay["totals"]["causes"]);
    assert_eq!(check("both"), ["in_flight"]);
    let shown = printed(&place, &["explain", "log.jsonl", "2"]);
    assert!(shown.contains("The provider refused it") && shown.contains("Nothing was billed."), "{shown}");
    let shown = printed(&place, &["explain", "log.jsonl", "1"]);
    assert!(shown.contains("as predicted, without its answer"), "{shown}");
}

/// A run has no day, and its bodies have a size.
#[test]
fn a_run_folder_and_its_log_have_no_day() {
    let place = folder("recorded-day");
    forkcast(&place, &["run", "--out", "r", "--bodies", "--quiet"]);
    for input in ["r", "r/exchanges.jsonl"] {
        let shown = printed(&place, &["replay", input, "--details", "--by", "day", "--quiet"]);
        let wrong = ["1970", " 0 bytes", "the day of each request"].map(|part| shown.contains(part));
        assert_eq!(wrong, [false; 3], "{shown}");
        assert!(shown.contains("Cache rules docs-2026-09"), "{shown}");
    }
}

/// `run` lists `fork#1` to `fork#5`: no other verb has another name for them.
#[test]
fn the_agents_of_a_run_have_one_name_in_every_verb() {
    let place = folder("recorded-names");
    forkcast(&place, &["run", "--out", "r", "--bodies", "--quiet"]);
    for arguments in [
        &["replay", "r", "--by", "agent", "--quiet"][..],
        &["explain", "r"],
        &["explain", "r", "--format", "json"],
        &["check", "r", "--lock", "none", "--quiet"],
        &["lock", "r", "-o", "l.lock", "--quiet"],
        &["replay", "r", "--format", "jsonl", "--quiet"],
        &["run", "--recording", "r/exchanges.jsonl", "--quiet"],
    ] {
        let shown = printed(&place, arguments);
        let is_named = shown.contains("fork#") || arguments[0] == "check";
        assert!(is_named && !shown.contains("agent-") && !shown.contains("toolu_"), "{arguments:?}: {shown}");
    }
    let lock = fs::read_to_string(place.join("l.lock")).unwrap();
    assert!(lock.contains("fork#5") && !lock.contains("agent-"), "{lock}");
}

/// The scenario of a recorded session begins with a filled cache, which its folder does not have; no provider reported anything.
#[test]
fn a_run_that_began_with_a_filled_cache_is_explained_as_a_run() {
    let place = folder("recorded-filled");
    let session = [
        r#"{"type":"user","sessionId":"s","uuid":"a","parentUuid":null,"timestamp":"2026-07-01T10:00:00.000Z","cwd":"/p","version":"2.1.150","message":{"role":"user","content":"Well?"}}"#,
        r#"{"type":"assistant","sessionId":"s","uuid":"b","parentUuid":"a","timestamp":"2026-07-01T10:00:04.000Z","cwd":"/p","version":"2.1.150","requestId":"r","message":{"id":"m","model":"claude-opus-4-8","role":"assistant","type":"message","stop_reason":"end_turn","content":[{"type":"text","text":"Yes."}],"usage":{"input_tokens":3,"cache_creation_input_tokens":500,"cache_read_input_tokens":20000,"output_tokens":40}}}"#,
    ];
    fs::write(place.join("session.jsonl"), session.join("\n") + "\n").unwrap();
    forkcast(&place, &["run", "--recording", "session.jsonl", "--out", "r", "--bodies", "--quiet"]);
    let first = &lines(&place.join("r/ledger.jsonl"))[0];
    assert_eq!(first["predicted"]["cache_read_input_tokens"], 20_000, "{first:#}");
    let shown = printed(&place, &["explain", "r", "0"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("its scenario begins with a filled cache"), "{shown}");
    assert!(shown.contains("All of it is new to the cache.") && !shown.contains("provider reported"), "{shown}");
}

/// A scenario is checked as its run folder is, with declared sizes.
#[test]
fn a_scenario_is_checked_as_its_run_is() {
    for scenario in ["contract/E15", "forks/fan-out", "contract/E11"] {
        let place = folder("recorded-scenario");
        forkcast(&place, &["run", scenario, "--out", "r", "--bodies", "--quiet"]);
        let [played, stored] = [scenario, "r"].map(|input| {
            let check = forkcast(&place, &["check", input, "--lock", "none", "--quiet", "--format", "json"]);
            serde_json::from_slice::<Value>(&check.stdout).unwrap()
        });
        assert_eq!([&played["chains"], &played["requests"]], [&stored["chains"], &stored["requests"]], "{scenario}");
        let found = |check: &Value| -> Vec<[Value; 7]> {
            let findings = check["findings"].as_array().unwrap().iter();
            let fields = ["request", "chain", "cause", "path", "tokens_lost", "cost_usd", "breaks_prefix"];
            findings.map(|finding| fields.map(|field| finding[field].clone())).collect()
        };
        assert_eq!(found(&played), found(&stored), "{scenario}");
    }
}

/// The second of three requests is given up before anything of its answer came: it costs nothing, and wrote nothing that the
/// third could read.
#[test]
fn a_request_given_up_before_its_first_byte_costs_nothing_through_any_door() {
    let place = folder("recorded-given-up");
    let [one, two] = [&["a "][..], &["a ", "b ", "c "]];
    let edited = body(OPUS, "Be terse.", two);
    let mut cut = call(10, &edited, [0, 0], &json!({}));
    ["response", "status"].into_iter().for_each(|field| drop(cut.as_object_mut().unwrap().remove(field)));
    (cut["broke_off"], cut["ended_ms"]) = ("given-up".into(), json!(1_785_000_012_000_u64));
    let answered = call(20, &edited, [0, 52_000], &json!({}));
    write(&place, &[call(0, &body(OPUS, "Be brief.", one), [0, 50_000], &json!({})), cut, answered]);
    forkcast(&place, &["replay", "log.jsonl", "--out", "r", "--quiet"]);
    let ledger = lines(&place.join("r/ledger.jsonl"));
    assert_eq!([&ledger[1]["cost_usd"], &ledger[1]["causes"]], [&json!(0), &json!([])]);
    assert!(ledger[1]["remarks"].to_string().contains("nothing was billed"), "{}", ledger[1]["remarks"]);
    assert_eq!(ledger[2]["predicted"]["cache_read_input_tokens"], 0, "the second wrote nothing");
    let again = read_json(&forkcast(&place, &["replay", "r", "--format", "json", "--quiet"]));
    let replay = read_json(&forkcast(&place, &["replay", "log.jsonl", "--format", "json", "--quiet"]));
    assert_eq!(again["totals"], replay["totals"], "of its folder");
    let check = forkcast(&place, &["check", "log.jsonl", "--lock", "none", "--quiet", "--format", "json"]);
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    assert_eq!(losses_of_check(&check, "request"), losses(&ledger, |line| line["index"].clone()));
    let shown = printed(&place, &["explain", "log.jsonl", "1"]);
    assert!(shown.contains("nothing was billed"), "{shown}");
}

/// What no breakpoint of the previous request covers may still be read from an entry of an earlier one.
#[test]
fn a_breakpoint_in_every_second_request_costs_what_its_twin_saves() {
    let place = folder("recorded-alternating");
    for name in ["bodies", "twin"] {
        fs::create_dir_all(place.join(name)).unwrap();
    }
    let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    let mut messages = Vec::new();
    for turn in 0..6 {
        let mut last = marked(&format!("Step {turn}. ").repeat(900));
        for name in ["twin", "bodies"] {
            if turn % 2 == 1 && name == "bodies" {
                last.as_object_mut().unwrap().remove("cache_control");
            }
            let sent = [&messages[..], &[json!({"role": "user", "content": [last]})]].concat();
            let system = [marked(&"Be kind. ".repeat(1_500))];
            let body = json!({"model": OPUS, "max_tokens": 9, "system": system, "messages": sent});
            fs::write(place.join(format!("{name}/{turn}.json")), body.to_string()).unwrap();
        }
        messages
            .push(json!({"role": "user", "content": [{"type": "text", "text": format!("Step {turn}. ").repeat(900)}]}));
        messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}]}));
    }
    let [replay, twin] =
        ["bodies", "twin"].map(|name| read_json(&forkcast(&place, &["replay", name, "--format", "json", "--quiet"])));
    let check = forkcast(&place, &["check", "bodies", "--lock", "none", "--quiet", "--format", "json"]);
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    let found = check["findings"].as_array().unwrap().iter();
    let tokens: u64 = found.clone().map(|found| found["tokens_lost"].as_u64().unwrap()).sum();
    let cost: f64 = found.map(|found| found["cost_usd"].as_f64().unwrap()).sum();
    let [missed] = replay["totals"]["causes"].as_array().unwrap().as_slice() else { panic!("{replay}") };
    assert_eq!([&missed["cause"], &missed["tokens"]], [&json!("no_breakpoint"), &json!(tokens)]);
    let bill = |replay: &Value| replay["totals"]["predicted"]["cost_usd"].as_f64().unwrap();
    let saved = bill(&replay) - bill(&twin);
    assert!((saved - cost).abs() < 1e-9, "{saved} {cost}");
}

/// A difference from the lock that the rules only note is no equality.
#[test]
fn a_noted_difference_is_no_equality() {
    let place = folder("recorded-score");
    write(&place, &[call(0, &body(OPUS, "Be brief.", &["a "]), [0, 50_000], &json!({}))]);
    let shown = printed(&place, &["lock", "log.jsonl"]);
    assert!(shown.contains("price book of 2026-"), "{shown}");
    let score = |place: &Path| {
        let shown = printed(place, &["check", "log.jsonl", "--quiet"]);
        shown.lines().find_map(|line| Some(line.trim().strip_prefix("equality")?.trim_start()[..5].to_owned())).unwrap()
    };
    assert_eq!(score(&place).trim(), "yes");
    write(&place, &[call(0, &body(OPUS, "Be terse.", &["a "]), [0, 50_000], &json!({}))]);
    assert_eq!(score(&place), "noted");
}

/// Folders of runs that were made from transcripts are read together as their transcripts are.
#[test]
fn several_folders_made_from_transcripts_are_one_report() {
    let place = folder("recorded-folders");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../replay/tests/fixtures");
    let [one, other] = ["claude-code.jsonl", "pi.jsonl"].map(|name| fixtures.join(name).display().to_string());
    for (input, out) in [(&one, "a"), (&other, "b")] {
        said(&forkcast(&place, &["replay", input, "--out", out, "--quiet"]));
    }
    let totals = |paths: [&str; 2]| {
        let replay = ["replay", paths[0], paths[1], "--quiet", "--format", "json"];
        read_json(&forkcast(&place, &replay))["totals"].clone()
    };
    assert_eq!(totals(["a", "b"]), totals([&one, &other]));
    let report = forkcast(&place, &["report", "a", "b", "--out", "page.html", "--quiet"]);
    assert_eq!(said(&report).0, 0, "{}", said(&report).2);
    assert!(place.join("page.html").exists());
}

/// A request without usage, where others have one, has no bill in any output: what costs adds up to the sum.
#[test]
fn the_costs_of_a_ledger_add_up_to_the_sum() {
    let place = folder("recorded-sums");
    let body = body(OPUS, "You mend code.", &["Begin."]);
    let mut unmeasured = call(10, &body, [0, 0], &json!({}));
    unmeasured.as_object_mut().unwrap().remove("response");
    write(&place, &[call(0, &body, [0, 2_000], &json!({})), unmeasured, call(20, &body, [2_000, 0], &json!({}))]);
    let replay = read_json(&forkcast(&place, &["replay", "log.jsonl", "--out", "r", "--quiet", "--format", "json"]));
    let costs: Vec<Option<f64>> =
        lines(&place.join("r/ledger.jsonl")).iter().map(|line| line["cost_usd"].as_f64()).collect();
    assert!(matches!(costs[..], [Some(_), None, Some(_)]), "{costs:?}");
    let sum: f64 = costs.into_iter().flatten().sum();
    assert!((sum - replay["totals"]["recorded"]["cost_usd"].as_f64().unwrap()).abs() < 1e-12);
}
