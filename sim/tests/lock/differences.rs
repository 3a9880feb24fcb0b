//! Differences from a lock: the block, the 256 bytes, the cause, each reported once.

use forkcast_sim::diagnosis::{Cause, Note};
use forkcast_sim::guard::lock::{Equality, Lock, Recording, equality, sharing};
use forkcast_sim::guard::{NoteKind, Report, Rule, Rules, Severity};
use forkcast_sim::wire::Level;
use serde_json::{Value, json};

use super::stage::{Talk, lock_of, long, tool};

fn differs(change: impl FnOnce(&mut Talk)) -> Equality {
    let mut talk = Talk::new();
    // Through its text, as a lock is read.
    let old = Lock::parse(&talk.lock().text()).unwrap();
    change(&mut talk);
    equality(&old, &talk.lock(), &Rules::default())
}

fn causes(found: &Equality) -> Vec<(Cause, &str)> {
    found.findings.iter().map(|finding| (finding.cause, finding.path.as_str())).collect()
}

#[test]
fn identical_requests_have_no_differences() {
    let found = differs(|_| {});
    assert_eq!((causes(&found), found.notes.len(), found.strangers.len()), (vec![], 0, 0));
    assert_eq!(found.missing, []);
}

#[test]
fn each_kind_of_change_has_its_cause_and_its_path_once() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let user = |content: Value| json!({"role": "user", "content": [content]});
    type Change = Box<dyn FnOnce(&mut Talk)>;
    let cases: Vec<(Change, Vec<(Cause, &str)>)> = vec![
        (Box::new(|talk| talk.tools.push(tool("Glob", "Finds files."))), vec![(Cause::ToolsAdded, "tools[2]")]),
        (Box::new(|talk| talk.tools.insert(0, tool("Glob", "Finds."))), vec![(Cause::ToolsAdded, "tools[0]")]),
        (Box::new(|talk| drop(talk.tools.remove(0))), vec![(Cause::ToolsRemoved, "tools[0]")]),
        (Box::new(|talk| talk.tools.swap(0, 1)), vec![(Cause::ToolsReordered, "tools[0]")]),
        (Box::new(|talk| talk.tools[1] = tool("Write", "Writes.")), vec![(Cause::ToolChanged, "tools[1]")]),
        (Box::new(|talk| talk.system[0]["text"] = json!(long("order"))), vec![(Cause::SystemChanged, "system[0]")]),
        (Box::new(move |talk| talk.system.push(text("More."))), vec![(Cause::SystemChanged, "system[1]")]),
        (
            Box::new(|talk| talk.messages[0]["content"][0]["text"] = json!("What does the lexer do?")),
            vec![(Cause::MessageEdited, "messages[0].content[0]")],
        ),
        (
            Box::new(|talk| talk.messages[2]["content"][0]["content"] = json!("[cleared]")),
            vec![(Cause::ResultsCleared, "messages[2].content[0]")],
        ),
        (
            Box::new(move |talk| talk.messages[2]["content"].as_array_mut().unwrap().push(text("By the way."))),
            vec![(Cause::MessageInserted, "messages[2].content[1]")],
        ),
        (
            Box::new(move |talk| talk.messages[4] = user(json!({"type": "text", "text": "Which?"}))),
            vec![(Cause::MessageEdited, "messages[4].content[0]")],
        ),
        (Box::new(|talk| talk.thinking = Some(json!({"type": "adaptive"}))), vec![(Cause::LevelParameter, "thinking")]),
        (Box::new(|talk| talk.model = "claude-sonnet-4-6"), vec![(Cause::ModelChanged, "model")]),
    ];
    for (change, expected) in cases {
        let found = differs(change);
        assert_eq!(causes(&found), expected);
        assert!(found.missing.is_empty() && found.strangers.is_empty(), "{found:?}");
        assert!(found.findings.iter().all(|finding| finding.rule == Rule::Equality && finding.older.is_none()));
    }
}

#[test]
fn the_offset_is_right_to_256_bytes_wherever_the_change_is() {
    let whole = long("rule");
    for at in [0, 1, 200, 255, 256, 257, 5_000, whole.len() - 1] {
        let found = differs(|talk| {
            let mut bytes = whole.clone().into_bytes();
            bytes[at] = if bytes[at] == b'#' { b'+' } else { b'#' };
            talk.system[0]["text"] = json!(String::from_utf8(bytes).unwrap());
        });
        let [start, end] = found.findings[0].offset_range.unwrap();
        // In the canonical block the text follows `{"type":"text","text":"` or similar: less than 64 bytes.
        let (from, to) = (at as u64, at as u64 + 64);
        assert!(end - start <= 256 && start <= to && from < end, "{at}: {start}..{end}");
        assert_eq!(start % 256, 0);
        assert_eq!((found.findings[0].offset_in_block, &found.findings[0].windows), (None, &None));
    }
}

