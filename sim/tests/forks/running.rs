//! How forks run: in the background, each on its own (FORK-42, FORK-50..53).

use std::collections::BTreeSet;

use forkcast_sim::agent::Event;
use forkcast_sim::agent::spawn::fork::report::Report;
use serde_json::json;

use super::scene::{Played, REPORT, Scene, agent, fork, text};

fn three() -> Played {
    Scene::new(vec![fork("one"), fork("two"), fork("three")]).says("fork", vec![text(REPORT)]).for_ms(40_000).play()
}

#[test]
fn fork_42_five_reports_are_read_and_malformed_ones_are_named() {
    let report = Report::parse(&format!("{REPORT}\nIssues: a test fails")).unwrap();
    assert_eq!((&*report.scope, &*report.result), ("a part", "it is well"));
    assert_eq!(report.key_files, ["/repo/a.rs", "/repo/b.rs"]);
    assert_eq!((report.files_changed.len(), report.issues.as_deref()), (0, Some("a test fails")));
    for (words, why) in [
        ("It is well.", "it does not begin with `Scope:`"),
        ("Scope: a part", "it has no `Result:`"),
        ("Scope:\nResult: well", "`Scope:` is empty"),
        ("Scope: a\nResult: b\nIssues: c\nKey files: d", "`Key files:` stands out of order"),
        ("Scope: a\nResult: b\nResult: c", "`Result:` stands twice"),
    ] {
        assert_eq!(Report::parse(words).unwrap_err().to_string(), why);
    }
    let played = Scene::new((1..=5).map(|part| fork(&part.to_string())).collect()).play();
    let read = played.found(|event| match event {
        Event::ForkReport { is_well_formed, .. } => Some(*is_well_formed),
        _ => None,
    });
    assert_eq!(read, [true; 5]);
    let played = Scene::new(vec![fork("one")]).says("fork", vec![text("It is well.")]).play();
    let problems = played.found(|event| match event {
        Event::ForkReport { problem, .. } => problem.clone(),
        _ => None,
    });
    assert_eq!(problems, ["it does not begin with `Scope:`".into()]);
}

#[test]
fn fork_50_the_parent_continues_at_once() {
    let played = three();
    let (mains, forks) = (played.lines("main"), played.lines("fork"));
    let behind = mains[1].at.unwrap();
    let ends = played
        .0
        .entries
        .iter()
        .filter(|entry| entry.agent.as_deref() != Some("main"))
        .filter_map(|entry| entry.ended_at);
    assert!(behind < ends.max().unwrap(), "its next request goes out while forks run");
    assert_eq!(forks.len(), 3);
    assert!(played.told().iter().all(|told| told.contains("runs in the background")), "{:?}", played.told());
}

#[test]
fn fork_51_fork_52_each_fork_has_its_own_task_transcript_and_notification() {
    let played = three();
    let forks: BTreeSet<String> = played.forks().iter().map(|fork| fork.to_string()).collect();
    assert_eq!(forks.len(), 3);
    let told = played.found(|event| match event {
        Event::Notified { task, status: "completed", .. } => Some(task.to_string()),
        _ => None,
    });
    assert_eq!((told.len(), told.into_iter().collect::<BTreeSet<_>>()), (3, forks.clone()));
    let files = played.found(|event| match event {
        Event::TranscriptAppend { agent, file, .. } if &**agent != "main" => {
            Some((agent.to_string(), file.to_string()))
        }
        _ => None,
    });
    let files: BTreeSet<(String, String)> = files.into_iter().collect();
    assert_eq!(files.iter().map(|(agent, _)| agent.clone()).collect::<BTreeSet<_>>(), forks);
    assert_eq!(files.iter().map(|(_, file)| file).collect::<BTreeSet<_>>().len(), 3);
    let last = String::from_utf8(played.requests("main").last().unwrap().body()).unwrap();
    assert_eq!(last.matches("<task-notification>").count(), 3);
}

#[test]
fn fork_53_forks_that_start_while_others_wait_build_from_the_same_message() {
    let calls = vec![fork("one"), agent(json!({ "subagent_type": "explore" })), fork("two")];
    for is_early in [true, false] {
        let played = Scene::new(calls.clone()).with(|setup| setup.settings.streaming_tools = is_early).play();
        let (one, two) = (played.first(0), played.first(1));
        let shared = one.messages.len() - 1;
        assert!(one.messages[..shared].iter().zip(&two.messages).all(|(one, two)| std::rc::Rc::ptr_eq(one, two)));
    }
}
