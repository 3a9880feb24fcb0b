//! Mistakes in scenarios: each is reported with its place, the value found, and what to do about it.

mod fuzzed;

use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::format::set::Change;

/// A valid scenario, for planting mistakes.
const SOUND: &str = "\
about: A plain turn.
seed: 7
session:
  model: claude-opus-4-8
  max_turns: 5
script:
  main:
    - say: Let me look.
      tools:
        - {tool: Read, input: {file_path: /home/ana/a.txt}}
    - say: Done.
user:
  - {at_ms: 0, types: Look at it}
  - {at_ms: 500, types: And again}
expect:
  figures: {requests: 2}
  events:
    - {event: tool.start, name: Read}
";

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::read("claim", "claim.yaml", text, &[]).map_err(|problems| problems.to_string())
}

/// The message about the scenario with `here` replaced by `there`.
fn mistake(here: &str, there: &str) -> String {
    assert!(SOUND.contains(here), "{here}");
    read(&SOUND.replace(here, there)).expect_err("a mistake")
}

#[test]
fn a_sound_scenario_is_read() {
    let scenario = read(SOUND).unwrap();
    assert_eq!((scenario.seed, scenario.script[0].replies.len(), scenario.user.len()), (7, 2, 2));
}

#[test]
fn an_unknown_field_is_refused_with_a_suggestion() {
    let said = mistake("max_turns: 5", "max_turn: 5");
    assert_eq!(
        said,
        "claim.yaml:5:3: `session.max_turn`: found 5; there is no field `max_turn`; did you mean `max_turns`?"
    );
}

#[test]
fn a_wrong_type_is_reported_with_the_value_found() {
    let said = mistake("max_turns: 5", "max_turns: five");
    assert_eq!(said, "claim.yaml:5:14: `session.max_turns`: found \"five\"; expected a whole number from 1 up");
}

#[test]
fn text_that_yaml_reads_as_a_number_needs_quotes() {
    let said = mistake("say: Done.", "say: 12");
    assert_eq!(
        said,
        "claim.yaml:11:12: `script.main[1].say`: found 12; expected text; put quotes around it if it is meant as text"
    );
}

#[test]
fn an_agent_without_a_script_is_reported_with_what_to_add() {
    let call = "{tool: Agent, input: {description: find it, prompt: Find it., subagent_type: explore}}";
    let said = mistake("{tool: Read, input: {file_path: /home/ana/a.txt}}", call);
    assert!(said.starts_with("claim.yaml:10:11: `script.main[0].tools[0]`: found fields tool, input; "), "{said}");
    assert!(said.contains("add a list `explore:` under `script`"), "{said}");
}

#[test]
fn stream_01_events_out_of_order_are_refused_with_their_place() {
    let events = "- events: [message_start, {content_block_delta: {index: 0, text: a}}, message_stop]";
    let said = mistake("- say: Done.", events);
    assert!(said.starts_with("claim.yaml:11:31: `script.main[1].events[1]`: "), "{said}");
    assert!(said.contains("expected content_block_start of this index"), "{said}");
}

#[test]
fn a_stream_that_never_ends_is_refused() {
    let said = mistake("- say: Done.", "- events: [message_start]");
    assert!(said.contains("`script.main[1].events`") && said.contains("message_stop"), "{said}");
}

#[test]
fn acts_out_of_order_are_refused() {
    let said = mistake("at_ms: 0,", "at_ms: 900,");
    assert!(said.starts_with("claim.yaml:14:5: `user[1]`: "), "{said}");
    assert!(said.contains("at 500 ms, but is listed after an act at 900 ms; sort by `at_ms`"), "{said}");
}

#[test]
fn expectations_that_cannot_hold_are_refused() {
    let bounds = mistake("requests: 2", "requests: {min: 3, max: 2}");
    assert!(bounds.starts_with("claim.yaml:16:23: `expect.figures.requests`: "), "{bounds}");
    let rate = mistake("requests: 2", "hit_rate: {min: 85}");
    assert!(rate.contains("write 0.85 for 85 %"), "{rate}");
    let agent = mistake("figures: {requests: 2}", "agents: {explore: {requests: 2}}");
    assert!(
        agent.contains("agent `explore` cannot send requests") && agent.contains("there are lists for `main`"),
        "{agent}"
    );
}

