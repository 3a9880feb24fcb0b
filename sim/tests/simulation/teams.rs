//! Teams (SWARM, AGENT-07, AGENT-24, AGENT-25, AGENT-35, PERM-06, RESULT-05, MSG-05).

mod asking;
mod list;
mod mail;

use std::rc::Rc;

use forkcast_sim::agent::permission::{Mode, Permissions};
use forkcast_sim::agent::settings::{Place, Teams};
use forkcast_sim::agent::{Event, tool};
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::simulation::{Act, Does, Finished, Setup};
use serde_json::{Value, json};

use super::stage::{asked, at, calls, finished, log, rule, says, setup, slow, types};
use asking::rules_of;

/// A session with a current team called `crew`.
fn team(rules: Vec<Rule>, acts: Vec<Act>) -> Setup {
    let mut setup = setup(rules, acts);
    setup.settings.teams = Some(Teams { current: Some("crew".into()), ..Teams::default() });
    setup.tools = tool::with_teams(&tool::offered(true, true, false));
    setup.keeps_drafts = true;
    setup
}

fn used(id: &str, name: &str, input: Value) -> Said {
    Said::ToolUse { id: id.into(), name: name.into(), input }
}

/// A call that starts a teammate; its script is the list with this id.
fn joins(name: &str) -> Said {
    let input =
        json!({ "description": name, "prompt": format!("You are {name}."), "subagent_type": "worker", "name": name });
    used(name, "Agent", input)
}

fn tells(to: &str, words: &str) -> Said {
    used("", "SendMessage", json!({ "to": to, "message": words, "summary": "news" }))
}

/// Everything else that the main agent is asked.
fn idle() -> Rule {
    Rule { times: None, ..says("main", "I wait.") }
}

/// The main agent says this to what contains `words`.
fn when(words: &str, said: Vec<Said>) -> Rule {
    Rule { last_user: Some(words.into()), ..rule("main", said) }
}

fn events(finished: &Finished, word: &str) -> Vec<Value> {
    log(finished).into_iter().filter(|event| event["event"] == word).collect()
}

/// The values of this field in the events with this name.
fn field(finished: &Finished, word: &str, name: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    events(finished, word).iter().map(|event| text(&event[name])).collect()
}

/// The id of the teammate with this name.
fn id(finished: &Finished, name: &str) -> Rc<str> {
    let joined = events(finished, "team.joined").into_iter().find(|event| event["name"] == name).unwrap();
    joined["agent"].as_str().unwrap().into()
}

/// When the first of these events happened, in milliseconds.
fn first(finished: &Finished, fits: impl Fn(&Event) -> bool) -> u64 {
    finished.log.iter().find(|logged| fits(&logged.event)).unwrap().at.0 / 1_000_000
}

/// The final state of a teammate's task.
fn state(finished: &Finished, name: &str) -> &'static str {
    let id = id(finished, name);
    finished.agents.iter().find(|agent| agent.id == id).unwrap().state
}

fn results(finished: &Finished, agent_type: &str) -> String {
    asked(finished, agent_type).last().unwrap().clone()
}

