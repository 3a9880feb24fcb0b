//! Files, read, written, edited and found by tools, all in memory.

use forkcast_sim::agent::Context;
use serde_json::json;

use super::stage::{Stage, call, main_agent, said};

const FILES: [(&str, &str); 4] = [
    ("/repo/src/main.rs", "fn main() {\n    run();\n}\n"),
    ("/repo/src/deep/lib.rs", "pub fn run() {}\npub fn Run() {}\n"),
    ("/repo/README.md", "# Read\n"),
    ("/etc/hosts", "localhost\n"),
];

/// The tools' answers to these calls, in order.
fn answers(calls: Vec<(&'static str, serde_json::Value)>) -> Vec<String> {
    let played = Stage::new().with_files(&FILES).play(|session| async move {
        let context = main_agent(&session);
        let mut answers = Vec::new();
        for (name, input) in calls {
            answers.push(said(&context, name, input).await);
        }
        answers
    });
    played.value
}

#[test]
fn tools_01_read_shows_the_requested_lines_with_numbers() {
    let said = answers(vec![
        ("Read", json!({ "file_path": "src/main.rs" })),
        ("Read", json!({ "file_path": "/repo/src/../src/main.rs", "offset": 2, "limit": 1 })),
        ("Read", json!({ "file_path": "src/main.rs", "offset": 4 })),
        ("Read", json!({ "file_path": "src" })),
        ("Read", json!({ "file_path": "none" })),
    ]);
    assert_eq!(said[0], "     1\tfn main() {\n     2\t    run();\n     3\t}\n");
    assert_eq!(said[1], "     2\t    run();\n");
    assert_eq!(said[2], "error: /repo/src/main.rs has 3 lines; line 4 is behind its end.");
    assert_eq!(said[3], "error: /repo/src is a folder, not a file.");
    assert_eq!(said[4], "error: /repo/none does not exist.");
}

#[test]
fn ctx_02_unread_files_and_files_changed_since_cannot_be_edited() {
    let played = Stage::new().with_files(&FILES).play(|session| async move {
        let context = main_agent(&session);
        let write = || json!({ "file_path": "README.md", "content": "new" });
        let edit = || json!({ "file_path": "README.md", "old_string": "Read", "new_string": "Write" });
        let mut all = vec![
            said(&context, "Write", write()).await,
            said(&context, "Edit", edit()).await,
            said(&context, "Write", json!({ "file_path": "fresh.md", "content": "a" })).await,
            said(&context, "Read", json!({ "file_path": "README.md" })).await,
        ];
        session.world.files.write("/repo/README.md", "# Read by another\n");
        all.push(said(&context, "Edit", edit()).await);
        all.push(said(&context, "Write", write()).await);
        all.push(said(&context, "Read", json!({ "file_path": "README.md" })).await);
        all.push(said(&context, "Edit", edit()).await);
        // It knows what it wrote itself.
        all.push(said(&context, "Write", write()).await);
        let edit = json!({ "file_path": "README.md", "old_string": "new", "new_string": "newer" });
        all.push(said(&context, "Edit", edit).await);
        (all, session.world.files.read("/repo/README.md").unwrap().to_string())
    });
    let (said, text) = played.value;
    let unread = "error: /repo/README.md has not been read yet. Read it first, then change it.";
    let changed = "error: /repo/README.md has changed since it was read. Read it again, then change it.";
    assert_eq!(said[..3], [unread, unread, "/repo/fresh.md was created."]);
    assert_eq!(said[4..6], [changed, changed]);
    let done = "/repo/README.md was changed in 1 place.";
    assert_eq!(said[7..], [done, "/repo/README.md was replaced.", done]);
    assert_eq!(text, "newer");
}

#[test]
fn ctx_02_agents_do_not_share_their_read_files() {
    let played = Stage::new().with_files(&FILES).play(|session| async move {
        let (one, other) = (main_agent(&session), main_agent(&session));
        said(&one, "Read", json!({ "file_path": "README.md" })).await;
        let known = |context: &Context| context.read_files.borrow().len();
        (known(&one), known(&other), said(&other, "Write", json!({ "file_path": "README.md", "content": "" })).await)
    });
    let (one, other, refused) = played.value;
    assert_eq!((one, other), (1, 0));
    assert!(refused.contains("has not been read yet"), "{refused}");
}

#[test]
fn edit_replaces_the_only_place_or_every_place() {
    let edit = |old: &str, new: &str, all: bool| {
        ("Edit", json!({ "file_path": "src/deep/lib.rs", "old_string": old, "new_string": new, "replace_all": all }))
    };
    let said = answers(vec![
        ("Read", json!({ "file_path": "src/deep/lib.rs" })),
        edit("pub fn", "fn", false),
        edit("absent", "fn", false),
        edit("", "fn", false),
        edit("pub", "pub", true),
        edit("pub fn", "fn", true),
        ("Read", json!({ "file_path": "src/deep/lib.rs" })),
        ("Edit", json!({ "file_path": "none", "old_string": "a", "new_string": "b" })),
    ]);
    assert!(said[1].contains("stands in /repo/src/deep/lib.rs 2 times"), "{}", said[1]);
    assert_eq!(said[2], "error: `old_string` does not stand in /repo/src/deep/lib.rs.");
    assert!(said[3].contains("is empty") && said[4].contains("are the same"), "{} {}", said[3], said[4]);
    assert_eq!(said[5], "/repo/src/deep/lib.rs was changed in 2 places.");
    assert_eq!(said[6], "     1\tfn run() {}\n     2\tfn Run() {}\n");
    assert_eq!(said[7], "error: /repo/none does not exist.");
}

#[test]
fn glob_and_grep_find_in_the_order_of_paths() {
    let said = answers(vec![
        ("Glob", json!({ "pattern": "**/*.rs" })),
        ("Glob", json!({ "pattern": "*.rs", "path": "src" })),
        ("Glob", json!({ "pattern": "*.c" })),
        ("Glob", json!({ "pattern": "[" })),
        ("Grep", json!({ "pattern": "run" })),
        ("Grep", json!({ "pattern": "run", "output_mode": "content", "-i": true, "path": "src/deep" })),
        ("Grep", json!({ "pattern": "run", "output_mode": "count", "-i": true, "glob": "*.rs" })),
        ("Grep", json!({ "pattern": "fn", "output_mode": "content", "head_limit": 1 })),
        ("Grep", json!({ "pattern": "(" })),
        ("Grep", json!({ "pattern": "localhost", "path": "/etc/hosts" })),
    ]);
    assert_eq!(said[0], "/repo/src/deep/lib.rs\n/repo/src/main.rs");
    assert_eq!(said[1], "/repo/src/main.rs");
    assert_eq!(said[2], "No files found.");
    assert!(said[3].starts_with("error: Glob: the pattern `[` is no glob"), "{}", said[3]);
    assert_eq!(said[4], "/repo/src/deep/lib.rs\n/repo/src/main.rs");
    assert_eq!(said[5], "/repo/src/deep/lib.rs:1:pub fn run() {}\n/repo/src/deep/lib.rs:2:pub fn Run() {}");
    assert_eq!(said[6], "/repo/src/deep/lib.rs:2\n/repo/src/main.rs:1");
    assert_eq!(said[7], "/repo/src/deep/lib.rs:1:pub fn run() {}\n(2 more lines are left out)");
    assert!(said[8].starts_with("error: Grep: the pattern `(` is no regular expression"), "{}", said[8]);
    assert_eq!(said[9], "/etc/hosts");
}

#[test]
fn inputs_are_refused_with_what_was_expected() {
    let said = answers(vec![
        ("Read", json!({})),
        ("Read", json!({ "file_path": 7 })),
        ("Read", json!({ "file_path": "a", "offset": 0 })),
        ("Read", json!({ "file_path": "a", "lines": 3 })),
        ("Read", json!("a")),
        ("Grep", json!({ "pattern": "a", "output_mode": "lines" })),
        ("Bash", json!({ "command": "ls", "run_in_background": "yes" })),
    ]);
    let expected = [
        "error: Read: the required field `file_path` is missing, expected a string",
        "error: Read: the field `file_path` is 7, expected a string",
        "error: Read: the field `offset` is 0, expected a whole number from 1",
        "error: Read: the field `lines` is unknown, expected only file_path, offset, limit",
        "error: Read: the input is \"a\", expected an object",
        "error: Grep: the field `output_mode` is \"lines\", expected one of files_with_matches, content, count",
        "error: Bash: the field `run_in_background` is \"yes\", expected true or false",
    ];
    assert_eq!(said, expected);
}

#[test]
fn tasks_are_on_a_list_of_the_session() {
    let played = Stage::new().play(|session| async move {
        let context = main_agent(&session);
        let task = |subject: &str| json!({ "subject": subject, "description": "until done" });
        for subject in ["a", "b"] {
            call(&context, "TaskCreate", task(subject)).await.unwrap();
        }
        let files = session.world.files.below("/home/user/.claude/tasks");
        files.iter().map(|file| session.world.files.read(file).unwrap().to_string()).collect::<Vec<_>>()
    });
    let task = |id: u32, subject: &str| {
        format!("{{\"description\":\"until done\",\"id\":\"{id}\",\"status\":\"pending\",\"subject\":\"{subject}\"}}")
    };
    assert_eq!(played.value, [task(1, "a"), task(2, "b")]);
}

#[test]
fn tools_01_long_answers_are_cut_and_say_how_much_is_missing() {
    let glob = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("/repo/{number:03}.txt")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "a word\n")).collect();
        let played = Stage::new().with_files(&files).play(|session| async move {
            let main = main_agent(&session);
            let input = json!({ "pattern": "word", "output_mode": "content", "head_limit": 100 });
            [said(&main, "Glob", json!({ "pattern": "*.txt" })).await, said(&main, "Grep", input).await]
        });
        played.value.map(|said| (said.lines().count(), said.lines().last().unwrap().to_owned()))
    };
    assert_eq!(glob(100), [(100, "/repo/099.txt".to_owned()), (100, "/repo/099.txt:1:a word".to_owned())]);
    let [paths, lines] = glob(102);
    assert_eq!(paths, (101, "(2 more are left out)".to_owned()));
    assert_eq!(lines, (101, "(2 more lines are left out)".to_owned()));
    assert_eq!(glob(0)[1], (1, "No matches found.".to_owned()));
}

#[test]
fn tools_01_grep_searches_the_files_that_match_a_glob() {
    let input = |glob: &str| ("Grep", json!({ "pattern": "fn", "glob": glob }));
    let said = answers(vec![input("main.rs"), input("src/deep/*"), input("*.md")]);
    assert_eq!(said, ["/repo/src/main.rs", "/repo/src/deep/lib.rs", "No matches found."]);
}
