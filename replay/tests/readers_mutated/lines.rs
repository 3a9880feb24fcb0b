//! A damaged line costs itself alone, whichever line it is, and is reported once, at its place.

use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::transcript::What;
use proptest::prelude::*;
use proptest::sample::Index;

use super::fixture;

/// Fixtures with a record on each line. In the first ones each request has its own line; in the others a request takes
/// several lines, or a line has several requests.
const OF_LINES: [(&str, bool); 14] = [
    ("trace.jsonl", true),
    ("litellm.jsonl", true),
    ("traces.jsonl", false),
    ("pair.jsonl", true),
    ("log.jsonl", true),
    ("mooncake.jsonl", true),
    ("lmcache.jsonl", true),
    ("tracelab.jsonl", true),
    ("claude-code.jsonl", false),
    ("codex.jsonl", false),
    ("copilot-cli.jsonl", false),
    ("gemini-cli.jsonl", false),
    ("managed-agents.jsonl", false),
    ("pi.jsonl", false),
];

/// What may happen to a line.
#[derive(Clone, Debug)]
enum Damage {
    /// Its end is gone.
    Cut(Index),
    /// Its beginning is gone.
    Begun(Index),
    /// It is something else.
    Other(&'static str),
}

/// Lines that are no records, among them whole values of JSON and what other kinds of files begin with.
const OTHERS: [&str; 8] =
    ["[]", "{", "null \"x\" 1", "<html>", "\u{0}\u{0}", "%garbage { \" [", "[{\"a\":1}", "\"timestamp\": 1}"];

impl Damage {
    /// The line afterwards.
    fn done(&self, line: &str) -> String {
        let place = |index: &Index| (1..line.len()).nth(index.index(line.len() - 1)).unwrap_or(1);
        let whole = |mut at: usize| {
            while !line.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        match self {
            Self::Cut(index) => line[..whole(place(index)).max(1)].to_owned(),
            Self::Begun(index) => line[whole(place(index)).max(1)..].to_owned(),
            Self::Other(text) => (*text).to_owned(),
        }
    }
}

fn damages() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => any::<Index>().prop_map(Damage::Cut),
        2 => any::<Index>().prop_map(Damage::Begun),
        2 => prop::sample::select(OTHERS.to_vec()).prop_map(Damage::Other),
    ]
}

/// The lines of requests, and the format.
fn requests(name: &str, text: &str) -> (Vec<usize>, Option<Format>, Inputs) {
    let inputs = Inputs::from_bytes(name, text.as_bytes(), InputFormat::Auto);
    let files = inputs.scopes.iter().flat_map(|scope| &scope.files);
    let mut lines: Vec<usize> = inputs.exchanges().map(|exchange| exchange.origin.line).collect();
    let mut format = None;
    for file in files {
        format = Some(file.format);
        let conversations = file.traces.iter().flat_map(|trace| &trace.conversations);
        lines.extend(conversations.flat_map(|told| &told.requests).map(|request| request.line));
    }
    let agents = inputs.sessions.all().iter().flat_map(|session| &session.agents);
    for item in agents.flat_map(|agent| &agent.thread.items) {
        lines.extend(matches!(item.what, What::Answer(_)).then_some(item.line as usize));
    }
    lines.sort_unstable();
    (lines, format, inputs)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_line_costs_itself_alone_and_is_located(
        (name, alone) in prop::sample::select(OF_LINES.to_vec()),
        line in any::<Index>(),
        damage in damages(),
        ended in any::<bool>(),
    ) {
        let text = String::from_utf8(fixture(name)).unwrap();
        let (expected, format, whole) = requests(name, &text);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = line.index(lines.len());
        // Lines that are already damaged prove nothing.
        prop_assume!(!whole.unreadable.iter().any(|damage| damage.line == at + 1));
        prop_assume!(!lines[at].trim().is_empty());
        let damaged = damage.done(&lines[at]);
        // Half a line of Claude Code may be followed by a complete record.
        prop_assume!(serde_json::from_str::<serde_json::Value>(&damaged).is_err() || damaged == "[]");
        prop_assume!(format != Some(Format::ClaudeCode) || !matches!(damage, Damage::Begun(_)));
        lines[at] = damaged;
        let text = lines.join("\n") + if ended { "\n" } else { "" };
        let (found, found_format, inputs) = requests(name, &text);
        prop_assert_eq!(found_format, format, "{} line {} {:?}", name, at + 1, damage);
        let before: Vec<usize> = whole.unreadable.iter().map(|fault| fault.line).collect();
        let mut told: Vec<usize> = inputs.unreadable.iter().map(|fault| fault.line).collect();
        for line in before {
            told.remove(told.iter().position(|found| *found == line).expect("known damage is reported"));
        }
        prop_assert_eq!(&told, &[at + 1], "{} {:?}: {:?}", name, damage, inputs.unreadable);
        if alone {
            let kept: Vec<usize> = expected.iter().copied().filter(|line| *line != at + 1).collect();
            let found: Vec<usize> = found.into_iter().filter(|line| *line != at + 1).collect();
            prop_assert_eq!(found, kept, "{} line {} {:?}", name, at + 1, damage);
        } else if found.len() < expected.len() {
            let own = expected.iter().filter(|line| **line == at + 1).count().max(1);
            prop_assert!(found.len() + own >= expected.len(), "{} line {} {:?}", name, at + 1, damage);
        }
    }
}
