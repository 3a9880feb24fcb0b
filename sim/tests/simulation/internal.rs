//! Internal forks: helpers of the runtime that reuse the loop (INTERNAL).

use forkcast_sim::agent::Event;
use forkcast_sim::agent::settings::Caller;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{Reply, Rule};
use forkcast_sim::simulation::{AskedBy, Does, Finished, Setup};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::Draft;
use serde_json::json;

use super::stage::{at, calls, drafts, finished, rule, says, setup, types};

/// The memory directory of the session's project.
const MEMORY: &str = "/home/user/.claude/projects/-repo/memory";

/// The main agent answers two lines; the helpers have these rules.
fn helped(helpers: &[(Caller, u64)], rules: Vec<Rule>) -> Setup {
    let main = Rule { times: None, ..says("main", "Done.") };
    let acts = vec![types(0, "Fix it."), types(60_000, "And the other one.")];
    let mut setup = setup([rules, vec![main]].concat(), acts);
    setup.settings.helpers = helpers.iter().copied().collect();
    setup.keeps_drafts = true;
    setup
}

fn blocks(draft: &Draft) -> Vec<String> {
    let pieces = draft.tools.iter().chain(draft.system.iter());
    pieces
        .chain(draft.messages.iter().flat_map(|message| &message.content))
        .map(|piece| piece.json().to_owned())
        .collect()
}

fn count(finished: &Finished, is: impl Fn(&Event) -> bool) -> usize {
    finished.log.iter().filter(|logged| is(&logged.event)).count()
}

/// Callers of the internal forks, and how they ended.
fn ran(finished: &Finished) -> Vec<(&'static str, &'static str)> {
    let ended = finished.log.iter().filter_map(|logged| match &logged.event {
        Event::InternalEnded { caller, reason, .. } => Some((*caller, *reason)),
        _ => None,
    });
    ended.collect()
}

#[test]
fn internal_01_internal_10_a_helper_has_no_call_no_task_and_no_notification() {
    let rules = vec![says("extract_memories", "Nothing new.")];
    let finished = finished(helped(&[(Caller::ExtractMemories, 2)], rules));
    assert_eq!(ran(&finished), [("extract_memories", "completed")], "after the second turn");
    assert_eq!(count(&finished, |event| matches!(event, Event::TaskState { .. } | Event::ToolStart { .. })), 0);
    assert_eq!(count(&finished, |event| matches!(event, Event::Enqueued { source, .. } if *source != "user")), 0);
    let session = finished.session.as_ref().unwrap();
    assert_eq!(session.helpers.result(Caller::ExtractMemories).as_deref(), Some("Nothing new."));
    assert!(finished.agents[1].asked_by == AskedBy::Runtime && finished.agents[1].state == "completed");
    assert!(!session.transcripts.has(&finished.agents[1].id));
}

#[test]
fn internal_03_internal_12_a_helper_begins_with_what_its_parent_sent_last_and_reads_it() {
    let rules = vec![Rule { times: None, ..says("prompt_suggestion", "run the tests") }];
    let finished = finished(helped(&[(Caller::PromptSuggestion, 1)], rules));
    let main = drafts(&finished, "main");
    let helper = drafts(&finished, "prompt_suggestion");
    assert_eq!((main.len(), helper.len()), (2, 2));
    for ((_, before), (line, own)) in main.iter().zip(&helper) {
        let (before, own_blocks) = (blocks(before), blocks(own));
        assert_eq!(own_blocks[..before.len()], before[..]);
        assert_eq!(own_blocks.len(), before.len() + 2, "the parent's answer and the helper's prompt");
        assert_eq!(own.parameters, main[0].1.parameters);
        assert_eq!(own.model, main[0].1.model);
        let usage = finished.entries[*line].line.predicted.unwrap();
        assert!(usage.cache_read_input_tokens > 0 && usage.cache_creation_input_tokens() < 200, "{usage:?}");
    }
    let kinds = count(&finished, |event| matches!(event, Event::Ui { kind: "suggestion", .. }));
    assert_eq!(kinds, 2);
}

#[test]
fn internal_02_internal_05_internal_09_memory_is_written_where_its_caller_may_write_and_nowhere_else() {
    let write = |path: String| Said::ToolUse {
        id: "".into(),
        name: "Write".into(),
        input: json!({ "file_path": path, "content": "note" }),
    };
    for (caller, own) in [
        (Caller::ExtractMemories, format!("{MEMORY}/build.md")),
        (Caller::AutoDream, format!("{MEMORY}/build.md")),
        (Caller::SessionMemory, "/home/user/.claude/projects/-repo/session-1/session-memory.md".to_owned()),
    ] {
        let bash = Said::ToolUse { id: "".into(), name: "Bash".into(), input: json!({ "command": "cargo check" }) };
        let said = vec![write(own.clone()), write("/repo/src/other.rs".into()), write(format!("{MEMORY}-2/x")), bash];
        let rules = vec![rule(caller.name(), said), says(caller.name(), "Written.")];
        let finished = finished(helped(&[(caller, 2)], rules));
        let session = finished.session.as_ref().unwrap();
        assert_eq!(session.world.files.read(&own).as_deref(), Some("note"), "{caller:?}");
        assert!(
            !session.world.files.exists("/repo/src/other.rs") && !session.world.files.exists(&format!("{MEMORY}-2/x"))
        );
        let by: Vec<_> = finished
            .log
            .iter()
            .filter_map(|logged| match &logged.event {
                Event::PermissionReply { by, allowed, .. } => Some((*by, *allowed)),
                _ => None,
            })
            .collect();
        assert_eq!(by, [("caller", true), ("caller", false), ("caller", false), ("caller", false)], "{caller:?}");
    }
}

