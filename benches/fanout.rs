//! Fan-outs: the cost per child does not depend on the number of children.

#![allow(missing_docs)] // criterion_main generates an undocumented function.

use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use forkcast_benches::clock::{peak_mb, processor_time};
use forkcast_scenarios::fanout::{Cell, Outcome, play};
use forkcast_sim::agent::spawn::fork::Profile;
use forkcast_sim::pricing::PriceBook;

/// Children of one message.
const CHILDREN: [u32; 4] = [10, 100, 1_000, 10_000];

/// Cells of a small grid; the budget is two seconds for all of them.
const CELLS: u64 = 1_000;

/// The cell of the budget: eight children of five turns.
fn small() -> Cell {
    Cell { children: 8, turns: 5, ..Cell::default() }
}

/// Children of a parent of 100,000 tokens, without the limit of the model's window.
fn wide(profile: Profile, children: u32) -> Cell {
    Cell { children, profile, prefix: 100_000, without_window: true, ..Cell::default() }
}

/// Plays a cell; a failed one is not measured.
fn played(cell: &Cell, book: &Rc<PriceBook>) -> Option<Outcome> {
    play(cell, book).map_err(|why| eprintln!("{why}")).ok()
}

/// Plays each size once, smallest first, and prints processor time and peak memory so far.
fn told(book: &Rc<PriceBook>) {
    for profile in Profile::ALL {
        for children in CHILDREN {
            let (_, taken) = processor_time(|| played(&wide(profile, children), book));
            let each_us = taken.as_secs_f64() * 1e6 / f64::from(children);
            eprintln!(
                "{}, {children} children: {taken:.2?}, {each_us:.0} µs a child, peak {} MB",
                profile.name(),
                peak_mb()
            );
        }
    }
}

fn cells(criterion: &mut Criterion) {
    let book = Rc::new(PriceBook::built_in());
    let mut group = criterion.benchmark_group("cells");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(500));
    for cells in [1, CELLS] {
        group.throughput(Throughput::Elements(cells));
        group.bench_function(BenchmarkId::new("8_children_5_turns", cells), |bencher| {
            let all = || (0..cells).for_each(|_| _ = black_box(played(&small(), &book)));
            bencher.iter_custom(|rounds| (0..rounds).map(|_| processor_time(all).1).sum());
        });
    }
    group.finish();
}

fn children(criterion: &mut Criterion) {
    let book = Rc::new(PriceBook::built_in());
    told(&book);
    let mut group = criterion.benchmark_group("children");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(3));
    for profile in Profile::ALL {
        for children in CHILDREN {
            group.throughput(Throughput::Elements(children.into()));
            let cell = wide(profile, children);
            group.bench_with_input(BenchmarkId::new(profile.name(), children), &cell, |bencher, cell| {
                let once = || black_box(played(cell, &book));
                bencher.iter_custom(|rounds| (0..rounds).map(|_| processor_time(once).1).sum());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, cells, children);
criterion_main!(benches);
