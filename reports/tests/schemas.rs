//! Output conforms to the schemas, for the sample and for recordings with every kind of problem.

use forkcast_fixtures::beside;
use forkcast_fixtures::{golden, workspace};
use forkcast_replay::calibrate::calibrate;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, SizeSource, Sizing, replay};
use forkcast_reports::comparison::Sides;
use forkcast_reports::document::json;
use forkcast_reports::format::{self, SCHEMAS, schemas};
use forkcast_reports::human::list::{self, Layout};
use forkcast_reports::names::Names;
use forkcast_reports::report::{By, Limits, Report, View, Window, Zone, since, until};
use forkcast_sim::diagnosis::{CAUSES, Circumstances, Subject, compare};
use forkcast_sim::pricing::{ModelKey, PriceBook, Terms};
use forkcast_sim::wire::{Pins, Usage, Wire, spelling};
use serde_json::Value;

use crate::written::{check, text, validator};

fn ledger_of(report: &Report<'_>) -> String {
    text(|target| {
        let mut written = Ok(());
        report.each(&mut |entry| written = format::ledger::write(report, entry, &mut *target));
        written
    })
}

/// A request without a price, one without usage, one to another provider, one that is no request, and a broken line.
const TROUBLE: &str = r#"{"v":1,"request":{"model":"claude-3-opus-20240229","messages":[{"role":"user","content":"a"}]},"response":{"usage":{"input_tokens":9,"output_tokens":3}}}
{"v":1,"request":{"model":"claude-opus-4-8","messages":[{"role":"user","content":"b"}]}}
{"v":1,"request":{"model":"gpt-5","messages":[]},"response":{"usage":{"prompt_tokens":9}}}
{"v":1,"request":{"model":"claude-opus-4-8","messages":7},"response":{"usage":{"input_tokens":9,"output_tokens":3}}}
{"v":1,"request":
"#;

fn inputs() -> [Inputs; 5] {
    let read = |name: &str, text: &str| Inputs::from_bytes(name, text.as_bytes(), InputFormat::Auto);
    let trouble = || read("trouble.jsonl", TROUBLE);
    // The second line alone: nothing is recorded.
    let silent = || read("silent.jsonl", TROUBLE.lines().nth(1).unwrap());
    let mut mixed = trouble();
    mixed.scopes.extend(silent().scopes);
    [Inputs::sample(), trouble(), silent(), mixed, read("none.txt", "hello")]
}

/// Everything, without names, and a part of it in groups with limits.
fn views() -> [View; 3] {
    let limits =
        Limits { cost_max: "0.05".parse().ok(), hit_rate_min: "50%".parse().ok(), unexplained_tokens_max: Some(0) };
    let window = Window {
        since: since("2026-11-02T23:51:00Z", &Zone::default()).ok(),
        until: until("2026-11-03", &Zone::default()).ok(),
    };
    [Names::Plain.into(), Names::Anonymous.into(), View { by: Some(By::Day), window, limits, ..View::default() }]
}

/// Each view with sizes from another source.
fn sizing(inputs: &Inputs, view: &View) -> Sizing {
    match (view.names, view.by) {
        (_, Some(_)) => Sizing::new(SizeSource::Both, Some(calibrate(inputs))),
        (Names::Anonymous, None) => Sizing::new(SizeSource::Counted, None),
        (Names::Plain, None) => Sizing::default(),
    }
}

#[test]
fn replays_and_ledgers_follow_their_schemas() {
    let (run, line) = (validator("forkcast.replay/1"), validator("forkcast.ledger/1"));
    for inputs in inputs() {
        for view in views() {
            let options = Options { sizing: sizing(&inputs, &view), ..Options::default() };
            let replay = replay(&inputs, &options);
            let report = Report::new(&inputs, &replay, &options, view);
            let value = check(&run, &text(|target| format::replay::write(&report, target)));
            let counted = replay.entries.len() as u64 - report.left_out.requests();
            assert_eq!(value["totals"]["requests"], counted);
            let ledger = ledger_of(&report);
            assert_eq!(ledger.lines().count() as u64, counted);
            for text in ledger.lines() {
                check(&line, text);
            }
        }
    }
}

/// Real recordings of every provider, if they are present.
#[test]
fn reports_of_recordings_follow_their_schemas() {
    let (run, line) = (validator("forkcast.replay/1"), validator("forkcast.ledger/1"));
    for name in ["cassettes-pydantic-ai", "cassettes-ruby-llm", "cassettes-crewai", "wire-cache-fix"] {
        let Some(folder) = beside(name) else { continue };
        let inputs = Inputs::read(&[folder], InputFormat::Auto).unwrap();
        let options = Options::default();
        let replay = replay(&inputs, &options);
        let report = Report::new(&inputs, &replay, &options, View { by: Some(By::Model), ..View::default() });
        let value = check(&run, &text(|target| format::replay::write(&report, target)));
        assert!(value["groups"].as_array().unwrap().len() > 1, "{name}");
        ledger_of(&report).lines().for_each(|text| drop(check(&line, text)));
    }
}

/// The counts of a report add up: over agents, over causes, over what can and cannot be compared.
#[test]
fn sums_are_whole() {
    for inputs in inputs() {
        let options = Options::default();
        let replay = replay(&inputs, &options);
        let report = Report::new(&inputs, &replay, &options, Names::Plain);
        for session in &report.sessions {
            let usage = session.agents.iter().fold(Usage::default(), |sum, agent| sum + agent.billed.usage);
            assert_eq!(session.account.billed.usage, usage);
        }
        let account = &report.totals;
        let sessions = || report.sessions.iter().map(|session| &session.account);
        assert_eq!(account.billed.usage, sessions().fold(Usage::default(), |sum, part| sum + part.billed.usage));
        assert_eq!(account.billed.cost.unwrap_or_default(), sessions().filter_map(|part| part.billed.cost).sum());
        let sums = &account.agreement.sums;
        assert_eq!(sums.comparable + sums.not_comparable.iter().sum::<u64>(), account.ledger.requests);
        if let Some((bill, perfect)) = account.billed.cost.zip(account.perfect) {
            let causes: forkcast_sim::pricing::Money = account.causes().iter().map(|(_, total)| total.cost).sum();
            assert_eq!(bill - perfect, causes);
        }
    }
}

#[test]
fn comparisons_follow_their_schema() {
    let validator = validator("forkcast.diff/1");
    let inputs = Inputs::sample();
    let exchanges: Vec<_> = inputs.exchanges().collect();
    for pair in exchanges.windows(2) {
        let mut wire = Wire::default();
        let [old, new] = [0, 1].map(|at| wire.read(&pair[at].body, "test", "").unwrap());
        let comparison = compare(&wire, &old, &new);
        let rules = forkcast_sim::cache::Rules::default();
        let [old, new] = [old, new].map(|request| {
            let sizes = Pins::default().sizes(&request, &wire, None, None);
            Subject::new(0, request, sizes, &rules)
        });
        let spelling = spelling::notes(&pair[0].body, &pair[1].body, wire.forms()).unwrap();
        let rates = PriceBook::built_in().rates(&ModelKey::from(new.request.model.as_str()), &Terms::default()).ok();
        let sides = Sides {
            wire: &wire,
            rules: &rules,
            older: &old,
            newer: &new,
            are_measured: false,
            comparison: &comparison,
            spelling: &spelling,
            circumstances: Circumstances::default(),
            rates: rates.as_ref(),
            prices: "list prices of 2026-11-21".to_owned(),
            titles: ["a", "b"],
            origin: (None, Some(1)),
            names: Names::Plain,
        };
        for content in [false, true] {
            let value = check(&validator, &text(|target| format::diff::write(&sides, content, target)));
            let found = !comparison.differences.is_empty();
            assert_eq!(value["cause"].is_string(), found);
            assert_eq!(value.get("window").is_some(), found && content);
        }
    }
}

#[test]
fn the_schemas_list_every_cause() {
    for (name, text) in SCHEMAS.iter() {
        let schema: Value = serde_json::from_str(text).unwrap();
        // Lists and manifests hold no requests; casts, fan-outs and sweeps hold no causes.
        let Some(known) = schema["$defs"]["cause"]["enum"].as_array() else {
            let without = ["cast/1", "list/1", "manifest/1", "fanout/1", "plan/2", "sweep/1"]
                .map(|name| format!("forkcast.{name}"));
            assert!(without.iter().any(|known| known == name), "{name}");
            continue;
        };
        let known: Vec<&str> = known.iter().filter_map(Value::as_str).collect();
        assert_eq!(known, CAUSES.map(|cause| cause.word()), "{name}");
    }
}

#[test]
fn lists_follow_their_schema() {
    let validator = validator("forkcast.list/1");
    let (models, prices) = (list::models(Layout::Flat), list::prices(&PriceBook::built_in(), Layout::Flat));
    let others = [list::profiles(), list::policies(), list::formats(), list::what_ifs(), list::schemas()];
    for document in [models, prices].into_iter().chain(others) {
        let value = check(&validator, &text(|target| json::write(&document, target)));
        // The version and one table; prices have a second table, for fees.
        let tables = value.as_object().unwrap().len() - 1;
        assert_eq!(tables, if value.get("prices").is_some() { 2 } else { 1 });
    }
}

/// Names of files are names of formats, and every schema has a description. `FORKCAST_UPDATE=1` rewrites the files.
#[test]
fn schemas_describe_themselves() {
    for schema in schemas::schemas() {
        let value: Value = serde_json::from_str(schema.text).unwrap();
        assert_eq!(value["title"], schema.name);
        assert_eq!(value["$id"], format!("forkcast:{}", schema.name));
        assert!(schema.description().len() > 20, "{}", schema.name);
        golden(&workspace().join("reports/schema").join(schema.file_name()), schema.text);
    }
}

/// Every property of these schemas, with its path.
fn properties<'s>(schema: &'s Value, path: &str, found: &mut Vec<(String, &'s Value)>) {
    match schema {
        Value::Object(fields) => {
            for (word, value) in fields {
                if let ("properties", Value::Object(own)) = (word.as_str(), value) {
                    found.extend(own.iter().map(|(name, property)| (format!("{path}.{name}"), property)));
                }
                properties(value, &format!("{path}.{word}"), found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| properties(value, path, found)),
        _ => {}
    }
}

/// What a field lacks: its meaning, which an object may say where it is defined, its unit if it is a number, and when it is
/// null if it can be.
fn lacks(field: &Value, schema: &Value) -> Option<&'static str> {
    let says = |part: &str| field.to_string().contains(part);
    let defined = field["$ref"].as_str().and_then(|place| schema.pointer(place.trim_start_matches('#')));
    let meanings = [Some(field), defined].into_iter().flatten().filter_map(|said| said["description"].as_str());
    let meaning = meanings.into_iter().next().unwrap_or_default();
    let is_number = [&field["type"], &field["items"]["type"], &field["anyOf"][0]["type"]]
        .iter()
        .any(|kind| ["\"integer\"", "\"number\""].iter().any(|word| kind.to_string().contains(word)));
    let can_be_null = field["type"].to_string().contains("\"null\"")
        || field["anyOf"].to_string().contains("\"null\"")
        || field["enum"].to_string().contains("null]");
    match () {
        () if !meaning.ends_with('.') => Some("meaning"),
        () if is_number && !says("\"unit\":") => Some("unit"),
        () if can_be_null && !meaning.contains(" Null ") => Some("when it is null"),
        () => None,
    }
}

#[test]
fn every_field_has_its_meaning_and_unit_and_says_when_it_is_null() {
    let mut fields = 0;
    for (name, text) in SCHEMAS.iter() {
        let schema: Value = serde_json::from_str(text).unwrap();
        let mut found = Vec::new();
        properties(&schema, name, &mut found);
        for (path, field) in found {
            assert_eq!(lacks(field, &schema), None, "{path}: {field}");
            fields += 1;
        }
    }
    assert!(fields > 1_300, "{fields}");
    let planted = serde_json::json!({"type": ["integer", "null"], "unit": "ms", "description": "A time."});
    assert_eq!(lacks(&planted, &Value::Null), Some("when it is null"));
}