#[test]
fn internal_06_a_suggestion_is_worked_on_before_it_is_accepted_and_both_stop_when_the_user_types() {
    let slow = Reply {
        said: vec![Said::Text("The tests pass.".into())],
        first_byte: Some(Duration::from_secs(120)),
        ..Reply::default()
    };
    let rules = vec![
        Rule { times: None, ..says("prompt_suggestion", "run the tests") },
        Rule { agent: Some("speculation".into()), turn: Some(0), times: Some(1), reply: slow, ..Rule::default() },
    ];
    let mut first = helped(&[(Caller::PromptSuggestion, 1), (Caller::Speculation, 1)], rules.clone());
    first.acts.truncate(1);
    let alone = finished(first);
    assert_eq!(ran(&alone), [("prompt_suggestion", "completed"), ("speculation", "completed")]);
    let last =
        drafts(&alone, "speculation")[0].1.messages.last().unwrap().content.iter().last().unwrap().json().to_owned();
    assert!(last.contains("run the tests"), "{last}");
    let session = alone.session.as_ref().unwrap();
    assert_eq!(session.helpers.result(Caller::Speculation).as_deref(), Some("The tests pass."));
    let typed = finished(helped(&[(Caller::PromptSuggestion, 1), (Caller::Speculation, 1)], rules));
    let ended = ran(&typed);
    assert_eq!(ended[1], ("speculation", "aborted"), "the user typed meanwhile: {ended:?}");
}

#[test]
fn internal_07_a_side_question_stays_beside_the_conversation() {
    let rules = vec![says("side_question", "Because of the lock.")];
    let mut setup = helped(&[], rules);
    setup.acts.insert(1, at(30_000, Does::AsksAside("Why is it slow?".into())));
    let with = finished(setup);
    let without = finished(helped(&[], Vec::new()));
    let main =
        |finished: &Finished| drafts(finished, "main").into_iter().map(|(_, draft)| blocks(&draft)).collect::<Vec<_>>();
    assert_eq!(main(&with), main(&without), "the main agent's requests are the same");
    let own = blocks(&drafts(&with, "side_question")[0].1);
    assert!(own.last().unwrap().contains("Why is it slow?"));
    assert_eq!(count(&with, |event| matches!(event, Event::Ui { kind: "aside", .. })), 1);
    assert!(with.idle.is_empty());
}

#[test]
fn internal_08_a_background_agent_is_summarised_while_it_works() {
    let slow = Reply {
        said: vec![Said::Text("Looked.".into())],
        streaming: Some(Duration::from_secs(70)),
        ..Reply::default()
    };
    let spawn = json!({
        "description": "look", "prompt": "look", "subagent_type": "looker", "run_in_background": true,
    });
    let rules = vec![
        calls("main", "Agent", spawn),
        Rule { agent: Some("looker".into()), times: Some(1), reply: slow, ..Rule::default() },
        Rule { times: None, ..says("agent_summary", "Looking at files") },
    ];
    let mut setup = helped(&[(Caller::AgentSummary, 30_000)], rules);
    setup.acts.truncate(1);
    let finished = finished(setup);
    assert_eq!(ran(&finished), [("agent_summary", "completed"); 2]);
    let looker = finished.agents.iter().find(|agent| &*agent.agent_type == "looker").unwrap();
    let parents =
        finished.agents.iter().filter(|agent| agent.asked_by == AskedBy::Runtime).map(|agent| agent.parent.clone());
    assert!(parents.eq([Some(looker.id.clone()), Some(looker.id.clone())]));
    let shown = |event: &Event| matches!(event, Event::Ui { kind: "agent_summary", agent } if *agent == looker.id);
    assert_eq!(count(&finished, shown), 2);
    let before = blocks(&drafts(&finished, "looker")[0].1);
    assert_eq!(blocks(&drafts(&finished, "agent_summary")[0].1)[..before.len()], before[..]);
}

#[test]
fn internal_11_all_helpers_run_beside_a_session_and_its_bytes_stay_the_same() {
    let helpers = Caller::AFTER_TURNS.map(|caller| (caller, 1));
    let rules = Caller::AFTER_TURNS.map(|caller| Rule { times: None, ..says(caller.name(), "Nothing.") });
    let with = finished(helped(&helpers, rules.to_vec()));
    let without = finished(helped(&[], Vec::new()));
    let main =
        |finished: &Finished| drafts(finished, "main").into_iter().map(|(_, draft)| blocks(&draft)).collect::<Vec<_>>();
    assert_eq!(main(&with), main(&without));
    assert_eq!(with.agents.iter().filter(|agent| agent.asked_by == AskedBy::Runtime).count(), 8);
    assert!(with.laws_held.contains(&"internal"));
}
