//! What an update changes, and its cost.

use forkcast_sim::guard::lock::{Lock, Recording, changes};
use serde_json::json;

use super::stage::{Talk, lock_of, tool};

fn said(old: &Lock, new: &Lock) -> Vec<String> {
    changes(old, new).changes.iter().map(ToString::to_string).collect()
}

#[test]
fn an_unchanged_lock_reports_nothing() {
    let lock = Talk::new().lock();
    assert!(changes(&Lock::parse(&lock.text()).unwrap(), &lock).is_empty());
}

#[test]
fn each_request_reports_its_change_and_new_cost() {
    let mut talk = Talk::new();
    let old = talk.lock();
    talk.tools.push(tool("Glob", "Finds files."));
    let said = said(&old, &talk.lock());
    assert_eq!(said.len(), 3, "{said:#?}");
    for line in &said {
        assert!(
            line.starts_with("~ chain main, request ") && line.contains("tools_added tools[2]: tool `Glob`"),
            "{line}"
        );
        assert!(line.contains(" tokens, ") && line.contains("(before: "), "{line}");
    }
}

#[test]
fn added_and_removed_chains_and_requests_are_reported() {
    let talk = Talk::new();
    let mut longer = talk.clone();
    longer.messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "All."}]}));
    longer.messages.push(json!({"role": "user", "content": [{"type": "text", "text": "Thanks."}]}));
    let mut other = talk.clone();
    other.messages[0]["content"][0]["text"] = json!("Another task.");
    let before = lock_of(&Recording::default(), &[("main", None, talk.requests()), ("gone", None, other.requests())]);
    let after = lock_of(&Recording::default(), &[("main", None, longer.requests())]);
    let came = said(&before, &after);
    assert!(came[0].starts_with("+ chain main, request 3: "), "{came:#?}");
    assert!(came[1].starts_with("- chain gone: 3 requests"), "{came:#?}");
    let went = said(&after, &before);
    assert!(went[0].starts_with("- chain main, request 3: "), "{went:#?}");
    assert!(went[1].starts_with("+ chain gone: 3 requests"), "{went:#?}");
}

#[test]
fn a_moved_breakpoint_is_reported() {
    let mut talk = Talk::new();
    let old = talk.lock();
    talk.system[0].as_object_mut().unwrap().remove("cache_control");
    let said = said(&old, &talk.lock());
    assert!(
        said[0].contains("breakpoints: system[0] 1h, messages[0].content[0] 5m became messages[0].content[0] 5m"),
        "{said:#?}"
    );
}
