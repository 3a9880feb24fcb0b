//! Slash commands that run as agents of their own, and the Skill tool (SLASH, DIAG-06, AGENT-31, ASYNC-14).

use forkcast_sim::agent::Event;
use forkcast_sim::agent::definition::{Definitions, Ranking, Skill, Source, Text};
use forkcast_sim::agent::queue::Item;
use forkcast_sim::agent::session::Skills;
use forkcast_sim::agent::settings::Caller;
use forkcast_sim::agent::tool;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::simulation::{AskedBy, Does, Setup};
use serde_json::{Value, json};

use super::stage::{asked, at, calls, finished, log, rule, says, setup, slow, types};

const GENERAL: &str = "general-purpose";

/// A session with these skills: name, frontmatter, instructions.
fn skilled(skills: &[(&str, &str, &str)], rules: Vec<Rule>, lines: &[&str]) -> Setup {
    let acts = lines.iter().zip(0..).map(|(line, number)| types(number * 60_000, line)).collect();
    let mut setup = setup(rules, acts);
    let read = |(name, front, text): &(&str, &str, &str)| {
        let front = if front.is_empty() { String::new() } else { format!("---\n{front}\n---\n") };
        Skill::read(name, &format!("{front}{text}")).unwrap()
    };
    setup.skills = Skills::new(skills.iter().map(read));
    setup.keeps_drafts = true;
    setup
}

fn position(log: &[Value], fields: &[(&str, &str)]) -> usize {
    let fits = |event: &&Value| fields.iter().all(|(key, value)| event[*key] == *value);
    log.iter().position(|event| fits(&event)).unwrap_or_else(|| panic!("no {fields:?}"))
}

fn count(log: &[Value], fields: &[(&str, &str)]) -> usize {
    log.iter().filter(|event| fields.iter().all(|(key, value)| event[*key] == *value)).count()
}

#[test]
fn slash_01_diag_06_only_the_word_fork_forks_and_the_log_says_what_was_written_and_loaded() {
    let skills = [
        ("own", "context: fork", "Look."),
        ("here", "context: inline", "Look here."),
        ("big", "context: Fork", "Look there."),
        ("plain", "", "Look plainly."),
    ];
    let rules = vec![says(GENERAL, "Looked."), Rule { times: None, ..says("main", "Fine.") }];
    let finished = finished(skilled(&skills, rules, &["/own", "/here", "/big", "/plain closely"]));
    let told: Vec<_> = log(&finished)
        .into_iter()
        .filter(|event| event["event"] == "slash.context")
        .map(|event| (event["skill"].clone(), event["frontmatter"].clone(), event["context"].clone()))
        .collect();
    let wanted = [
        (json!("own"), json!("fork"), json!("fork")),
        (json!("here"), json!("inline"), json!("inline")),
        (json!("big"), json!("Fork"), json!("inline")),
        (json!("plain"), json!(null), json!("inline")),
    ];
    assert_eq!(told, wanted);
    assert_eq!(asked(&finished, GENERAL).len(), 1);
    let main = asked(&finished, "main");
    assert_eq!(main.len(), 3, "each of the others is a prompt");
    assert!(main[0].contains("Look here.") && main[2].contains("Look plainly.") && main[2].contains("closely"));
    assert!(!main[2].contains("Skill own"), "the instructions of the fork stay out of the main conversation");
}

#[test]
fn slash_02_allowed_tools_limit_the_tools_of_the_agent() {
    let skills = [
        ("few", "context: fork\nallowed-tools: Read, Bash(git:*)", "Look."),
        ("own", "context: fork\nallowed-tools: [Read, Write]\nagent: reader", "Look."),
        ("all", "context: fork", "Look."),
    ];
    let rules = vec![says(GENERAL, "Few."), says("reader", "Own."), says(GENERAL, "All.")];
    let mut setup = skilled(&skills, rules, &["/few", "/own", "/all"]);
    let text = "---\nname: reader\ndescription: for tests\ntools: [Read, Grep]\n---\nYou read.\n";
    let text = Text { source: Source::Project, path: "/repo/.claude/agents/reader.md".into(), text: text.into() };
    setup.definitions = Definitions::gather(&[text], Ranking::default());
    let finished = finished(setup);
    let tools = |agent_type: &str, number: usize| {
        let mut agents = finished.agents.iter().filter(|agent| &*agent.agent_type == agent_type);
        let id = agents.nth(number).unwrap().id.clone();
        let line = finished.entries.iter().position(|entry| entry.agent.as_deref() == Some(&*id)).unwrap();
        let draft = finished.drafts.draft(line);
        let names = draft.tools.iter().map(|piece| {
            let tool: Value = serde_json::from_str(piece.json()).unwrap();
            tool["name"].as_str().unwrap().to_owned()
        });
        names.collect::<Vec<_>>()
    };
    assert_eq!(tools(GENERAL, 0), ["Read", "Bash"]);
    assert_eq!(tools("reader", 0), ["Read"], "the type of the agent has no Write");
    assert!(tools(GENERAL, 1).len() > 4);
}

