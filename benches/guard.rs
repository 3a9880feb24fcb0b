//! The prefix guard: checking a request costs one pass over its bytes, plus work for the new part.

#![allow(missing_docs)] // criterion_main generates an undocumented function.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forkcast_sim::guard::{Facts, Guard, Rules, Sent};

const MESSAGE_BYTES: usize = 600;

/// A body with this many messages and a last one with the text `tail`; system prompt and last block are marked.
fn body(messages: usize, tail: &str) -> String {
    let mut text = String::new();
    for turn in 0..messages {
        let said = format!("turn {turn} says a thing ").repeat(MESSAGE_BYTES / 22);
        let role = ["user", "assistant"][turn % 2];
        let _ = write!(text, r#"{{"role":"{role}","content":[{{"type":"text","text":"{said}"}}]}},"#);
    }
    let role = ["user", "assistant"][messages % 2];
    let system = "policy ".repeat(1_000);
    format!(
        r#"{{"model":"claude-sonnet-4-5","max_tokens":1000,"system":[{{"type":"text","text":"{system}","cache_control":{{"type":"ephemeral"}}}}],"messages":[{text}{{"role":"{role}","content":[{{"type":"text","text":"{tail}","cache_control":{{"type":"ephemeral"}}}}]}}]}}"#
    )
}

fn take(guard: &mut Guard, body: &str) {
    let checked =
        guard.take(&Sent { facts: Facts { chain: Some("main"), ..Facts::default() }, ..Sent::body(body.as_bytes()) });
    let _ = black_box(checked);
}

/// One more request at the end of conversations of growing size.
fn one_request(c: &mut Criterion) {
    let mut group = c.benchmark_group("guard_one_request");
    for messages in [75, 150, 300, 600, 1_200] {
        let (older, newer) = (body(messages, "go on"), body(messages + 2, "go on"));
        let mut guard = Guard::new(Rules::default());
        take(&mut guard, &older);
        group.throughput(Throughput::Bytes(newer.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(newer.len()), |b| {
            b.iter_batched_ref(|| guard.clone(), |guard| take(guard, &newer), BatchSize::LargeInput);
        });
    }
    group.finish();
}

/// A thousand requests: a conversation that grows to 200 kB, and the same 200 kB with a different tail each time.
fn thousand(c: &mut Criterion) {
    let mut group = c.benchmark_group("guard_thousand_requests");
    group.sample_size(10);
    let growing: Vec<String> = (1..=1_000).map(|turn| body(turn * 3 / 10, "go on")).collect();
    let tails: Vec<String> = (0..1_000).map(|number| body(310, &format!("tail {number}"))).collect();
    for (name, bodies) in [("growing", growing), ("tails", tails)] {
        group.throughput(Throughput::Bytes(bodies.iter().map(|body| body.len() as u64).sum()));
        group.bench_with_input(BenchmarkId::from_parameter(name), &bodies, |b, bodies| {
            b.iter(|| {
                let mut guard = Guard::new(Rules::default());
                bodies.iter().for_each(|body| take(&mut guard, body));
                black_box(guard.finish())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, one_request, thousand);
criterion_main!(benches);
