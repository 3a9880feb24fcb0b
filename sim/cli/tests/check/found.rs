//! Findings in every output format.

use std::fs;

use super::bodies::{CALM, SECRET, Turn, code, folder, forkcast, golden, json, restless, stderr, stdout, write};

const FORMATS: [(&str, &str); 7] = [
    ("human", "check.txt"),
    ("json", "check.json"),
    ("csv", "check.csv"),
    ("markdown", "check.md"),
    ("junit", "check.xml"),
    ("github", "check.github"),
    ("sarif", "check.sarif"),
];

#[test]
fn every_format_of_a_broken_conversation() {
    let place = folder("formats");
    write(&place.join("bodies"), &restless());
    for (format, file) in FORMATS {
        let arguments = ["check", "bodies", "--lock", "none", "--requests-per-day", "10000", "--format", format];
        let output = forkcast(&place, &arguments);
        assert_eq!(code(&output), 1, "{format}: {}", stderr(&output));
        assert!(format == "human" || !stdout(&output).contains(SECRET), "{format}");
        golden(file, stdout(&output));
    }
}

#[test]
fn files_contain_bytes_only_on_request() {
    let place = folder("content");
    write(&place.join("bodies"), &restless());
    for (format, _) in FORMATS.into_iter().filter(|(format, _)| *format != "csv") {
        let output = forkcast(&place, &["check", "bodies", "--lock", "none", "--show-content", "--format", format]);
        assert!(stdout(&output).contains("aturday"), "{format}: {}", stdout(&output));
        let hidden = forkcast(&place, &["check", "bodies", "--lock", "none", "--anonymize", "--format", format]);
        for name in [SECRET, "aturday", "bodies/", "`Read`"] {
            assert!(!stdout(&hidden).contains(name), "{format}: {name}");
        }
    }
}

#[test]
fn a_calm_conversation_ends_with_0() {
    let place = folder("calm");
    write(&place.join("bodies"), &[CALM; 4]);
    let output = forkcast(&place, &["check", "bodies"]);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).starts_with("every prefix is kept: 4 requests of 1 chain"), "{}", stdout(&output));
    assert!(stdout(&output).contains("`forkcast lock` writes one"), "{}", stdout(&output));
}

#[test]
fn each_change_is_found_once_with_its_place_and_price() {
    let place = folder("found");
    write(&place.join("bodies"), &restless());
    let found = json(&place, &["check", "bodies", "--lock", "none", "--requests-per-day", "1000"]);
    let findings = found["findings"].as_array().unwrap();
    let told: Vec<_> = findings
        .iter()
        .map(|finding| {
            (
                finding["request"].as_u64().unwrap(),
                finding["cause"].as_str().unwrap(),
                finding["path"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(told, [(2, "system_changed", "system[0]"), (4, "tool_changed", "tools[0]")]);
    for finding in findings {
        assert!(finding["tokens_lost"].as_u64().unwrap() > 0 && finding["breaks_prefix"] == true, "{finding:#}");
        assert!(finding["file"].as_str().unwrap().ends_with(&format!("bodies/00{}.json", finding["request"])));
        let (once, daily) = (finding["cost_usd"].as_f64().unwrap(), finding["cost_usd_per_day"].as_f64().unwrap());
        assert!(once > 0.0 && (daily - 1_000.0 * once).abs() < 1e-9);
    }
    assert_eq!(found["score"]["stability"], false);
    assert_eq!((found["requests"].as_u64(), found["chains"].as_u64()), (Some(6), Some(1)));
}

#[test]
fn the_same_change_in_many_requests_is_shown_once() {
    let place = folder("folded");
    let days = ["Monday", "Tuesday", "Wednesday", "Thursday"];
    write(&place.join("bodies"), &days.map(|day| Turn { day, ..CALM }));
    let output = forkcast(&place, &["check", "bodies", "--lock", "none"]);
    assert_eq!(stdout(&output).matches("system_changed: ").count(), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("The same in 2 more requests: 2, 3."), "{}", stdout(&output));
}

#[test]
fn rules_can_allow_changes() {
    let place = folder("rules");
    write(&place.join("bodies"), &restless());
    let check = |rules: &str| {
        fs::write(place.join("forkcast.toml"), rules).unwrap();
        forkcast(&place, &["check", "bodies", "--lock", "none"])
    };
    assert_eq!(code(&check("stability = \"note\"\n")), 0);
    assert_eq!(code(&check("[[allow]]\ncause = \"system_changed\"\n")), 1);
    let both = "[[allow]]\ncause = \"system_changed\"\n[[allow]]\ncause = \"tool_changed\"\npath = \"tools[0]\"\n";
    let output = check(both);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    assert!(stdout(&output).contains("(allowed)"), "{}", stdout(&output));
    let output = check(
        "[budget]\nmax_breakpoints = 1\n[[allow]]\ncause = \"system_changed\"\n[[allow]]\ncause = \"tool_changed\"\n",
    );
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("Outside the budget"), "{}", stdout(&output));
    let output = check("stability = \"hard\"\n");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("forkcast.toml:1: found `hard`, expected one of"), "{}", stderr(&output));
}

#[test]
fn options_override_the_file() {
    let place = folder("options");
    write(&place.join("bodies"), &restless());
    fs::write(place.join("mine.toml"), "cache = \"docs-2026-08\"\nrequests_per_day = 7\n").unwrap();
    let found = json(&place, &["check", "bodies", "--lock", "none", "--rules", "mine.toml"]);
    assert_eq!((found["cache"].as_str(), found["requests_per_day"].as_u64()), (Some("docs-2026-08"), Some(7)));
    let arguments = [
        "check",
        "bodies",
        "--lock",
        "none",
        "--rules",
        "mine.toml",
        "--cache",
        "docs-2026-09",
        "--requests-per-day",
        "9",
    ];
    let found = json(&place, &arguments);
    assert_eq!((found["cache"].as_str(), found["requests_per_day"].as_u64()), (Some("docs-2026-09"), Some(9)));
    let output = forkcast(&place, &["check", "bodies", "--rules", "none.toml"]);
    assert_eq!(code(&output), 2);
}

#[test]
fn given_prices_are_used() {
    let place = folder("prices");
    write(&place.join("bodies"), &restless());
    let cost = |options: &[&str]| {
        let found = json(&place, &[&["check", "bodies", "--lock", "none"], options].concat());
        found["findings"][0]["cost_usd"].as_f64().unwrap()
    };
    assert!((cost(&["--discount", "50"]) * 2.0 - cost(&[])).abs() < 1e-9);
    assert!(cost(&["--price", "claude-opus-4-8:write_5m=100"]) > cost(&[]));
}
