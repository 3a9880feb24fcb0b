//! Runs that do not finish: each reports why, and what to do.

use std::fmt::Write;

use forkcast_scenarios::expect;
use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Options, Progress, Run, play, play_watched};

fn run(text: &str) -> Run {
    let scenario = Scenario::read("claim", "claim.yaml", text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    play(scenario, &Options::default())
}

fn message(run: &Run) -> &str {
    run.message.as_deref().unwrap_or_default()
}

#[test]
fn a_stall_reports_which_agent_waits_for_what() {
    let run = run("about: Permission that is never answered.
permissions: {ask: [Bash]}
script:
  main:
    - tools: [{tool: Bash, input: {command: make}}]
    - say: Made.
user: [{at_ms: 0, types: Make it}]
");
    assert_eq!(run.ends, Ends::Stalled);
    assert!(message(&run).contains("waits for the user's answer to a permission request"), "{}", message(&run));
}

/// An agent that waits for another one is dropped with it: three hundred overflowed a thread's stack.
#[test]
fn agents_can_be_nested_deeper_than_the_stack_allows() {
    const DEPTH: usize = 300;
    let call = "\n    - tools: [{tool: Agent, input: {description: go, prompt: Go., subagent_type: nester}}]";
    let mut text = format!(
        "about: An agent that calls itself.
limits: {{turns: 1000}}
definitions:
  - source: project
    markdown: |
      ---
      name: nester
      description: Calls itself.
      tools: Read, Agent
      ---
      You call.
user: [{{at_ms: 0, types: Go.}}]
script:
  main:{call}
    - say: Done."
    );
    for agent in 1..=DEPTH {
        let call = if agent < DEPTH { call } else { "" };
        write!(text, "\n  nester#{agent}:{call}\n    - say: Done.").unwrap();
    }
    let run = run(&text);
    assert_eq!((run.ends, run.agents.len()), (Ends::Finished, DEPTH + 1), "{:?}", run.message);
    assert_eq!(run.agents[DEPTH].depth as usize, DEPTH);
}

#[test]
fn a_loop_that_never_ends_is_stopped() {
    let run = run("about: It lists and lists.
permissions: {allow: [Bash]}
limits: {turns: 50}
script:
  main:
    - tools: [{tool: Bash, input: {command: ls}}]
      times: 1000000
shell: [{command: ls, output: a}]
user: [{at_ms: 0, types: List it}]
");
    assert_eq!(run.ends, Ends::Limit);
    assert!(message(&run).contains("after 50 answers of the model"), "{}", message(&run));
    assert!(message(&run).contains("raise the limit of turns"), "{}", message(&run));
}

/// Earlier requests are kept, as in a cancelled replay.
#[test]
fn a_cancelled_run_keeps_its_partial_results() {
    let text = "about: It lists and lists.
permissions: {allow: [Bash]}
script:
  main:
    - tools: [{tool: Bash, input: {command: ls}}]
      times: 9
    - say: Listed.
shell: [{command: ls, output: a}]
user: [{at_ms: 0, types: List it}]
";
    let whole = run(text);
    assert_eq!((whole.ends, whole.requests.len()), (Ends::Finished, 10));
    let scenario = Scenario::read("claim", "claim.yaml", text, &[]).unwrap();
    let part = play_watched(scenario, &Options::default(), |Progress { requests, .. }| requests < 4);
    assert_eq!((part.ends, part.requests.len()), (Ends::Interrupted, 4));
    assert!(part.laws_held(), "no law is broken: {:?}", part.laws);
    let usage = |run: &Run| run.requests.iter().take(3).map(|request| request.line.billed()).collect::<Vec<_>>();
    assert_eq!(usage(&part), usage(&whole));
}

#[test]
fn an_unanswered_question_is_reported_with_its_agent_but_without_its_text() {
    let run = run("about: One reply for two questions.
script: {main: [{say: Yes.}]}
user: [{at_ms: 0, types: First?}, {at_ms: 60000, types: And second?}]
");
    assert_eq!(run.ends, Ends::Unscripted);
    for part in ["agent `main`", "text has 11 characters", "Add a reply for `main`"] {
        assert!(message(&run).contains(part), "{part}: {}", message(&run));
    }
    assert!(!message(&run).contains("And second?"), "{}", message(&run));
}

#[test]
fn an_expected_ending_is_not_a_failure() {
    let text = "about: One reply for two questions.
script: {main: [{say: Yes.}]}
user: [{at_ms: 0, types: First?}, {at_ms: 60000, types: And second?}]
expect: {ends: unscripted, message: Add a reply}
";
    assert_eq!(expect::failures(&run(text)), []);
    let failed = expect::failures(&run(&text.replace("Add a reply", "Something else")));
    assert_eq!(failed.len(), 1);
    assert!(failed[0].to_string().contains("expected a message that contains \"Something else\""), "{}", failed[0]);
    let failed = expect::failures(&run(&text.replace("ends: unscripted, message: Add a reply", "ends: stalled")));
    assert!(failed[0].to_string().contains("expected a run that ends `stalled`; it ended `unscripted`"));
}

#[test]
fn an_act_without_a_target_is_reported_with_its_place() {
    let run = run("about: Nothing runs that could be stopped.
script: {main: [{say: Yes.}]}
user:
  - {at_ms: 0, types: First?}
  - {at_ms: 60000, kill: explore}
");
    let failed = expect::failures(&run);
    assert_eq!(failed.len(), 1);
    let said = failed[0].to_string();
    assert!(said.starts_with("claim.yaml:5:5: `user[1]`: at 60000 ms there was no"), "{said}");
}

/// Failed expectations are reported: each kind is broken once.
#[test]
fn failed_expectations_are_reported_with_their_places() {
    let text = "about: One word.
script: {main: [{say: Yes., output_tokens: 2}]}
user: [{at_ms: 0, types: Well?}]
expect:
  figures: {requests: 2, cost_usd: {max: 0.000001}}
  agents: {main: {turns: 3}}
  events: [{event: tool.start}, {event: request.sent, times: 2}]
  orders: [[{event: query.end}, {event: query.start}]]
  requests:
    - {agent: main, turn: 0, has: [No such words], lacks: [Well?], tools: [Read]}
    - {agent: main, turn: 7}
    - {agent: main, turn: 0, cause: expired, cache_read_input_tokens: 5, breakpoints: 9}
";
    let run = run(text);
    let said: Vec<String> = expect::failures(&run).iter().map(ToString::to_string).collect();
    let said = said.join("\n");
    for part in [
        "`requests` is 1; expected 2",
        "`cost_usd` is ",
        "`turns` of `main` is 1; expected 3",
        "`tool.start` happened never; expected at least once",
        "`request.sent` happened once; expected 2 times",
        "`query.start` did not happen after `query.end`",
        "does not contain \"No such words\"",
        "contains \"Well?\", which it should not",
        "has the tools Agent, Bash, ",
        "there is no request 7 of `main`; it sent 1",
        "did not miss for `expired`",
        "read 0 tokens; expected 5",
        "expected 9",
    ] {
        assert!(said.contains(part), "{part}:\n{said}");
    }
}

#[test]
fn a_scenario_always_gives_the_same_run() {
    let text = "about: One word.\nscript: {main: [{say: Yes.}]}\nuser: [{at_ms: 0, types: Well?}]\n";
    let (one, other) = (run(text), run(text));
    assert_eq!(one.digest, other.digest);
    assert_ne!(one.digest, run(&text.replace("Yes.", "Yes and more.")).digest);
}

/// A variant runs by itself, and the parts that it shares with its scenario are compared.
#[test]
fn a_request_that_a_variant_changes_is_reported() {
    let text = "about: One word.
script: {main: [{say: Yes.}]}
user: [{at_ms: 0, types: Well?}]
variants:
  other:
    about: Another word.
    set: {user: [{at_ms: 0, types: So?}]}
    expect: {requests: [{agent: main, turn: 0, unchanged: true}, {agent: main, turn: 1, unchanged: true}]}
  same:
    about: The same word.
    set: {limits.turns: 9}
    expect: {requests: [{agent: main, turn: 0, unchanged: true}]}
";
    let scenario = Scenario::read("claim", "claim.yaml", text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let failed = |called: &str| {
        let run = play(scenario.variant(called).unwrap().clone(), &Options::default());
        expect::failures(&run).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(failed("same"), Vec::<String>::new());
    let said = failed("other");
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].starts_with("claim.yaml:8:25: ") && said[0].contains("differs from that of `claim`: messages[0]"),
        "{said:?}"
    );
    assert!(said[1].contains("there is no request 1 of `main`; it sent 1"), "{said:?}");
}

/// Two agents of one type, each with its own answers: expectations about forks, without forks.
const TWINS: &str = "about: Two explorers.
script:
  main:
    - tools:
        - {tool: Agent, input: {description: look here, prompt: Look here., subagent_type: explore}}
        - {tool: Agent, input: {description: look there, prompt: Look there., subagent_type: explore}}
    - say: Good.
  explore: [{say: Nothing.}]
user: [{at_ms: 0, types: Look}]
expect:
  requests:
";

#[test]
fn an_expectation_applies_to_every_agent_with_the_name() {
    let failed = |claims: &str| {
        let failed = expect::failures(&run(&format!("{TWINS}{claims}")));
        failed.iter().map(|failed| failed.says.clone()).collect::<Vec<_>>()
    };
    assert_eq!(failed("    - {agent: explore, turn: 0, same_but_last: {agent: explore#1, turn: 0}}\n"), [""; 0]);
    let other = failed("    - {agent: explore, turn: 0, has: [Look here.]}\n");
    assert_eq!(other, ["request 0 of `explore#2` does not contain \"Look here.\""]);
    let several = failed("    - {agent: main, turn: 1, same_but_last: {agent: explore, turn: 0}}\n");
    assert!(several[0].contains("more than one agent is called `explore`"), "{several:?}");
    let path = "messages[0].content[1]";
    let to = "to: {agent: explore#1, turn: 0}";
    let holds =
        format!("    - {{agent: explore#2, turn: 0, difference: {{{to}, level: messages, path: \"{path}\"}}}}\n");
    assert_eq!(failed(&holds), [""; 0]);
    for wrong in ["level: system", "cause: tool_changed", "offset_in_block: 1", "name: nothing"] {
        let said = failed(&format!("    - {{agent: explore#2, turn: 0, difference: {{{to}, {wrong}}}}}\n"));
        assert!(said[0].contains("first differs in ") && said[0].contains(path), "{wrong}: {said:?}");
    }
    let same = failed("    - {agent: main, turn: 1, difference: {cause: tool_changed}}\n");
    assert_eq!(same, ["request 1 of `main` has no difference"]);
    let missed = failed("    - {agent: main, turn: 1, missed_tokens: 7, missed_usd: 0.5}\n");
    assert_eq!(missed.len(), 2, "{missed:?}");
}

#[test]
fn the_first_request_contains_the_history_before_the_session() {
    let text = "about: It went before.
prompt:
  history:
    - {user: What is there?}
    - {think: I look., say: Let me look., tools: [{tool: Glob, id: toolu_a, input: {pattern: '*'}, result: a.txt}]}
    - {say: One file.}
script: {main: [{say: Yes.}]}
user: [{at_ms: 0, types: Sure?}]
";
    let run = run(text);
    let body = String::from_utf8(run.requests[0].draft().body()).unwrap();
    let at = |part: &str| body.find(part).unwrap_or_else(|| panic!("{part} is not in {body}"));
    let parts = ["What is there?", "I look.", "Let me look.", "toolu_a", "a.txt", "One file.", "Sure?"];
    assert!(parts.map(at).is_sorted(), "{body}");
}

#[test]
fn a_history_is_rewritten_at_the_compaction_step() {
    let text = "about: The explorer forgets.
permissions: {allow: [Bash]}
shell: [{command: wait, output: done, takes_ms: 9000}]
script:
  main:
    - tools: [{tool: Agent, input: {description: look here, prompt: Look here., subagent_type: general-purpose}}]
    - say: Good.
  general-purpose:
    - tools: [{tool: Bash, input: {command: wait}}]
    - say: Nothing.
user: [{at_ms: 0, types: Look}, {at_ms: 9000, rewrites: {agent: look here, as: A summary.}}]
expect:
  events: [{event: history.rewritten, agent: general-purpose, times: 1}, {event: user, does: rewrites, times: 1}]
  requests:
    - {agent: general-purpose, turn: 0, has: [Look here.]}
    - {agent: general-purpose, turn: 1, has: [A summary.], lacks: [Look here.]}
";
    assert_eq!(expect::failures(&run(text)), []);
    let late = text.replace("at_ms: 9000, rewrites", "at_ms: 90000, rewrites");
    let failed = expect::failures(&run(&late));
    assert!(failed.iter().any(|failed| failed.says.contains("a running agent called `look here`")), "{failed:?}");
}

#[test]
fn the_main_history_is_compacted_within_a_turn_and_rewound_between_two() {
    let text = "about: The main agent forgets.
permissions: {allow: [Bash]}
shell: [{command: wait, output: done, takes_ms: 9000}]
script:
  main:
    - tools: [{tool: Bash, input: {command: wait}}]
    - say: The first.
    - say: The second.
    - say: The third.
user:
  - {at_ms: 0, types: Look at the barn.}
  - {at_ms: 8000, rewrites: {agent: main, as: A summary., takes_ms: 30000}}
  - {at_ms: 100000, types: Paint the barn.}
  - {at_ms: 200000, rewinds: Paint the barn.}
  - {at_ms: 300000, types: Sell the barn.}
expect:
  events: [{event: history.rewritten, agent: main, times: 2}]
  requests:
    - {agent: main, turn: 1, has: [A summary.], lacks: [Look at the barn.]}
    - {agent: main, turn: 2, has: [A summary., The first., Paint the barn.]}
    - {agent: main, turn: 3, has: [A summary., The first., Sell the barn.], lacks: [Paint the barn., The second.]}
";
    let run = run(text);
    assert_eq!(expect::failures(&run), []);
    let sent = run.requests[1].line.at.map(|at| at.0 / 1_000_000_000);
    assert!(sent.is_some_and(|sent| (39..60).contains(&sent)), "{sent:?}");
}
