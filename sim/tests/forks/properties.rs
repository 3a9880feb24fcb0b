//! Properties of every fork, for any history of its parent.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::permission::{Mode, Permissions, Rules};
use forkcast_sim::agent::spawn::fork::{Ablation, Forks, Profile};
use forkcast_sim::agent::{Event, Settings};
use forkcast_sim::laws;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{Reply, Rule, Scripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::simulation::{Act, Does, Finished, Setup, run};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{Draft, Message, NormalForms, Wire};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

use super::parents::{FORK, KINDS, Parent, call_id, called, parents};
use crate::tries::tries;

fn hold(profile: Profile, law: impl Fn(&Parent, &Family) -> Result<(), String>) {
    let mut runner = TestRunner::new(Config { max_shrink_iters: 2_000, ..tries(150) });
    let held = runner.run(&parents(), |parent| {
        let family = Family::of(&parent, profile).map_err(TestCaseError::fail)?;
        law(&parent, &family).map_err(TestCaseError::fail)
    });
    if let Err(error) = held {
        panic!("{error}");
    }
}

/// A run of a parent that forks.
struct Family {
    finished: Finished,
    drafts: Vec<Draft>,
    /// The parent's request that was answered with the forking message.
    before: usize,
    /// First requests of the forks, by the place of their call in the message.
    forks: BTreeMap<usize, usize>,
}

impl Family {
    fn of(parent: &Parent, profile: Profile) -> Result<Self, String> {
        let finished = run(setup(parent, profile, None)).map_err(|failed| failed.to_string())?;
        let main = requests_of(&finished, "main");
        let drafts: Vec<Draft> = finished.drafts.iter().collect();
        let fork_asks = |line: &usize| last_words(&drafts[*line]).contains("Fork now.");
        let before = main.into_iter().find(fork_asks).ok_or("the parent never asked")?;
        let mut forks = BTreeMap::new();
        for logged in &finished.log {
            let Event::ForkBuilt { agent, tool_use, .. } = &logged.event else { continue };
            let place = (0..parent.forking.calls.len()).find(|place| call_id(*place) == *tool_use);
            let first = requests_of(&finished, agent).first().copied();
            forks.extend(place.zip(first));
        }
        let wanted = parent.forking.calls.iter().filter(|kind| **kind == FORK).count();
        check(forks.len() == wanted, || format!("{} forks asked, {wanted} were called for", forks.len()))?;
        Ok(Self { finished, drafts, before, forks })
    }

    fn draft(&self, line: usize) -> &Draft {
        &self.drafts[line]
    }

    fn first_requests(&self) -> impl Iterator<Item = &Draft> {
        self.forks.values().map(|line| self.draft(*line))
    }
}

fn requests_of(finished: &Finished, agent: &str) -> Vec<usize> {
    let sent = finished.entries.iter().filter(|entry| entry.agent.as_deref() == Some(agent));
    sent.map(|entry| entry.line.index).collect()
}

fn last_words(draft: &Draft) -> String {
    let last = draft.messages.last().and_then(|message| message.content.last());
    last.map(|piece| piece.json().to_owned()).unwrap_or_default()
}

fn setup(parent: &Parent, profile: Profile, ablation: Option<Ablation>) -> Setup {
    let mut setup = Setup::new(7, Scripted::new(script(parent, profile)));
    setup.settings = Settings {
        features: ["FORK_SUBAGENT".to_owned()].into(),
        streaming_tools: parent.streaming_tools,
        thinking: parent.thinks.then(|| "{\"type\":\"adaptive\"}".into()),
        forks: Forks { profile, ablations: ablation.into_iter().collect(), ..Forks::default() },
        ..Settings::default()
    };
    setup.permissions = Permissions::new(Mode::BypassPermissions, true, Rules::default());
    setup.history = parent.history();
    let at = |ms| Instant::from_millis(ms);
    if parent.is_interrupted {
        setup.acts.push(Act { at: at(0), does: Does::Types("Begin.".into()) });
        setup.acts.push(Act { at: at(100_000), does: Does::Escape });
    }
    setup.acts.push(Act { at: at(500_000), does: Does::Types("Fork now.".into()) });
    setup.observers = laws::all(&setup.rules, &Seed::new(setup.seed));
    setup.keeps_events = true;
    setup.keeps_drafts = true;
    setup
}

fn script(parent: &Parent, profile: Profile) -> Vec<Rule> {
    let fork_type = (profile == Profile::Client2026).then_some("fork");
    let rule = |agent: &str, times, said| {
        let reply = Reply { said, ..Reply::default() };
        Rule { agent: Some(agent.into()), times, reply, ..Rule::default() }
    };
    let read = Said::ToolUse { id: "".into(), name: "Read".into(), input: json!({ "file_path": "/repo/part.txt" }) };
    let text = |words: &str| vec![Said::Text(words.to_owned())];
    let slow = (1..KINDS).map(|kind| {
        let (name, input) = called(kind, kind, None);
        Said::ToolUse { id: format!("toolu_slow_{kind}").into(), name: name.into(), input }
    });
    let mut begun = rule("main", Some(1), text("I begin.").into_iter().chain(slow).collect());
    begun.last_user = Some("Begin.".into());
    begun.reply.streaming = Some(Duration::from_millis(200_000));
    let mut forking = rule("main", Some(1), parent.said(fork_type));
    forking.last_user = Some("Fork now.".into());
    forking.reply.streaming = Some(Duration::from_millis(5_000));
    vec![
        begun,
        forking,
        rule("main", None, text("Good.")),
        rule("fork", Some(1), vec![read]),
        rule("fork", None, text("Scope: a part\nResult: it is well")),
        rule("general-purpose", None, text("So.")),
    ]
}

fn check(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// Two messages of one role and the same bytes.
fn same_message(one: &Message, other: &Message) -> bool {
    let bytes =
        |message: &Message| -> Vec<String> { message.content.iter().map(|piece| piece.json().to_owned()).collect() };
    one.role == other.role && bytes(one) == bytes(other)
}

/// Everything besides the messages.
fn same_heads(one: &Draft, other: &Draft) -> bool {
    let bytes = |draft: &Draft| -> Vec<String> {
        draft.tools.iter().chain(draft.system.iter()).map(|piece| piece.json().to_owned()).collect()
    };
    one.model == other.model && one.parameters == other.parameters && bytes(one) == bytes(other)
}

/// The body without breakpoints and without a billing block.
fn plain_body(draft: &Draft) -> Value {
    serde_json::from_slice(&plain_bytes(draft)).expect("a body is JSON")
}

fn plain_bytes(draft: &Draft) -> Vec<u8> {
    let is_billing = |json: &str| json.contains("x-anthropic-billing-header");
    let system = draft.system.iter().filter(|piece| !is_billing(piece.json())).cloned().collect();
    Draft { marks: Vec::new(), system, ..draft.clone() }.body()
}

/// The bytes of a body up to the end of its last message.
fn bytes_to_end_of_messages(draft: &Draft) -> Vec<u8> {
    let heads = Draft { messages: Vec::new(), ..draft.clone() };
    let behind = plain_bytes(&heads).len() - bytes_before_messages(draft);
    let mut bytes = plain_bytes(draft);
    bytes.truncate(bytes.len() - behind);
    bytes
}

fn bytes_before_messages(draft: &Draft) -> usize {
    format!("{{\"model\":{},\"messages\":[", Value::from(&*draft.model)).len()
}

fn begins_with_its_parents_request(family: &Family) -> Result<(), String> {
    let before = family.draft(family.before);
    for child in family.first_requests() {
        let mut wire = Wire::new(NormalForms::default());
        let (parents, own) = (wire.take(before, "scope"), wire.take(child, "scope"));
        check(own.nodes.starts_with(&parents.nodes), || "a block before the boundary is another one".to_owned())?;
        let (parents, own) = (bytes_to_end_of_messages(before), plain_bytes(child));
        check(own.starts_with(&parents), || {
            let (parents, own) = (String::from_utf8_lossy(&parents), String::from_utf8_lossy(&own));
            format!("bytes before the boundary differ:\nparent {parents}\nchild  {own}")
        })?;
        check(same_heads(before, child), || "system, tools or parameters differ".to_owned())?;
    }
    Ok(())
}

#[test]
fn fork_15_fork_28_cache_07_cache_09_every_child_begins_with_its_parents_request_byte_for_byte() {
    for profile in Profile::ALL {
        hold(profile, |_, family| begins_with_its_parents_request(family));
    }
}

#[test]
fn fork_26_fork_29_cache_14_siblings_in_the_documents_profile_differ_only_in_the_last_text_block() {
    hold(Profile::Documents, |parent, family| {
        let directive = |draft: &Draft| {
            let mut body = plain_body(draft);
            let content = body["messages"].as_array_mut().and_then(|messages| messages.last_mut()).expect("a message");
            let last = content["content"].as_array_mut().and_then(Vec::pop).expect("a block");
            (last, body, draft.marks.clone())
        };
        let mut first = None;
        for (place, line) in &family.forks {
            let (last, rest, marks) = directive(family.draft(*line));
            check(last["type"] == "text", || format!("the last block is {last}"))?;
            let words = last["text"].as_str().unwrap_or_default();
            check(words.ends_with(&format!("fork-directive: Look at part {place}.")), || words.to_owned())?;
            let (shared, shared_marks) = first.get_or_insert_with(|| (rest.clone(), marks.clone()));
            check(*shared == rest && *shared_marks == marks, || format!("{shared} is not {rest}"))?;
            let content = rest["messages"].as_array().and_then(|messages| messages.last()).expect("a message");
            let answered: Vec<&Value> =
                content["content"].as_array().expect("blocks").iter().map(|block| &block["tool_use_id"]).collect();
            let called: Vec<Value> = (0..parent.forking.calls.len()).map(|place| (*call_id(place)).into()).collect();
            check(answered.into_iter().eq(&called), || format!("{content} does not answer {called:?}"))?;
        }
        Ok(())
    });
}

#[test]
fn siblings_of_the_client_of_2026_are_equal_up_to_their_own_call() {
    hold(Profile::Client2026, |_, family| {
        for (place, line) in &family.forks {
            let (draft, before) = (family.draft(*line), family.draft(family.before));
            let own = draft.messages.len() - before.messages.len();
            check(own == 2, || format!("{own} messages of its own"))?;
            let said = |at: usize| -> Vec<Value> {
                draft.messages[before.messages.len() + at]
                    .content
                    .iter()
                    .map(|piece| serde_json::from_str(piece.json()).unwrap())
                    .collect()
            };
            let (call, answer) = (said(0), said(1));
            check(call.len() == 1 && call[0]["id"] == *call_id(*place), || format!("{call:?}"))?;
            check(answer.len() == 1 && answer[0]["tool_use_id"] == *call_id(*place), || format!("{answer:?}"))?;
            let words = answer[0]["content"].as_str().unwrap_or_default();
            check(words.ends_with(&format!("Look at part {place}.")), || words.to_owned())?;
        }
        let mut shared = family.first_requests().map(|draft| &draft.messages[..draft.messages.len() - 2]);
        let first = shared.next().expect("a fork");
        check(shared.all(|messages| messages.iter().zip(first).all(|(one, other)| Rc::ptr_eq(one, other))), || {
            "another history".to_owned()
        })
    });
}

/// The main agent's requests, without results of `Agent` calls and notifications.
fn told_nothing(draft: &Draft, calls: &[usize]) -> Vec<(String, Vec<String>)> {
    let agents: Vec<String> = calls
        .iter()
        .enumerate()
        .filter(|(_, kind)| [FORK, 5].contains(kind))
        .map(|(place, _)| call_id(place).to_string())
        .collect();
    let of = |message: &Rc<Message>| {
        // In the client of 2026, notifications reach the parent between two rounds.
        let others = message.content.iter().filter(|piece| !piece.json().contains("<task-notification>"));
        let blocks = others.map(|piece| {
            let json = piece.json();
            let is_launch = agents.iter().any(|id| json.contains(&format!("\"tool_use_id\":\"{id}\"")));
            if is_launch { "launched".to_owned() } else { json.to_owned() }
        });
        (message.role.name().to_owned(), blocks.collect())
    };
    draft.messages.iter().map(of).collect()
}

#[test]
fn fork_21_the_parents_requests_are_the_same_as_if_it_had_spawned_named_agents() {
    for profile in Profile::ALL {
        hold(profile, |parent, family| {
            let other = run(setup(parent, profile, Some(Ablation::NamedSpawn))).map_err(|failed| failed.to_string())?;
            let (mine, others) = (requests_of(&family.finished, "main"), requests_of(&other, "main"));
            let up_to = mine.iter().position(|line| *line == family.before).expect("it asked") + 1;
            // Up to the request after the forking message, which has the results of its calls.
            for (mine, others) in mine.iter().zip(&others).take(up_to + 1) {
                let (mine, others) = (family.draft(*mine), &other.drafts.draft(*others));
                check(same_heads(mine, others), || "the parent's system, tools or parameters changed".to_owned())?;
                let (mine, others) =
                    (told_nothing(mine, &parent.forking.calls), told_nothing(others, &parent.forking.calls));
                check(mine == others, || format!("the parent sends another conversation:\n{mine:?}\n{others:?}"))?;
            }
            unchanged_behind(&family.finished, family.before)
        });
    }
}

/// What the parent sent before the forks is part of all its later requests.
fn unchanged_behind(finished: &Finished, before: usize) -> Result<(), String> {
    let sent = &finished.drafts.draft(before);
    for line in requests_of(finished, "main").into_iter().filter(|line| *line > before) {
        let later = &finished.drafts.draft(line);
        let same = sent.messages.iter().zip(&later.messages).all(|(one, other)| same_message(one, other));
        check(same && same_heads(sent, later), || format!("line {line} changed what line {before} sent"))?;
    }
    Ok(())
}
