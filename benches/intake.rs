//! From the raw bytes of a body to the verdict, if an earlier request had the prefix.

#![allow(clippy::expect_used)] // A bench that cannot read its own input should stop.
#![allow(missing_docs)] // criterion_main generates an undocumented function.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forkcast_benches::body;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_sim::cache::{MarkedCache, Prompt, PromptCache, Rules};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{PathSizes, Pins, Wire};

#[derive(Clone)]
struct Reader {
    wire: Wire,
    cache: MarkedCache,
}

impl Reader {
    fn new() -> Self {
        let rules = Rules::default();
        Self { wire: Wire::new(rules.forms), cache: MarkedCache::new(rules, 0) }
    }

    /// Reads a body, sizes it by length and looks it up in the cache; returns the tokens read.
    fn verdict(&mut self, body: &[u8]) -> u64 {
        let request = self.wire.read(body, "bench", "").expect("the body is a request");
        let cumulative = Pins::default().sizes(&request, &self.wire, None, None);
        let total_tokens = cumulative.last().copied().unwrap_or(0);
        let sizes = PathSizes::new(&self.wire.prefixes, &request.nodes, &cumulative);
        let prompt = Prompt {
            prefixes: &self.wire.prefixes,
            markers: &request.markers,
            sizes: &sizes,
            total_tokens,
            minimum_tokens: 512,
        };
        let (ticket, outcome) = self.cache.look_up(&prompt, Instant::default());
        self.cache.first_byte(&self.wire.prefixes, ticket, Instant::default());
        self.cache.ended(&self.wire.prefixes, ticket, Instant::default());
        outcome.read_tokens
    }
}

fn known_prefix(c: &mut Criterion) {
    let mut group = c.benchmark_group("body_to_verdict");
    for turns in [8, 32, 128] {
        let (before, now) = (body(turns - 1), body(turns));
        group.throughput(Throughput::Bytes(now.len() as u64));
        let label = format!("{}_kB", now.len() / 1_000);
        group.bench_function(BenchmarkId::new("known", &label), |b| {
            let mut reader = Reader::new();
            reader.verdict(&before);
            // The newest turn is read for the first time in every round.
            b.iter_batched_ref(
                || reader.clone(),
                |reader| assert!(black_box(reader.verdict(&now)) > 0),
                BatchSize::PerIteration,
            );
        });
        group.bench_function(BenchmarkId::new("first_sight", &label), |b| {
            b.iter(|| black_box(Reader::new().verdict(&now)));
        });
        group.bench_function(BenchmarkId::new("serde_json_value", &label), |b| {
            b.iter(|| black_box(serde_json::from_slice::<serde_json::Value>(&now).expect("JSON")));
        });
        group.bench_function(BenchmarkId::new("serde_json_raw", &label), |b| {
            b.iter(|| black_box(serde_json::from_slice::<&serde_json::value::RawValue>(&now).expect("JSON")));
        });
    }
    group.finish();
}

/// Captured bodies next to the repository, if present; earlier requests had everything except their newest turn.
fn captured(c: &mut Criterion) {
    let capture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/data/wire-cache-fix/harvested/pinned-s-86a4ec44206b-69-71.json.gz"
    );
    let Ok(inputs) = Inputs::read(&[capture], InputFormat::Auto) else {
        eprintln!("skipped: no captured bodies at {capture}");
        return;
    };
    let mut bodies: Vec<&[u8]> = inputs.exchanges().map(|exchange| exchange.body.as_slice()).collect();
    let mut wire = Wire::default();
    bodies.retain(|body| {
        let request = wire.read(body, "bench", "").expect("the body is a request");
        let known = request.known * 100 >= request.nodes.len() * 95;
        known && (50_000..400_000).contains(&body.len())
    });
    let mut group = c.benchmark_group("captured_body_to_verdict");
    for at in [1, bodies.len() / 2, bodies.len() - 1] {
        let now = bodies[at];
        group.throughput(Throughput::Bytes(now.len() as u64));
        let label = format!("{}_kB", now.len() / 1_000);
        group.bench_function(BenchmarkId::new("known", &label), |b| {
            let mut reader = Reader::new();
            for body in &bodies[..at] {
                reader.verdict(body);
            }
            b.iter_batched_ref(|| reader.clone(), |reader| black_box(reader.verdict(now)), BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, known_prefix, captured);
criterion_main!(benches);
