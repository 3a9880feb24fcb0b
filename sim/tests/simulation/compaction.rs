//! Compaction: the first step of every iteration (COMPACT, STOP-06, FORK-49).

use forkcast_sim::agent::Event;
use forkcast_sim::agent::permission::{Mode, Permissions, Rule as Allowed, Rules};
use forkcast_sim::agent::settings::{Caller, Compaction, Idle, Mechanism};
use forkcast_sim::agent::world::{Files, Rule as ShellRule, Shell, World};
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::simulation::{AskedBy, Finished, Setup};
use serde_json::json;

use super::stage::{asked, calls, finished, says, setup, types};

/// Thresholds in percent of 20,000 tokens.
fn options(percents: [Option<u64>; 3]) -> Option<Compaction> {
    Some(Compaction { window_tokens: 20_000, percents, kept_results: 1, idle: None })
}

/// An agent of this type shows a log of 2,000 tokens `times` times and says that it is done.
fn showing(agent: &str, times: usize) -> Vec<Rule> {
    let show = || calls(agent, "Bash", json!({ "command": "show log", "description": "Show the log" }));
    let mut rules: Vec<Rule> = (0..times).map(|_| show()).collect();
    rules.push(says(agent, "Done."));
    rules
}

fn compacting(percents: [Option<u64>; 3], rules: Vec<Rule>) -> Setup {
    let summary = Rule { times: None, ..says("compact", "The log was shown.") };
    let mut setup = setup([rules, vec![summary]].concat(), vec![types(0, "Show it.")]);
    setup.settings.compaction = options(percents);
    let log: String = (0..200).map(|line| format!("line {line} of the log of this build, all is well\n")).collect();
    setup.world = World::new(Files::default(), Shell::new(vec![ShellRule::new("show log", &log)]));
    let allow = vec![Allowed::parse("Bash").unwrap()];
    setup.permissions = Permissions::new(Mode::Default, false, Rules { allow, ..Rules::default() });
    setup.keeps_drafts = true;
    setup
}

/// What was done: agent's type, mechanism, entries before and after.
fn done(finished: &Finished) -> Vec<(String, &'static str, usize, usize)> {
    let type_of = |id: &str| finished.agents.iter().find(|agent| &*agent.id == id).unwrap().agent_type.to_string();
    let found = finished.log.iter().filter_map(|logged| match &logged.event {
        Event::Compacted { agent, mechanism, entries, left, .. } => Some((type_of(agent), *mechanism, *entries, *left)),
        _ => None,
    });
    found.collect()
}

#[test]
fn compact_01_compact_02_compact_06_the_ladder_runs_at_the_head_of_an_iteration_in_order() {
    let finished = finished(compacting([Some(40), Some(41), Some(90)], showing("main", 10)));
    let mechanisms: Vec<_> = done(&finished).into_iter().map(|(_, mechanism, ..)| mechanism).collect();
    assert!(mechanisms.starts_with(&["snip"]) && mechanisms.contains(&"micro"), "{mechanisms:?}");
    let asked = asked(&finished, "main");
    assert!(asked[1].contains("line 199 of the log") && !asked[1].contains("snipped"), "the first result is whole");
    let last = asked.last().unwrap();
    assert!(last.contains("characters snipped]") || last.contains("[Old tool result content cleared]"));
    assert_eq!(last.matches("line 199 of the log").count(), 1, "the newest result stays");
    assert_eq!(last.matches("\"type\":\"tool_result\"").count(), 10, "no result is lost");
    // The step and what it changes come before the request that it is for.
    let words: Vec<String> = finished
        .log
        .iter()
        .filter_map(|logged| match &logged.event {
            Event::QueryStep { agent, step, .. } if &**agent == "main" => Some((*step).to_owned()),
            Event::Compacted { mechanism, .. } => Some((*mechanism).to_owned()),
            _ => None,
        })
        .collect();
    for (at, _) in words.iter().enumerate().filter(|(_, word)| ["snip", "micro"].contains(&word.as_str())) {
        assert!(["compact", "snip"].contains(&words[at - 1].as_str()), "{words:?}");
        assert!(["prompt", "micro"].contains(&words[at + 1].as_str()), "{words:?}");
    }
    assert!(finished.laws_held.contains(&"compaction"));
    let system = finished.drafts.draft(0).system;
    assert!(system.iter().any(|piece| piece.json().contains("cleared")), "the prompt says that results may go");
}