#[test]
fn several_changes_of_one_request_are_all_found() {
    let found = differs(|talk| {
        talk.tools[0] = tool("Read", "Reads files.");
        talk.system[0]["text"] = json!(long("order"));
        talk.messages[1]["content"][0]["input"] = json!({"path": "lexer.rs"});
    });
    assert_eq!(
        causes(&found),
        [
            (Cause::ToolChanged, "tools[0]"),
            (Cause::SystemChanged, "system[0]"),
            (Cause::MessageEdited, "messages[1].content[0]"),
        ]
    );
}

#[test]
fn tokens_after_the_change_are_priced() {
    let found = differs(|talk| talk.tools[0] = tool("Read", "Reads files."));
    let finding = &found.findings[0];
    assert!(finding.breaks_prefix && finding.tokens_lost() > Some(1_000), "{finding:?}");
    assert!(finding.cost().unwrap().picousd() > 0);
    // The previous request wrote an entry two messages earlier: the answer since then is sent again.
    let last = differs(|talk| talk.messages[4]["content"][0]["text"] = json!("Which?"));
    assert!((1..30).contains(&last.findings[0].tokens_lost().unwrap()), "{:?}", last.findings[0]);
    assert!(last.findings[0].loss.unwrap().is_upper_bound);
}

#[test]
fn a_breakpoint_elsewhere_is_a_note() {
    let found = differs(|talk| talk.system[0]["cache_control"] = json!({"type": "ephemeral"}));
    assert_eq!(found.findings, []);
    assert_eq!(found.notes[0].note, NoteKind::Harmless(Note::MarkerMoved));
    assert_eq!(found.notes[0].path, "system[0]");
}

