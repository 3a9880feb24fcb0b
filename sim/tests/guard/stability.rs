//! Each request keeps the prefix of the previous one, and a change is found at its place.

use forkcast_sim::diagnosis::{Cause, Note, Volatile};
use forkcast_sim::guard::{Facts, Finding, NoteKind, Report, Rule, Rules, Sent, Stretch};
use forkcast_sim::pricing::Category;
use forkcast_sim::wire::{Level, Usage};
use serde_json::{Value, json};

use super::conversation::{body, check, guard, mark_end, message, replace, text};

/// The only finding of a request that follows `older`.
fn only(older: &Value, newer: &Value) -> Finding {
    let report = check(&[older.clone(), newer.clone()]);
    assert_eq!(report.findings.len(), 1, "{:#?}", report.findings);
    report.findings[0].clone()
}

fn breaking(report: &Report) -> Vec<(usize, Cause, &str)> {
    let breaking = report.findings.iter().filter(|finding| finding.breaks_prefix);
    breaking.map(|finding| (finding.request, finding.cause, finding.path.as_str())).collect()
}

#[test]
fn appended_content_is_no_change() {
    let report = check(&(0..12).map(body).collect::<Vec<_>>());
    assert_eq!((report.chains, report.requests), (1, 12));
    assert!(report.findings.is_empty() && report.notes.is_empty(), "{:#?}", report.findings);
    assert!(report.passes(&Rules::default()) && report.score["stability"] && report.warnings.is_empty());
}

#[test]
fn a_date_in_the_system_prompt_costs_everything_cached_that_is_sent_again() {
    let (older, mut newer) = (body(3), body(4));
    replace(&mut newer, "/system/0/text", "2026-11-20", "2026-11-21");
    let finding = only(&older, &newer);
    assert_eq!(
        (finding.rule, finding.cause, finding.path.as_str()),
        (Rule::Stability, Cause::SystemChanged, "system[0]")
    );
    assert_eq!(finding.volatile, Some(Volatile::Date));
    let offset = r#"{"text":"Today is 2026-11-2"#.len() as u64;
    assert_eq!(finding.offset_in_block.map(|at| at % 100), Some(offset % 100), "canonical bytes of the text");
    assert!(finding.breaks_prefix);
    // After the date: the policy, and all messages of the older request. Before it: the tools, since no breakpoint ends
    // there.
    let cached = json!([newer["tools"], newer["system"][1], older["messages"]]).to_string().len() as u64 * 10 / 31;
    let lost = finding.tokens_lost().unwrap();
    assert!(lost.abs_diff(cached) < cached / 10, "{lost} of about {cached}");
    assert_eq!(finding.loss.unwrap().billed_as, Category::Write5m);
    // Sonnet 4.5: $3.75 written, $0.30 read, per million tokens.
    assert_eq!(finding.cost().unwrap().picousd(), i128::from(lost) * 3_450_000);
    assert_eq!(finding.provider_reason(), Some("system_changed"));
    assert!(!check(&[older, newer]).passes(&Rules::default()));
}

#[test]
fn two_changes_in_one_request_are_both_found_each_once() {
    let (older, mut newer) = (body(3), body(4));
    replace(&mut newer, "/tools/1/description", "Edit is", "Edit was");
    replace(&mut newer, "/messages/1/content/0/text", "plan 0 is", "plan 0 was");
    let report = check(&[older, newer]);
    let expected = [(1, Cause::ToolChanged, "tools[1]"), (1, Cause::MessageEdited, "messages[1].content[0]")];
    assert_eq!(breaking(&report), expected);
    assert!(report.findings[0].tokens_lost() > report.findings[1].tokens_lost());
}

#[test]
fn a_change_after_the_last_breakpoint_breaks_nothing() {
    let reminder = |body: &mut Value, word: &str| {
        let last = body["messages"].as_array_mut().unwrap().last_mut().unwrap();
        last["content"].as_array_mut().unwrap().push(json!({"type": "text", "text": word}));
    };
    let (mut older, mut newer) = (body(3), body(4));
    reminder(&mut older, "one minute left");
    reminder(&mut newer, "no minute left");
    let report = check(&[older, newer]);
    assert!(breaking(&report).is_empty() && report.passes(&Rules::default()), "{:#?}", report.findings);
    assert!(report.notes.iter().any(|noted| noted.note == NoteKind::Harmless(Note::TailOnly)), "{:#?}", report.notes);
    assert_eq!(report.findings[0].loss.unwrap().billed_as, Category::Write5m);
}

