//! Traces of servers: blocks as ids, or as digests of texts.

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, equality};
use serde_json::{Value, json};

use super::stage::{Folder, body, breaks, chains};
use crate::places;

fn fixture(name: &str) -> String {
    String::from_utf8(places::fixture(name)).unwrap()
}

fn named(name: &str, requests: usize) -> (String, usize) {
    (name.to_owned(), requests)
}

/// A conversation of blocks of 64 tokens, one request for each list of ids.
fn weka(id: &str, prompts: &[Vec<u64>]) -> String {
    let request = |(at, ids): (usize, &Vec<u64>)| json!({"t": at, "type": "n", "model": "claude-opus-4-8", "in": ids.len() * 64 + 7, "out": 9, "hash_ids": ids});
    let requests: Vec<Value> = prompts.iter().enumerate().map(request).collect();
    json!({"id": id, "models": ["claude-opus-4-8"], "block_size": 64, "hash_id_scope": "local", "tool_tokens": 640,
        "system_tokens": 1280, "requests": requests})
    .to_string()
}

fn trace(text: String) -> Folder {
    Folder::new(&[("trace.json", text)])
}

#[test]
fn conversations_and_sub_agents_of_a_trace_are_chains() {
    let (fed, outcome) = trace(fixture("weka.json")).check();
    assert_eq!((fed.requests, fed.remarks.traced, fed.remarks.by_history, fed.unchecked.len()), (8, 8, 0, 0));
    let main = "made_0001/main";
    assert_eq!(chains(&outcome), [named(main, 5), named("made_0001/agent_001", 2), named("made_0001/agent_002", 1)]);
    let lock = outcome.lock.unwrap();
    let parents: Vec<_> = lock.chains.iter().map(|chain| chain.parent.as_deref()).collect();
    assert_eq!(parents, [None, Some(main), Some(main)]);
    let first: Vec<String> =
        lock.prompt(&lock.chains[0].requests[0]).iter().map(|placed| placed.place.to_string()).collect();
    assert_eq!(first, ["tools[0]", "system[0]", "messages[0].content[0]"]);
}

#[test]
fn a_changed_block_of_a_trace_breaks_the_prefix_at_the_price_of_the_blocks_sent_again() {
    let grown: Vec<Vec<u64>> = [100, 130, 160].iter().map(|end| (0..*end).collect()).collect();
    let kept = trace(weka("one", &grown)).check().1;
    assert_eq!((breaks(&kept).len(), kept.report.findings.len()), (0, 0));
    // Ids depend on all blocks before them: after block 50 all differ.
    let mut changed = grown;
    changed[2] = (0..50).chain(1_050..1_160).collect();
    let outcome = trace(weka("one", &changed)).check().1;
    let [found] = outcome.report.findings.as_slice() else { panic!("{:?}", outcome.report.findings) };
    assert_eq!((found.cause.word(), found.path.as_str()), ("message_edited", "messages[1].content[0]"));
    assert_eq!((found.breaks_prefix, found.tokens_lost(), found.offset_in_block), (true, Some(79 * 64), None));
    let system: Vec<Vec<u64>> = vec![(0..100).collect(), (0..20).chain(1_020..1_110).collect()];
    let outcome = trace(weka("one", &system)).check().1;
    let told: Vec<_> = outcome.report.findings.iter().map(|found| (found.cause.word(), found.path.as_str())).collect();
    assert_eq!(told, [("system_changed", "system[1]")]);
}

#[test]
fn the_end_of_a_prompt_is_not_compared() {
    // The last block of the first prompt ends with it; the next prompt has other text there.
    let told = |input: u64, ids: &[u64]| json!({"t": 0, "type": "n", "in": input, "hash_ids": ids});
    let of = |first: u64| {
        let requests =
            [told(first, &(0..100).collect::<Vec<u64>>()), told(7_040, &(0..99).chain(200..211).collect::<Vec<_>>())];
        json!({"id": "one", "models": ["claude-opus-4-8"], "block_size": 64, "hash_id_scope": "local", "requests": requests})
    };
    let found = |first: u64| trace(of(first).to_string()).check().1.report.findings.len();
    assert_eq!([found(6_400), found(6_401), found(6_402)], [0, 0, 1]);
}