#[test]
fn agent_07_agent_24_result_05_swarm_21_a_name_in_a_team_starts_a_teammate() {
    let rules = || vec![rule("main", vec![joins("ina")]), says("ina", "Here."), idle()];
    let finished = finished(team(rules(), vec![types(0, "Begin.")]));
    assert_eq!(field(&finished, "agent.route", "route"), ["teammate"]);
    assert_eq!(field(&finished, "agent.route", "why"), ["current_team"]);
    assert_eq!(field(&finished, "agent.result", "status"), ["teammate_spawned"]);
    assert_eq!(field(&finished, "team.joined", "team"), ["crew"]);
    let said = results(&finished, "main");
    for words in [&*format!("teammate_id: {}", id(&finished, "ina")), "name: ina", "team_name: crew"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let schema = tool::every();
    let hidden = |setup: &Setup| {
        let schema = forkcast_sim::agent::spawn::input::visible_schema(&setup.settings);
        [schema.pointer("/properties/team_name").is_none(), schema.pointer("/properties/mode").is_none()]
    };
    assert_eq!(schema.all().len() + 7, team(rules(), Vec::new()).tools.all().len());
    assert_eq!([hidden(&team(rules(), Vec::new())), hidden(&setup(rules(), Vec::new()))], [[false; 2], [true; 2]]);
}

#[test]
fn agent_07_the_calls_team_goes_before_the_current_one_and_a_team_alone_does_nothing() {
    let call = |more: Value| {
        let mut input = json!({ "description": "a", "prompt": "b", "subagent_type": "worker" });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let finished = finished(team(
            vec![rule("main", vec![used("ina", "Agent", input)]), says("worker", "Here."), idle()],
            vec![types(0, "Begin.")],
        ));
        (field(&finished, "agent.route", "route"), field(&finished, "team.joined", "team"))
    };
    let of = |route: &str, team: &[&str]| {
        (vec![route.to_owned()], team.iter().map(|team| (*team).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(call(json!({ "name": "ina", "team_name": "other" })), of("teammate", &["other"]));
    assert_eq!(call(json!({ "name": "ina" })), of("teammate", &["crew"]));
    assert_eq!(call(json!({ "team_name": "other" })), of("named", &[]));
}

#[test]
fn agent_24_without_teams_a_call_for_one_is_refused() {
    let input = json!({ "description": "a", "prompt": "b", "name": "ina", "team_name": "crew" });
    let mut setup = team(vec![rule("main", vec![used("", "Agent", input)]), idle()], vec![types(0, "Begin.")]);
    setup.settings.teams = None;
    let finished = finished(setup);
    assert_eq!(events(&finished, "agent.refused").len(), 1);
    assert!(results(&finished, "main").contains("has no teams"));
}

#[test]
fn swarm_01_agent_35_what_a_teammate_shares_depends_on_where_it_runs() {
    let reads = |name: &str| rule(name, vec![used("", "Read", json!({ "file_path": "/repo/README.md" }))]);
    let writes = |name: &str| {
        rule(name, vec![used("", "Write", json!({ "file_path": format!("/repo/{name}.md"), "content": "mine" }))])
    };
    let names = ["ina", "lou", "rae"];
    let mut rules = vec![reads("main"), rule("main", names.map(joins).to_vec())];
    rules.extend(names.map(writes));
    rules.extend(names.map(|name| says(name, "Written.")));
    rules.push(idle());
    let mut setup = team(rules, vec![types(0, "Begin.")]);
    setup.settings.teams.as_mut().unwrap().places =
        [("lou".into(), Place::Local), ("rae".into(), Place::Remote)].into();
    let finished = finished(setup);
    assert_eq!(field(&finished, "team.joined", "place"), ["in_process", "local", "remote"]);
    assert_eq!(field(&finished, "context.created", "read_files"), ["1", "0", "0"]);
    let files = &finished.session.as_ref().unwrap().world.files;
    let written = names.map(|name| files.exists(&format!("/repo/{name}.md")));
    assert_eq!(written, [true, true, false], "the files of another machine are its own");
}

#[test]
fn swarm_04_swarm_22_a_teammate_has_its_own_history_and_its_own_signal() {
    let rules = vec![
        rule("main", vec![joins("ina"), joins("lou")]),
        slow("main", "I think.", 8_000),
        idle(),
        slow("ina", "Done.", 6_000),
        slow("lou", "Done too.", 9_000),
    ];
    let acts = vec![types(0, "Secret."), at(3_500, Does::Escape), at(4_000, Does::Kills("lou".into()))];
    let finished = finished(team(rules, acts));
    assert_eq!(field(&finished, "query.end", "reason").iter().filter(|reason| **reason == "aborted").count(), 2);
    assert_eq!([state(&finished, "ina"), state(&finished, "lou")], ["completed", "killed"]);
    let heard = asked(&finished, "worker");
    assert!(heard.iter().all(|heard| !heard.contains("Secret.")) && heard[0].contains("You are ina."));
    assert!(results(&finished, "main").contains("<state>killed</state>"), "{}", results(&finished, "main"));
}

#[test]
fn swarm_09_names_and_colours_are_unique() {
    let rules = vec![
        rule("main", (0..10).map(|at| used(&format!("m{at}"), "Agent", joins("ina").input())).collect()),
        Rule { times: None, ..says("worker", "Here.") },
        idle(),
    ];
    let finished = finished(team(rules, vec![types(0, "Begin.")]));
    for name in ["name", "color"] {
        let mut all = field(&finished, "team.joined", name);
        assert_eq!(all.len(), 10);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 10, "{name}");
    }
}

trait Input {
    fn input(self) -> Value;
}

impl Input for Said {
    fn input(self) -> Value {
        match self {
            Self::ToolUse { input, .. } => input,
            _ => Value::Null,
        }
    }
}

#[test]
fn swarm_18_agent_25_swarm_19_perm_06_a_teammate_starts_neither_teammates_nor_background_agents() {
    let spawn = |more: Value| {
        let mut input = json!({ "description": "a", "prompt": "b", "subagent_type": "looker" });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    let background = || spawn(json!({ "run_in_background": true }));
    let run = |place: Place| {
        let rules = vec![
            rule("main", vec![joins("ina")]),
            idle(),
            calls("ina", "Agent", spawn(json!({ "name": "bo" }))),
            calls("ina", "Agent", spawn(json!({ "name": "bo", "team_name": "other" }))),
            calls("ina", "Agent", background()),
            calls("ina", "Agent", spawn(json!({}))),
            Rule { times: None, ..says("ina", "Done.") },
            says("looker", "I looked."),
        ];
        let mut setup = team(rules, vec![types(0, "Begin.")]);
        setup.settings.teams.as_mut().unwrap().places = [("ina".into(), place)].into();
        // With the gate open every other agent is forced to the background (G04).
        setup.settings.features = ["FORK_SUBAGENT".to_owned()].into();
        finished(setup)
    };
    let in_process = run(Place::InProcess);
    assert_eq!(events(&in_process, "agent.refused").len(), 3);
    assert_eq!(field(&in_process, "agent.result", "status"), ["teammate_spawned", "completed"]);
    let local = run(Place::Local);
    assert_eq!(events(&local, "agent.refused").len(), 2, "a process of its own has its own background");
    assert!(field(&local, "agent.result", "status").contains(&"async_launched".to_owned()));
}

#[test]
fn swarm_19_a_teammate_does_not_fork() {
    let rules = vec![
        rule("main", vec![joins("ina")]),
        idle(),
        calls("ina", "Agent", json!({ "description": "a", "prompt": "b" })),
        says("ina", "Done."),
        says("general-purpose", "I did it."),
    ];
    let mut setup = team(rules, vec![types(0, "Begin.")]);
    setup.settings.features = ["FORK_SUBAGENT".to_owned()].into();
    let finished = finished(setup);
    assert_eq!(field(&finished, "agent.route", "why"), ["current_team", "teammate"]);
    assert_eq!(events(&finished, "fork.closed").last().unwrap()["failed"], json!(["teammate"]));
    assert!(events(&finished, "fork.built").is_empty());
}

#[test]
fn swarm_20_plan_mode_is_only_noted() {
    let plan = |mode: &str| {
        let mut input = joins("ina").input();
        input["mode"] = mode.into();
        let write = json!({ "file_path": "/repo/new.md", "content": "new" });
        let rules = vec![
            rule("main", vec![used("ina", "Agent", input)]),
            idle(),
            calls("ina", "Write", write),
            says("ina", "Written."),
        ];
        finished(team(rules, vec![types(0, "Begin.")]))
    };
    for (mode, required) in [("plan", "true"), ("default", "false")] {
        let finished = plan(mode);
        assert_eq!(field(&finished, "team.joined", "plan_mode_required"), [required]);
        assert_eq!(field(&finished, "permission.reply", "by").last().unwrap(), "mode", "its own mode still decides");
        assert!(finished.session.as_ref().unwrap().world.files.exists("/repo/new.md"));
    }
}

#[test]
fn a_run_with_a_team_is_the_same_twice_and_ends_without_a_terminal() {
    let run = |interactive: bool| {
        let rules = vec![
            rule("main", vec![joins("ina"), joins("lou")]),
            idle(),
            calls("ina", "Bash", json!({ "command": "cargo check", "run_in_background": true })),
            says("ina", "It runs."),
            says("ina", "It passed."),
            slow("lou", "Done.", 2_000),
        ];
        let mut setup = team(rules, vec![types(0, "Begin.")]);
        setup.permissions = Permissions::new(Mode::Default, false, rules_of(&["Bash"], &[]));
        setup.settings.interactive = interactive;
        finished(setup)
    };
    assert_eq!(run(true).digest, run(true).digest);
    for interactive in [true, false] {
        let finished = run(interactive);
        assert_eq!([state(&finished, "ina"), state(&finished, "lou")], ["completed"; 2]);
        assert!(asked(&finished, "worker").iter().any(|heard| heard.contains("<task-notification>")));
    }
}