#[test]
fn a_return_to_cached_bytes_breaks_only_the_part_missing_from_that_entry() {
    let flipped = |turns: usize, odd: bool| {
        let mut body = body(turns);
        if odd {
            replace(&mut body, "/system/0/text", "Be brief.", "Be long and thorough.");
        }
        body
    };
    // The third request equals the first, byte for byte: its whole prompt is still cached.
    let report = check(&[flipped(3, false), flipped(3, true), flipped(3, false)]);
    assert_eq!(breaking(&report), [(1, Cause::SystemChanged, "system[0]")]);
    // The third reads the first one's write, the fourth the second one's: it lacks the turn after that.
    let report = check(&[flipped(2, false), flipped(2, true), flipped(3, false), flipped(4, true)]);
    assert_eq!(breaking(&report), [(1, Cause::SystemChanged, "system[0]"), (3, Cause::SystemChanged, "system[0]")]);
    let lost: Vec<u64> = report.findings.iter().map(|finding| finding.tokens_lost().unwrap()).collect();
    assert!(lost[1] == 0 && lost[2] > 150 && lost[2] < 300, "one turn: {lost:?}");
}

#[test]
fn another_spelling_of_the_same_prompt_is_a_note() {
    let (older, newer) = (body(1).to_string(), body(2).to_string());
    let respelled =
        newer.replacen("plan 0 is", "pl\\u0061n 0 is", 1).replacen("\"max_tokens\":1000", "\"max_tokens\":999", 1);
    let mut guard = guard();
    guard.take(&Sent::body(older.as_bytes())).unwrap();
    let checked = guard.take(&Sent::body(respelled.as_bytes())).unwrap();
    let notes: Vec<(NoteKind, &str)> = checked.notes.iter().map(|noted| (noted.note, noted.path.as_str())).collect();
    let expected = [(Note::Envelope, "max_tokens"), (Note::Escape, "messages[1]")];
    assert_eq!(notes, expected.map(|(note, path)| (NoteKind::Harmless(note), path)));
    assert!(checked.findings.is_empty());
}

#[test]
fn another_model_breaks_everything() {
    let (older, mut newer) = (body(3), body(4));
    newer["model"] = "claude-opus-4-1".into();
    let finding = only(&older, &newer);
    assert_eq!((finding.cause, finding.breaks_prefix), (Cause::ModelChanged, true));
    assert!(finding.windows.is_none(), "no bytes differ");
    let all = older.to_string().len() as u64 * 10 / 31;
    let lost = finding.tokens_lost().unwrap();
    assert!(lost.abs_diff(all) < all / 8, "{lost} of about {all}");
}

#[test]
fn a_prompt_below_the_minimum_has_nothing_to_lose() {
    let small = |word: &str| {
        let mut body = json!({"model": "claude-sonnet-4-5", "system": [{"type": "text", "text": word}], "messages": [message("user", "Hi")]});
        mark_end(&mut body);
        body
    };
    let mut newer = small("two");
    newer["messages"].as_array_mut().unwrap().extend([message("assistant", "Hello"), message("user", "Go on")]);
    let report = check(&[small("one"), newer]);
    assert_eq!(report.findings.len(), 1);
    assert!(breaking(&report).is_empty());
    assert_eq!(report.findings[0].loss.unwrap().billed_as, Category::Input, "it is too short to be written");
}

#[test]
fn new_tools_and_system_with_continued_messages_break_that_chain() {
    let (older, mut newer) = (body(3), body(4));
    for tool in newer["tools"].as_array_mut().unwrap() {
        tool["description"] = text("new", 300).into();
    }
    newer["system"] = json!([{"type": "text", "text": text("other", 1_200), "cache_control": {"type": "ephemeral"}}]);
    let report = check(&[older, newer]);
    assert_eq!(report.chains, 1);
    let causes: Vec<Cause> = breaking(&report).into_iter().map(|(_, cause, _)| cause).collect();
    assert!(causes.contains(&Cause::ToolChanged) && causes.contains(&Cause::SystemChanged), "{causes:?}");
}

#[test]
fn an_allowed_change_is_reported_and_passes() {
    let (older, mut newer) = (body(3), body(4));
    replace(&mut newer, "/system/0/text", "2026-11-20", "2026-11-21");
    let report = check(&[older, newer]);
    let rules = |text: &str| Rules::from_toml(text).unwrap();
    assert!(report.passes(&rules("[[allow]]\ncause = \"system_changed\"\npath = \"system[0]\"")));
    assert!(!report.passes(&rules("[[allow]]\ncause = \"system_changed\"\npath = \"system[1]\"")));
    assert!(!report.passes(&rules("[[allow]]\ncause = \"tool_changed\"")));
    assert!(report.passes(&rules("stability = \"note\"")) && report.passes(&rules("stability = \"off\"")));
}

