//! Agents of one run that begin alike: what they could share, wherever they differ, and forks and histories that are
//! rewritten.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Facts, Finding, Guard, Report, Rule, Rules, Sent};
use serde_json::{Value, json};

use super::conversation::{body, check, message, text};

/// The report on the first requests of agents in folders of their own.
fn agents(bodies: &[Value]) -> Report {
    let mut guard = Guard::new(Rules::default());
    for (number, body) in bodies.iter().enumerate() {
        let name = format!("agent-{number}");
        let facts = Facts { chain: Some(&name), siblings: true, ..Facts::default() };
        guard.take(&Sent { facts, ..Sent::body(body.to_string().as_bytes()) }).unwrap();
    }
    guard.finish()
}

fn noted(report: &Report) -> Vec<(usize, Cause, &str)> {
    let alone = |found: &&Finding| found.rule == Rule::Siblings;
    report.findings.iter().filter(alone).map(|found| (found.request, found.cause, found.path.as_str())).collect()
}

/// A prompt of many sentences, with what `agent` has in several places.
fn prompt(agent: &str, profile: &str) -> String {
    let rules = |from: usize| (from..from + 60).map(|rule| format!("Rule {rule} is kept. ")).collect::<String>();
    format!("You work for {agent}. {}Home is /home/{agent}.\n{}{profile}Report to {agent}.", rules(0), rules(60))
}

