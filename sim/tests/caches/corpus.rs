//! The corpus of cases: its file format, and one test for each file.
//!
//! A case comes from a document, a recording or an issue: requests at times, and what each reads and writes. Files are
//! in `tests/corpus/`, one for each group of rules; both the emulator and its twin run them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::script;

/// A file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The subject of its cases.
    pub about: String,
    /// Request bodies that its cases send, by name.
    #[serde(default)]
    pub bodies: BTreeMap<String, String>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// Its source.
    pub source: String,
    /// Presets under which it runs.
    pub presets: Vec<String>,
    /// The case runs with the minimum of each of these models.
    #[serde(default)]
    pub models: Vec<String>,
    /// The minimum if no model is given; zero without either.
    pub minimum_tokens: Option<u64>,
    /// Switches that differ from the preset.
    #[serde(default)]
    pub switches: Switches,
    /// The events.
    pub steps: Vec<Step>,
}

/// Switches by name, as in `Rules` and `NormalForms`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switches {
    pub reach: Option<u32>,
    pub reads_any_ttl: Option<bool>,
    pub refresh: Option<Refreshed>,
    pub read_lifts_ttl: Option<bool>,
    pub visible_from: Option<Visible>,
    pub lifetime_clock: Option<Clock>,
    pub failed_write_stands: Option<bool>,
    pub loss_per_million: Option<u32>,
    pub string_is_block: Option<bool>,
    pub results_sorted: Option<bool>,
    pub thinking_stripped: Option<bool>,
    pub images_in_level: Option<bool>,
    pub thinking_level: Option<LevelName>,
}

/// An event.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// A request in the short notation.
    Ask(Ask),
    /// A request as a body of the Messages API.
    Body(Body),
    /// A question after a prefix.
    State(StateOf),
}

/// A request in the short notation: blocks as `level kind name tokens [ttl]`, where the name may be a range `b1..b10`
/// and the lifetime marks the (last) block.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Its name within the case.
    pub name: String,
    /// An earlier request whose blocks come first, without their marks.
    pub after: Option<String>,
    /// How many of those blocks are kept; all if absent.
    pub keep: Option<usize>,
    /// Marks on blocks of the earlier request: `name ttl`.
    #[serde(default)]
    pub marks: Vec<String>,
    /// Blocks after those.
    #[serde(default)]
    pub blocks: Vec<String>,
    /// The model, if the case names none or another one.
    pub model: Option<String>,
    /// Workspace.
    #[serde(default = "workspace")]
    pub scope: String,
    /// Tokens of the prompt that belong to no block.
    #[serde(default)]
    pub tail_tokens: u64,
    /// Passes of server-side tools after the first.
    #[serde(default)]
    pub passes: Vec<Pass>,
    /// When it is sent, and its course.
    pub at: Times,
    /// The expected outcome.
    pub expect: Expect,
    /// Other outcomes under other presets.
    #[serde(default)]
    pub differs: BTreeMap<String, Expect>,
    /// Why they differ.
    pub why: Option<String>,
}

/// A pass of a server-side tool: the blocks that it adds to the prompt.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    /// When it began.
    pub at_ms: u64,
    /// Its blocks.
    pub blocks: Vec<String>,
}

/// A request as a body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Its name within the case.
    pub name: String,
    /// The name of its body in the file.
    pub body: String,
    /// Texts to replace in it; each occurs exactly once.
    #[serde(default)]
    pub replace: Vec<(String, String)>,
    /// Workspace.
    #[serde(default = "workspace")]
    pub scope: String,
    /// Tokens of its blocks in prompt order, parameters left out; 1,000 each if absent.
    #[serde(default)]
    pub tokens: Vec<u64>,
    /// When it is sent, and its course.
    pub at: Times,
    /// The expected outcome.
    pub expect: Expect,
}

fn workspace() -> String {
    "one".to_owned()
}

