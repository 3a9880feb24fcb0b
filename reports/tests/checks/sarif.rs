//! SARIF: the standard's own schema, and what code scanning shows.
//!
//! `sarif-2.1.0.json` is OASIS's schema (docs.oasis-open.org/sarif/sarif/v2.1.0, 2020-03); the pattern of a language,
//! which is no regular expression there, is mended.

use forkcast_reports::format::check::sarif;
use forkcast_sim::guard::{Rules, Severity};
use serde_json::Value;

use super::captures::{CALM, Checked, Turn, restless};
use crate::written::{check, text};

/// The output, which must follow the schema: it knows every field, and refuses others.
fn log(checked: &Checked) -> Value {
    let schema = serde_json::from_str(include_str!("sarif-2.1.0.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    check(&validator, &text(|target| sarif::write(&checked.check(), target)))
}

fn results(log: &Value) -> &[Value] {
    log["runs"][0]["results"].as_array().unwrap()
}

/// Sections 3.13, 3.14, 3.18, 3.19, 3.27, 3.49 of the standard name what must be there.
#[test]
fn required_properties_are_there() {
    let log = log(&Checked::of(&restless(), Rules::default()).with_everything());
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let driver = &log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["name"], "forkcast");
    let rules = driver["rules"].as_array().unwrap();
    assert!(!results(&log).is_empty());
    for result in results(&log) {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["partialFingerprints"].as_object().unwrap().is_empty());
        let location = &result["locations"][0]["physicalLocation"];
        assert!(location["artifactLocation"]["uri"].as_str().unwrap().starts_with("bodies/"), "{result:#}");
        assert!(location["region"]["startLine"].as_u64().unwrap() >= 1);
    }
    for rule in rules {
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(!rule[text]["text"].as_str().unwrap().is_empty(), "{rule:#}");
        }
    }
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false, "a place could not be read");
    assert_eq!(invocation["toolExecutionNotifications"].as_array().unwrap().len(), 1);
}

#[test]
fn a_result_names_the_place_in_the_body() {
    let log = log(&Checked::of(&restless(), Rules::default()));
    let tool = results(&log).iter().find(|result| result["ruleId"] == "tool_changed").unwrap();
    assert_eq!(tool["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "tools[0]");
    assert_eq!(tool["properties"]["rule"], "stability");
}

#[test]
fn noted_findings_are_notes() {
    let log = log(&Checked::of(&restless(), Rules { stability: Severity::Note, ..Rules::default() }));
    assert!(results(&log).iter().all(|result| result["level"] == "note"));
}

/// The same change at another turn, day and byte is the same alert; another tool's is another.
#[test]
fn fingerprints_are_stable_and_distinct() {
    let late = [CALM, CALM, CALM, Turn { date: "2026-12-31", ..CALM }];
    let mut late = Checked::of(&late, Rules::default());
    late.origins.iter_mut().for_each(|origin| origin.file = "bodies/log.jsonl".into());
    let mut early = Checked::of(&restless(), Rules::default());
    early.origins.iter_mut().for_each(|origin| origin.file = "bodies/log.jsonl".into());
    let (early, late) = (log(&early), log(&late));
    let print = |log: &Value, rule: &str| -> Vec<String> {
        let of_rule = results(log).iter().filter(|result| result["ruleId"] == rule);
        of_rule.map(|result| result["partialFingerprints"].to_string()).collect()
    };
    assert_eq!(print(&early, "system_changed"), print(&late, "system_changed"));
    let mut all: Vec<String> = results(&early).iter().map(|result| result["partialFingerprints"].to_string()).collect();
    let found = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), found);
}
