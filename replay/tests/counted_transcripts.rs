//! Counted sizes of recorded sessions: the reader counts, the prompts add up, the bill is near. The recorded sessions are skipped,
//! visibly, where they are absent.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_fixtures::unpacked;
use forkcast_replay::calibrate::{Calibration, Errors, Generation, LeftOut, Sample, Samples, fit};
use forkcast_replay::formats::claude_code::output_residual;
use forkcast_replay::input::{InputFormat, Inputs, ReadOptions};
use forkcast_replay::replay::{Options, Replay, SizeSource, Sizing, replay};
use forkcast_replay::transcript::{Answer, OutputCount, What};
use forkcast_sim::service::Entry;
use forkcast_sim::wire::model::resolve;
use forkcast_tokens::{BUILT_IN, Factors};

use crate::places::{TRANSCRIPTS, data, transcripts};

fn recorded(folder: &str) -> Option<Inputs> {
    let data = data()?;
    let options = ReadOptions::from(InputFormat::Auto).counted();
    Some(Inputs::read_with(&[data.join(folder)], &options, &|_| true).expect("the recordings open"))
}

fn counted(source: SizeSource) -> Options {
    Options { sizing: Sizing::new(source, None), ..Options::default() }
}

/// Counted and billed tokens of the requests that can be compared.
#[derive(Default)]
struct Sum {
    requests: u64,
    counted: u64,
    billed: u64,
    errors: Vec<f64>,
}

impl Sum {
    fn add(&mut self, counted: u64, billed: u64) {
        self.requests += 1;
        self.counted += counted;
        self.billed += billed;
        self.errors.push((counted as f64 / billed as f64 - 1.0).abs());
    }

    fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.counted += other.counted;
        self.billed += other.billed;
        self.errors.extend(&other.errors);
    }

    fn error(&self) -> f64 {
        self.counted as f64 / self.billed as f64 - 1.0
    }

    fn show(&mut self, what: &str) {
        self.errors.sort_by(f64::total_cmp);
        let rank = |share: usize| self.errors[(self.errors.len() * share).div_ceil(10).saturating_sub(1)];
        let (half, most) = (rank(5), rank(9));
        eprintln!(
            "{what:<40} {:>6} requests {:>10} tokens, sum {:>+7.4}, half within {half:.4}, nine of ten {most:.4}",
            self.requests,
            self.billed,
            self.error()
        );
    }
}

fn sums(replayed: &Replay) -> (BTreeMap<String, Sum>, BTreeMap<LeftOut, u64>) {
    let (mut sums, mut left_out) = (BTreeMap::new(), BTreeMap::new());
    for Entry { line, size, .. } in &replayed.entries {
        let size = size.unwrap();
        match (size.left_out, line.recorded) {
            (None, Some(usage)) => {
                let of: &mut Sum = sums.entry(line.model.clone()).or_default();
                of.add(size.tokens, usage.total_input_tokens());
            }
            (why, _) => *left_out.entry(why.unwrap_or(LeftOut::NoUsage)).or_insert(0) += 1,
        }
    }
    (sums, left_out)
}

#[test]
fn the_sum_of_counted_prompts_is_near_the_bill() {
    for folder in TRANSCRIPTS {
        let Some(inputs) = recorded(folder) else { return };
        let replayed = replay(&inputs, &counted(SizeSource::Both));
        let (sums, left_out) = sums(&replayed);
        eprintln!("{folder}: left out {left_out:?}");
        let mut all = Sum::default();
        for (model, mut sum) in sums {
            sum.show(&format!("  {model}"));
            all.merge(&sum);
        }
        all.show("  all");
        assert!(all.error().abs() <= 0.05, "{folder}: {}", all.error());
    }
}

/// The bill of a folder's prompts against prompts counted with these factors.
fn whole_prompts(inputs: &Inputs, factors: Factors, generation: Generation) -> Sum {
    let fitted = Calibration { factors, classes: Vec::new(), generations: Vec::new(), left_out: BTreeMap::new() };
    let options = Options { sizing: Sizing::new(SizeSource::Both, Some(fitted)), ..Options::default() };
    let replayed = replay(inputs, &options);
    let mut all = Sum::default();
    for Entry { line, size, .. } in &replayed.entries {
        let size = size.unwrap();
        if let Some(usage) = line.recorded.filter(|_| size.left_out.is_none())
            && Generation::of(size.tokenizer) == Some(generation)
        {
            all.add(size.tokens, usage.total_input_tokens());
        }
    }
    all
}

