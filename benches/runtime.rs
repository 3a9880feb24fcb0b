//! Whole runs: agents, tools, cache, ledger and laws. Costs grow with turns, and laws cost little.

#![allow(missing_docs)] // criterion_main writes an undocumented function.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forkcast_benches::crowd::Crowd;
use forkcast_sim::simulation::{Finished, Setup, run};

/// Agents of a run and turns of each; the budget is that of the second.
const CROWDS: [Crowd; 3] =
    [Crowd { agents: 10, turns: 100 }, Crowd { agents: 100, turns: 100 }, Crowd { agents: 1_000, turns: 100 }];

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
    for crowd in CROWDS {
        let began = std::time::Instant::now();
        let Some(finished) = finished(crowd.watched(|_| true)) else { return };
        let (wall, lines) = (began.elapsed().as_secs_f64(), &finished.lines);
        let prompts = lines.iter().filter_map(|line| line.predicted).map(|usage| usage.total_input_tokens());
        let (longest, virtual_s) = (prompts.max().unwrap_or(0), finished.makespan.0 as f64 / 1e9);
        eprintln!(
            "{} agents: {} requests, longest prompt {longest} tokens, {} events, {virtual_s:.0} s in {wall:.2} s \
             ({:.0} to 1), peak {} MB",
            crowd.agents,
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
    for crowd in CROWDS {
        let turns = crowd.turns_in_all();
        group.throughput(Throughput::Elements(u64::from(turns)));
        for (name, with_laws) in [("with_laws", true), ("without_laws", false)] {
            group.bench_with_input(BenchmarkId::new(name, turns), &crowd, |bencher, crowd| {
                bencher.iter(|| black_box(finished(crowd.watched(|_| with_laws))));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, runs);
criterion_main!(benches);