#[test]
fn a_block_that_alters_another_level_is_reported_at_its_own_place() {
    let search = json!({"type": "web_search_20250305", "name": "web_search"});
    let deferred = json!({"name": "Late", "defer_loading": true, "input_schema": {}});
    let cited = |enabled: bool| {
        let mut body = body(1);
        let source = json!({"type": "text", "media_type": "text/plain", "data": "A page."});
        let document = json!({"type": "document", "source": source, "citations": {"enabled": enabled}});
        body["messages"][2]["content"].as_array_mut().unwrap().insert(0, document);
        body
    };
    let searching = |at: usize| {
        let mut body = body(1);
        body["tools"].as_array_mut().unwrap().insert(1, deferred.clone());
        body["tools"].as_array_mut().unwrap().insert(at, search.clone());
        body
    };
    let mut plain = searching(0);
    plain["tools"].as_array_mut().unwrap().remove(0);
    let cases = [
        ([&plain, &searching(0)], "tools[0]", "parameter `web_search`"),
        ([&plain, &searching(3)], "tools[3]", "parameter `web_search`"),
        ([&searching(4), &plain], "tools[4]", "parameter `web_search`"),
        ([&cited(false), &cited(true)], "messages[2].content[0].citations", "parameter `citations`"),
        ([&cited(true), &cited(false)], "messages[2].content[0].citations", "parameter `citations`"),
    ];
    for (bodies, path, name) in cases {
        let report = check(&bodies.map(Clone::clone));
        let found: Vec<_> = report.findings.iter().map(|one| (one.path.as_str(), one.name.as_str())).collect();
        assert_eq!(found, [(path, name)]);
        assert_eq!(report.findings[0].level, Level::System);
    }
}

#[test]
fn blocks_keep_the_sizes_that_an_older_requests_usage_showed() {
    let mut newer = body(3);
    replace(&mut newer, "/messages/1/content/0/text", "plan 0 is", "plan 0 was");
    let lost = |usage: Option<Usage>| {
        let mut guard = guard();
        guard
            .take(&Sent { facts: Facts { usage, ..Facts::default() }, ..Sent::body(body(2).to_string().as_bytes()) })
            .unwrap();
        let checked = guard.take(&Sent::body(newer.to_string().as_bytes())).unwrap();
        checked.findings[0].tokens_lost().unwrap()
    };
    let estimated = lost(None);
    let total_tokens = guard().take(&Sent::body(body(2).to_string().as_bytes())).unwrap().expected.total_input_tokens();
    let recorded = Usage { ephemeral_5m_input_tokens: total_tokens * 10, ..Usage::default() };
    // The changed block has the size of its own length.
    let shown = lost(Some(recorded));
    assert!((estimated * 8..estimated * 10).contains(&shown), "{estimated}, then {shown}");
}

#[test]
fn a_finding_has_the_blocks_of_its_request() {
    let (older, mut newer) = (body(3), body(4));
    replace(&mut newer, "/system/1/text", "policy is", "policy was");
    let strip = only(&older, &newer).strip;
    let changed: Vec<usize> = strip.iter().enumerate().filter(|(_, part)| part.is_changed).map(|(at, _)| at).collect();
    let blocks = |parts: &[Stretch]| parts.iter().map(|part| part.blocks).sum::<u64>();
    assert_eq!(changed.len(), 1);
    let (before, rest) = strip.split_at(changed[0]);
    assert_eq!(
        (blocks(before), rest[0].blocks, rest[0].level),
        (4, 1, Level::System),
        "three tools and a text: {strip:?}"
    );
    assert_eq!(blocks(&rest[1..]), 13, "a task, and three blocks a turn: {strip:?}");
    let tokens: u64 = strip.iter().map(|part| part.tokens).sum();
    assert!(rest[0].tokens > 1_000 && rest[0].tokens < tokens / 2, "{strip:?}");
    assert!(strip.windows(2).all(|pair| pair[0].level <= pair[1].level));
}

/// A strip of thousands of blocks could not be drawn.
#[test]
fn many_small_blocks_are_few_stretches() {
    let (older, mut newer) = (body(900), body(901));
    replace(&mut newer, "/messages/901/content/0/text", "plan 450 is", "plan 450 was");
    let strip = only(&older, &newer).strip;
    assert!((50..=300).contains(&strip.len()), "{}", strip.len());
    assert_eq!(strip.iter().map(|part| part.blocks).sum::<u64>(), 3 + 2 + 1 + 3 * 901);
}

#[test]
fn a_change_that_was_read_past_broke_nothing() {
    let (older, mut newer) = (body(3), body(4));
    replace(&mut newer, "/system/0/text", "2026-11-20", "2026-11-21");
    let found = |read: Option<u64>| {
        let mut guard = guard();
        for (body, read) in [(&older, None), (&newer, read)] {
            let usage = read.map(|read| Usage {
                cache_read_input_tokens: read,
                input_tokens: 2_600 - read,
                ..Usage::default()
            });
            let facts = Facts { usage, ..Facts::default() };
            guard.take(&Sent { facts, ..Sent::body(body.to_string().as_bytes()) }).unwrap();
        }
        breaking(&guard.finish()).len()
    };
    // A recorder that replaces what was sent: the provider read what stands behind the change.
    assert_eq!([None, Some(0), Some(900), Some(2_300)].map(found), [1, 1, 1, 0]);
}
