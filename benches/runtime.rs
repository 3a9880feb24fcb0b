//! Whole runs: agents, tools, cache, ledger and laws. Cost is linear in turns, and laws cost little.

#![allow(missing_docs)] // criterion_main generates an undocumented function.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use forkcast_benches::clock::{peak_mb, processor_time};
use forkcast_benches::crowd::Crowd;
use forkcast_sim::simulation::{Finished, Setup, run};

/// A thousand, ten thousand and a hundred thousand turns; the budget is for the second.
const CROWDS: [Crowd; 3] =
    [Crowd { agents: 10, turns: 100 }, Crowd { agents: 100, turns: 100 }, Crowd { agents: 1_000, turns: 100 }];

/// Larger crowds are only run once; criterion would run them for minutes.
const SAMPLED_TURNS_MAX: u32 = 10_000;

/// Runs the setup; a failed run is not measured.
fn finished(setup: Setup) -> Option<Finished> {
    match run(setup) {
        Ok(finished) => Some(finished),
        Err(failed) => {
            eprintln!("{failed}");
            None
        }
    }
}

/// Runs each size once with all laws and once without, and prints turns, tokens, events, time and memory.
fn told() {
    for crowd in CROWDS {
        let began = Instant::now();
        let (watched, laws) = processor_time(|| finished(crowd.watched(|_| true)));
        let wall_s = began.elapsed().as_secs_f64();
        let Some(watched) = watched else { return };
        let (virtual_s, peak_mb) = (watched.makespan.0 as f64 / 1e9, peak_mb());
        let prompts =
            watched.entries.iter().filter_map(|entry| entry.line.predicted).map(|usage| usage.total_input_tokens());
        let (requests, events, longest) = (watched.entries.len(), watched.events, prompts.max().unwrap_or(0));
        drop(watched);
        let (_, no_laws) = processor_time(|| finished(crowd.unwatched()));
        eprintln!(
            "{} × {}: {requests} requests, longest prompt {longest} tokens, {events} events, {virtual_s:.0} s in \
             {wall_s:.2} s ({:.0} to 1), peak {peak_mb} MB; on the processor {laws:.2?}, without laws {no_laws:.2?}, \
             {:.0} µs a turn",
            crowd.agents,
            crowd.turns,
            virtual_s / wall_s,
            no_laws.as_secs_f64() * 1e6 / f64::from(crowd.turns_in_all()),
        );
    }
}

fn runs(criterion: &mut Criterion) {
    told();
    let mut group = criterion.benchmark_group("runs");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_secs(1));
    for crowd in CROWDS.into_iter().filter(|crowd| crowd.turns_in_all() <= SAMPLED_TURNS_MAX) {
        let turns = crowd.turns_in_all();
        group.throughput(Throughput::Elements(u64::from(turns)));
        for (name, with_laws) in [("with_laws", true), ("without_laws", false)] {
            group.bench_with_input(BenchmarkId::new(name, turns), &crowd, |bencher, crowd| {
                let once = || black_box(finished(crowd.watched(|_| with_laws)));
                bencher.iter_custom(|rounds| (0..rounds).map(|_| processor_time(once).1).sum());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, runs);
criterion_main!(benches);
