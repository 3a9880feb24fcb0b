//! Timer events per second: our executor and tokio's paused clock, in processor time of one thread.

#![allow(missing_docs)] // criterion_main generates an undocumented function.

use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration as Span;

use criterion::{Bencher, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use forkcast_benches::clock::processor_time;
use forkcast_sim::time::{Duration, Plan, run};

/// Number of tasks, and sleeps of each.
const SIZES: [(u64, u64); 3] = [(100, 1_000), (10_000, 100), (300_000, 3)];

/// Sleeps of 1 to 60,000 ms, the same for both; whole milliseconds, because tokio rounds up to them.
struct Spans(u64);

impl Spans {
    fn next_ms(&mut self) -> u64 {
        // Knuth's multiplier: it only needs to spread the spans.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % 60_000 + 1
    }
}

fn ours(tasks: u64, sleeps: u64) -> u64 {
    let finished = run(&Plan::default(), |handle| async move {
        let name: Rc<str> = "sleeper".into();
        let spawned: Vec<_> = (0..tasks)
            .map(|task| {
                let clock = handle.clone();
                handle.spawn(Rc::clone(&name), async move {
                    let mut spans = Spans(task);
                    for _ in 0..sleeps {
                        clock.sleep(Duration::from_millis(spans.next_ms())).await;
                    }
                })
            })
            .collect();
        for task in spawned {
            assert_eq!(task.await, Ok(()));
        }
    });
    finished.map_or(0, |finished| finished.at.0)
}

fn tokios(tasks: u64, sleeps: u64) -> u64 {
    let built = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let Ok(runtime) = built else { return 0 };
    runtime.block_on(async move {
        let start = tokio::time::Instant::now();
        let spawned: Vec<_> = (0..tasks)
            .map(|task| {
                tokio::spawn(async move {
                    let mut spans = Spans(task);
                    for _ in 0..sleeps {
                        tokio::time::sleep(Span::from_millis(spans.next_ms())).await;
                    }
                })
            })
            .collect();
        for task in spawned {
            assert!(task.await.is_ok());
        }
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    })
}

fn measure(b: &mut Bencher<'_>, work: impl Fn() -> u64) {
    b.iter_custom(|rounds| (0..rounds).map(|_| processor_time(|| black_box(work())).1).sum());
}

fn timer_events(c: &mut Criterion) {
    let mut group = c.benchmark_group("timer_events");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Span::from_secs(1));
    for (tasks, sleeps) in SIZES {
        assert_eq!(ours(tasks.min(100), sleeps), tokios(tasks.min(100), sleeps), "both end at the same instant");
        group.throughput(Throughput::Elements(tasks * sleeps));
        group.bench_function(BenchmarkId::new("ours", tasks), |b| measure(b, || ours(tasks, sleeps)));
        group.bench_function(BenchmarkId::new("tokio", tasks), |b| measure(b, || tokios(tasks, sleeps)));
    }
    group.finish();
}

criterion_group!(benches, timer_events);
criterion_main!(benches);
