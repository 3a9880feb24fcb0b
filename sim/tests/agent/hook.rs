//! Hooks around tool calls, and hooks of one agent (contract CTX-10).

use forkcast_sim::agent::hook::{Hook, HookSays, Hooks, Moment, Word};
use serde_json::json;

use super::reply::Reply;
use super::theatre::Theatre;

fn hook(name: &str, moment: Moment, matcher: Option<&str>, word: Word) -> Hook {
    Hook { matcher: matcher.map(Into::into), ..Hook::new(name, moment, vec![HookSays::at_once(word)]) }
}

fn probing() -> Theatre {
    let call = Reply::calls(&[("t1", "Probe", json!({ "says": "made" }))]);
    Theatre::new(vec![call, Reply::says("done")]).types(0, "go")
}

#[test]
fn a_hook_before_a_call_may_block_it() {
    let mut theatre = probing();
    let other = hook("other", Moment::PreToolUse, Some("Bash|Edit"), Word::BlockTool("not Bash".into()));
    let gate = hook("gate", Moment::PreToolUse, Some("Probe"), Word::BlockTool("not today".into()));
    theatre.hooks = Hooks::new(vec![other, gate]);
    let played = theatre.play();
    assert_eq!(played.words("hook.run", "hook"), ["gate"], "a hook sees only calls that its matcher names");
    assert_eq!(played.words("tool.end", "outcome"), ["blocked"]);
    assert!(played.events("tool.start").is_empty());
    assert!(played.asked[1].said().contains("not today"));
}

#[test]
fn a_hook_after_a_call_adds_text_after_the_results() {
    let mut theatre = probing();
    theatre.hooks = Hooks::new(vec![hook("after", Moment::PostToolUse, None, Word::AddText("format it".into()))]);
    let played = theatre.play();
    let last = played.asked[1].messages().last().unwrap()["content"].clone();
    assert_eq!((&last[0]["type"], &last[1]["text"]), (&json!("tool_result"), &json!("format it")));
}

#[test]
fn ctx_10_hooks_of_an_agent_act_only_in_it_and_are_removed_with_it() {
    let input = json!({ "description": "d", "prompt": "work", "subagent_type": "worker" });
    let theatre = Theatre::new(vec![Reply::calls(&[("t1", "Agent", input)]), Reply::says("done")]);
    let mut theatre = theatre
        .kinds(&[("worker", "hooks:\n  Stop:\n    - check-the-work")])
        .reply("worker", Reply::says("first try"))
        .reply("worker", Reply::says("second try"))
        .types(0, "go");
    let script = vec![HookSays::at_once(Word::BlockingError("check your work".into()))];
    theatre.hooks.script("check-the-work", script);
    let played = theatre.play();
    assert_eq!(played.words("hook.run", "outcome"), ["registered", "blocking_error", "nothing", "removed"]);
    assert_eq!(played.main.session.hooks.of_agents(), 0);
    assert!(played.entries().iter().all(|entry| !entry.text.contains("check your work")));
    assert!(played.events("hook.run").iter().all(|run| run["agent"] != "main"));
}
