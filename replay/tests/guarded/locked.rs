//! From a folder to a lock and back: what changed since.

use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, changes, equality};
use serde_json::json;

use super::stage::{Folder, body};

fn folder(description: &str) -> Folder {
    let file = |turn: usize| {
        let mut body = body("bees", turn);
        body["tools"][0]["description"] = json!(description);
        (format!("{turn}.json"), body.to_string())
    };
    let files: Vec<(String, String)> = (1..=3).map(file).collect();
    Folder::new(&files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect::<Vec<_>>())
}

#[test]
fn the_lock_does_not_depend_on_the_folder() {
    let text = |folder: &Folder| folder.check().1.lock.unwrap().text();
    let (one, other) = (folder("Reads."), folder("Reads."));
    assert_eq!(text(&one), text(&other));
    assert!(!text(&one).contains("tmp"));
}

#[test]
fn a_change_of_the_agent_shows_against_the_lock_though_each_conversation_is_stable() {
    let pinned = Lock::parse(&folder("Reads.").check().1.lock.unwrap().text()).unwrap();
    let (_, outcome) = folder("Reads files.").check();
    assert_eq!(outcome.report.findings, []);
    let newer = outcome.lock.unwrap();
    let found = equality(&pinned, &newer, &Rules::default());
    let causes: Vec<_> = found.findings.iter().map(|found| (found.cause.word(), found.path.as_str())).collect();
    assert_eq!(causes, [("tool_changed", "tools[0]")]);
    assert_eq!(changes(&pinned, &newer).changes.len(), 3);
}
