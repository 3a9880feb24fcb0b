//! Ways to end a turn (contract STOP, scenario E03).

use forkcast_sim::agent::entry::Nature;
use forkcast_sim::agent::hook::{Hook, HookSays, Hooks, Moment, Word};
use forkcast_sim::time::Duration;
use serde_json::json;

use super::reply::{Reply, Step};
use super::theatre::{Played, Theatre};

fn hook(name: &str, words: &[Word]) -> Hook {
    Hook::new(name, Moment::Stop, words.iter().cloned().map(HookSays::at_once).collect())
}

fn says(texts: &[&str], hooks: Vec<Hook>) -> Theatre {
    let mut theatre = Theatre::new(texts.iter().map(|text| Reply::says(text)).collect()).types(0, "go");
    theatre.hooks = Hooks::new(hooks);
    theatre
}

fn checks(played: &Played) -> Vec<String> {
    let checks = played.words("exit.check", "check").into_iter().zip(played.words("exit.check", "outcome"));
    checks.map(|(check, outcome)| format!("{check} {outcome}")).collect()
}

fn blocks(text: &str) -> Word {
    Word::BlockingError(text.into())
}

#[test]
fn stop_01_stop_07_the_checks_run_in_order_and_the_loop_completes() {
    let played = says(&["done"], vec![hook("clean", &[])]).play();
    assert_eq!(checks(&played), ["api_error none", "stop_hooks clean", "token_budget off", "completed completed"]);
    let hook = played.position(&[("event", "hook.run")]);
    assert!(played.position(&[("event", "exit.check"), ("check", "api_error")]) < hook);
    assert!(hook < played.position(&[("event", "exit.check"), ("check", "token_budget")]));
    assert_eq!(played.reasons(), ["completed"]);
}

#[test]
fn stop_02_an_api_error_completes_at_once_without_hooks() {
    let mut theatre = Theatre::new(vec![Reply::refused(400, None)]).types(0, "go");
    theatre.hooks = Hooks::new(vec![hook("gate", &[Word::PreventContinuation])]);
    let played = theatre.play();
    assert_eq!((checks(&played), played.reasons()), (vec!["api_error found".into()], vec!["completed".into()]));
    assert!(played.events("hook.run").is_empty());
}

#[test]
fn stop_03_prevention_takes_precedence_over_blocking_errors() {
    let hooks = vec![hook("a", &[blocks("mend this")]), hook("b", &[Word::PreventContinuation]), hook("c", &[])];
    let played = says(&["done", "never"], hooks).play();
    assert_eq!((played.reasons(), played.asked.len()), (vec!["stop_hook_prevented".to_owned()], 1));
    assert_eq!(played.words("hook.run", "hook"), ["a", "b"]);
    assert_eq!(played.entries().last().unwrap().nature, Nature::Said, "no error was appended");
}

#[test]
fn stop_04_blocking_errors_are_appended_and_the_model_must_try_again() {
    let hooks = vec![hook("a", &[blocks("tests are missing")]), hook("b", &[blocks("no changelog")])];
    let played = says(&["done", "really done"], hooks).play();
    let last = played.asked[1].messages().last().unwrap().clone();
    assert_eq!((&last["role"], &last["content"][0]["text"]), (&json!("user"), &json!("tests are missing")));
    assert_eq!(last["content"][1]["text"], "no changelog");
    assert_eq!((played.reasons(), played.asked.len()), (vec!["completed".to_owned()], 2));
    assert_eq!(played.words("query.step", "step")[4], "compact", "the next iteration begins with its first step");
}