fn with_system(system: &str) -> Value {
    let mut body = body(0);
    body["system"] = json!([{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]);
    body
}

#[test]
fn agents_that_differ_in_several_places_are_compared() {
    let bodies = [("alice", "Likes tea. "), ("bob", "Was in Rome, then in Paris. ")]
        .map(|(agent, profile)| with_system(&prompt(agent, profile)));
    let report = agents(&bodies);
    assert_eq!(noted(&report), [(1, Cause::SystemChanged, "system[0]")]);
    assert!(report.passes(&Rules::default()), "agents may differ");
    // The names of tools in another order, and one description with other keys.
    let mut other = bodies[0].clone();
    other["tools"][0]["description"] = json!("Another description.");
    assert_eq!(noted(&agents(&[bodies[0].clone(), other])), [(1, Cause::ToolChanged, "tools[0]")]);
}

#[test]
fn agents_of_other_kinds_are_not_compared() {
    let mut tools = with_system(&prompt("alice", ""));
    tools["tools"] =
        json!([{"name": "Search", "description": text("Search", 300), "input_schema": {"type": "object"}}]);
    let system = with_system(&text("review", 1_200));
    for other in [tools, system] {
        assert_eq!(noted(&agents(&[with_system(&prompt("alice", "")), other])), []);
    }
}

/// Requests of one turn each, with one prompt and another question, such as those of a classifier.
fn questions(marked: bool) -> Vec<Value> {
    let ask = |number: usize| {
        let mut body = body(0);
        body["tools"] = json!([]);
        body["system"] = json!([{"type": "text", "text": text("policy", 2_000)}]);
        if marked {
            body["system"][0]["cache_control"] = json!({"type": "ephemeral"});
        }
        body["messages"] = json!([message("user", &format!("question {number}"))]);
        body
    };
    (0..4).map(ask).collect()
}

#[test]
fn single_requests_with_one_prompt_and_no_breakpoint_are_noted_once() {
    let report = check(&questions(false));
    let [found] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
    assert_eq!((found.rule, found.cause, found.path.as_str()), (Rule::Siblings, Cause::NoBreakpoint, "system[0]"));
    assert!(found.with_sibling, "nothing that was cached is lost");
    // Three repeat the prompt as plain input instead of reads; the first would have to write it, for a quarter more.
    let tokens = found.tokens_lost().unwrap();
    let expected = tokens as f64 * 3.0e-6 * (0.9 - 0.25 / 3.0);
    let cost = found.cost().unwrap().picousd() as f64 / 1e12;
    assert!((cost / expected - 1.0).abs() < 0.001, "{cost} for {tokens} tokens, expected {expected}");
    assert!(report.passes(&Rules::default()));
    assert!(check(&questions(true)).findings.is_empty());
}

#[test]
fn a_message_that_is_written_anew_for_each_step_is_one_conversation() {
    let step = |number: usize| {
        let steps: String =
            (0..number).map(|step| format!("Step {step}: {}", text(&format!("seen {step}"), 400))).collect();
        let mut body = with_system(&text("policy", 1_200));
        body["messages"] = json!([{"role": "user", "content": [
            {"type": "text", "text": format!("It is step {number}. {steps} Go on."), "cache_control": {"type": "ephemeral"}},
        ]}]);
        body
    };
    let report = check(&[step(3), step(4), step(5)]);
    assert_eq!(report.chains, 1);
    assert!(report.findings.iter().all(|found| found.cause == Cause::MessageEdited), "{:?}", report.findings);
    assert_eq!(report.findings.len(), 2);
    // A template with another document is another request.
    let mut other = step(4);
    other["messages"][0]["content"][0]["text"] = json!(format!("It is step 4. {}", text("elsewhere", 2_000)));
    assert_eq!(check(&[step(3), other]).chains, 2);
}

/// A prompt whose history grows in one block, with a question behind it; `of` is how many lines it has.
fn growing(of: usize, system: bool) -> Value {
    let lines: String = (0..of).map(|line| format!("Line {line}: {}", text(&format!("heard {line}"), 300))).collect();
    let mut body = if system { with_system(&text("policy", 1_200)) } else { body(0) };
    if !system {
        body.as_object_mut().unwrap().retain(|key, _| key != "system" && key != "tools");
    }
    body["messages"] = json!([{"role": "user", "content": [
        {"type": "text", "text": format!("So far: {lines}"), "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": format!("What was said in line {of}?")},
    ]}]);
    body
}

/// Keeping-History/rt911#336.
#[test]
fn a_history_that_grows_within_one_block_is_one_conversation() {
    for system in [true, false] {
        let report = check(&[growing(5, system), growing(6, system), growing(7, system)]);
        let breaking = report.findings.iter().filter(|found| found.breaks_prefix);
        let found: Vec<(usize, Cause, &str)> =
            breaking.map(|found| (found.request, found.cause, found.path.as_str())).collect();
        let edited = |request| (request, Cause::MessageEdited, "messages[0].content[0]");
        assert_eq!((report.chains, found), (1, vec![edited(1), edited(2)]));
        assert!(report.findings[0].tokens_lost().unwrap() > 1_500, "all lines before were sent before");
        // A template loses what it held before.
        let mut other = growing(6, system);
        let lines = other["messages"][0]["content"][0]["text"].as_str().unwrap().replace("heard", "read");
        other["messages"][0]["content"][0]["text"] = json!(lines);
        assert_eq!(check(&[growing(5, system), other]).chains, 2);
    }
}

/// BasedHardware/omi#4670.
#[test]
fn single_prompts_with_their_instructions_behind_their_own_text_are_noted() {
    let rules = prompt("all", "");
    let one = |agent: &str, tokens: usize, is_first: bool| {
        let part = |text: String| json!({"type": "text", "text": text});
        let (own, common) = (part(text(agent, tokens)), part(rules.repeat(3)));
        let mut body = body(0);
        body["system"] = json!([{"type": "text", "text": "Be brief."}]);
        let parts = if is_first { [own, common] } else { [common, own] };
        body["messages"] = json!([{"role": "user", "content": parts}]);
        super::conversation::mark_end(&mut body);
        body
    };
    for tokens in [300, 6_000] {
        let report = agents(&[one("alice", tokens, true), one("bob", tokens, true)]);
        assert_eq!(noted(&report), [(1, Cause::MessageEdited, "messages[0].content[0]")]);
        assert!(report.passes(&Rules::default()), "they have to share nothing");
        let advice = report.findings[0].suggestion();
        assert!(advice.starts_with("Put what these agents have in common first"), "{advice}");
        assert_eq!(noted(&agents(&[one("alice", tokens, false), one("bob", tokens, false)])), [], "they share them");
    }
}

#[test]
fn a_fork_with_another_head_pays_for_its_history() {
    let mut fork = body(6);
    fork["system"] = json!([{"type": "text", "text": text("review", 1_200)}]);
    fork["tools"].as_array_mut().unwrap().truncate(1);
    fork["messages"].as_array_mut().unwrap().push(message("user", "review this"));
    let causes = |fork: &Value| -> Vec<Cause> {
        let found = agents(&[body(5), body(6), fork.clone()]).findings;
        found
            .iter()
            .filter(|found| found.request == 2 && found.rule == Rule::Sharing)
            .map(|found| found.cause)
            .collect()
    };
    assert!(causes(&fork).contains(&Cause::SystemChanged), "{:?}", causes(&fork));
    let mut other = fork.clone();
    other["tools"][0]["name"] = json!("Search");
    assert_eq!(causes(&other), [], "an agent with tools of its own took over");
    fork["model"] = json!("claude-haiku-4-5");
    assert_eq!(causes(&fork), [], "another model has another cache");
}

#[test]
fn what_is_too_little_to_share_is_not_noted() {
    let one = |agent: &str, tokens: usize| {
        let mut body = with_system(&format!("You work for {agent}. {}", text("the policy", tokens)));
        // They are read, so that only the policy is lost.
        body["tools"] = json!([{"name": "Read", "description": text("Read", 1_500), "input_schema": {}}]);
        body["tools"][0]["cache_control"] = json!({"type": "ephemeral"});
        body
    };
    let noted = |tokens: usize| {
        let report = agents(&[one("alice", tokens), one("bob", tokens)]);
        report.findings.iter().filter(|found| found.breaks_prefix).count()
    };
    assert_eq!([700, 1_500].map(noted), [0, 1]);
}
