//! Where the program looks for logs if no path is given.

use std::fs;
use std::path::{Path, PathBuf};

use forkcast_fixtures::fixture;

use crate::program::{code, command, folder, forkcast, stderr, stdout};

/// A client, where it keeps a log below the user's home, the variable that moves it, the place below that, and a log.
struct Client {
    name: &'static str,
    place: &'static str,
    variable: &'static str,
    moved: &'static str,
    log: &'static str,
}

const CLIENTS: [Client; 5] = [
    Client {
        name: "Claude Code",
        place: ".claude/projects/-work/session.jsonl",
        variable: "CLAUDE_CONFIG_DIR",
        moved: "projects/-work/session.jsonl",
        log: "claude-code.jsonl",
    },
    Client {
        name: "Codex",
        place: ".codex/sessions/2026/11/20/rollout-1.jsonl",
        variable: "CODEX_HOME",
        moved: "sessions/2026/11/20/rollout-1.jsonl",
        log: "codex.jsonl",
    },
    Client {
        name: "pi",
        place: ".pi/agent/sessions/--shop--/1.jsonl",
        variable: "PI_CODING_AGENT_DIR",
        moved: "sessions/--shop--/1.jsonl",
        log: "pi.jsonl",
    },
    Client {
        name: "Gemini CLI",
        place: ".gemini/tmp/shop/chats/session-1.json",
        variable: "GEMINI_CLI_HOME",
        moved: ".gemini/tmp/shop/chats/session-1.json",
        log: "gemini-cli.json",
    },
    Client {
        name: "Copilot CLI",
        place: ".copilot/session-state/1/events.jsonl",
        variable: "COPILOT_HOME",
        moved: "session-state/1/events.jsonl",
        log: "copilot-cli.jsonl",
    },
];

impl Client {
    fn put(&self, at: &Path) {
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::copy(fixture(self.log), at).unwrap();
    }
}

/// Code, report and talk of the program without arguments in that home, with a variable set.
fn alone(home: &Path, variable: Option<(&str, String)>) -> (i32, String, String) {
    let output = command(home, &[]).env("HOME", home).envs(variable).output().unwrap();
    (code(&output), stdout(&output).to_owned(), stderr(&output).to_owned())
}

#[test]
fn logs_of_each_client_are_found_and_read() {
    for client in &CLIENTS {
        let home = folder("logs-one");
        client.put(&home.join(client.place));
        let (code, report, talk) = alone(&home, None);
        assert_eq!(code, 0, "{}: {talk}", client.name);
        assert!(talk.contains(&format!("{}: ~/", client.name)) && talk.contains(", 1 log\n"), "{talk}");
        assert!(!talk.contains("embedded") && !report.contains("sample.exchanges"), "{}: {report}", client.name);
        let output = command(&home, &["replay", "-q"]).env("HOME", &home).output().unwrap();
        assert_eq!((code, stdout(&output), stderr(&output)), (0, &*report, ""), "{}", client.name);
    }
}

#[test]
fn variables_move_logs_as_they_move_the_client() {
    for client in &CLIENTS {
        let home = folder("logs-moved");
        client.put(&home.join(client.place));
        let [one, other] = ["one", "other"].map(|name| home.join(name));
        client.put(&one.join(client.moved));
        let (code, _, talk) = alone(&home, Some((client.variable, one.display().to_string())));
        assert_eq!(code, 0, "{}: {talk}", client.name);
        assert_eq!(talk.matches(client.name).count(), 1, "{talk}");
        assert!(talk.contains(&format!("{}: ~/one/", client.name)), "{talk}");
        client.put(&other.join(client.moved));
        let both = format!("{},{}", one.display(), other.display());
        let (_, _, talk) = alone(&home, Some((client.variable, both)));
        assert!(talk.contains("~/one/") && talk.contains("~/other/"), "{talk}");
    }
}

#[test]
fn several_clients_are_read_at_once_and_a_link_is_no_second_folder() {
    let home = folder("logs-several");
    for client in &CLIENTS {
        client.put(&home.join(client.place));
    }
    #[cfg(unix)]
    {
        fs::create_dir_all(home.join(".config")).unwrap();
        std::os::unix::fs::symlink(home.join(".claude"), home.join(".config/claude")).unwrap();
    }
    let (code, _, talk) = alone(&home, None);
    assert_eq!(code, 0, "{talk}");
    let found: Vec<&str> = talk.lines().filter(|line| line.contains(": ~/")).collect();
    assert_eq!(found.len(), CLIENTS.len(), "{talk}");
}