/// One source of sessions.
struct Source {
    name: &'static str,
    inputs: Inputs,
    steps: Vec<Sample>,
}

impl Source {
    fn of(&self, generation: Generation) -> Vec<Sample> {
        self.steps.iter().filter(|step| step.generation == generation).cloned().collect()
    }
}

fn sources() -> Option<Vec<Source>> {
    let source = |name| {
        let inputs = recorded(name)?;
        let Samples { samples: steps, left_out } = Samples::of(&inputs);
        eprintln!("{name}: {} steps, left out {left_out:?}", steps.len());
        Some(Source { name, inputs, steps })
    };
    TRANSCRIPTS.into_iter().map(source).collect()
}

fn show(what: &str, errors: &Errors) {
    let Errors { requests, recorded_tokens, p90, .. } = errors;
    let error = errors.sum_error().unwrap_or(0.0);
    eprintln!("{what:<56} {requests:>5} steps {recorded_tokens:>9} tokens, sum {error:>+7.4}, nine of ten {p90:.4}");
}

/// The factors for older models fitted without a source, and then the source's prompts counted with them; then the reverse.
#[test]
fn factors_fitted_to_some_sources_hold_on_the_others() {
    let Some(sources) = sources() else { return };
    let old = Generation::Claude;
    let factors = |samples: &[Sample]| {
        let factors = fit(samples);
        eprintln!("    factors {:?}", factors.thousandths[old as usize]);
        factors
    };
    let (mut wrong, mut all) = (Vec::new(), Sum::default());
    for source in sources.iter().filter(|source| !source.of(old).is_empty()) {
        let others: Vec<&Source> = sources.iter().filter(|other| other.name != source.name).collect();
        let (own, rest) = (source.of(old), others.iter().flat_map(|other| other.of(old)).collect::<Vec<_>>());
        show(&format!("  built-in factors, steps of {}", source.name), &Errors::of(own.iter(), &BUILT_IN));
        let fitted = factors(&rest);
        show(&format!("  fitted to the others, steps of {}", source.name), &Errors::of(own.iter(), &fitted));
        let mut whole = whole_prompts(&source.inputs, fitted, old);
        whole.show(&format!("  fitted to the others, prompts of {}", source.name));
        all.merge(&whole);
        if whole.error().abs() > 0.07 {
            wrong.push(format!("{}: {}", source.name, whole.error()));
        }
        let fitted = factors(&own);
        show(&format!("  fitted to {}, steps of the others", source.name), &Errors::of(rest.iter(), &fitted));
    }
    all.show("  all prompts, each source by the others");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(all.error().abs() <= 0.05, "{}", all.error());
}

/// One source alone has sessions of newer models: half of its sessions against the other half.
#[test]
fn factors_fitted_to_half_of_the_sessions_hold_on_the_other_half() {
    let Some(inputs) = recorded("cc-oh-my-posh") else { return };
    let steps = Samples::of(&inputs).samples.into_iter().filter(|step| step.generation == Generation::Claude47);
    let (one, other): (Vec<Sample>, Vec<Sample>) =
        steps.partition(|step| step.file.bytes().map(u32::from).sum::<u32>() % 2 == 0);
    for (fitted_to, measured_on) in [(&one, &other), (&other, &one)] {
        let errors = Errors::of(measured_on.iter(), &fit(fitted_to));
        show("  one half, fitted to the other", &errors);
        assert!(errors.sum_error().unwrap().abs() <= 0.05);
    }
}

/// A session of Claude Code: prompts and answers in turn, each hanging on the one before.
#[derive(Default)]
struct Written {
    lines: Vec<String>,
}

impl Written {
    fn line(mut self, kind: &str, message: &str) -> Self {
        let at = self.lines.len();
        let parent = at.checked_sub(1).map_or("null".to_owned(), |at| format!("\"u{at}\""));
        self.lines.push(format!(
            r#"{{"type":"{kind}","uuid":"u{at}","parentUuid":{parent},"sessionId":"s","version":"2.1.60","cwd":"/home/ann/x","timestamp":"2026-02-20T10:{at:02}:00.000Z","message":{message}}}"#
        ));
        self
    }