#[test]
fn compact_01_a_change_in_the_middle_of_a_conversation_is_sent() {
    let finished = finished(compacting([None, Some(40), None], showing("main", 4)));
    assert!(!done(&finished).is_empty());
    let asked = asked(&finished, "main");
    let cleared: Vec<usize> =
        asked.iter().map(|text| text.matches("[Old tool result content cleared]").count()).collect();
    assert!(cleared.is_sorted() && *cleared.last().unwrap() >= 2, "{cleared:?}");
    let first = asked.first().unwrap();
    assert!(asked.iter().all(|text| text.starts_with(&first[..first.len()])), "what is before it stays");
}

#[test]
fn compact_03_compact_04_compact_07_compact_08_internal_04_a_summary_replaces_the_conversation() {
    let finished = finished(compacting([None, None, Some(60)], showing("main", 5)));
    let done = done(&finished);
    assert_eq!(done.len(), 1, "{done:?}");
    let (_, mechanism, before, left) = &done[0];
    assert_eq!((*mechanism, *left), ("auto", 1), "{before} entries");
    let asked_main = asked(&finished, "main");
    let at = asked_main.iter().position(|text| text.contains("compacted to this summary")).unwrap();
    assert!(
        asked_main[at].contains("The log was shown.") && !asked_main[at].contains("line 199"),
        "the text of `compact`"
    );
    assert!(asked_main[at - 1].contains("line 199"));
    let summaries = finished
        .agents
        .iter()
        .filter(|agent| agent.asked_by == AskedBy::Runtime && &*agent.agent_type == "compact")
        .count();
    assert_eq!(summaries, 1);
    let line = finished.entries.iter().position(|entry| {
        finished
            .agents
            .iter()
            .any(|agent| agent.asked_by == AskedBy::Runtime && Some(&*agent.id) == entry.agent.as_deref())
    });
    let usage = finished.entries[line.unwrap()].line.predicted.unwrap();
    assert!(usage.cache_read_input_tokens * 10 > usage.total_input_tokens() * 7, "it reads what is cached: {usage:?}");
    let main = &finished.agents[0];
    assert_eq!((main.state, main.turns), ("completed", 6), "it goes on with what it was asked");
    let own = finished.entries.iter().enumerate().filter(|(_, entry)| entry.agent.as_deref() == Some("main"));
    let options: Vec<_> = own.map(|(line, _)| finished.drafts.draft(line)).collect();
    assert!(options.iter().all(|draft| draft.parameters == options[0].parameters && draft.model == options[0].model));
}

#[test]
fn compact_03_what_the_user_said_since_the_last_answer_stays() {
    let mut rules = showing("main", 3);
    rules.push(Rule { times: None, ..says("main", "Again.") });
    let mut setup = compacting([None, None, Some(85)], rules);
    let long = "And now the other one, please. ".repeat(1_300);
    setup.acts.push(types(60_000, &long));
    let finished = finished(setup);
    let lengths: Vec<_> = done(&finished).into_iter().map(|(.., left)| left).collect();
    assert_eq!(lengths, [2], "the summary and the line");
    let asked = asked(&finished, "main");
    assert!(asked.last().unwrap().contains("The log was shown.") && asked.last().unwrap().contains(long.trim()));
}

