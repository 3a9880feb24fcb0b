//! The alignment of two prompts.

use forkcast_sim::diagnosis::{Alignment, align, blocks, compare};
use forkcast_sim::wire::{BlockId, BlockKind, Blocks, Content, Level, Role, Wire};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A block for each letter.
fn letters(text: &str) -> Vec<BlockId> {
    let mut blocks = Blocks::default();
    let mut block = |letter: u8| {
        blocks.intern(Content { level: Level::Messages, role: Role::User, kind: BlockKind::Text, bytes: &[letter] })
    };
    let all: Vec<BlockId> = (b'a'..=b'z').map(&mut block).collect();
    text.bytes().map(|letter| all[usize::from(letter - b'a')]).collect()
}

fn aligned(old: &str, new: &str) -> Alignment {
    align(&letters(old), &letters(new))
}

#[test]
fn gaps_are_where_the_prompts_differ() {
    type Gaps = &'static [([usize; 2], [usize; 2])];
    let table: [(&str, &str, usize, Gaps); 11] = [
        ("", "", 0, &[]),
        ("abc", "abc", 3, &[]),
        ("abc", "abcd", 3, &[([3, 3], [3, 4])]),
        ("", "a", 0, &[([0, 0], [0, 1])]),
        ("abc", "ab", 2, &[([2, 3], [2, 2])]),
        ("abc", "axc", 1, &[([1, 2], [1, 2])]),
        ("abc", "abxc", 2, &[([2, 2], [2, 3])]),
        ("abc", "bc", 0, &[([0, 1], [0, 0])]),
        ("abcde", "xbcyde", 0, &[([0, 1], [0, 1]), ([3, 3], [3, 4])]),
        ("aaa", "aaaa", 3, &[([3, 3], [3, 4])]),
        ("abab", "ababab", 4, &[([4, 4], [4, 6])]),
    ];
    for (old, new, common, gaps) in table {
        let found = aligned(old, new);
        let ranges: Vec<_> =
            found.gaps.iter().map(|gap| ([gap.old.start, gap.old.end], [gap.new.start, gap.new.end])).collect();
        assert_eq!((found.common(), ranges.as_slice(), found.old_len), (common, gaps, old.len()), "{old} {new}");
    }
}

#[test]
fn only_additions_at_the_end_count_as_appending() {
    for (old, new, appends) in [
        ("ab", "ab", true),
        ("ab", "abc", true),
        ("", "a", true),
        ("ab", "acb", false),
        ("ab", "a", false),
        ("ab", "acd", false),
    ] {
        assert_eq!(aligned(old, new).appends(), appends, "{old} {new}");
    }
}

/// A request with a message for each letter.
fn body(letters: &str) -> String {
    let message = |letter| format!(r#"{{"role":"user","content":[{{"type":"text","text":"{letter}"}}]}}"#);
    let messages: Vec<String> = letters.chars().map(message).collect();
    format!(r#"{{"model":"claude-opus-4-8","messages":[{}]}}"#, messages.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(0), failure_persistence: None, ..ProptestConfig::default() })]

    /// A request that only appends is not walked; an alignment block by block gives the same result.
    #[test]
    fn appending_requests_compare_as_block_by_block(begun in "[a-c]{1,8}", more in "[a-c]{0,8}") {
        let mut wire = Wire::default();
        let mut read = |letters: &str| wire.read(body(letters).as_bytes(), "scope", "").unwrap();
        let older = read(&begun);
        let newer = read(&format!("{begun}{more}"));
        let found = compare(&wire, &older, &newer);
        let slow = align(&blocks(&older, &wire.prefixes), &blocks(&newer, &wire.prefixes));
        prop_assert_eq!(&found.alignment.partner, &slow.partner);
        prop_assert_eq!((&found.alignment.gaps, found.alignment.old_len), (&slow.gaps, slow.old_len));
        let resent: Vec<Option<usize>> = found.resent.iter().map(|resent| resent.map(|resent| resent.old)).collect();
        prop_assert_eq!(&resent, &slow.partner);
        prop_assert!(found.differences.is_empty());
    }
}

/// Length of the longest common subsequence, by the textbook algorithm.
fn longest_common(old: &[BlockId], new: &[BlockId]) -> usize {
    let mut row = vec![0; new.len() + 1];
    for block in old {
        let mut diagonal = 0;
        for (at, other) in new.iter().enumerate() {
            let up = row[at + 1];
            row[at + 1] = if block == other { diagonal + 1 } else { up.max(row[at]) };
            diagonal = up;
        }
    }
    row[new.len()]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 5_000,
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn partners_are_equal_in_order_and_as_many_as_can_be(old in "[a-d]{0,12}", new in "[a-d]{0,12}") {
        let (old, new) = (letters(&old), letters(&new));
        let found = align(&old, &new);
        let pairs: Vec<(usize, usize)> = found.partner.iter().enumerate().filter_map(|(new, old)| Some(((*old)?, new))).collect();
        prop_assert!(pairs.iter().all(|(at, other)| old[*at] == new[*other]));
        prop_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0));
        let common = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        prop_assert_eq!(found.common(), common.min(new.len()));
        // The longest common beginning is kept, even if fewer blocks are matched after it.
        prop_assert_eq!(pairs.len(), common + longest_common(&old[common..], &new[common..]));
        let (mut old_at, mut new_at) = (0, 0);
        for gap in &found.gaps {
            prop_assert_eq!(gap.old.start - old_at, gap.new.start - new_at, "equal stretches between gaps");
            prop_assert!(!gap.old.is_empty() || !gap.new.is_empty());
            (old_at, new_at) = (gap.old.end, gap.new.end);
        }
        prop_assert_eq!(old.len() - old_at, new.len() - new_at);
        let gone: usize = found.gaps.iter().map(|gap| gap.new.len()).sum();
        prop_assert_eq!(gone + pairs.len(), new.len());
    }
}