    fn prompt(self, text: &str) -> Self {
        self.line("user", &format!(r#"{{"role":"user","content":"{text}"}}"#))
    }

    fn answer(self, model: &str, input: u64, output: u64, stop: &str, content: &str) -> Self {
        let id = self.lines.len();
        self.line(
            "assistant",
            &format!(
                r#"{{"id":"msg_{id}","model":"{model}","role":"assistant","stop_reason":{stop},"usage":{{"input_tokens":{input},"output_tokens":{output}}},"content":[{content}]}}"#
            ),
        )
    }

    fn replayed(&self, source: SizeSource) -> Replay {
        let options = ReadOptions::from(InputFormat::Auto).counted();
        let inputs = Inputs::from_bytes("s.jsonl", self.lines.join("\n").as_bytes(), options);
        replay(&inputs, &counted(source))
    }

    fn sizes(&self) -> Vec<u64> {
        self.replayed(SizeSource::Both).entries.iter().map(|entry| entry.size.unwrap().tokens).collect()
    }
}

const OPUS: &str = "claude-opus-4-6";
/// One token of o200k, and one of Claude: 1.16 rounded.
const HELLO: &str = r#"{"type":"text","text":"hello"}"#;

#[test]
fn blocks_are_counted_only_on_request() {
    let text = Written::default().prompt("hello").answer(OPUS, 100, 1, "\"end_turn\"", HELLO).lines.join("\n");
    let tokens = |options: ReadOptions| -> Vec<u32> {
        let inputs = Inputs::from_bytes("s.jsonl", text.as_bytes(), options);
        let items = inputs.sessions.all()[0].agents[0].thread.items.iter();
        let parts = items.flat_map(|item| match &item.what {
            What::Input(input) => input.parts.clone(),
            What::Answer(answer) => answer.parts.clone(),
            What::Sign(_) => Vec::new(),
        });
        parts.map(|part| part.tokens).collect()
    };
    assert_eq!(tokens(InputFormat::Auto.into()), [0, 0]);
    assert_eq!(tokens(ReadOptions::default().counted()), [1, 1]);
    assert!(
        replay(&Inputs::from_bytes("s.jsonl", text.as_bytes(), InputFormat::Auto), &Options::default()).entries[0]
            .size
            .is_none()
    );
}

#[test]
fn a_prompt_is_the_first_one_plus_later_additions() {
    let written = Written::default()
        .prompt("hello")
        .answer(OPUS, 1_000, 1, "\"end_turn\"", HELLO)
        .prompt("hello")
        .answer(OPUS, 1_017, 1, "\"end_turn\"", HELLO);
    // Two messages of one token each, with four around each.
    assert_eq!(written.sizes(), [1_000, 1_000 + 2 * (4 + 1)]);
    let left_out: Vec<_> =
        written.replayed(SizeSource::Both).entries.iter().map(|entry| entry.size.unwrap().left_out).collect();
    assert_eq!(left_out, [Some(LeftOut::ShowsPrefix), None]);
}

#[test]
fn thinking_has_the_output_tokens_beyond_the_text() {
    let thinking = r#"{"type":"thinking","thinking":"","signature":"AAAA"}"#;
    let written = Written::default()
        .prompt("hello")
        .answer(OPUS, 1_000, 300, "\"end_turn\"", &format!("{thinking},{HELLO}"))
        .prompt("hello")
        .answer(OPUS, 1_311, 1, "\"end_turn\"", HELLO);
    assert_eq!(written.sizes(), [1_000, 1_000 + (4 + 300) + (4 + 1)]);
}

#[test]
fn thinking_without_a_recorded_output_has_the_growth_of_the_next_prompt() {
    let thinking = r#"{"type":"thinking","thinking":"hello","signature":""}"#;
    let written = Written::default()
        .prompt("hello")
        .answer(OPUS, 1_000, 1, "null", &format!("{thinking},{HELLO}"))
        .prompt("hello")
        .answer(OPUS, 1_511, 1, "null", HELLO)
        .prompt("hello")
        .answer(OPUS, 1_530, 1, "null", HELLO);
    // Until usage shows more, the visible word counts; then 511 less the rest (4 + 1, 4 + 1).
    assert_eq!(written.sizes(), [1_000, 1_000 + (4 + 1 + 1) + (4 + 1), 1_511 + 2 * (4 + 1)]);
}

#[test]
fn another_model_shows_another_prefix() {
    let written = Written::default()
        .prompt("hello")
        .answer(OPUS, 1_000, 1, "\"end_turn\"", HELLO)
        .prompt("hello")
        .answer("claude-opus-5", 2_000, 1, "\"end_turn\"", HELLO)
        .prompt("hello")
        .answer("claude-opus-5", 2_012, 1, "\"end_turn\"", HELLO);
    // One token of o200k is 1.52 of the newer tokenizer, rounded to two.
    assert_eq!(written.sizes(), [1_000, 2_000, 2_000 + 2 * (4 + 2)]);
}

#[test]
fn with_counted_sizes_the_forecast_is_of_the_counted_total() {
    let written = Written::default()
        .prompt("hello")
        .answer(OPUS, 1_000, 1, "\"end_turn\"", HELLO)
        .prompt("hello")
        .answer(OPUS, 1_017, 1, "\"end_turn\"", HELLO);
    let totals = |source| -> Vec<u64> {
        let replayed = written.replayed(source);
        replayed.lines().map(|line| line.predicted.unwrap().total_input_tokens()).collect()
    };
    assert_eq!(totals(SizeSource::Both), [1_000, 1_017]);
    assert_eq!(totals(SizeSource::Counted), [1_000, 1_010]);
}

/// Sessions with final outputs, as clients up to 2.1.50 would have recorded them.
fn forgotten(text: &str) -> String {
    let forget = |line: &str| {
        let Ok(mut value) = serde_json::from_str::<serde_json::Value>(line) else { return line.to_owned() };
        if value["message"]["usage"].is_object() {
            value["message"]["stop_reason"] = serde_json::Value::Null;
            value["message"]["usage"]["output_tokens"] = 1.into();
        }
        value.to_string()
    };
    text.lines().map(forget).collect::<Vec<_>>().join("\n")
}

fn answers(text: &str) -> Vec<Answer> {
    let inputs = Inputs::from_bytes("s.jsonl", text.as_bytes(), InputFormat::Auto);
    let threads =
        inputs.sessions.all().to_vec().into_iter().flat_map(|session| session.agents).map(|agent| agent.thread);
    let items = threads.flat_map(|thread| thread.items);
    let answer = |item: forkcast_replay::transcript::Item| match item.what {
        What::Answer(answer) => Some(*answer),
        _ => None,
    };
    items.filter_map(answer).collect()
}

#[test]
fn estimated_outputs_are_near_recorded_ones() {
    let Some(data) = data() else { return };
    let mut paths = Vec::new();
    TRANSCRIPTS.iter().for_each(|folder| transcripts(&data.join(folder), &mut paths));
    let (mut sums, mut seen) = (BTreeMap::<Generation, Sum>::new(), BTreeSet::new());
    for path in &paths {
        let text = unpacked(path);
        let recorded = answers(&text).into_iter().filter(|answer| answer.output == OutputCount::Final);
        let recorded: Vec<Answer> = recorded.filter(|answer| seen.insert(answer.id)).collect();
        if recorded.is_empty() {
            continue;
        }
        let told: BTreeMap<u128, OutputCount> =
            answers(&forgotten(&text)).into_iter().map(|answer| (answer.id, answer.output)).collect();
        for answer in recorded {
            let output = answer.usage.map_or(0, |usage| usage.usage.output_tokens);
            let Some(OutputCount::StreamStart { estimated_tokens }) = told.get(&answer.id) else { continue };
            let generation = resolve(&answer.model).and_then(|model| Generation::of(model.id.row().tokenizer));
            if let Some(generation) = generation.filter(|_| output > 0) {
                sums.entry(generation).or_default().add(u64::from(*estimated_tokens), output);
            }
        }
    }
    for (generation, mut sum) in sums {
        sum.show(&format!("outputs, {}", generation.tokenizer().word()));
        let stated = output_residual(generation);
        let p90 = sum.errors[(sum.errors.len() * 9).div_ceil(10) - 1];
        assert_eq!(stated.samples, sum.requests);
        assert!((sum.error() - stated.sum_error).abs() < 0.01, "{}", sum.error());
        assert!((p90 - stated.p90_error).abs() < 0.02, "{p90}");
    }
}
