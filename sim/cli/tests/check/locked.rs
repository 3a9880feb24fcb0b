//! Locks: written, compared, rewritten.

use std::fs;

use super::bodies::{CALM, SECRET, Turn, code, folder, forkcast, json, stderr, stdout, write};

/// The same conversation with another tool description from the beginning: every request keeps its prefix, but it is
/// another prefix.
fn other() -> [Turn; 4] {
    [Turn { tool: "Reads one file", ..CALM }; 4]
}

#[test]
fn a_lock_is_found_at_its_default_path() {
    let place = folder("usual");
    write(&place.join("bodies"), &[CALM; 4]);
    let output = forkcast(&place, &["lock", "bodies"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).starts_with("forkcast.lock: 4 requests of 1 chain"), "{}", stdout(&output));
    let text = fs::read_to_string(place.join("forkcast.lock")).unwrap();
    assert!(!text.contains(SECRET) && text.contains("Read"), "{text}");
    let output = forkcast(&place, &["check", "bodies"]);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("Lock forkcast.lock: 4 requests of 1 chain"), "{}", stdout(&output));
    let found = json(&place, &["check", "bodies"]);
    assert_eq!(found["lock"]["requests"], 4);
    assert_eq!(found["score"]["equality"], true);
}

#[test]
fn differences_from_the_lock_are_reported_and_fail_if_pinned() {
    let place = folder("pinned");
    write(&place.join("bodies"), &[CALM; 4]);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-o", "my.lock", "-q"])), 0);
    write(&place.join("bodies"), &other());
    let found = json(&place, &["check", "bodies", "--lock", "my.lock"]);
    let finding = &found["findings"][0];
    assert_eq!((finding["rule"].as_str(), finding["verdict"].as_str()), (Some("equality"), Some("noted")));
    assert_eq!((finding["cause"].as_str(), finding["path"].as_str()), (Some("tool_changed"), Some("tools[0]")));
    assert!(finding["older"].is_null() && finding["offset_range"].is_array(), "{finding:#}");
    assert_eq!(code(&forkcast(&place, &["check", "bodies", "--lock", "my.lock"])), 0);
    fs::write(place.join("forkcast.toml"), "pinned = [\"tools\"]\n").unwrap();
    let output = forkcast(&place, &["check", "bodies", "--lock", "my.lock"]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("against the lock"), "{}", stdout(&output));
    assert_eq!(code(&forkcast(&place, &["check", "bodies", "--lock", "none"])), 0);
}

/// A request that is in the lock but is no longer sent is a test that no longer runs, or a turn that ended early.
#[test]
fn a_request_of_the_lock_that_is_missing_fails() {
    let place = folder("missing");
    write(&place.join("bodies"), &[CALM; 4]);
    write(&place.join("bodies/reader"), &[CALM; 2]);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-q"])), 0);
    fs::remove_file(place.join("bodies/002.json")).unwrap();
    fs::remove_dir_all(place.join("bodies/reader")).unwrap();
    for (format, request, chain) in [
        ("human", "request 2 of the lock", "missing: no request of it was sent"),
        ("markdown", "request 2 of the lock", "missing: no request of it was sent"),
        ("json", "\"what\": \"request 2 of the lock\"", "missing: no request of it was sent"),
        ("csv", ",request 2 of the lock,missing: it was not sent,", ",the chain,missing: no request of it was sent,"),
        ("junit", "message=\"request 2 of the lock: found missing", "message=\"the chain: found missing"),
        ("github", "::error title=request 2 of the lock of ", "::error title=the chain of "),
        ("sarif", "request 2 of the lock of chain ", "the chain of chain "),
    ] {
        let output = forkcast(&place, &["check", "bodies", "--format", format]);
        assert_eq!(code(&output), 1, "{format}: {}", stderr(&output));
        for told in [request, chain] {
            assert!(stdout(&output).contains(told), "{format}, {told}: {}", stdout(&output));
        }
        assert!(
            stderr(&output).contains("requests differ from the lock; 3 requests checked"),
            "{format}: {}",
            stderr(&output)
        );
    }
    assert_eq!(json(&place, &["check", "bodies"])["score"]["equality"], false);
    fs::write(place.join("forkcast.toml"), "missing = \"note\"\n").unwrap();
    let found = json(&place, &["check", "bodies"]);
    assert_eq!((&found["passed"], &found["score"]["equality"]), (&true.into(), &true.into()));
    assert!(found["warnings"].to_string().contains("request 2 of the lock"), "{found:#}");
    fs::write(place.join("forkcast.toml"), "missing = \"off\"\n").unwrap();
    assert!(!json(&place, &["check", "bodies"])["warnings"].to_string().contains("request 2 of the lock"));
    fs::remove_file(place.join("forkcast.toml")).unwrap();
    assert_eq!(code(&forkcast(&place, &["check", "bodies", "--update", "-q"])), 0);
    assert_eq!(code(&forkcast(&place, &["check", "bodies"])), 0);
}