#[test]
fn events_and_their_fields_must_exist() {
    let event = mistake("event: tool.start", "event: tool.strat");
    assert!(event.contains("there is no event `tool.strat`; did you mean `tool.start`?"), "{event}");
    let field = mistake("name: Read}", "nam: Read}");
    assert!(field.starts_with("claim.yaml:18:27: `expect.events[0].nam`: "), "{field}");
    assert!(field.contains("did you mean `name`?"), "{field}");
}

#[test]
fn a_missing_tool_is_refused_unless_declared_as_missing() {
    let said = mistake("tool: Read,", "tool: Reed,");
    assert!(
        said.contains("there is no tool `Reed`; did you mean `Read`?") && said.contains("`missing: true`"),
        "{said}"
    );
    assert!(read(&SOUND.replace("tool: Read,", "tool: Reed, missing: true,")).is_ok());
}

#[test]
fn invalid_yaml_is_located() {
    let said = mistake("  main:", "  main: [");
    assert!(said.starts_with("claim.yaml:") && said.contains("this is not valid YAML"), "{said}");
    let said = mistake("seed: 7", "seed: 7\nseed: 8");
    assert!(said.starts_with("claim.yaml:3:1: "), "{said}");
}

#[test]
fn all_mistakes_are_reported_together() {
    let text = SOUND.replace("seed: 7", "seed: x").replace("max_turns: 5", "max_turns: 0").replace("about:", "abuot:");
    let said = read(&text).expect_err("mistakes");
    assert_eq!(said.lines().count(), 4, "{said}");
}

#[test]
fn a_field_can_be_set_from_outside() {
    let set = |change: &str| {
        let changes = [change.parse::<Change>().unwrap()];
        Scenario::read("claim", "claim.yaml", SOUND, &changes).map_err(|problems| problems.to_string())
    };
    assert_eq!(set("session.max_turns=9").unwrap().session.settings.max_turns, Some(9));
    assert_eq!(set("session.effort=high").unwrap().session.settings.effort.as_deref(), Some("high"));
    assert_eq!(set("script.main[1].output_tokens=40").unwrap().script[0].replies[1].output_tokens, Some(40));
    let said = set("session.max_trns=9").expect_err("no such field");
    assert!(said.contains("(from the command line): `session.max_trns`") && said.contains("`max_turns`"), "{said}");
    let said = set("script.main[7].say=x").expect_err("no such item");
    assert!(said.contains("the list has 2"), "{said}");
    assert!("no-equals-sign".parse::<Change>().is_err());
}

/// Lines that add a variant to `SOUND`.
const VARIANT: &str = "\
variants:
  shorter:
    about: One turn less.
    set: {session.max_turns: 1, 'script.main[1].say': Over.}
    expect: {requests: [{agent: main, turn: 0, unchanged: true}]}
";

#[test]
fn a_variant_is_the_scenario_with_other_values_and_its_own_expectations() {
    let scenario = read(&format!("{SOUND}{VARIANT}")).unwrap();
    let variant = scenario.variant("shorter").unwrap();
    assert_eq!((&*variant.name, &*variant.about, variant.seed), ("claim+shorter", "One turn less.", 7));
    let most = |scenario: &Scenario| scenario.session.settings.max_turns;
    assert_eq!((most(&scenario), most(variant)), (Some(5), Some(1)));
    assert_eq!((variant.expect.events.len(), variant.expect.requests.len()), (0, 1));
    assert!(scenario.variant("longer").is_none() && variant.variants.is_empty());
}