fn agents(list: &[(&'static str, usize)]) -> Lock {
    let agent = |(name, skipped): &(&'static str, usize)| {
        let mut talk = Talk::new();
        talk.messages[0]["content"][0]["text"] = json!(format!("You are {name}."));
        let bodies = talk.requests().into_iter().enumerate().filter(|(at, _)| at != skipped).map(|(_, body)| body);
        (*name, None, bodies.collect())
    };
    lock_of(&Recording::default(), &list.iter().map(agent).collect::<Vec<_>>())
}

#[test]
fn missing_and_new_chains_and_requests_are_reported_in_words() {
    let all = agents(&[("main", 9), ("reader", 9)]);
    let words = |old: &Lock, new: &Lock| -> Vec<String> {
        let found = equality(old, new, &Rules::default());
        assert_eq!(found.findings, [], "only words");
        found.missing.iter().chain(&found.strangers).map(ToString::to_string).collect()
    };
    assert_eq!(
        words(&all, &agents(&[("main", 9)])),
        ["the chain of `reader`: found missing: no request of it was sent, expected 3 requests, as in the lock"]
    );
    assert_eq!(
        words(&agents(&[("main", 9)]), &all),
        ["the chain of `reader`: found new: 3 requests, expected no such chain, as in the lock"]
    );
    assert_eq!(
        words(&all, &agents(&[("main", 1), ("reader", 9)])),
        ["request 1 of the lock of `main`: found missing: it was not sent, expected a request of 6 blocks"]
    );
    assert_eq!(
        words(&agents(&[("main", 0), ("reader", 9)]), &all),
        ["request 0 of `main`: found new: a request of 4 blocks, expected no such request, as in the lock"]
    );
    assert_eq!(words(&all, &agents(&[("other", 9), ("reader", 9)])).len(), 2);
}

#[test]
fn a_renamed_chain_is_recognised_by_its_beginning() {
    let talk = Talk::new();
    let old = lock_of(&Recording::default(), &[("chain 1", None, talk.requests())]);
    let new = lock_of(&Recording::default(), &[("chain 2", None, talk.requests())]);
    let found = equality(&old, &new, &Rules::default());
    assert!(found.missing.is_empty() && found.strangers.is_empty() && found.findings.is_empty());
}

#[test]
fn numbered_chains_are_matched_by_content() {
    // Two chains of a folder, and the same folder with other chains first.
    let named = |list: &[(&'static str, &str)]| {
        let agent = |(name, word): &(&'static str, &str)| {
            let mut talk = Talk::new();
            talk.messages[0]["content"][0]["text"] = json!(format!("You look at {word}."));
            (*name, None, talk.requests())
        };
        lock_of(&Recording::default(), &list.iter().map(agent).collect::<Vec<_>>())
    };
    let old = named(&[("run#1", "bees"), ("run#2", "ants")]);
    let told = |new: &Lock| {
        let found = equality(&old, new, &Rules::default());
        let strangers: Vec<String> = found.missing.iter().chain(&found.strangers).map(ToString::to_string).collect();
        (
            found.findings.len(),
            strangers.iter().map(|told| told.split(':').next().unwrap().to_owned()).collect::<Vec<_>>(),
        )
    };
    let none: [&str; 0] = [];
    assert_eq!(told(&named(&[("run#1", "ants"), ("run#2", "bees")])), (0, none.map(str::to_owned).to_vec()));
    let third = named(&[("run#1", "wasps"), ("run#2", "bees"), ("run#3", "ants")]);
    assert_eq!(told(&third), (0, vec!["the chain of `run#1`".to_owned()]), "a new one");
    assert_eq!(told(&named(&[("run#1", "ants")])), (0, vec!["the chain of `run#1`".to_owned()]), "bees are missing");
    // A changed first message, in a folder with another name.
    let (findings, strangers) = told(&named(&[("again#1", "bees!"), ("again#2", "ants")]));
    assert!(findings > 0 && strangers.is_empty(), "{strangers:?}");
}

#[test]
fn pinned_levels_are_checked_independently_of_the_conversation() {
    let rules = Rules { equality: Severity::Off, pinned: vec![Level::Tools, Level::System], ..Rules::default() };
    let mut talk = Talk::new();
    let old = talk.lock();
    talk.messages.truncate(1);
    talk.messages[0]["content"][0]["text"] = json!("Something else.");
    let found = equality(&old, &talk.lock(), &rules);
    assert!(found.findings.is_empty() && found.missing.is_empty() && found.strangers.is_empty(), "{found:?}");
    talk.tools.swap(0, 1);
    let found = equality(&old, &talk.lock(), &rules);
    assert_eq!(causes(&found), [(Cause::ToolsReordered, "tools[0]")]);
    let mut report = Report::default();
    found.report(&rules, &mut report);
    assert!(!report.passes(&rules) && !report.score["equality"]);
}

/// Whether the report passes, and how many warnings and violations it has.
fn judged(old: &Lock, new: &Lock, rules: &Rules) -> (bool, usize, usize) {
    let mut report = Report::default();
    equality(old, new, rules).report(rules, &mut report);
    assert_eq!(report.score["equality"], report.passes(rules));
    (report.passes(rules), report.warnings.len(), report.violations.len())
}

#[test]
fn missing_requests_fail_unless_the_rules_allow_them() {
    let (all, fewer) = (agents(&[("main", 9), ("reader", 9)]), agents(&[("main", 9)]));
    for equality in [Severity::Note, Severity::Fail] {
        let rules = |missing| Rules { equality, missing, ..Rules::default() };
        assert_eq!(judged(&all, &fewer, &rules(Severity::Fail)), (false, 0, 1));
        assert_eq!(judged(&all, &fewer, &rules(Severity::Note)), (true, 1, 0));
        assert_eq!(judged(&all, &fewer, &rules(Severity::Off)), (true, 0, 0));
    }
    let off = Rules { equality: Severity::Off, ..Rules::default() };
    assert!(equality(&all, &fewer, &off).missing.is_empty());
    let pinned = Rules { pinned: vec![Level::Tools], ..off };
    assert_eq!(judged(&all, &fewer, &pinned), (false, 0, 1), "its tools are pinned, and they are gone");
}

#[test]
fn new_requests_fail_only_if_equality_is_required() {
    let (all, fewer) = (agents(&[("main", 9), ("reader", 9)]), agents(&[("main", 9)]));
    for (equality, expected) in [(Severity::Note, (true, 1, 0)), (Severity::Fail, (false, 0, 1))] {
        assert_eq!(judged(&fewer, &all, &Rules { equality, ..Rules::default() }), expected);
    }
}

#[test]
fn siblings_that_share_less_than_in_the_lock_are_found() {
    let child = |task: &str, system: &str| {
        let mut talk = Talk::new();
        talk.system[0]["text"] = json!(system);
        talk.messages[0]["content"][0]["text"] = json!(task);
        vec![talk.body(1)]
    };
    let lock = |first: &str, second: &str| {
        lock_of(
            &Recording::default(),
            &[("a", Some("main"), child("Do this.", first)), ("b", Some("main"), child("Do that.", second))],
        )
    };
    let (rules, orders) = (long("rule"), long("order"));
    let old = Lock::parse(&lock(&rules, &rules).text()).unwrap();
    assert_eq!(sharing(&old, &lock(&rules, &rules), &Rules::default()), []);
    // If all are alike, sharing is fine, independent of equality.
    assert_eq!(sharing(&old, &lock(&orders, &orders), &Rules::default()), []);
    let found = sharing(&old, &lock(&rules, &orders), &Rules::default());
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].rule, found[0].cause, found[0].path.as_str()),
        (Rule::Sharing, Cause::SystemChanged, "system[0]")
    );
    assert_eq!(found[0].chain, "b");
}

#[test]
fn offsets_are_exact_if_both_locks_contain_the_text() {
    let shown = Recording { show_content: true, ..Recording::default() };
    let mut talk = Talk::new();
    let old = lock_of(&shown, &[("main", None, talk.requests())]);
    talk.messages[0]["content"][0]["text"] = json!("What does the lexer do?");
    let new = lock_of(&shown, &[("main", None, talk.requests())]);
    let found = equality(&old, &new, &Rules::default());
    let [older, newer] = found.findings[0].windows.clone().unwrap();
    assert_eq!((older.mark.as_str(), newer.mark.as_str()), ("p", "l"));
    assert!(older.before.ends_with("What does the "));
}
