//! Whole runs: agents, tools, cache, ledger and laws. Costs grow with turns, and laws cost little.

#![allow(missing_docs)] // criterion_main writes an undocumented function.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forkcast_sim::agent::world::Files;
use forkcast_sim::laws;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::{Answer, Question, Script, Unscripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::simulation::{Act, Does, Finished, Setup, run};
use forkcast_sim::time::Instant;
use serde_json::json;

/// Turns of each agent; every one but the last reads a file of about a thousand tokens.
const TURNS: u32 = 100;

/// Agents of a run; the budget is that of a hundred.
const AGENTS: [u32; 3] = [10, 100, 1_000];

/// The main agent launches everybody at once, everybody reads file after file.
struct Crowd {
    agents: u32,
    messages: u64,
}

impl Script for Crowd {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        self.messages += 1;
        let id = format!("msg_{}", self.messages);
        let said = match (&*question.agent_type, question.turn) {
            ("main", 0) => (0..self.agents).map(launch).collect(),
            ("main", _) | (_, 99..) => vec![Said::Text("That was it.".to_owned())],
            (_, turn) => vec![Said::Text(format!("File {turn} is next.")), read(&question.agent, turn)],
        };
        Ok(Answer::message(&id, &said))
    }
}

fn launch(number: u32) -> Said {
    let input = json!({
        "description": format!("Part {number}"),
        "prompt": format!("Read everything, then report on part {number}."),
        "subagent_type": "general-purpose",
        "run_in_background": true,
    });
    Said::ToolUse { id: format!("toolu_{number}").into(), name: "Agent".into(), input }
}

fn read(agent: &str, turn: u32) -> Said {
    let input = json!({ "file_path": format!("/repo/{turn}.txt") });
    Said::ToolUse { id: format!("toolu_{agent}_{turn}").into(), name: "Read".into(), input }
}

fn crowd(agents: u32, with_laws: bool) -> Setup {
    let mut setup = Setup::new(1, Crowd { agents, messages: 0 });
    let text = |file: u32| -> String {
        (0..40).map(|line| format!("{file}: line {line} of a file that somebody reads, in words enough\n")).collect()
    };
    setup.world.files = Files::new((0..TURNS).map(|file| (format!("/repo/{file}.txt"), text(file))));
    setup.acts = vec![Act { at: Instant(0), does: Does::Types("Read everything.".into()) }];
    if with_laws {
        setup.observers = laws::all(&setup.rules, &Seed::new(1));
    }
    setup
}

/// Runs it; a run that fails measures nothing.
fn finished(setup: Setup) -> Option<Finished> {
    match run(setup) {
        Ok(finished) => Some(finished),
        Err(failed) => {
            eprintln!("{failed}");
            None
        }
    }
}

/// The most memory that this process has had, in megabytes.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1_000
}

/// One run of each size, told in words: turns, tokens, events, the clock, and memory.
fn told() {
    for agents in AGENTS {
        let began = std::time::Instant::now();
        let Some(finished) = finished(crowd(agents, true)) else { return };
        let (wall, lines) = (began.elapsed().as_secs_f64(), &finished.lines);
        let prompts = lines.iter().filter_map(|line| line.predicted).map(|usage| usage.total_input_tokens());
        let (longest, virtual_s) = (prompts.max().unwrap_or(0), finished.makespan.0 as f64 / 1e9);
        eprintln!(
            "{agents} agents: {} requests, longest prompt {longest} tokens, {} events, {virtual_s:.0} s in {wall:.2} s \
             ({:.0} to 1), peak {} MB",
            lines.len(),
            finished.events,
            virtual_s / wall,
            peak_mb()
        );
    }
}

fn runs(criterion: &mut Criterion) {
    told();
    let mut group = criterion.benchmark_group("runs");
    group.sample_size(10);
    for agents in AGENTS {
        for (name, with_laws) in [("with_laws", true), ("without_laws", false)] {
            group.throughput(Throughput::Elements(u64::from(agents * TURNS)));
            let turns = agents * TURNS;
            group.bench_with_input(BenchmarkId::new(name, turns), &agents, |bencher, agents| {
                bencher.iter(|| black_box(finished(crowd(*agents, with_laws))));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, runs);
criterion_main!(benches);