#[test]
fn traces_of_other_conversations_share_no_block() {
    let digests = |id: &str| {
        let lock = trace(weka(id, &[(0..40).collect()])).check().1.lock.unwrap();
        let blocks = lock.prompt(&lock.chains[0].requests[0]);
        blocks.iter().map(|placed| placed.block.digest.to_string()).collect::<Vec<_>>()
    };
    let (one, other) = (digests("one"), digests("other"));
    assert_eq!((one.len(), &one), (3, &digests("one")));
    assert!(one.iter().all(|digest| !other.contains(digest)));
}

#[test]
fn requests_without_conversations_continue_the_prompt_that_they_repeat() {
    let row = |at: usize, tokens: u64, ids: &[u64]| {
        json!({"timestamp": at * 1000, "input_length": tokens, "output_length": 1, "hash_ids": ids}).to_string()
    };
    // The third repeats the first completely; none repeats the second. The rest after whole blocks has its own id.
    let rows = [row(0, 1_100, &[0, 1, 2]), row(1, 1_536, &[0, 3, 4]), row(2, 1_700, &[0, 1, 5, 6]), row(3, 9, &[7])];
    let (fed, outcome) = Folder::new(&[("t.jsonl", rows.join("\n"))]).check();
    assert_eq!((fed.requests, fed.remarks.traced, fed.remarks.by_history), (4, 4, 4));
    let name = |number: usize| format!("captures/t.jsonl#{number}");
    assert_eq!(chains(&outcome), [(name(1), 2), (name(2), 1), (name(3), 1)]);
    assert_eq!(outcome.report.findings, []);
}

#[test]
fn texts_of_a_trace_are_identified_by_their_content() {
    let text = fixture("lmcache.jsonl");
    let (fed, outcome) = Folder::new(&[("t.jsonl", text.clone())]).check();
    assert_eq!((fed.requests, breaks(&outcome).len()), (4, 0));
    assert_eq!(chains(&outcome), [named("captures/t.jsonl/a1", 3), named("captures/t.jsonl/b2", 1)]);
    let pinned = Lock::parse(&outcome.lock.unwrap().text()).unwrap();
    let other = text.replace("Line 3 is wrong", "Line 4 is wrong");
    let newer = Folder::new(&[("t.jsonl", other)]).check().1.lock.unwrap();
    let found = equality(&pinned, &newer, &Rules::default()).findings;
    let told: Vec<_> =
        found.iter().map(|found| (found.cause.word(), found.path.as_str(), found.offset_range)).collect();
    assert_eq!(told, [("message_edited", "messages[2].content[0]", None)]);
}

#[test]
fn a_request_without_blocks_is_one_too() {
    let outcome = trace(weka("one", &[Vec::new(), (0..3).collect(), Vec::new()])).check().1;
    assert_eq!(chains(&outcome), [named("one/main", 3)]);
}

/// The models of all requests of an input, as `check` and as `replay` see them.
fn models(name: &str, text: &str) -> [Vec<String>; 2] {
    let (_, outcome) = Folder::new(&[(name, text.to_owned())]).check();
    let lock = outcome.lock.unwrap();
    let checked = lock.chains.iter().flat_map(|chain| &chain.requests).map(|request| request.model.clone());
    let replayed = replay(&Inputs::from_bytes(name, text.as_bytes(), InputFormat::Auto), &Options::default());
    [checked.collect(), replayed.lines().map(|line| line.model.clone()).collect()]
}

#[test]
fn a_request_that_names_no_model_has_none() {
    let mut nameless = body("trees", 1);
    nameless.as_object_mut().unwrap().remove("model");
    nameless["anthropic_version"] = json!("vertex-2023-10-16");
    let of_body = models("body.json", &nameless.to_string());
    assert_eq!(of_body, [[""], [""]]);
    let one_named = weka("one", &[vec![0], vec![0, 1]]).replace("\"models\":[\"claude-opus-4-8\"],", "");
    let of_trace = models("trace.json", &one_named.replacen("\"model\":\"claude-opus-4-8\",", "", 1));
    assert_eq!(of_trace, [["", "claude-opus-4-8"], ["", "claude-opus-4-8"]]);
}
