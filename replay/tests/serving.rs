//! Mooncake's and LMCache's traces next to the project compared with published figures; visibly skipped if they are absent.

use forkcast_fixtures::beside;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::trace::{Trace, turns};

fn trace(place: &str) -> Option<Trace> {
    let inputs = Inputs::read(&[beside(place)?], InputFormat::Auto).expect("the file opens");
    assert!(inputs.unreadable.is_empty(), "{:?}", inputs.unreadable);
    inputs.scopes.into_iter().flat_map(|scope| scope.files).flat_map(|file| file.traces).next()
}

/// FAST'25, Table 2: requests, mean input and output; blocks that an endless pool holds when they come, and all blocks, as a
/// replay of the same files by others counts them.
#[test]
fn an_endless_pool_holds_the_blocks_of_mooncake_that_were_published() {
    for (name, requests, input, output, hits, blocks) in
        [("conversation", 12_031, 12_035, 342, 105_710, 288_500), ("synthetic", 3_993, 15_325, 149, 77_953, 121_877)]
    {
        let Some(trace) = trace(&format!("kv-mooncake/FAST25-release/traces/{name}_trace.jsonl.gz")) else { return };
        let all = &trace.conversations[0].requests;
        let mean = |sum: u64| sum / all.len() as u64;
        assert_eq!(all.len(), requests, "{name}");
        assert_eq!(mean(all.iter().map(|request| request.input_tokens).sum()), input, "{name}");
        assert_eq!(mean(all.iter().map(|request| request.output_tokens).sum()), output, "{name}");
        assert_eq!(all.iter().map(|request| request.blocks()).sum::<usize>(), blocks, "{name}");
        let held: u64 = turns(&trace).iter().map(|turn| turn.known_tokens.div_ceil(512)).sum();
        assert_eq!(held, hits, "{name}");
    }
}

/// Published with the counts of Llama 3: 30 requests with this mean number of tokens, and the hit rate of a pool that keeps every
/// whole request. Here an estimate by another vocabulary, in a pool of blocks.
#[test]
fn texts_of_lmcache_are_within_a_hundredth_of_their_published_sizes_and_hit_rates() {
    for (name, mean, hit_rate) in
        [("063925220f0d2954505eb37612b11ab3", 4_267.7, 0.936), ("ba443702286bd3610b74b264aaf2b6a3", 18_393.0, 0.944)]
    {
        let Some(trace) = trace(&format!("kv-lmcache-miniswe/miniswe/{name}.jsonl.gz")) else { return };
        let turns = turns(&trace);
        assert_eq!(turns.len(), 30, "{name}");
        let input: u64 = turns.iter().map(|turn| turn.input_tokens).sum();
        let read: u64 = turns.iter().map(|turn| turn.known_tokens).sum();
        let (ours, rate) = (input as f64 / 30.0, read as f64 / input as f64);
        println!("{name}: {ours:.1} tokens, published {mean}; hit rate {rate:.3}, published {hit_rate}");
        assert!((ours / mean - 1.0).abs() < 0.01, "{name}: {ours}");
        assert!((rate - hit_rate).abs() < 0.01, "{name}: {rate}");
    }
}