#[test]
fn folders_of_the_xdg_specification_are_known() {
    let home = folder("logs-xdg");
    CLIENTS[0].put(&home.join("config/claude/projects/-work/session.jsonl"));
    let (code, _, talk) = alone(&home, Some(("XDG_CONFIG_HOME", home.join("config").display().to_string())));
    assert_eq!(code, 0, "{talk}");
    assert!(talk.contains("Claude Code: ~/config/claude/projects"), "{talk}");
}

#[test]
fn without_logs_the_sample_is_shown_with_a_note() {
    let home = folder("logs-none");
    let places: [PathBuf; 2] = [home.join(".claude/projects"), home.join(".local/share/opencode")];
    places.iter().for_each(|place| fs::create_dir_all(place).unwrap());
    fs::write(places[0].join("notes.txt"), "none").unwrap();
    fs::write(places[1].join("opencode.db"), "none").unwrap();
    let (code, report, talk) = alone(&home, None);
    assert_eq!(code, 0, "{talk}");
    assert!(talk.contains("no logs of Claude Code, Codex, ") && talk.contains("embedded sample"), "{talk}");
    assert!(
        talk.contains("OpenCode keeps sessions in ~/.local/share/opencode/opencode.db: `opencode export"),
        "{talk}"
    );
    let output = forkcast(&home, &["demo", "-q"]);
    assert_eq!(stdout(&output), report);
}

/// Versions before 1.2 keep a file for each session, message and part; later ones a database, that may be beside them.
#[test]
fn the_storage_of_opencode_is_read_and_its_database_is_named() {
    let home = folder("logs-opencode");
    let own = home.join(".local/share/opencode");
    let write = |path: &str, text: &str| {
        fs::create_dir_all(own.join(path).parent().unwrap()).unwrap();
        fs::write(own.join(path), text).unwrap();
    };
    let time = r#""time":{"created":1763632800000,"completed":1763632805000}"#;
    write("storage/session/p1/ses_1.json", r#"{"id":"ses_1","projectID":"p1","directory":"/work"}"#);
    write(
        "storage/message/ses_1/msg_1.json",
        &format!(
            r#"{{"id":"msg_1","sessionID":"ses_1","role":"assistant","modelID":"claude-opus-4-8","providerID":"anthropic",{time}}}"#
        ),
    );
    write(
        "storage/part/msg_1/prt_1.json",
        r#"{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"step-finish","cost":0,"tokens":{"input":100,"output":20,"reasoning":0,"cache":{"read":0,"write":5000}}}"#,
    );
    let (code, report, talk) = alone(&home, None);
    assert_eq!(code, 0, "{talk}");
    assert!(talk.contains("OpenCode: ~/.local/share/opencode/storage, 1 log\n") && !talk.contains("export"), "{talk}");
    assert!(report.contains(" 1 request ") || report.contains(" 1 request"), "{report}");
    write("opencode.db", "none");
    let (_, _, talk) = alone(&home, None);
    assert!(talk.contains(", 1 log\n") && talk.contains("opencode.db: `opencode export"), "{talk}");
}

/// A file that is no log is not among those that were read.
#[test]
fn the_report_reads_as_many_files_as_were_found() {
    let home = folder("logs-number");
    CLIENTS[0].put(&home.join(CLIENTS[0].place));
    fs::write(home.join(".claude/projects/LICENSE"), "Permission is granted").unwrap();
    let (_, report, talk) = alone(&home, None);
    assert!(talk.contains(", 1 log\n"), "{talk}");
    assert!(report.contains("Read 1 file,") && report.contains("; 1 passed over"), "{report}");
}

#[test]
fn the_demo_is_the_sample_whatever_is_there() {
    let home = folder("logs-demo");
    CLIENTS[0].put(&home.join(CLIENTS[0].place));
    let output = command(&home, &["demo"]).env("HOME", &home).output().unwrap();
    assert_eq!(code(&output), 0);
    assert!(stderr(&output).contains("embedded sample"), "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&forkcast(&home, &["demo", "-q"])));
    assert_eq!(code(&forkcast(&home, &["demo", "recordings/"])), 2);
}