#[test]
fn mistakes_in_variants_are_reported_at_their_places_and_shared_ones_once() {
    let mistake = |here: &str, there: &str| {
        let text = format!("{SOUND}{VARIANT}");
        assert!(text.contains(here), "{here}");
        read(&text.replace(here, there)).expect_err("a mistake")
    };
    let field = mistake("session.max_turns: 1", "session.max_trns: 1");
    assert!(field.contains("there is no field `max_trns`; did you mean `max_turns`?"), "{field}");
    let path = mistake("script.main[1]", "script.main[7]");
    assert!(path.starts_with("claim.yaml:22:55: ") && path.contains("the list has 2"), "{path}");
    let own = mistake("session.max_turns: 1", "expect.figures: 1");
    assert!(own.contains("a variant's `expect` belongs next to `set`"), "{own}");
    let empty = mistake("set: {session.max_turns: 1, 'script.main[1].say': Over.}", "set: {}");
    assert!(empty.contains("a variant must change something"), "{empty}");
    let called = mistake("shorter:", "a+b:");
    assert!(called.contains("must not contain `+` or `/`"), "{called}");
    let shared = mistake("seed: 7", "seed: x");
    assert_eq!(shared.lines().count(), 1, "{shared}");
}

#[test]
fn unchanged_needs_a_scenario_to_compare_with() {
    let said = mistake("figures: {requests: 2}", "requests: [{agent: main, turn: 0, unchanged: true}]");
    assert!(said.contains("this is not a variant, so leave it out"), "{said}");
}

/// An Agent call instead of the call in `SOUND`.
fn calling(input: &str, before: &str) -> String {
    SOUND
        .replace("{tool: Read, input: {file_path: /home/ana/a.txt}}", &format!("{{tool: Agent, input: {{{input}}}}}"))
        .replace("script:", &format!("{before}\nscript:"))
}

#[test]
fn a_forking_call_needs_a_list_for_forks() {
    let omitted = "description: look, prompt: Look.";
    let forks = read(&calling(omitted, "features: [FORK_SUBAGENT]")).expect_err("no list for forks");
    assert!(forks.contains("add a list `fork:` under `script`"), "{forks}");
    for closed in ["features: [OTHER]", "features: [FORK_SUBAGENT]\nvariables: {CLAUDE_CODE_COORDINATOR_MODE: \"1\"}"] {
        let named = read(&calling(omitted, closed)).expect_err("no list for the type that is meant");
        assert!(named.contains("add a list `general-purpose:` under `script`"), "{named}");
    }
    let client = calling("description: look, prompt: Look., subagent_type: fork", "pace: {}")
        .replace("  max_turns: 5\n", "  max_turns: 5\n  forks: {profile: client-2026}\n");
    let client = read(&client).expect_err("no list for forks");
    assert!(client.contains("add a list `fork:` under `script`"), "{client}");
}

#[test]
fn invalid_fork_options_are_reported_with_the_valid_ones() {
    let launch = mistake("max_turns: 5", "forks: {launch: waves=0}");
    assert!(launch.starts_with("claim.yaml:5:19: `session.forks.launch`: found \"waves=0\"; "), "{launch}");
    assert!(launch.contains("`stagger=MS` or `waves=N`"), "{launch}");
    let profile = mistake("max_turns: 5", "forks: {profile: documented}");
    assert!(profile.contains("did you mean `documents`?"), "{profile}");
    let ablation = mistake("max_turns: 5", "forks: {ablations: [added-spaces]}");
    assert!(ablation.contains("`session.forks.ablations[0]`") && ablation.contains("`added-space`"), "{ablation}");
}

#[test]
fn a_history_item_is_from_the_user_or_the_model() {
    let history = |item: &str| mistake("script:", &format!("prompt: {{history: [{item}]}}\nscript:"));
    let both = history("{user: a, say: b}");
    assert!(both.starts_with("claim.yaml:6:35: `prompt.history[0].say`: ") && both.contains("two items"), "{both}");
    let neither = history("{}");
    assert!(neither.contains("expected `user`, or the model's answer"), "{neither}");
    let unanswered = history("{tools: [{tool: Read, input: {}}]}");
    assert!(unanswered.contains("`prompt.history[0].tools[0].result`: add `result:`"), "{unanswered}");
}

#[test]
fn only_the_history_of_an_agent_with_a_script_can_be_rewritten() {
    let act = |agent: &str| {
        mistake("at_ms: 500, types: And again", &format!("at_ms: 500, rewrites: {{agent: {agent}, as: b}}"))
    };
    assert!(act("fork").contains("agent `fork` cannot send requests"), "{}", act("fork"));
}