#[test]
fn compact_05_compact_09_compact_11_fork_49_a_fork_compacts_itself_and_still_may_not_fork() {
    let spawn = |agent: &str| calls(agent, "Agent", json!({ "description": "look", "prompt": "Show the log." }));
    let mut rules = vec![spawn("main"), Rule { times: None, ..says("main", "Noted.") }];
    rules.extend(showing("fork", 5).into_iter().take(5));
    rules.push(spawn("fork"));
    rules.push(says("fork", "Scope: look\nResult: shown"));
    let mut setup = compacting([None, None, Some(60)], rules);
    setup.settings.features = ["FORK_SUBAGENT".to_owned()].into();
    // Without the guard its forks would fork for ever.
    setup.turns_max = Some(60);
    let finished = finished(setup);
    let done = done(&finished);
    assert_eq!(
        done.iter().map(|(agent, mechanism, ..)| (agent.as_str(), *mechanism)).collect::<Vec<_>>(),
        [("fork", "auto")]
    );
    let refused: Vec<_> = finished
        .log
        .iter()
        .filter_map(|logged| match &logged.event {
            Event::ForkRefused { by, .. } => Some(*by),
            _ => None,
        })
        .collect();
    assert_eq!(refused, ["query_source"]);
    let asked = asked(&finished, "fork");
    assert!(asked[0].contains("fork-boilerplate") && !asked.last().unwrap().contains("fork-boilerplate"));
    let compact = finished.agents.iter().find(|agent| &*agent.agent_type == "compact").unwrap();
    let fork = finished.agents.iter().find(|agent| &*agent.agent_type == "fork").unwrap();
    assert_eq!(compact.parent.as_ref(), Some(&fork.id));
    let line = finished.entries.iter().find(|entry| entry.agent.as_deref() == Some(&*compact.id)).unwrap();
    let usage = line.line.predicted.unwrap();
    assert!(usage.cache_read_input_tokens * 10 > usage.total_input_tokens() * 7, "{usage:?}");
}

#[test]
fn compact_08_compact_09_the_summary_reads_what_was_sent_although_results_are_cleared_before_it() {
    let big = calls("main", "Bash", json!({ "command": "show big", "description": "Show much" }));
    let mut rules = showing("main", 2);
    rules.insert(2, big);
    let mut setup = compacting([None, Some(60), Some(53)], rules);
    let log = |lines: usize| "a line of the log of this build, all is well\n".repeat(lines);
    let shell = vec![ShellRule::new("show log", &log(200)), ShellRule::new("show big", &log(600))];
    setup.world = World::new(Files::default(), Shell::new(shell));
    let finished = finished(setup);
    let mechanisms: Vec<_> = done(&finished).into_iter().map(|(_, mechanism, ..)| mechanism).collect();
    assert_eq!(mechanisms, ["micro", "auto"]);
    let compact = finished.agents.iter().find(|agent| &*agent.agent_type == "compact").unwrap();
    let at = finished.entries.iter().position(|entry| entry.agent.as_deref() == Some(&*compact.id)).unwrap();
    let [before, own] = [at - 1, at].map(|line| finished.entries[line].line.predicted.unwrap());
    let sent = before.total_input_tokens();
    assert!(own.cache_read_input_tokens * 100 > sent * 98, "{own:?} after {before:?}");
}

#[test]
fn compact_11_first_requests_of_forks_are_not_compacted() {
    let long = "Show the log. ".repeat(2_900);
    let spawn = || calls("main", "Agent", json!({ "description": "look", "prompt": long }));
    let mut rules = showing("main", 3);
    rules.truncate(3);
    rules.extend([spawn(), Rule { times: None, ..says("main", "Noted.") }]);
    rules.extend([calls("fork", "Glob", json!({ "pattern": "*" })), says("fork", "Scope: look\nResult: shown")]);
    let mut setup = compacting([None, Some(85), None], rules);
    setup.settings.features = ["FORK_SUBAGENT".to_owned()].into();
    let finished = finished(setup);
    let of_forks = |event: &Event| matches!(event, Event::Compacted { agent, .. } if &**agent != "main");
    let first_answer = finished
        .log
        .iter()
        .position(|logged| matches!(&logged.event, Event::Usage { agent, turn: 0, .. } if &**agent != "main"));
    let at = finished.log.iter().position(|logged| of_forks(&logged.event)).expect("it is compacted later");
    assert!(at > first_answer.unwrap(), "{:?}", done(&finished));
}

