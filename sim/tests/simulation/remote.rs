//! Agents on other machines (AGENT-14, AGENT-27, RESULT-06, RESULT-13, TASK-10).

use forkcast_sim::agent::settings::RemoteRun;
use forkcast_sim::agent::tool;
use forkcast_sim::agent::world::pattern::Pattern;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::simulation::{Finished, Setup};
use forkcast_sim::time::Duration;
use serde_json::{Value, json};

use super::stage::{asked, finished, log, rule, says, setup, types};

fn run(result: &str, fails: bool, takes_ms: Option<u64>) -> RemoteRun {
    let takes = takes_ms.map(Duration::from_millis);
    RemoteRun { prompt: Pattern::new("Build*"), result: result.into(), fails, takes }
}

fn launches(prompt: &str) -> Said {
    let input =
        json!({ "description": "build it", "prompt": prompt, "subagent_type": "worker", "isolation": "remote" });
    Said::ToolUse { id: "toolu_far".into(), name: "Agent".into(), input }
}

fn remote(run: RemoteRun, rules: Vec<Rule>) -> Setup {
    let mut rules = rules;
    rules.push(Rule { times: None, ..says("main", "I wait.") });
    let mut setup = setup(rules, vec![types(0, "Build it.")]);
    setup.settings.internal_build = true;
    setup.settings.remote = vec![run];
    setup.tools = tool::offered(true, false, false);
    setup.keeps_drafts = true;
    setup
}

fn events(finished: &Finished, word: &str) -> Vec<Value> {
    log(finished).into_iter().filter(|event| event["event"] == word).collect()
}

#[test]
fn agent_27_result_06_result_13_a_service_runs_the_agent_and_a_notification_brings_the_result() {
    let finished =
        finished(remote(run("It builds.", false, Some(40_000)), vec![rule("main", vec![launches("Build it all.")])]));
    assert_eq!(events(&finished, "agent.result")[0]["status"], "remote_launched");
    assert_eq!(finished.agents.len(), 1, "nothing of it runs here");
    let heard = asked(&finished, "main");
    for words in ["taskId: remote-", "sessionUrl: https://", "output_file: /tmp/claude/"] {
        assert!(heard[1].contains(words), "{words}: {}", heard[1]);
    }
    assert!(!heard[1].contains("It builds."));
    let last = heard.last().unwrap();
    for words in ["<task-notification>", "It builds.", "<status>completed</status>", "build it"] {
        assert!(last.contains(words), "{words}: {last}");
    }
    let queued = events(&finished, "queue.enqueue").into_iter().find(|event| event["source"] == "remote").unwrap();
    assert_eq!((queued["mode"].as_str(), queued["priority"].as_str()), (Some("task-notification"), Some("later")));
    let took = finished.log.iter().find(|logged| matches!(logged.event, forkcast_sim::agent::Event::Notified { .. }));
    assert!(took.unwrap().at.0 / 1_000_000 >= 40_000);
}

#[test]
fn agent_27_a_run_can_fail_and_an_unknown_prompt_does() {
    for (prompt, why) in [("Build it all.", "no disk"), ("Sing.", "no answer for this prompt")] {
        let finished = finished(remote(run("no disk", true, Some(1_000)), vec![rule("main", vec![launches(prompt)])]));
        let heard = asked(&finished, "main").last().unwrap().clone();
        assert!(heard.contains("<status>failed</status>") && heard.contains(why), "{heard}");
    }
}

#[test]
fn task_10_a_remote_agent_is_stopped_there() {
    let rules = vec![rule("main", vec![launches("Build it all.")])];
    let mut setup = remote(run("never", false, None), rules);
    let kill = forkcast_sim::simulation::Does::Kills("build it".into());
    setup.acts.push(super::stage::at(5_000, kill));
    let finished = finished(setup);
    assert!(asked(&finished, "main").last().unwrap().contains("<status>killed</status>"));
}

#[test]
fn agent_14_agent_27_other_builds_refuse_it() {
    let mut setup = remote(run("It builds.", false, Some(1)), vec![rule("main", vec![launches("Build it all.")])]);
    setup.settings.internal_build = false;
    let finished = finished(setup);
    assert_eq!(events(&finished, "agent.refused").len(), 1);
    assert!(events(&finished, "agent.result").is_empty());
}

#[test]
fn queue_08_notify_14_reviews_and_plans_on_another_machine_are_reported_as_tasks() {
    for command in ["ultraplan", "ultrareview"] {
        let mut setup = remote(run("It is sound.", false, Some(40_000)), Vec::new());
        setup.acts = vec![types(0, &format!("/{command} Build the app"))];
        let played = finished(setup);
        let queued = events(&played, "queue.enqueue").into_iter().find(|event| event["source"] == "remote").unwrap();
        assert_eq!(queued["mode"], "task-notification");
        let heard = asked(&played, "main");
        assert_eq!(heard.len(), 1, "the command itself asks nothing");
        for words in
            ["<local-command-stdout>", "works on another machine", "<task-notification>", "It is sound.", command]
        {
            assert!(heard[0].contains(words), "{words}: {}", heard[0]);
        }
    }
}

#[test]
fn queue_08_other_builds_have_no_such_command() {
    let mut setup = remote(run("It is sound.", false, Some(1)), Vec::new());
    setup.settings.internal_build = false;
    setup.acts = vec![types(0, "/ultraplan Build the app")];
    let played = finished(setup);
    assert!(events(&played, "task.state").is_empty());
    assert!(asked(&played, "main")[0].contains("/ultraplan Build the app"), "it is a prompt");
}
