//! What machines and people read of forks.

use forkcast_reports::document::{money, terminal};
use forkcast_reports::format::{self, SCHEMAS};
use forkcast_reports::human;
use forkcast_scenarios::catalog;
use forkcast_scenarios::run::remedy::remedy;
use forkcast_scenarios::run::{Options, Run, play};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;
use serde_json::Value;

use super::fan::Fan;

fn object(run: &Run) -> Value {
    let mut text = Vec::new();
    format::run::write(run, &[], &mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn page(run: &Run) -> String {
    let mut text = Vec::new();
    terminal::write(&human::run::document(run, &[]), terminal::Look::default(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_run_with_forks_follows_its_schema() {
    let (_, schema) = SCHEMAS.iter().find(|(name, _)| *name == "forkcast.run/1").unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let broken = "{ablations: [drop-agent]}";
    for (breakpoints, forks) in [("tail", "{}"), ("both", "{launch: primed}"), ("none", "{}"), ("tail", broken)] {
        let value = object(&Fan { breakpoints, forks, ..Fan::default() }.run());
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let mut more = value.clone();
        more["fan_outs"][0]["more"] = 1.into();
        more["requests"][0]["causes"] = serde_json::json!([{ "cause": "expired" }]);
        assert!(validator.iter_errors(&more).count() > 1, "unknown and missing fields are refused");
    }
}

/// The expected read is the content of the parent's cache: read and write of its last request.
#[test]
fn a_forks_first_request_is_compared_with_its_parents_last() {
    let value = object(&Fan::default().run());
    let (agents, requests) = (value["agents"].as_array().unwrap(), value["requests"].as_array().unwrap());
    let forks: Vec<&Value> = agents.iter().filter(|agent| agent["kind"] == "fork").collect();
    assert_eq!(forks.len(), 5);
    assert_eq!(agents[0]["kind"], "main");
    for fork in forks {
        let first = requests.iter().find(|request| request["agent"] == fork["id"]).unwrap();
        let before = &requests[usize::try_from(first["continues"].as_u64().unwrap()).unwrap()];
        assert_eq!(before["agent"], "main");
        let usage = |name: &str| before["usage"][name].as_u64().unwrap();
        let left = usage("cache_read_input_tokens") + usage("cache_creation_input_tokens");
        assert_eq!(first["expected_tokens"], left);
        assert_eq!(first["verdict"], "full");
        assert_eq!(first["shared_tokens"], before["level_ends"]["messages"]);
        assert_eq!(fork["fork"]["read_from_parent_tokens"], left);
        assert_eq!(fork["fork"]["own_tokens"], 2_700, "message, placeholders, directive");
        assert_eq!(fork["fork"]["report"]["well_formed"], true);
    }
}

#[test]
fn sums_of_a_fan_out_are_those_of_its_forks() {
    let run = Fan::default().run();
    let value = object(&run);
    let fan_out = &value["fan_outs"][0];
    assert_eq!(fan_out["forks"].as_array().unwrap().len(), 5);
    assert_eq!(fan_out["parent"], "main");
    let forks = run.agents.iter().zip(run.sums_of_agents()).filter(|(agent, _)| agent.fork.is_some());
    let cost = forks.filter_map(|(_, sums)| sums.cost).reduce(|sum, cost| sum + cost).unwrap();
    let usd = |name: &str| fan_out[name].to_string().parse::<Money>().unwrap();
    assert_eq!(usd("cost_usd"), cost);
    assert!(usd("cost_usd") < usd("cost_without_cache_usd"));
    assert!(usd("cost_without_cache_usd") > Money::ZERO && usd("cost_cold_usd") > usd("cost_usd"));
    let read: u64 = value["agents"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|agent| agent["fork"]["read_from_parent_tokens"].as_u64())
        .sum();
    assert_eq!(fan_out["read_from_parent_tokens"], read);
}

#[test]
fn people_read_the_cost_of_a_fan_out_and_its_alternatives() {
    let page = page(&Fan { last_report: "Result: it is well", ..Fan::default() }.run());
    for part in [
        "5 forks of main, 15 requests: $",
        "; without a cache $",
        "; with cold starts $",
        "Read of parent",
        "Reports: 4 well-formed, 1 malformed; fork#5: it does not begin with `Scope:`",
    ] {
        assert!(page.contains(part), "{part}:\n{page}");
    }
    assert!(!page.contains("Look at part"), "no text of prompts");
}

#[test]
fn people_read_why_a_prefix_was_not_shared_and_what_saves_it() {
    let run = Fan { breakpoints: "both", turns: 1, ..Fan::default() }.run();
    let primed = Fan { breakpoints: "both", turns: 1, forks: "{launch: primed}", ..Fan::default() }.run();
    let [before, after] = [&run, &primed].map(|run| money(run.totals().cost.unwrap()));
    let page = page(&run);
    let advice = format!("What would save it, run again: --launch primed, {after} instead of {before}");
    for part in ["in_flight", "4 of 5", &advice] {
        assert!(page.contains(part), "{part}:\n{page}");
    }
}

/// Following advice that saves nothing was the finding: breakpoints alone changed no bill, because no fork waits.
#[test]
fn advice_is_run_again_and_only_given_if_it_saves() {
    let default = |set: &[&str]| {
        let changes: Vec<_> = set.iter().map(|one| one.parse().unwrap()).collect();
        let entry = catalog::find(catalog::DEFAULT).unwrap();
        play(entry.read(&changes).unwrap(), &Options::default())
    };
    let cost = |set: &[&str]| default(set).totals().cost.unwrap();
    let before = cost(&[]);
    let both = cost(&["session.breakpoints=both"]);
    let primed = cost(&["session.breakpoints=both", "session.forks.launch=primed"]);
    assert!(both == before && primed < before, "{both:?} {before:?} {primed:?}");
    let causes = [Cause::NoBreakpoint].into();
    let found = remedy(&default(&[]), &causes).unwrap();
    assert_eq!(found.options, ["--breakpoints both", "--launch primed"]);
    assert_eq!((found.before, found.after), (before, primed));
    // Under it, nothing more is advised.
    let best = default(&["session.breakpoints=both", "session.forks.launch=primed"]);
    assert_eq!(remedy(&best, &causes), None);
    let shown = page(&default(&[]));
    assert!(shown.contains("run again: --breakpoints both --launch primed, $0.6189 instead of $0.6331"), "{shown}");
    // Answers that are not in the scenario cannot be played again.
    assert_eq!(remedy(&Run { is_repeatable: false, ..default(&[]) }, &causes), None);
}

/// CACHE-30: level, place and byte of the first difference, in the words of `diff`, with its price.
#[test]
fn machines_and_people_read_which_block_broke_a_prefix() {
    let run = Fan { forks: "{ablations: [added-space]}", ..Fan::default() }.run();
    let value = object(&run);
    let miss = &value["fan_outs"][0]["misses"][0];
    assert_eq!(
        (&miss["cause"], &miss["level"], &miss["forks"]),
        (&"system_changed".into(), &"system".into(), &5.into())
    );
    assert!(miss["path"].as_str().unwrap().starts_with("system["), "{miss}");
    assert!(miss["offset_in_prefix"].as_u64() > miss["offset_in_block"].as_u64(), "{miss}");
    assert!(miss["cost_usd"].as_f64().unwrap() > 0.0);
    assert_eq!(value["options"]["forks"]["ablations"], serde_json::json!(["added-space"]));
    let requests = value["requests"].as_array().unwrap();
    let first = requests.iter().find(|request| request["causes"][0]["cause"] == "system_changed").unwrap();
    assert_ne!(first["verdict"], "full");
    assert!(first["shared_tokens"].as_u64().unwrap() >= 12_000, "the tools are shared: {first}");
    assert!(first["shared_tokens"].as_u64() < first["level_ends"]["system"].as_u64());
    let page = page(&run);
    for part in ["broke the prefix for all forks, at system[", "first differing byte", "broken on purpose: added-space"]
    {
        assert!(page.contains(part), "{part}:\n{page}");
    }
}

#[test]
fn a_run_without_forks_does_not_mention_them() {
    let run = play(catalog::find("day/working-day").unwrap().read(&[]).unwrap(), &Options::default());
    assert_eq!(object(&run)["fan_outs"], serde_json::json!([]));
    assert!(!page(&run).contains("Read of parent"));
}