#[test]
fn slash_03_slash_04_slash_05_a_command_waits_for_its_agent_and_its_text_is_the_output() {
    let skills = [("review", "context: fork", "Review $ARGUMENTS now.")];
    let rules = vec![
        calls(GENERAL, "Read", json!({ "file_path": "/repo/README.md" })),
        slow(GENERAL, "All good.", 30_000),
        says("main", "Thanks."),
    ];
    let mut setup = skilled(&skills, rules, &["/review src"]);
    setup.acts.push(types(5_000, "And now?"));
    let finished = finished(setup);
    let log = log(&finished);
    let order = [
        position(&log, &[("event", "input.command"), ("step", "start")]),
        position(&log, &[("event", "slash.start"), ("skill", "review"), ("parent", "main")]),
        position(&log, &[("event", "context.created"), ("parent", "main")]),
        position(&log, &[("event", "agent.start"), ("agent_type", GENERAL)]),
        position(&log, &[("event", "ui.event"), ("kind", "progress")]),
        position(&log, &[("event", "slash.end"), ("reason", "completed")]),
        position(&log, &[("event", "input.command"), ("step", "end")]),
        position(&log, &[("event", "query.start"), ("agent", "main")]),
    ];
    assert!(order.is_sorted(), "{order:?}");
    assert!(asked(&finished, GENERAL)[0].contains("Review src now."));
    for absent in ["agent.route", "agent.result", "task.state", "notify.enqueued"] {
        assert_eq!(count(&log, &[("event", absent)]), 0, "{absent}: no model called it");
    }
    assert_eq!(count(&log, &[("event", "queue.enqueue")]), 2, "the two lines");
    let main = asked(&finished, "main");
    assert_eq!(main.len(), 1, "the command itself asks nothing");
    assert!(main[0].contains("<local-command-stdout>All good.</local-command-stdout>"));
    assert!(!main[0].contains("tool_result") && !main[0].contains("Review src"));
    let sent = finished
        .log
        .iter()
        .find(|logged| matches!(&logged.event, Event::RequestSent { agent, .. } if &**agent == "main"));
    assert!(sent.unwrap().at.0 > 30_000_000_000, "the next line waits for the command");
}

#[test]
fn slash_05_esc_stops_a_command_and_its_agent() {
    let skills = [("review", "context: fork", "Review.")];
    let rules = vec![slow(GENERAL, "All good.", 30_000), says("main", "Well.")];
    let mut setup = skilled(&skills, rules, &["/review"]);
    setup.acts.push(at(10_000, Does::Escape));
    setup.acts.push(types(11_000, "Never mind."));
    let finished = finished(setup);
    assert_eq!(count(&log(&finished), &[("event", "slash.end"), ("reason", "aborted")]), 1);
    assert_eq!(finished.agents[0].agent_type.as_ref(), GENERAL);
    assert_eq!(finished.agents[0].state, "killed");
    assert!(asked(&finished, "main")[0].contains("The user interrupted this command."));
}

#[test]
fn slash_06_slash_07_slash_08_async_14_in_assistant_mode_nothing_blocks_the_input() {
    let skills = [("review", "context: fork", "Review $ARGUMENTS.")];
    let result = |number| Rule { instance: Some(number), ..slow(GENERAL, &format!("Result {number}."), 40_000) };
    let mut rules: Vec<Rule> = (1..=3).map(result).collect();
    let look =
        json!({ "description": "look", "prompt": "Look.", "subagent_type": "looker", "run_in_background": false });
    rules.extend([calls("main", "Agent", look), says("looker", "Seen."), Rule { times: None, ..says("main", "Yes.") }]);
    let mut setup = skilled(&skills, rules, &[]);
    setup.settings.assistant = true;
    let scheduled = ["/review a", "/review b", "/review c"];
    setup.acts.extend(scheduled.map(|line| at(0, Does::Arrives(Item::prompt(line, "cron")))));
    setup.acts.push(types(1_000, "Are you there?"));
    let finished = finished(setup);
    let log = log(&finished);
    assert_eq!(count(&log, &[("event", "slash.start")]), 3);
    let starts =
        finished.log.iter().filter(|logged| matches!(logged.event, Event::SlashStarted { detached: true, .. }));
    assert!(starts.map(|logged| logged.at.0).eq([0; 3]), "none waits for another");
    let answered = position(&log, &[("event", "query.end"), ("agent", "main")]);
    assert!(answered < position(&log, &[("event", "slash.end")]), "the user is answered meanwhile");
    assert_eq!(count(&log, &[("event", "agent.result"), ("status", "async_launched")]), 1, "no agent blocks either");
    let results: Vec<_> =
        log.iter().filter(|event| event["event"] == "queue.enqueue" && event["source"] == "slash").collect();
    assert_eq!(results.len(), 3);
    assert!(results.iter().all(|event| event["mode"] == "prompt" && event["priority"] == "later"));
    let last = asked(&finished, "main").pop().unwrap();
    for number in 1..=3 {
        let result = format!("<result>Result {number}.</result>");
        assert_eq!(last.matches(&result).count(), 1, "{last}");
    }
    assert!(!last.contains("local-command-stdout"));
    assert_eq!(count(&log, &[("event", "input.step"), ("step", "process"), ("form", "hidden")]), 3);
}