#[test]
fn an_update_reports_the_changes_and_their_cost() {
    let place = folder("update");
    write(&place.join("bodies"), &[CALM; 4]);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-q"])), 0);
    fs::write(place.join("forkcast.toml"), "equality = \"fail\"\n").unwrap();
    write(&place.join("bodies"), &other());
    assert_eq!(code(&forkcast(&place, &["check", "bodies"])), 1);
    let before = fs::read_to_string(place.join("forkcast.lock")).unwrap();
    let output = forkcast(&place, &["check", "bodies", "--update"]);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("forkcast.lock is rewritten: 4 changes"), "{}", stdout(&output));
    assert!(stdout(&output).contains("4 changes; all requests cost "), "{}", stdout(&output));
    assert_ne!(fs::read_to_string(place.join("forkcast.lock")).unwrap(), before);
    assert_eq!(code(&forkcast(&place, &["check", "bodies"])), 0);
    let again = forkcast(&place, &["check", "bodies", "--update"]);
    assert!(stdout(&again).contains("nothing changed"), "{}", stdout(&again));
}

#[test]
fn costs_are_limited_by_those_of_the_lock() {
    let place = folder("dearer");
    write(&place.join("bodies"), &[CALM; 4]);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-q"])), 0);
    fs::write(place.join("forkcast.toml"), "[budget]\nmax_cost_rise = 0.0\n").unwrap();
    assert_eq!(code(&forkcast(&place, &["check", "bodies"])), 0);
    write(&place.join("bodies"), &other());
    let output = forkcast(&place, &["check", "bodies"]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("in the lock)"), "{}", stdout(&output));
    assert_eq!(json(&place, &["check", "bodies"])["score"]["budget"], false);
}

#[test]
fn an_update_creates_a_missing_lock() {
    let place = folder("first");
    write(&place.join("bodies"), &[CALM; 2]);
    assert_eq!(code(&forkcast(&place, &["check", "bodies", "--update", "-q"])), 0);
    assert!(place.join("forkcast.lock").is_file());
    let output = forkcast(&place, &["check", "bodies", "--update", "--lock", "none"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
}

#[test]
fn the_error_for_an_unreadable_lock_gives_the_reason() {
    let place = folder("broken");
    write(&place.join("bodies"), &[CALM; 2]);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-q"])), 0);
    let text = fs::read_to_string(place.join("forkcast.lock")).unwrap();
    let complaint = |text: &str| {
        fs::write(place.join("forkcast.lock"), text).unwrap();
        let output = forkcast(&place, &["check", "bodies"]);
        assert_eq!(code(&output), 2, "{}", stdout(&output));
        stderr(&output).to_owned()
    };
    let newer = complaint(&text.replacen("version = 1", "version = 7", 1));
    assert!(newer.contains("forkcast.lock: written by a newer forkcast") && newer.contains("--update"), "{newer}");
    let cut = complaint(&text[..text.len() / 2]);
    assert!(cut.contains("forkcast.lock:") && cut.contains("expected"), "{cut}");
    let output = forkcast(&place, &["check", "bodies", "--lock", "other.lock"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("other.lock"), "{}", stderr(&output));
    // An unreadable lock is rewritten anyway.
    assert_eq!(code(&forkcast(&place, &["check", "bodies", "--update", "-q"])), 0);
    assert_eq!(fs::read_to_string(place.join("forkcast.lock")).unwrap(), text);
}

#[test]
fn a_lock_contains_text_only_on_request() {
    let place = folder("shown");
    write(&place.join("bodies"), &[CALM; 2]);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "--show-content", "-q"])), 0);
    assert!(fs::read_to_string(place.join("forkcast.lock")).unwrap().contains(SECRET));
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "--anonymize", "-q"])), 0);
    let text = fs::read_to_string(place.join("forkcast.lock")).unwrap();
    assert!(!text.contains(SECRET) && !text.contains("Read"), "{text}");
    let output = forkcast(&place, &["check", "bodies", "--anonymize"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
}
