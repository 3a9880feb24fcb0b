//! The exact counter compared with `tiktoken-rs`, on the text of this project: sources, pages and comments, schemas and
//! samples.

#![allow(clippy::expect_used, clippy::panic)] // A bench that cannot read its own input should stop.
#![allow(missing_docs)] // criterion_main generates an undocumented function.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forkcast_tokens::Vocabulary;

/// Texts of one kind, one per document.
struct Corpus {
    name: &'static str,
    documents: Vec<String>,
}

impl Corpus {
    fn bytes(&self) -> u64 {
        self.documents.iter().map(|text| text.len() as u64).sum()
    }
}

fn corpora() -> Vec<Corpus> {
    let files = |endings: &[&str]| {
        let mut documents = Vec::new();
        collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")), endings, &mut documents);
        documents
    };
    let code = files(&["rs"]);
    let json = files(&["json", "jsonl"]);
    let prose = [files(&["md"]), code.iter().map(|text| comments(text)).collect()].concat();
    let all = [code.as_slice(), &files(&["md"]), &json].concat();
    [("all", all), ("code", code), ("prose", prose), ("json", json)]
        .into_iter()
        .map(|(name, documents)| Corpus { name, documents })
        .collect()
}

/// The comments of a source file.
fn comments(source: &str) -> String {
    let lines = source.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
    lines.map(|line| format!("{}\n", line.trim_start_matches(['/', '!', ' ']))).collect()
}

fn collect(folder: &Path, endings: &[&str], documents: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            collect(&path, endings, documents);
        } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
            documents.extend(fs::read_to_string(&path));
        }
    }
}

fn ours(vocabulary: Vocabulary, documents: &[String]) -> u64 {
    documents.iter().map(|text| vocabulary.count(text)).sum()
}

fn theirs(vocabulary: Vocabulary, documents: &[String]) -> u64 {
    let oracle = match vocabulary {
        Vocabulary::O200k => tiktoken_rs::o200k_base_singleton(),
        Vocabulary::Cl100k => tiktoken_rs::cl100k_base_singleton(),
    };
    documents.iter().map(|text| oracle.encode_ordinary(text).len() as u64).sum()
}

fn count(c: &mut Criterion) {
    let mut group = c.benchmark_group("count_o200k");
    group.sample_size(10);
    for corpus in corpora() {
        group.throughput(Throughput::Bytes(corpus.bytes()));
        group.bench_function(BenchmarkId::new("forkcast", corpus.name), |b| {
            b.iter(|| ours(Vocabulary::O200k, black_box(&corpus.documents)));
        });
        group.bench_function(BenchmarkId::new("tiktoken-rs", corpus.name), |b| {
            b.iter(|| theirs(Vocabulary::O200k, black_box(&corpus.documents)));
        });
    }
}

/// Number of rounds.
const ROUNDS: usize = 9;

/// Both counters in turn over the same text, each time on a new thread: ours has a per-thread cache of pieces, and no
/// round may benefit from an earlier one.
fn interleaved(c: &mut Criterion) {
    // With `--test`, criterion calls every function once; this comparison is measured separately.
    let _ = c;
    for vocabulary in Vocabulary::ALL {
        for corpus in corpora() {
            assert_eq!(ours(vocabulary, &corpus.documents), theirs(vocabulary, &corpus.documents), "{}", corpus.name);
            let (mut fast, mut slow) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                fast.push(timed(|| ours(vocabulary, &corpus.documents)));
                slow.push(timed(|| theirs(vocabulary, &corpus.documents)));
            }
            let (fast, slow) = (median(fast), median(slow));
            let speed = |time: Duration| corpus.bytes() as f64 / 1e6 / time.as_secs_f64();
            println!(
                "interleaved {} {}: {:.2} MB, {:.1} MB/s against {:.1} MB/s of tiktoken-rs, {:.1} times",
                vocabulary.name(),
                corpus.name,
                corpus.bytes() as f64 / 1e6,
                speed(fast),
                speed(slow),
                slow.as_secs_f64() / fast.as_secs_f64()
            );
        }
    }
}

fn timed(work: impl Fn() -> u64 + Sync) -> Duration {
    std::thread::scope(|scope| {
        let run = || {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        };
        scope.spawn(run).join().unwrap_or_else(|_| panic!("the count does not panic"))
    })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

criterion_group!(benches, interleaved, count);
criterion_main!(benches);