#[test]
fn compact_10_stop_06_an_exhausted_token_budget_compacts_and_goes_on() {
    let run = |features: &[&str]| {
        let mut rules = showing("main", 3);
        rules.push(says("main", "Really done."));
        let mut setup = compacting([Some(30), None, Some(95)], rules);
        // The newest results stay, and there are no others.
        setup.settings.compaction = setup.settings.compaction.map(|options| Compaction { kept_results: 9, ..options });
        setup.settings.token_budget = Some(20);
        setup.settings.features = features.iter().map(|feature| (*feature).to_owned()).collect();
        finished(setup)
    };
    let without = run(&[]);
    assert_eq!((done(&without).len(), without.agents[0].turns), (0, 4), "{:?}", done(&without));
    let with = run(&["TOKEN_BUDGET"]);
    assert_eq!((with.agents[0].turns, with.agents[0].state), (5, "completed"));
    let words: Vec<_> = with
        .log
        .iter()
        .filter_map(|logged| match &logged.event {
            Event::ExitCheck { check: "token_budget", outcome, .. } => Some(*outcome),
            Event::Compacted { mechanism, .. } => Some(*mechanism),
            _ => None,
        })
        .collect();
    assert_eq!(words, ["continue", "off", "auto", "stop"], "the summary has no budget of its own");
    assert!(asked(&with, "main").last().unwrap().contains("The log was shown."));
}

#[test]
fn loop_02_the_decision_on_compaction_is_known_when_a_loop_begins() {
    let mut rules = showing("main", 3);
    rules.push(Rule { times: None, ..says("main", "Again.") });
    let mut setup = compacting([Some(30), Some(99), None], rules);
    setup.acts.push(types(60_000, "Go on."));
    let finished = finished(setup);
    let decisions: Vec<_> = finished
        .log
        .iter()
        .filter_map(|logged| match &logged.event {
            Event::QueryStarted { agent, compaction, .. } if &**agent == "main" => Some(*compaction),
            _ => None,
        })
        .collect();
    assert_eq!(decisions, ["none", "snip"]);
    assert_eq!(Mechanism::ALL.len(), 3);
    assert!(!Caller::AFTER_TURNS.contains(&Caller::Compact));
}

/// The user comes back after so many minutes; when the conversation was summarised meanwhile, in minutes.
fn break_of(minutes: u64, min_tokens: u64) -> (Finished, Vec<u64>) {
    let rules = vec![says("main", "Done."), says("main", "Still done.")];
    let mut setup = compacting([None; 3], rules);
    let idle = Some(Idle { min_tokens, ..Idle::CLIENT_2026_10 });
    setup.settings.compaction = setup.settings.compaction.map(|options| Compaction { idle, ..options });
    setup.acts = vec![types(0, "Show it."), types(minutes * 60_000, "And now?")];
    let finished = finished(setup);
    let is_summary = |event: &Event| matches!(event, Event::Compacted { mechanism: "auto", .. });
    let found = finished.log.iter().filter(|logged| is_summary(&logged.event));
    let minutes = found.map(|logged| logged.at.0 / 60_000_000_000).collect();
    (finished, minutes)
}

#[test]
fn compact_08_an_idle_conversation_is_summarised_once_before_the_cache_forgets_it() {
    let (finished, summarised) = break_of(180, 1);
    assert_eq!(summarised, [55]);
    let asked = asked(&finished, "main");
    assert!(asked[1].contains("compacted to this summary") && !asked[1].contains("Show it."), "{}", asked[1]);
    assert!(asked[1].contains("And now?"));
    assert!(finished.laws_held.contains(&"compaction"));
}

#[test]
fn compact_07_short_breaks_and_short_conversations_are_left_alone() {
    for (minutes, min_tokens) in [(54, 1), (180, 200_000)] {
        let (finished, summarised) = break_of(minutes, min_tokens);
        assert!(summarised.is_empty(), "{minutes} minutes, from {min_tokens} tokens on: {summarised:?}");
        assert!(asked(&finished, "main")[1].contains("Show it."));
    }
}