/// `SOUND` with declared sizes.
fn with_sizes(sizes: &str) -> Result<Scenario, String> {
    read(&SOUND.replace("script:\n", &format!("sizes: {sizes}\nscript:\n")))
}

#[test]
fn oversized_values_are_refused_with_their_place() {
    let said = with_sizes("{system: 18446744073709551615}").expect_err("a mistake");
    assert_eq!(
        said,
        "claim.yaml:6:17: `sizes.system`: found 18446744073709551615; expected a whole number from 0 to 10000000000"
    );
    assert!(with_sizes("{system: 4000000000, growth: 5000}").is_ok());
    let said = with_sizes("{system: 5000000000, tools: 1}").expect_err("a prompt that no ledger counts");
    assert!(said.contains("a prompt could have 5000000001 tokens; the limit is 5000000000"), "{said}");
    let said = with_sizes("{growth: 10000000000}").expect_err("a mistake");
    assert!(said.starts_with("claim.yaml:6:8: `sizes`: found fields growth; with these sizes a prompt"), "{said}");
    let said = with_sizes("{system: 4000000000}\nlimits: {turns: 1000000}").expect_err("too much in all");
    assert!(said.contains("with these sizes 1000000 answers could take 4000000000000000 tokens"), "{said}");
    let change = "sizes.system=18446744073709551615".parse::<Change>().unwrap();
    let said = Scenario::read("claim", "claim.yaml", SOUND, &[change]).expect_err("a mistake").to_string();
    assert!(
        said.starts_with("claim.yaml (from the command line): `sizes.system`: found 18446744073709551615"),
        "{said}"
    );
    let said = mistake("say: Done.", "{say: Done, output_tokens: 10000000001}");
    assert!(said.contains("`script.main[1].output_tokens`"), "{said}");
    let said = mistake("max_turns: 5", "max_tokens: 99999999999");
    assert!(said.contains("expected a whole number from 1 to 10000000000"), "{said}");
}

#[test]
fn call_ids_are_unique_within_a_conversation() {
    let call = "{tool: Read, input: {file_path: /home/ana/a.txt}}";
    let named = |id: &str| format!("{{id: {id}, tool: Read, input: {{file_path: /home/ana/a.txt}}}}");
    let twice = mistake(call, &format!("{}\n        - {}", named("toolu_2"), named("toolu_2")));
    assert!(
        twice.starts_with("claim.yaml:11:11: `script.main[0].tools[1]`: found fields id, tool, input; "),
        "{twice}"
    );
    assert!(twice.contains("has the id `toolu_2`; give each call its own id"), "{twice}");
    let later = mistake("    - say: Done.", &format!("    - tools: [{}]\n    - tools: [{}]", named("a"), named("a")));
    assert!(later.contains("`script.main[2].tools[0]`"), "{later}");
    let made = mistake(call, &format!("{}\n        - {call}", named("toolu_main_1_1")));
    assert!(made.contains("calls without an id get ids like `toolu_main_1_1`"), "{made}");
    assert!(read(&SOUND.replace(call, &named("toolu_main_1_1"))).is_ok(), "no id is generated here");
    let often = mistake(&format!("- {call}"), &format!("- {}\n      times: 2", named("a")));
    assert!(often.contains("used more than once"), "{often}");
    let past = format!("prompt: {{history: [{{user: hi}}, {{tools: [{}]}}]}}\nscript:\n", named("a, result: x"));
    let text = SOUND.replace("script:\n", &past).replace(call, &named("a"));
    assert!(read(&text).unwrap_err().contains("`script.main[0].tools[0]`"));
    // Repeating the same call after the first one broke off is the same call.
    let again = format!(
        "    - {{tools: [{0}], fault: {{breaks: reset, after_events: 3}}}}\n    - {{tools: [{0}]}}\n    - say: Done.",
        named("a")
    );
    assert!(read(&SOUND.replace("    - say: Done.", &again)).is_ok());
}