#[test]
fn stop_05_stop_06_the_budget_continues_only_with_its_feature_and_through_the_compaction_step() {
    let play = |feature: bool| {
        let replies = vec![Reply::says("much").used(Default::default(), 900), Reply::says("little")];
        let mut theatre = Theatre::new(replies).types(0, "go");
        theatre.settings.token_budget = Some(500);
        if feature {
            theatre.settings.features.insert("TOKEN_BUDGET".to_owned());
        }
        theatre.play()
    };
    let off = play(false);
    assert_eq!((off.asked.len(), &*checks(&off)[2]), (1, "token_budget off"));
    let on = play(true);
    assert_eq!((on.asked.len(), on.reasons()), (2, vec!["completed".to_owned()]));
    assert_eq!((&*checks(&on)[2], &*checks(&on)[5]), ("token_budget continue", "token_budget stop"));
    let goes_on = on.position(&[("event", "exit.check"), ("outcome", "continue")]).unwrap();
    let next = on.events[goes_on..].iter().find(|(_, event)| event["event"] == "query.step").unwrap();
    assert_eq!(next.1["step"], "compact");
    assert_eq!(on.asked[1].messages().last().unwrap()["role"], "user", "no request ends with an answer");
}

#[test]
fn stop_08_hooks_run_at_the_natural_end_and_never_between_rounds() {
    let call = Reply::calls(&[("t1", "Probe", json!({}))]);
    let mut theatre = Theatre::new(vec![call, Reply::says("done")]).types(0, "go");
    theatre.hooks = Hooks::new(vec![hook("look", &[])]);
    let played = theatre.play();
    assert_eq!(played.events("hook.run").len(), 1);
    let ended = played.position(&[("event", "tool.end")]);
    assert!(ended < played.position(&[("event", "hook.run")]));
    let mut aborted = Theatre::new(vec![Reply::says("x").with(-1, Step::Wait(5_000))]).types(0, "go").escapes(100);
    aborted.hooks = Hooks::new(vec![hook("look", &[])]);
    assert!(aborted.play().events("hook.run").is_empty());
}

#[test]
fn stop_09_the_three_uses_a_missing_safety_check_uncommitted_edits_and_a_swollen_context() {
    let hooks = vec![
        hook("safety", &[blocks("The deployment ran without its safety check.")]),
        hook("commits", &[Word::Nothing, blocks("Edits may not be committed.")]),
        hook("bloat", &[Word::Nothing, Word::Nothing, blocks("The context is bloated: sum up and end.")]),
    ];
    let played = says(&["one", "two", "three", "four"], hooks).play();
    assert_eq!(played.asked.len(), 4);
    for (at, word) in [(1, "safety check"), (2, "committed"), (3, "bloated")] {
        assert!(played.asked[at].messages().last().unwrap().to_string().contains(word));
        assert!(!played.asked[at - 1].said().contains(word));
    }
    assert_eq!(played.words("hook.run", "outcome").iter().filter(|word| *word == "blocking_error").count(), 3);
    assert_eq!(played.reasons(), ["completed"]);
}

#[test]
fn stop_10_queue_11_an_error_of_a_background_hook_wakes_an_idle_model() {
    let says_late = HookSays { after: Duration::from_secs(30), word: blocks("The build broke meanwhile.") };
    let watcher = Hook { in_background: true, ..Hook::new("watcher", Moment::Stop, vec![says_late]) };
    let played = says(&["done", "I look into it"], vec![watcher]).play();
    let at: Vec<u64> = played.asked.iter().map(|asked| asked.at_ms).collect();
    assert_eq!(at, [0, 30_000], "the turn did not wait for it, and it woke the model");
    let enqueued = played.events("queue.enqueue")[1];
    assert_eq!((&enqueued["mode"], &enqueued["source"]), (&json!("task-notification"), &json!("hook")));
    assert!(played.asked[1].said().contains("broke meanwhile"));
    assert_eq!(played.reasons(), ["completed", "completed"]);
}

#[test]
fn a_stop_hook_takes_time_and_esc_ends_it() {
    let slow = HookSays { after: Duration::from_secs(60), word: blocks("late") };
    let played = says(&["done"], vec![Hook::new("slow", Moment::Stop, vec![slow])]).escapes(5_000).play();
    assert_eq!((played.reasons(), played.at_ms), (vec!["aborted".to_owned()], 5_000));
}
