//! The built-in factors for Claude, compared with the growth of real prompts from one turn to the next; skipped with a
//! message if the transcripts are absent.
//!
//! Between two answers of one agent with only tool results in between, the prompt grows by the answer and the results.
//! Both texts are in the transcript, and both prompts' sizes in its usage. Turns with thinking are excluded (its text
//! may be hidden), and so are those of clients that did not record the final usage.

use std::collections::BTreeSet;
use std::path::Path;

use forkcast_fixtures::unpacked;
use forkcast_sim::wire::model::resolve;
use forkcast_sim::wire::{BlockKind, Content, Level, Role};
use forkcast_tokens::factors::built_in_residual;
use forkcast_tokens::{BUILT_IN, Generation, Makeup, Vocabulary, makeup};
use serde_json::Value;

use crate::places::{TRANSCRIPTS, data, transcripts};

/// Tokens around the two messages of a turn.
const TURN_FRAME_TOKENS: u64 = 2 * 4;

/// An answer with the input after it.
#[derive(Default)]
struct Turn {
    id: String,
    model: String,
    prompt_tokens: u64,
    is_final: bool,
    answer: Vec<Value>,
    results: Vec<Value>,
    /// Something else came in as well.
    mixed: bool,
}

/// The growth of the prompt in a turn.
struct Growth {
    generation: Generation,
    recorded_tokens: u64,
    makeup: Makeup,
}

fn turn(message: &Value) -> Turn {
    let usage = |key: &str| message["usage"][key].as_u64().unwrap_or(0);
    let word = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
    Turn {
        id: word("id"),
        model: word("model"),
        prompt_tokens: usage("input_tokens") + usage("cache_read_input_tokens") + usage("cache_creation_input_tokens"),
        ..Turn::default()
    }
}

/// The growth in the turns of one file, each counted once over all files.
fn growths(path: &Path, seen: &mut BTreeSet<String>, found: &mut Vec<Growth>) {
    let beside = path.to_string_lossy().contains("subagents");
    let mut last: Option<Turn> = None;
    for line in unpacked(path).lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if line["isSidechain"] == true && !beside {
            continue;
        }
        let message = &line["message"];
        let content = message["content"].as_array().cloned().unwrap_or_default();
        match (line["type"].as_str(), &mut last) {
            (Some("assistant"), Some(turn)) if message["model"] == "<synthetic>" => turn.mixed = true,
            (Some("assistant"), _) => {
                let next = turn(message);
                if last.as_ref().is_none_or(|last| last.id != next.id) {
                    let new = seen.insert(next.id.clone());
                    found.extend(last.as_ref().filter(|_| new).and_then(|last| growth(last, &next)));
                    last = Some(next);
                }
                if let Some(turn) = &mut last {
                    turn.is_final = message["stop_reason"].is_string();
                    turn.answer.extend(content);
                }
            }
            (Some("user"), Some(turn)) => {
                let results_alone = !content.is_empty() && content.iter().all(|block| block["type"] == "tool_result");
                turn.mixed |= !results_alone;
                turn.results.extend(content);
            }
            (Some("attachment"), Some(turn)) => turn.mixed = true,
            (Some("system"), Some(turn)) => {
                turn.mixed |= line["subtype"].as_str().is_some_and(|kind| kind.ends_with("compact_boundary"));
            }
            _ => {}
        }
    }
}

fn growth(turn: &Turn, next: &Turn) -> Option<Growth> {
    let is_clean = turn.is_final && !turn.mixed && !turn.results.is_empty() && turn.model == next.model;
    let generation = Generation::of(resolve(&turn.model)?.id.row().tokenizer)?;
    let recorded_tokens = next.prompt_tokens.checked_sub(turn.prompt_tokens).filter(|tokens| *tokens > 20)?;
    let mut whole = Makeup::default();
    for block in turn.answer.iter().chain(&turn.results) {
        let bytes = serde_json::to_vec(block).unwrap();
        let content = Content { level: Level::Messages, role: Role::Other, kind: BlockKind::ToolUse, bytes: &bytes };
        whole += makeup(content, generation.tokenizer(), Vocabulary::O200k);
    }
    let thinks = turn.answer.iter().any(|block| block["type"].as_str().is_some_and(|kind| kind.contains("thinking")));
    let is_text = !thinks && whole.outside == 0 && whole.fixed == 0;
    (is_clean && is_text).then_some(Growth { generation, recorded_tokens, makeup: whole })
}

#[test]
fn the_built_in_residual_agrees_with_the_transcripts() {
    let Some(data) = data() else { return };
    let mut paths = Vec::new();
    TRANSCRIPTS.iter().for_each(|folder| transcripts(&data.join(folder), &mut paths));
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    paths.iter().for_each(|path| growths(path, &mut seen, &mut found));
    let mut wrong = Vec::new();
    for generation in Generation::ALL {
        let of: Vec<&Growth> = found.iter().filter(|growth| growth.generation == generation).collect();
        let estimate = |growth: &Growth| BUILT_IN.tokens(generation, &growth.makeup) + TURN_FRAME_TOKENS;
        let recorded: u64 = of.iter().map(|growth| growth.recorded_tokens).sum();
        let estimated: u64 = of.iter().map(|growth| estimate(growth)).sum();
        let error = |growth: &&Growth| (estimate(growth) as f64 / growth.recorded_tokens as f64 - 1.0).abs();
        let mut errors: Vec<f64> = of.iter().map(error).collect();
        errors.sort_by(f64::total_cmp);
        let rank = |share: usize| errors[(errors.len() * share).div_ceil(10) - 1];
        let (sum, half, most) = (estimated as f64 / recorded as f64 - 1.0, rank(5), rank(9));
        let word = generation.tokenizer().word();
        eprintln!(
            "{word}: {} turns, {recorded} tokens, sum {sum:+.4}, half within {half:.4}, nine of ten {most:.4}",
            of.len()
        );
        let stated = built_in_residual(generation);
        let stands = (stated.sum_error - sum).abs() < 0.001 && (stated.p90_error - most).abs() < 0.001;
        if stated.samples != of.len() as u64 || !stands {
            wrong.push(format!("{word}: {stated:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
