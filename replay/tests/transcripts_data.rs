//! The reader of Claude Code against the recorded sessions: every request once, every count equal. Skipped if they are absent.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::transcript::{Answer, OutputCount, Stop, What, answer_id};

use crate::places::{TRANSCRIPTS, data};

/// One row of the table that was made by another program.
struct Row(BTreeMap<String, String>);

impl Row {
    fn text(&self, column: &str) -> &str {
        &self.0[column]
    }

    fn number(&self, column: &str) -> u64 {
        self.text(column).parse().unwrap()
    }

    /// Seconds with up to three decimals, in milliseconds.
    fn millis(&self, column: &str) -> Option<u64> {
        let (whole, decimals) = self.text(column).split_once('.').unwrap_or((self.text(column), "0"));
        Some(whole.parse::<u64>().ok()? * 1000 + format!("{decimals:0<3}").parse::<u64>().ok()?)
    }
}

fn rows(data: &Path) -> Vec<Row> {
    let packed = std::fs::File::open(data.join("derived/cc_requests.csv.gz")).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        Row(header.iter().map(|name| (*name).to_owned()).zip(line.split(',').map(str::to_owned)).collect())
    };
    lines.map(row).filter(|row| row.text("exported") == "1" && TRANSCRIPTS.contains(&row.text("source"))).collect()
}

fn read(data: &Path) -> Inputs {
    let folders: Vec<PathBuf> = TRANSCRIPTS.iter().map(|folder| data.join(folder)).collect();
    Inputs::read(&folders, InputFormat::Auto).unwrap()
}

fn answers(inputs: &Inputs) -> impl Iterator<Item = (&str, &str, &Answer)> {
    inputs.sessions.all().iter().flat_map(|session| {
        session.agents.iter().flat_map(move |agent| {
            agent.thread.items.iter().filter_map(move |item| match &item.what {
                What::Answer(answer) => Some((&*session.id, &*agent.id, &**answer)),
                _ => None,
            })
        })
    })
}

#[test]
fn every_recorded_request_is_found_once_with_its_counts() {
    let Some(data) = data() else { return };
    let rows = rows(&data);
    assert_eq!(rows.len(), 12_318);
    let inputs = read(&data);
    let mut found: BTreeMap<u128, (&str, &str, &Answer)> = BTreeMap::new();
    for (session, agent, answer) in answers(&inputs).filter(|(_, _, answer)| !answer.copied) {
        assert!(found.insert(answer.id, (session, agent, answer)).is_none(), "counted twice in {session} {agent}");
    }
    let mut later = 0;
    for row in &rows {
        let name = row.text("message_id");
        let (session, agent, answer) =
            found.remove(&answer_id(name.as_bytes())).unwrap_or_else(|| panic!("{name} is missing"));
        let usage = answer.usage.unwrap().usage;
        let place = format!("{name} in {session} {agent}");
        let counts = [
            (usage.cache_read_input_tokens, "cache_read"),
            (usage.cache_creation_input_tokens(), "cache_write"),
            (usage.ephemeral_5m_input_tokens, "write_5m"),
            (usage.ephemeral_1h_input_tokens, "write_1h"),
            (usage.input_tokens, "input_uncached"),
            (usage.output_tokens, "output"),
        ];
        for (count, column) in counts {
            assert_eq!(count, row.number(column), "{column} of {place}");
        }
        assert_eq!(&*answer.model, row.text("model"), "{place}");
        assert_eq!(answer.version.as_deref(), Some(row.text("cc_version")), "{place}");
        let tools: Vec<&str> = answer.calls.iter().map(|call| &*call.tool).collect();
        assert_eq!(tools.join(" "), row.text("tool_uses"), "{place}");
        let chain = if agent == "main" { "main".to_owned() } else { format!("agent:{agent}") };
        assert_eq!(chain, row.text("chain"), "{place}");
        let stop = match row.text("stop_reason") {
            "tool_use" => Stop::ToolUse,
            "end_turn" | "stop_sequence" => Stop::EndTurn,
            "max_tokens" => Stop::MaxTokens,
            _ if answer.calls.is_empty() => Stop::Other,
            _ => Stop::ToolUse,
        };
        assert_eq!(answer.stop, stop, "{place}");
        let millis = |at: Option<forkcast_sim::time::Instant>| at.map(|at| at.0 / 1_000_000);
        // The table took 45 answers of sub-agents from the lines of progress, which come when a block is shown; their own
        // files hold all blocks.
        let shown_later = millis(answer.first_at) < row.millis("t_first_line");
        assert!(shown_later || millis(answer.first_at) == row.millis("t_first_line"), "{place}");
        later += usize::from(shown_later);
        assert_eq!(millis(answer.ended_at), row.millis("t_last_line"), "{place}");
        let sent = row.millis("t_parent_line").min(row.millis("t_first_line"));
        if sent.is_some() {
            assert_eq!(millis(answer.sent_at), sent, "sent_at of {place}");
        }
    }
    assert!(later <= 45, "{later} begin earlier than in the table");
    assert_eq!(
        found.len(),
        0,
        "beyond the table: {:?}",
        found.values().take(5).map(|(s, a, _)| (s, a)).collect::<Vec<_>>()
    );
}

