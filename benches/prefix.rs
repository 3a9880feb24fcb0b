//! Forks, look-ups and long conversations: shared parts cost nothing.

#![allow(missing_docs)] // criterion_main generates an undocumented function.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forkcast_benches::{World, text, warm_parent};
use forkcast_sim::wire::{BlockKind, Blocks, Content, Level, Role};

const SUFFIX_BYTES: usize = 2_000;

fn suffixes(count: u64) -> Vec<Vec<u8>> {
    (0..count).map(|fork| text(fork + 1_000_000, SUFFIX_BYTES)).collect()
}

/// Forks of a warm parent of 100,000 tokens, compared with interning only their suffixes.
fn forks(c: &mut Criterion) {
    let mut group = c.benchmark_group("forks");
    group.sample_size(20);
    for count in [100, 1_000, 10_000] {
        let suffixes = suffixes(count);
        group.throughput(Throughput::Bytes(count * SUFFIX_BYTES as u64));
        group.bench_with_input(BenchmarkId::new("intern_suffixes", count), &suffixes, |b, suffixes| {
            b.iter_batched_ref(
                Blocks::default,
                |blocks| {
                    for bytes in suffixes {
                        let (level, role, kind) = (Level::Messages, Role::User, BlockKind::Text);
                        black_box(blocks.intern(Content { level, role, kind, bytes }));
                    }
                },
                BatchSize::PerIteration,
            );
        });
        group.bench_with_input(BenchmarkId::new("fork_and_look_up", count), &suffixes, |b, suffixes| {
            b.iter_batched_ref(
                || {
                    let mut world = World::default();
                    let parent = warm_parent(&mut world);
                    (world, parent)
                },
                |(world, parent)| {
                    for suffix in suffixes {
                        let end = world.extend(*parent, suffix, 640);
                        assert_eq!(world.request(end), 100_000);
                    }
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// One look-up in a cache of many entries.
fn look_up(c: &mut Criterion) {
    let mut group = c.benchmark_group("look_up");
    for entries in [100_u64, 1_000, 10_000, 100_000] {
        let mut world = World::default();
        let root = world.prefixes.root("bench", "claude-opus-5");
        let ends: Vec<_> = (0..entries).map(|entry| world.extend(root, &text(entry, 64), 2_000)).collect();
        for end in &ends {
            world.request(*end);
        }
        for (order, step) in [("in_order", 1), ("far_apart", 7_919)] {
            let mut next = 0;
            group.bench_function(BenchmarkId::new(order, entries), |b| {
                b.iter(|| {
                    next = (next + step) % ends.len();
                    assert_eq!(world.request(ends[next]), 2_000);
                });
            });
        }
    }
    group.finish();
}

/// A conversation that grows by two blocks per turn: the time of one turn at its end.
fn long_conversation(c: &mut Criterion) {
    let mut group = c.benchmark_group("turn_of_a_conversation");
    group.sample_size(20);
    for turns in [1_000_u64, 10_000, 100_000, 1_000_000] {
        let mut world = World::default();
        let mut end = world.prefixes.root("bench", "claude-opus-5");
        end = world.extend(end, &text(1, 4_000), 2_000);
        for turn in 0..turns {
            end = one_turn(&mut world, end, turn);
        }
        let mut turn = turns;
        group.bench_function(BenchmarkId::from_parameter(turns), |b| {
            b.iter(|| {
                end = one_turn(&mut world, end, turn);
                turn += 1;
            });
        });
    }
    group.finish();
}

fn one_turn(world: &mut World, end: forkcast_sim::wire::NodeId, turn: u64) -> forkcast_sim::wire::NodeId {
    let answer = world.extend(end, format!("answer {turn}").as_bytes(), 10);
    let question = world.extend(answer, format!("question {turn}").as_bytes(), 10);
    world.now_ms += 1_000;
    black_box(world.request(question));
    question
}

criterion_group!(benches, forks, look_up, long_conversation);
criterion_main!(benches);
