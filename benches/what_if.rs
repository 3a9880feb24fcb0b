//! What-ifs are answered in the single pass of the replay: the additional time for five of them.

#![allow(clippy::expect_used)] // A bench that cannot read its own input should stop.
#![allow(missing_docs)] // criterion_main generates an undocumented function.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_replay::what_if::WhatIf;

/// Compared with none: other lifetimes, pings, another model, other breakpoints.
const WHAT_IFS: [&str; 5] =
    ["ttl=1h", "ttl=head-1h", "keepalive=2@270", "model=claude-sonnet-4-5", "breakpoints=tail+previous"];

/// A session of this many requests, one per minute, with a pause of ten minutes after every twentieth.
fn session(requests: usize) -> String {
    let mut text = String::new();
    let mut second = 0;
    for request in 0..requests {
        second += if request % 20 == 19 { 600 } else { 60 };
        let at = |after: usize| {
            let second = second + after;
            let (day, hour, minute) = (1 + second / 86_400 % 28, second / 3_600 % 24, second / 60 % 60);
            format!("2026-03-{day:02}T{hour:02}:{minute:02}:{:02}.000Z", second % 60)
        };
        let common = r#""sessionId":"s","version":"2.1.63","cwd":"/home/u/work","isSidechain":false"#;
        let parent = request.checked_sub(1).map_or_else(|| "null".to_owned(), |before| format!(r#""r-{before}""#));
        let read = if request % 20 == 0 { 0 } else { 20_000 + 400 * request };
        let written = 20_400 + 400 * request - read;
        let usage = format!(
            r#""input_tokens":3,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":90"#
        );
        let (asked, answered) = (at(0), at(8));
        let lines = writeln!(
            text,
            r#"{{"type":"user","uuid":"u-{request}","parentUuid":{parent},"timestamp":"{asked}",{common},"message":{{"role":"user","content":"go on with the next step"}}}}
{{"type":"assistant","uuid":"r-{request}","parentUuid":"u-{request}","timestamp":"{answered}",{common},"message":{{"id":"m-{request}","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"text","text":"one step more"}}],"stop_reason":"end_turn","usage":{{{usage}}}}}}}"#
        );
        lines.expect("a string takes any text");
    }
    text
}

fn one_pass(c: &mut Criterion) {
    let mut group = c.benchmark_group("what_ifs_in_one_pass");
    group.sample_size(20);
    let five: Vec<WhatIf> = WHAT_IFS.iter().map(|name| name.parse().expect("a what-if")).collect();
    for requests in [100, 1_000] {
        let inputs = Inputs::from_bytes("s.jsonl", session(requests).as_bytes(), InputFormat::Auto);
        group.throughput(Throughput::Elements(requests as u64));
        for (name, what_if) in [("none", Vec::new()), ("five", five.clone())] {
            let options = Options { what_if, ..Options::default() };
            group.bench_function(BenchmarkId::new(name, requests), |b| {
                b.iter(|| assert_eq!(black_box(replay(&inputs, &options)).entries.len(), requests));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, one_pass);
criterion_main!(benches);
