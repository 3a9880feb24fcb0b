//! Output that others may read contains no text of a prompt.

use forkcast_reports::check::Check;
use forkcast_reports::document::{csv, markdown, terminal};
use forkcast_reports::format::check::{self, github, junit, sarif};
use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_sim::guard::{Facts, Guard, Rules, Sent};

use super::captures::{CALM, Checked, SECRET, Turn, body, restless};
use crate::written::text;

/// Every output that is a file somewhere.
fn files(check: &Check<'_>) -> Vec<(&'static str, String)> {
    let document = human::check::document(check, check.content);
    let tables = check::tables(check);
    vec![
        ("json", text(|target| check::write(check, target))),
        ("junit", text(|target| junit::write(check, target))),
        ("github", text(|target| github::write(check, target))),
        ("sarif", text(|target| sarif::write(check, target))),
        ("markdown", text(|target| markdown::write(&document, target))),
        ("csv", text(|target| csv::write(&tables, target))),
    ]
}

#[test]
fn no_text_of_a_prompt_without_being_asked() {
    let checked = Checked::of(&restless(), Rules::default()).with_everything();
    let check = checked.check();
    for (format, text) in files(&check) {
        assert!(text.contains("tool_changed"), "{format}: {text}");
        for planted in [SECRET, "Reads", "2026-11-2"] {
            let text = text.replace("list prices of 2026-11-21", "");
            assert!(!text.contains(planted), "{format}: {planted}");
        }
    }
}

#[test]
fn the_terminal_shows_the_bytes_and_files_do_on_request() {
    let checked = Checked::of(&restless(), Rules::default());
    let check = Check { content: true, ..checked.check() };
    for (format, text) in files(&check).into_iter().filter(|(format, _)| *format != "csv") {
        assert!(text.contains(SECRET), "{format}");
    }
    let shown = human::check::document(&checked.check(), true);
    let shown = text(|target| terminal::write(&shown, terminal::Look::default(), target));
    assert!(shown.contains("Today is 2026-11-2"), "{shown}");
}

#[test]
fn names_become_ids() {
    let checked = Checked::of(&restless(), Rules::default()).with_everything();
    let check = Check { names: Names::Anonymous, content: true, ..checked.check() };
    for (format, text) in files(&check) {
        for name in [SECRET, "bodies/", "forkcast.lock", "`Read`", "`Edit`", "`main`", "\"main\""] {
            let text = text.replace("\"forkcast.lock\"", "");
            assert!(!text.contains(name) || name == "forkcast.lock", "{format}: {name}\n{text}");
        }
    }
}

#[test]
fn the_file_of_a_warning_is_a_name() {
    let mut guard = Guard::new(Rules::default());
    for asked in ["Look at it", "Write a poem"] {
        let body = body(&Turn { asked, ..CALM }, 0);
        guard
            .take(&Sent {
                facts: Facts { scope: "ada/poems.jsonl", ..Facts::default() },
                ..Sent::body(body.as_bytes())
            })
            .unwrap();
    }
    let checked = Checked { report: guard.finish(), ..Checked::of(&[CALM], Rules::default()) };
    for (names, shows) in [(Names::Plain, true), (Names::Anonymous, false)] {
        let check = Check { names, ..checked.check() };
        for (format, text) in
            files(&check).into_iter().filter(|(format, _)| ["json", "markdown", "github"].contains(format))
        {
            assert!(text.contains("request 1 names no agent"), "{format}: {text}");
            assert_eq!(text.contains("ada/poems.jsonl"), shows, "{format}: {text}");
        }
    }
}