#[test]
fn slash_09_the_gate_of_forks_has_no_part_in_it() {
    let run = |features: &[&str]| {
        let skills = [("review", "context: fork", "Review.")];
        let rules = vec![says("main", "Hello."), says(GENERAL, "All good.")];
        let mut setup = skilled(&skills, rules, &["Hello", "/review"]);
        setup.settings.features = features.iter().map(|feature| (*feature).to_owned()).collect();
        finished(setup)
    };
    for features in [&[][..], &["FORK_SUBAGENT"]] {
        let finished = run(features);
        assert_eq!(count(&log(&finished), &[("event", "fork.built")]), 0);
        let asked = asked(&finished, GENERAL);
        assert_eq!(asked.len(), 1);
        assert!(asked[0].contains("Review.") && !asked[0].contains("Hello") && !asked[0].contains("fork-boilerplate"));
    }
}

#[test]
fn agent_31_agent_32_four_kinds_of_runs_stay_apart_and_only_two_are_calls() {
    let skills = [("review", "context: fork", "Review.")];
    let named = json!({ "description": "look", "prompt": "Look.", "subagent_type": "looker" });
    let fork = json!({ "description": "fork", "prompt": "Fork." });
    let rules = vec![
        calls("main", "Agent", named),
        says("looker", "Seen."),
        calls("main", "Agent", fork),
        says("fork", "Scope: fork\nResult: done"),
        says(GENERAL, "Reviewed."),
        Rule { times: None, ..says("main", "Fine.") },
        Rule { times: None, ..says("session_memory", "Noted.") },
    ];
    let mut setup = skilled(&skills, rules, &["Go", "/review"]);
    setup.settings.features = ["FORK_SUBAGENT".to_owned()].into();
    setup.settings.helpers = [(Caller::SessionMemory, 1)].into();
    let finished = finished(setup);
    let log = log(&finished);
    let kinds: Vec<_> = ["looker", "fork", GENERAL, "session_memory"]
        .map(|agent_type| finished.agents.iter().find(|agent| &*agent.agent_type == agent_type).unwrap().asked_by)
        .into();
    assert_eq!(kinds, [AskedBy::Model, AskedBy::Model, AskedBy::Command, AskedBy::Runtime]);
    let begun = [
        ("agent.route", "route", "named", "looker"),
        ("agent.route", "route", "fork", "fork"),
        ("slash.start", "skill", "review", GENERAL),
        ("internal.start", "caller", "session_memory", "session_memory"),
    ];
    for (event, field, value, agent_type) in begun {
        assert!(count(&log, &[("event", event), (field, value)]) > 0, "{event} {value}");
        let agent = finished.agents.iter().find(|agent| &*agent.agent_type == agent_type).unwrap();
        let calls = count(&log, &[("event", "task.state"), ("task", &agent.id)]);
        assert_eq!(calls > 0, agent.asked_by == AskedBy::Model, "{agent_type} has a task only if a call asked for it");
    }
    assert_eq!(count(&log, &[("event", "agent.route")]), 2);
    assert_eq!(count(&log, &[("event", "notify.enqueued")]), 2, "the two calls, for the gate sends both away");
}

#[test]
fn the_skill_tool_gives_instructions_or_the_text_of_the_agent_that_runs_the_skill() {
    let skills = [("style", "", "Use tabs for $ARGUMENTS."), ("review", "context: fork", "Review.")];
    let skill = |name: &str| Said::ToolUse {
        id: "".into(),
        name: "Skill".into(),
        input: json!({ "skill": name, "args": "lists" }),
    };
    let rules = vec![
        rule("main", vec![skill("style"), skill("review"), skill("gone")]),
        says(GENERAL, "All good."),
        says("main", "Done."),
    ];
    let mut setup = skilled(&skills, rules, &["Go"]);
    setup.tools = tool::offered(false, false, true);
    let finished = finished(setup);
    let last = asked(&finished, "main").pop().unwrap();
    assert!(last.contains("Use tabs for lists.") && last.contains("All good."), "{last}");
    assert!(last.contains("Skill: there is no `gone`; available: `review`, `style`"), "{last}");
    assert!(asked(&finished, GENERAL)[0].contains("Arguments: lists"));
    assert_eq!(count(&log(&finished), &[("event", "slash.start"), ("parent", "main")]), 1);
}
