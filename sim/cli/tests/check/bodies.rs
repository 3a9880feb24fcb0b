//! Folders of request bodies, and the program run in them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program;
pub use crate::program::{code, forkcast, golden, stderr, stdout};

/// Is in every text of the prompts, and must not be in any file made from them.
pub const SECRET: &str = "xyzzy-plugh";

pub fn folder(name: &str) -> PathBuf {
    program::folder(&format!("check/{name}"))
}

/// The JSON output of a command that exited with 0 or 1.
pub fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = forkcast(folder, &[arguments, &["--format", "json"]].concat());
    assert!(code(&output) <= 1, "{}", stderr(&output));
    serde_json::from_str(stdout(&output)).unwrap()
}

/// A turn of a small coding agent: the day in its system prompt, the description of its first tool, and the number of
/// steps of the conversation.
#[derive(Clone, Copy)]
pub struct Turn {
    pub day: &'static str,
    pub tool: &'static str,
    pub steps: usize,
}

pub const CALM: Turn = Turn { day: "Friday", tool: "Reads a file", steps: 0 };

/// A body that is long enough to be cached, with breakpoints at the ends of the system prompt and of the messages.
pub fn body(turn: Turn) -> String {
    let manual = format!("The house rules ({SECRET}) are told at length. ").repeat(400);
    let text = |role: &str, text: &str| {
        format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text} ({SECRET})"}}]}}"#)
    };
    let mut messages = vec![text("user", "Why does the parser fail?")];
    for step in 0..turn.steps {
        messages.push(text("assistant", &format!("I look at part {step}.")));
        messages.push(text("user", &format!("Go on with part {}.", step + 1)));
    }
    let last = messages.pop().unwrap().replace(r#")"}]"#, r#")","cache_control":{"type":"ephemeral"}}]"#);
    messages.push(last);
    format!(
        r#"{{"model":"claude-opus-4-8","max_tokens":1024,"tools":[{{"name":"Read","description":"{} ({SECRET}).","input_schema":{{"type":"object","properties":{{}}}}}},{{"name":"Edit","description":"Edits ({SECRET}).","input_schema":{{"type":"object","properties":{{}}}}}}],"system":[{{"type":"text","text":"{manual}Today is {}.","cache_control":{{"type":"ephemeral"}}}}],"messages":[{}]}}"#,
        turn.tool,
        turn.day,
        messages.join(",")
    )
}

/// Writes a body for each turn.
pub fn write(folder: &Path, turns: &[Turn]) {
    fs::create_dir_all(folder).unwrap();
    for (at, turn) in turns.iter().enumerate() {
        fs::write(folder.join(format!("{at:03}.json")), body(Turn { steps: at, ..*turn })).unwrap();
    }
}

/// The day changes in the third request, a tool's text in the fifth.
pub fn restless() -> [Turn; 6] {
    let later = Turn { day: "Saturday", ..CALM };
    let other = Turn { tool: "Reads one file", ..later };
    [CALM, CALM, later, later, other, other]
}
