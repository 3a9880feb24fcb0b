//! How a user's text enters (contract INPUT).

use std::rc::Rc;

use forkcast_sim::agent::entry::Nature;
use forkcast_sim::agent::input::Scripted;
use forkcast_sim::agent::queue::{Item, Priority};
use forkcast_sim::agent::world::{Rule, Shell};
use forkcast_sim::time::Duration;

use super::reply::Reply;
use super::theatre::Theatre;

fn says(texts: &[&str]) -> Theatre {
    Theatre::new(texts.iter().map(|text| Reply::says(text)).collect())
}

/// With the command `/brief`, which takes 500 ms and says `briefed`.
fn with_brief(theatre: Theatre) -> Theatre {
    theatre.act(0, |session| {
        let brief = Scripted { takes: Duration::from_millis(500), output: "briefed".into() };
        session.front.register("brief", Rc::new(brief));
    })
}

#[test]
fn input_01_input_02_input_03_plain_text_passes_the_steps_in_order() {
    let played = says(&["hello"]).types(0, "hi there").play();
    assert_eq!(played.words("input.step", "step"), ["front_end", "submit", "process", "append", "query"]);
    let entries = played.entries();
    assert_eq!((entries[0].nature, entries[0].text.as_ref()), (Nature::Typed, "hi there"));
    let appended = played.position(&[("event", "input.step"), ("step", "append")]);
    assert!(appended < played.position(&[("event", "query.start")]));
    assert!(played.events("input.command").is_empty());
}

#[test]
fn input_04_input_05_the_handler_comes_from_the_queue_by_priority() {
    let theatre = says(&["first", "second", "third"]).act(0, |session| {
        let now = Rc::new(Scripted { output: "now".into(), ..Scripted::default() });
        session.front.register("now", now);
    });
    let played = theatre
        .act(0, |session| {
            session.queue.enqueue(Item::notification(None, "<task-notification/>", "agent"));
            session.queue.enqueue(Item::prompt("plain", "user"));
            let urgent = Item { priority: Priority::Now, ..Item::prompt("/now", "user") };
            session.queue.enqueue(urgent);
        })
        .play();
    assert_eq!(played.words("queue.dequeue", "priority"), ["now", "next", "later"]);
    let ran = played.position(&[("event", "input.command")]);
    assert!(ran < played.position(&[("event", "query.start")]));
}

#[test]
fn input_04_a_text_that_only_begins_like_a_command_is_plain() {
    let played = says(&["a path"]).types(0, "/etc/hosts is what?").play();
    assert!(played.events("input.command").is_empty());
    assert_eq!(played.entries()[0].text.as_ref(), "/etc/hosts is what?");
    assert_eq!(played.asked.len(), 1);
}

#[test]
fn input_04_a_command_is_called_by_its_slash_and_its_whole_name() {
    let theatre = with_brief(says(&["one", "two"])).types(0, "brief me").types(100, "/briefing please");
    let played = theatre.types(200, "/brief").play();
    assert_eq!(played.words("input.command", "step"), ["start", "end"]);
    assert_eq!(played.at(&[("event", "input.command")]), Some(200), "neither text before it is a command");
    let texts: Vec<_> = played.entries().iter().map(|entry| entry.text.to_string()).collect();
    assert_eq!(texts[..4], ["brief me", "one", "/briefing please", "two"]);
}

#[test]
fn input_06_the_handler_runs_before_the_remaining_text_goes_to_the_model() {
    let played = with_brief(says(&["ok"])).types(0, "/brief and then this").play();
    assert_eq!(played.words("input.command", "step"), ["start", "end"]);
    assert_eq!(played.asked[0].at_ms, 500);
    let texts: Vec<_> = played.entries().iter().map(|entry| entry.text.to_string()).collect();
    assert_eq!(texts, ["<local-command-stdout>briefed</local-command-stdout>", "and then this", "ok"]);
}

#[test]
fn input_07_after_a_command_without_text_control_returns_to_the_loop_without_a_query() {
    let played = with_brief(says(&["ok"])).types(0, "/brief").types(100, "next").play();
    assert_eq!(played.asked.len(), 1);
    assert_eq!(played.asked[0].at_ms, 500, "the next line is served after the command");
    assert!(played.asked[0].said().contains("briefed"));
}

#[test]
fn input_08_text_typed_during_a_turn_waits_for_the_next_one() {
    let first = Reply::says("first").first_byte(10_000);
    let mut theatre = Theatre::new(vec![first, Reply::says("second")]).types(0, "one");
    theatre.world.shell = Shell::new(vec![Rule::new("ls", "file")]).into();
    let played = theatre.types(4_000, "two").types(5_000, "!ls").play();
    assert_eq!(played.words("queue.enqueue", "mode"), ["prompt", "prompt", "bash"]);
    assert_eq!(played.at(&[("event", "queue.dequeue"), ("mode", "bash")]), Some(10_000));
    assert_eq!(played.asked.len(), 2);
    assert!(!played.asked[0].said().contains("two"));
    assert_eq!(played.asked[1].at_ms, 10_000);
    assert_eq!(played.reasons(), ["completed", "completed"], "nothing was interrupted");
}

#[test]
fn input_09_a_shell_line_runs_in_the_session_and_its_output_is_added_to_the_conversation() {
    let mut theatre = says(&["I see"]).types(0, "!ls src").types(100, "what is there?");
    theatre.world.shell = Shell::new(vec![Rule::new("ls src", "main.rs")]).into();
    let played = theatre.play();
    assert_eq!(played.asked.len(), 1, "the line itself sends no request");
    let said = played.asked[0].said();
    assert!(said.contains("<bash-input>ls src</bash-input>"));
    assert!(said.contains("main.rs"));
    assert_eq!(played.position(&[("event", "tool.start")]), None, "it is no call of the model");
}

#[test]
fn a_hook_may_drop_a_prompt_or_add_to_it() {
    use forkcast_sim::agent::hook::{Hook, HookSays, Hooks, Moment, Word};
    let mut theatre = says(&["ok"]).types(0, "forbidden").types(100, "allowed");
    let script = [Word::PreventContinuation, Word::AddText("mind the gap".into())].map(HookSays::at_once);
    theatre.hooks = Hooks::new(vec![Hook::new("gate", Moment::UserPromptSubmit, script.into())]);
    let played = theatre.play();
    assert_eq!(played.asked.len(), 1);
    let said = played.asked[0].said();
    assert!(!said.contains("forbidden"));
    assert!(said.contains("<user-prompt-submit-hook>mind the gap</user-prompt-submit-hook>"));
}
