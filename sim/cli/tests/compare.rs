//! `compare`: two results side by side.

use std::path::{Path, PathBuf};

use forkcast_fixtures::workspace;
use serde_json::Value;

use crate::program::{fine, folder, forkcast};

/// Two runs of one scenario, as the client of 2026 does it and with a shared breakpoint and one fork before the others;
/// and the sample.
fn results(name: &str) -> PathBuf {
    let place = folder(name);
    for arguments in [
        &["run", "--quiet", "--out", "before"][..],
        &["run", "--quiet", "--breakpoints", "both", "--launch", "primed", "--out", "after"],
        &["demo", "--quiet", "--out", "sample"],
    ] {
        let output = forkcast(&place, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    place
}

fn compared(place: &Path, arguments: &[&str]) -> Value {
    let output = forkcast(place, &[&["compare", "--format", "json"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Picodollars of a JSON number, exactly.
fn exact(value: &Value) -> i128 {
    let text = value.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or((1, &*text), |digits| (-1, digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    sign * format!("{whole}{part:0<12}").parse::<i128>().unwrap()
}

fn sum(found: &Value, list: &str, field: &str) -> i128 {
    found[list].as_array().unwrap().iter().map(|moved| exact(&moved[field])).sum()
}

#[test]
fn causes_and_parts_add_up_to_the_bill() {
    let place = results("compare");
    for pair in [["before", "after"], ["before", "sample"]] {
        let found = compared(&place, &pair);
        let bill = &found["bill"];
        for list in ["causes", "parts"] {
            for field in ["before_usd", "after_usd", "delta_usd"] {
                assert_eq!(sum(&found, list, field), exact(&bill[field]), "{pair:?} {list} {field}");
            }
            for field in ["before_tokens", "after_tokens"] {
                assert_eq!(sum(&found, list, field), exact(&bill[field]), "{pair:?} {list} {field}");
            }
        }
        // The bill is that of the folders.
        for (name, side) in pair.iter().zip(["before_usd", "after_usd"]) {
            let run = std::fs::read(place.join(name).join("run.json")).unwrap();
            let totals = serde_json::from_slice::<Value>(&run).unwrap()["totals"].clone();
            let cost = if totals["cost_usd"].is_null() { &totals["recorded"]["cost_usd"] } else { &totals["cost_usd"] };
            assert_eq!(found["bill"][side], *cost, "{name}");
        }
    }
    let found = compared(&place, &["before", "after"]);
    let moved = &found["causes"][1];
    assert_eq!(moved["what"], "no_breakpoint", "the forks share what they did not");
    assert_eq!(exact(&moved["delta_usd"]), exact(&found["bill"]["delta_usd"]), "and nothing else changed");
}

/// Causes are explained wherever one is named, and nowhere else.
#[test]
fn a_comparison_says_where_causes_are_explained() {
    const HINT: &str = "forkcast list causes: the meaning of each cause";
    let place = results("compare-causes");
    for format in ["human", "markdown"] {
        let said = |with: &str| fine(&forkcast(&place, &["compare", "before", with, "--format", format])).to_owned();
        assert!(said("after").contains("no_breakpoint") && said("after").contains(HINT), "{}", said("after"));
    }
}

/// The recording of the sample.
fn sample() -> String {
    workspace().join("replay/sample/sample.exchanges.jsonl").display().to_string()
}

#[test]
fn a_folder_and_its_recording_are_the_same() {
    let place = results("compare-same");
    let found = compared(&place, &["sample", &sample()]);
    for list in ["causes", "parts"] {
        for moved in found[list].as_array().unwrap() {
            assert_eq!(moved["before_usd"], moved["after_usd"], "{moved}");
            assert_eq!(moved["before_tokens"], moved["after_tokens"], "{moved}");
        }
    }
    assert_eq!(found["requests"], serde_json::json!([14, 14]));
    assert_eq!(exact(&found["bill"]["delta_usd"]), 0);
    assert_eq!(found["bill"]["rise"], 0.0);
    let other = compared(&place, &["sample", &sample(), "--discount", "50"]);
    assert_eq!(2 * exact(&other["bill"]["after_usd"]), exact(&found["bill"]["after_usd"]));
}

#[test]
fn two_periods_are_two_parts_of_one_recording() {
    let place = folder("compare-periods");
    let day = ["--since", "2026-11-02T23:56:00Z", "--until", "2026-11-03T00:02:00Z"];
    let found = compared(&place, &[&[&*sample()], &day[..], &["--timezone", "UTC"]].concat());
    let names: Vec<&str> = found["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names, ["2026-11-02 23:50 to 2026-11-02 23:56 UTC", "2026-11-02 23:56 to 2026-11-03 00:02 UTC"]);
    let replayed = |options: &[&str]| {
        let output = forkcast(&place, &[&["replay", &*sample(), "--format", "json"], options].concat());
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["totals"].clone()
    };
    let after = replayed(&day);
    assert_eq!(found["bill"]["after_usd"], after["recorded"]["cost_usd"]);
    assert_eq!(found["requests"][1], after["requests"]);
    let before = replayed(&["--since", "2026-11-02T23:50:00Z", "--until", "2026-11-02T23:55:59Z"]);
    assert_eq!(found["bill"]["before_usd"], before["recorded"]["cost_usd"]);
    assert_eq!(found["requests"][0], before["requests"]);
    assert!(found["requests"].as_array().unwrap().iter().all(|requests| requests.as_u64() > Some(0)), "{found}");
}

#[test]
fn a_rise_beyond_the_limit_fails() {
    let place = results("compare-gate");
    let code = |arguments: &[&str]| forkcast(&place, &[&["compare"], arguments].concat()).status.code();
    assert_eq!(code(&["before", "after", "--max-rise", "0"]), Some(0), "it became cheaper");
    assert_eq!(code(&["after", "before", "--max-rise", "0.1%"]), Some(1));
    assert_eq!(code(&["after", "before", "--max-rise-per-request", "0.1%"]), Some(1));
    assert_eq!(code(&["after", "before"]), Some(0), "no limit");
    assert_eq!(code(&["after", "before", "--max-rise", "100%"]), Some(0));
    // The sample has a higher bill a request, and a lower one.
    assert_eq!(code(&["after", "sample", "--max-rise", "0"]), Some(0));
    std::fs::create_dir(place.join("empty")).unwrap();
    for wrong in [&["after", "empty"][..], &["after"], &["after", "before", "--last", "7d"]] {
        assert_eq!(code(wrong), Some(2), "{wrong:?}");
    }
    // Without a price a rise may be any.
    let text = std::fs::read_to_string(place.join("sample/ledger.jsonl")).unwrap();
    let (first, others) = text.split_once('\n').unwrap();
    let mut first: Value = serde_json::from_str(first).unwrap();
    first["cost_usd"] = Value::Null;
    std::fs::write(place.join("sample/ledger.jsonl"), format!("{first}\n{others}")).unwrap();
    let output = forkcast(&place, &["compare", "sample", "sample", "--max-rise", "100%"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--max-rise: some requests have no price"), "{said}");
}

#[test]
fn a_report_is_the_page_of_the_folders_and_prints_nothing() {
    let place = results("report");
    let report =
        |arguments: &[&str]| forkcast(&place, &[&["report", "-o", "page.html", "--quiet"], arguments].concat());
    let output = report(&["sample"]);
    assert_eq!(
        (output.status.code(), output.stdout.len()),
        (Some(0), 0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let page = std::fs::read_to_string(place.join("page.html")).unwrap();
    assert!(page.contains("$0.1220"));
    assert!(page.contains("<code>forkcast report sample</code>"));
    let run = forkcast(&place, &["run", "--quiet", "--bodies", "--out", "bodies"]);
    assert!(run.status.success());
    assert_eq!(report(&["sample", "bodies"]).status.code(), Some(0));
    let both = std::fs::read_to_string(place.join("page.html")).unwrap();
    assert!(both.contains("50 requests"), "14 of the sample and 36 of the run");
    for wrong in ["before", "empty", "page.html"] {
        assert_eq!(report(&[wrong]).status.code(), Some(2), "{wrong}");
    }
}
