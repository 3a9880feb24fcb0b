//! Where a match stops and why: one story for each reason, and properties of every request.

use forkcast_fixtures::beside;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::inspect::{Inspection, NotInspected, inspect};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_reports::explained::Explained;
use forkcast_reports::folder::reading::RunFolder;
use forkcast_reports::folder::{Contents, Folder};
use forkcast_reports::format::explain;
use forkcast_reports::names::Names;
use forkcast_reports::report::{Report, entries};
use forkcast_sim::cache::Rules;
use forkcast_sim::ledger::Line;
use serde_json::Value;

use crate::written::validator;

/// One request of a story.
struct Sent {
    at_s: u64,
    first_byte_s: u64,
    body: String,
}

const MINUTE: u64 = 60;

/// A system prompt of some 3,000 tokens and `words` as messages of one block each; `marked` are the places of breakpoints.
fn body(words: &[&str], marked: &[usize]) -> String {
    let manual = "A sentence of the manual that nobody reads. ".repeat(220);
    let message = |(at, word): (usize, &&str)| {
        let marker = if marked.contains(&at) { r#","cache_control":{"type":"ephemeral"}"# } else { "" };
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{word}"{marker}}}]}}"#)
    };
    let messages: Vec<String> = words.iter().enumerate().map(message).collect();
    format!(r#"{{"model":"claude-opus-4-8","system":"{manual}","messages":[{}]}}"#, messages.join(","))
}

fn sent(at_s: u64, body: String) -> Sent {
    Sent { at_s, first_byte_s: at_s + 1, body }
}

fn inputs(story: &[Sent]) -> Inputs {
    let line = |sent: &Sent| {
        let (at, first) = (sent.at_s * 1_000, sent.first_byte_s * 1_000);
        format!(r#"{{"v":1,"at_ms":{at},"first_byte_ms":{first},"ended_ms":{first},"request":{}}}"#, sent.body) + "\n"
    };
    let text: String = story.iter().map(line).collect();
    Inputs::from_bytes("story.jsonl", text.as_bytes(), InputFormat::Auto)
}

fn options() -> Options {
    Options { rules: Rules::preset("docs-2026-09"), ..Options::default() }
}

/// Explains request `line` and hands the explanation to `look`.
fn explained<T>(inputs: &Inputs, line: usize, look: impl FnOnce(&Explained<'_>) -> T) -> T {
    let options = options();
    let replay: Replay = replay(inputs, &options);
    let report = Report::new(inputs, &replay, &options, Names::Plain);
    let inspection: Inspection = inspect(inputs, &options, line).ok().unwrap();
    let entries = entries(inputs, &replay, &options);
    look(&Explained::new(&report, &entries, &entries[line], &inspection))
}

/// Why the match of the last request of a story stops.
fn stop(story: &[Sent]) -> &'static str {
    explained(&inputs(story), story.len() - 1, |explained| explained.stop().word())
}

#[test]
fn everything_sent_before_is_read() {
    assert_eq!(stop(&[sent(0, body(&["a"], &[0])), sent(9, body(&["a", "b", "c"], &[2]))]), "new_from_here");
}

#[test]
fn the_entry_is_older_than_its_lifetime() {
    let late = 6 * MINUTE;
    assert_eq!(stop(&[sent(0, body(&["a"], &[0])), sent(late, body(&["a", "b", "c"], &[2]))]), "expired");
}

#[test]
fn the_writer_has_not_begun_to_answer() {
    let slow = Sent { at_s: 0, first_byte_s: 20, body: body(&["a"], &[0]) };
    assert_eq!(stop(&[slow, sent(9, body(&["a", "b", "c"], &[2]))]), "in_flight");
}

#[test]
fn the_entry_is_further_back_than_the_look_back() {
    let words: Vec<String> = (0..31).map(|at| format!("w{at}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let story = [sent(0, body(&words[..1], &[0])), sent(9, body(&words, &[30]))];
    assert_eq!(stop(&story), "beyond_lookback");
    // Twenty positions: the breakpoint's own and nineteen before it.
    assert_eq!(stop(&[sent(0, body(&words[..1], &[0])), sent(9, body(&words[..21], &[20]))]), "beyond_lookback");
    assert_eq!(stop(&[sent(0, body(&words[..1], &[0])), sent(9, body(&words[..19], &[18]))]), "new_from_here");
}

#[test]
fn nothing_is_asked_without_a_breakpoint() {
    assert_eq!(stop(&[sent(0, body(&["a"], &[0])), sent(9, body(&["a", "b", "c"], &[]))]), "no_breakpoint");
}

#[test]
fn the_sent_prefix_ended_at_no_breakpoint() {
    let story = [sent(0, body(&["a", "b", "c"], &[0])), sent(9, body(&["a", "b", "c", "d", "e"], &[4]))];
    // The entry at the first message is read, the other two had none.
    assert_eq!(stop(&story), "never_written");
    explained(&inputs(&story), 1, |explained| {
        assert_eq!((explained.read_blocks(), explained.inspection.sent_before()), (2, 4));
    });
}

#[test]
fn a_prefix_below_the_minimum_is_not_cached() {
    let short = r#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}"#;
    assert_eq!(stop(&[sent(0, short.to_owned()), sent(9, short.to_owned())]), "below_minimum");
}

#[test]
fn a_fifth_breakpoint_is_refused() {
    let words = ["a", "b", "c", "d", "e"];
    assert_eq!(stop(&[sent(0, body(&words, &[4])), sent(9, body(&words, &[0, 1, 2, 3, 4]))]), "refused");
}

/// The longest entry counts, although a shorter one is read: the marker of the system prompt hits, the history is gone.
#[test]
fn the_missed_entry_is_the_longest_on_the_path() {
    let first = body(&["a", "b", "c"], &[0, 2]);
    let story = [
        sent(0, first),
        sent(4 * MINUTE, body(&["a", "x", "y"], &[0, 2])),
        sent(6 * MINUTE, body(&["a", "b", "c", "d", "e"], &[4])),
    ];
    explained(&inputs(&story), 2, |explained| {
        assert_eq!(explained.stop().word(), "expired");
        assert_eq!(explained.missed_entry().map(|entry| entry.blocks), Some(4));
        assert_eq!(explained.read_blocks(), 2);
        let nearest = explained.inspection.nearest.as_ref().unwrap();
        assert_eq!((nearest.entry.blocks, nearest.entry.shared_blocks, nearest.entry.marked_by), (4, 4, (0, 0)));
    });
}

#[test]
fn the_nearest_entry_that_is_no_prefix_shows_its_first_difference() {
    let story = [sent(0, body(&["a", "b", "c"], &[2])), sent(9, body(&["a", "B", "c"], &[2]))];
    explained(&inputs(&story), 1, |explained| {
        let sides = explained.sides().unwrap();
        let judged = sides.judged();
        assert_eq!(judged.findings[0].cause.word(), "message_edited");
        assert_eq!(judged.findings[0].path, "messages[1].content[0]");
        let nearest = explained.inspection.nearest.as_ref().unwrap();
        assert_eq!((nearest.entry.blocks, nearest.entry.shared_blocks), (4, 2));
    });
}

#[test]
fn lines_that_are_not_there_are_counted() {
    let story = [sent(0, body(&["a"], &[0]))];
    assert_eq!(inspect(&inputs(&story), &options(), 1).err(), Some(NotInspected::NoSuchLine(1)));
}

/// An inspection is the replay stopped at one request: both say the same of it, for every request of the sample.
#[test]
fn inspections_agree_with_the_replay_and_with_the_schema() {
    let validator = validator(explain::SCHEMA);
    let inputs = Inputs::sample();
    let options = Options::default();
    let replay = replay(&inputs, &options);
    for names in [Names::Plain, Names::Anonymous] {
        let report = Report::new(&inputs, &replay, &options, names);
        let entries = entries(&inputs, &replay, &options);
        for entry in &entries {
            let inspection = inspect(&inputs, &options, entry.line.index).ok().unwrap();
            let explanation = entry.line.explanation.as_ref().unwrap();
            assert_eq!(inspection.explanation.missed, explanation.missed);
            assert_eq!(inspection.explanation.read_tokens, explanation.read_tokens);
            let explained = Explained::new(&report, &entries, entry, &inspection);
            let levels: u64 = explained.levels().iter().map(|level| level.tokens).sum();
            assert_eq!(Some(&levels), inspection.subject.cumulative.last());
            let mut written = Vec::new();
            explain::write_unprofiled(&report, entry, &mut written).unwrap();
            assert!(validator.is_valid(&serde_json::from_slice(&written).unwrap()));
            for content in [false, true] {
                let mut written = Vec::new();
                explain::write(&explained, content, &mut written).unwrap();
                let value: Value = serde_json::from_slice(&written).unwrap();
                let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{errors:#?}");
            }
        }
    }
}

/// Every request of the real recordings, if they are present: the explanation adds up and can be written in every form.
#[test]
fn every_recorded_request_can_be_explained() {
    let Some(folder) = beside("") else { return };
    let mut explained_requests = 0;
    for name in ["cassettes-pydantic-ai", "cassettes-crewai", "cassettes-dd-trace-py", "wire-cache-fix"] {
        let inputs = Inputs::read(&[folder.join(name)], InputFormat::Auto).unwrap();
        let options = Options::default();
        let replay = replay(&inputs, &options);
        let report = Report::new(&inputs, &replay, &options, Names::Plain);
        let entries = entries(&inputs, &replay, &options);
        for entry in &entries {
            let line = &entry.line;
            match inspect(&inputs, &options, line.index) {
                Ok(inspection) => {
                    let found = Explained::new(&report, &entries, entry, &inspection);
                    let levels: u64 = found.levels().iter().map(|level| level.tokens).sum();
                    assert_eq!(
                        levels,
                        inspection.subject.cumulative.last().copied().unwrap_or(0),
                        "{name} {}",
                        line.index
                    );
                    assert!(found.read_blocks() <= inspection.sent_before(), "{name} {}", line.index);
                    if let (Some(_), Some(explanation)) = (line.recorded, &line.explanation) {
                        assert_eq!(inspection.explanation.missed, explanation.missed, "{name} {}", line.index);
                    }
                    explain::write(&found, true, &mut Vec::new()).unwrap();
                    explained_requests += 1;
                }
                Err(NotInspected::Unread(_)) => assert!(line.explanation.is_none()),
                Err(NotInspected::NoSuchLine(_)) => panic!("line {} is there", line.index),
            }
        }
    }
    assert!(explained_requests >= 180, "only {explained_requests} requests");
}

/// A folder with bodies is the recording: read back, every request has the bill and the misses that it had.
#[test]
fn a_run_folder_with_bodies_bills_every_recorded_request_as_before() {
    let Some(data) = beside("") else { return };
    for name in ["cassettes-pydantic-ai", "cassettes-openllmetry", "cassettes-ruby-llm", "wire-cache-fix"] {
        let inputs = Inputs::read(&[data.join(name)], InputFormat::Auto).unwrap();
        let options = Options::default();
        let before = replay(&inputs, &options);
        let report = Report::new(&inputs, &before, &options, Names::Plain);
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bodies-{name}"));
        drop(std::fs::remove_dir_all(&path));
        let folder = Folder::open(&path, Contents::Replay, false, &[]).unwrap();
        assert_eq!(folder.write(&report, true).unwrap().bodies, Some(before.entries.len()));
        let again = RunFolder::read(&path).unwrap().bodies().unwrap().unwrap();
        let after = replay(&again, &options);
        let origins = |replay: &Replay| replay.entries.iter().map(|entry| entry.origin.clone()).collect::<Vec<_>>();
        assert_eq!(origins(&before), origins(&after), "{name}");
        for (one, other) in before.lines().zip(after.lines()) {
            let bill = |line: &Line| line.charge.bill.as_ref().map(|bill| bill.total);
            assert_eq!((bill(one), &one.charge.causes), (bill(other), &other.charge.causes), "{name} {}", one.index);
            assert_eq!((one.recorded, one.predicted), (other.recorded, other.predicted), "{name} {}", one.index);
        }
    }
}