/// When a request starts and how it ends. By default an answer begins and ends immediately.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// The start.
    pub ms: u64,
    /// Nanoseconds more.
    #[serde(default)]
    pub plus_ns: u64,
    /// The first byte.
    pub first_byte_ms: Option<u64>,
    /// The end.
    pub ended_ms: Option<u64>,
    /// When it was cancelled: before its first byte if `first_byte_ms` is absent.
    pub given_up_ms: Option<u64>,
}

/// Tokens by category, or a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    #[serde(default)]
    pub read: u64,
    #[serde(default)]
    pub write_5m: u64,
    #[serde(default)]
    pub write_1h: u64,
    #[serde(default)]
    pub input: u64,
    pub refused: Option<String>,
}

/// The expected state of a prefix in the cache.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateOf {
    /// The request with the prompt that it begins.
    pub of: String,
    /// Its last block; the request's last if absent.
    pub upto: Option<String>,
    /// When.
    pub at_ms: u64,
    /// The expected state.
    pub is: StateName,
}

/// Names of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateName {
    Absent,
    Live,
    Expired,
    Evicted,
    InFlight,
}

/// Names of `Refresh`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refreshed {
    Chain,
    HitOnly,
}

/// Names of `VisibleFrom`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visible {
    FirstByte,
    RequestStart,
    ResponseEnd,
}

/// Names of `LifetimeClock`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    RequestStart,
    ResponseEnd,
}

/// Names of `Level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelName {
    Tools,
    System,
    Messages,
}

fn read(file: &str, text: &str) -> Group {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn run(file: &str, text: &str) {
    let group = read(file, text);
    let failures: Vec<String> = group.cases.iter().flat_map(|case| script::run(case, &group.bodies)).collect();
    let lines: Vec<String> = failures.iter().map(|failure| format!("{file}: {failure}")).collect();
    assert!(failures.is_empty(), "{}\n{} failures", lines.join("\n"), failures.len());
}

macro_rules! corpus {
    ($($name:ident $file:literal;)*) => {
        const FILES: &[(&str, &str)] = &[$(($file, include_str!(concat!("../corpus/", $file))),)*];
        $(#[test]
        fn $name() {
            run($file, include_str!(concat!("../corpus/", $file)));
        })*
    };
}

corpus! {
    look_back_reaches_as_far_as_the_rules_say "look-back.yaml";
    runs_of_calls_and_results_are_counted_as_the_rules_say "runs.yaml";
    three_positions_split_the_bill "billing.yaml";
    minimums_hold_for_each_model "minimum.yaml";
    lifetimes_begin_and_end_as_the_rules_say "lifetime.yaml";
    requests_at_the_same_time_share_what_has_begun "concurrency.yaml";
    nobody_reads_across_scopes_and_models "scope.yaml";
    passes_of_server_tools_add_up "passes.yaml";
    bodies_carry_their_breakpoints "bodies-markers.yaml";
    what_is_the_same_prompt_and_what_is_not "bodies-identity.yaml";
    parameters_break_their_levels "bodies-parameters.yaml";
    refusals_have_the_texts_of_the_provider "bodies-refusals.yaml";
}

#[test]
fn every_file_of_the_folder_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let there = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let run = FILES.iter().map(|(file, _)| (*file).to_owned());
    assert_eq!(there.collect::<BTreeSet<_>>(), run.collect::<BTreeSet<_>>());
}

#[test]
fn there_are_many_cases_and_each_names_its_source() {
    let groups: Vec<Group> = FILES.iter().map(|(file, text)| read(file, text)).collect();
    let cases: Vec<&Case> = groups.iter().flat_map(|group| &group.cases).collect();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "a name is given twice");
    assert!(groups.iter().all(|group| !group.about.is_empty()));
    for case in cases {
        assert!(!case.source.is_empty() && !case.presets.is_empty() && !case.steps.is_empty(), "{}", case.name);
        for step in &case.steps {
            let Step::Ask(ask) = step else { continue };
            assert_eq!(
                ask.differs.is_empty(),
                ask.why.is_none(),
                "{}, {}: why do presets differ?",
                case.name,
                ask.name
            );
        }
    }
}