#[test]
fn every_session_file_is_recognised_and_nothing_is_unreadable() {
    let Some(data) = data() else { return };
    let inputs = read(&data);
    for skipped in &inputs.skipped {
        assert!(!skipped.file.contains(".jsonl"), "{}: {}", skipped.file, skipped.reason);
    }
    assert_eq!(inputs.unreadable, Vec::new());
    for repaired in &inputs.repaired {
        println!("{}:{}: {}", repaired.file, repaired.line, repaired.what);
    }
}

/// The text with every output reduced to the count at the start of the stream, and without the end.
fn begun(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\"output_tokens\":") {
        let (head, tail) = rest.split_at(at + "\"output_tokens\":".len());
        out.push_str(head);
        out.push('1');
        rest = tail.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out.push_str(rest);
    for word in ["tool_use", "end_turn", "stop_sequence", "max_tokens"] {
        out = out.replace(&format!("\"stop_reason\":\"{word}\""), "\"stop_reason\":null");
    }
    out
}

#[test]
fn estimated_outputs_come_near_final_counts() {
    let Some(data) = data() else { return };
    // For each tokenizer: estimate and final count.
    let mut pairs: BTreeMap<bool, Vec<(u64, u64)>> = BTreeMap::new();
    let packed = TRANSCRIPTS.iter().flat_map(|folder| std::fs::read_dir(data.join(folder)).unwrap());
    for path in packed.map(|entry| entry.unwrap().path()).filter(|path| path.to_string_lossy().ends_with(".jsonl.gz")) {
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
        let read = |text: &str| Inputs::from_bytes("s.jsonl", text.as_bytes(), InputFormat::Auto);
        let (whole, cut) = (read(&text), read(&begun(&text)));
        for ((_, _, known), (_, _, begun)) in answers(&whole).zip(answers(&cut)) {
            let (OutputCount::Final, OutputCount::StreamStart { estimated_tokens }) = (known.output, begun.output)
            else {
                continue;
            };
            let is_newer = known.model.ends_with("-5") && !known.model.contains("-4-5");
            let counted = known.usage.unwrap().usage.output_tokens;
            pairs.entry(is_newer).or_default().push((u64::from(estimated_tokens), counted));
        }
    }
    for (is_newer, pairs) in &pairs {
        let mut errors: Vec<f64> =
            pairs.iter().map(|(guess, known)| (*guess as f64 / *known as f64 - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let (median, ninth) = (errors[errors.len() / 2], errors[errors.len() * 9 / 10]);
        let sum =
            pairs.iter().map(|pair| pair.0).sum::<u64>() as f64 / pairs.iter().map(|pair| pair.1).sum::<u64>() as f64;
        println!("newer {is_newer}: {} answers, median {median:.3}, p90 {ninth:.3}, sum {sum:.3}", pairs.len());
        assert!(median < 0.12 && ninth < 0.3 && (sum - 1.0).abs() < 0.06, "newer {is_newer}: {median} {ninth} {sum}");
    }
    assert_eq!(pairs.len(), 2);
}
