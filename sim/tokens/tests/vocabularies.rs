//! Compares the fast counter with another implementation of the same vocabularies, string by string.

mod strings;

use forkcast_tokens::Vocabulary;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use strings::{GENERATORS, Strings};
use tiktoken_rs::CoreBPE;

/// Number of random strings of each of the threads, the same in every run.
const STRINGS: u64 = 17_000;

/// A seed for each thread.
const SEEDS: [u64; 2] = [0x70_6b_65_6e, 0x74_6f_6b_65];

/// Longer whitespace runs make the oracle panic, so it is not used there.
const ORACLE_WHITESPACE_MAX: usize = 900_000;

const MEGABYTE: usize = 1_000_000;

fn oracle(vocabulary: Vocabulary) -> &'static CoreBPE {
    match vocabulary {
        Vocabulary::O200k => tiktoken_rs::o200k_base_singleton(),
        Vocabulary::Cl100k => tiktoken_rs::cl100k_base_singleton(),
    }
}

fn hold(text: &str, what: &str) {
    for vocabulary in Vocabulary::ALL {
        let expected = oracle(vocabulary).encode_ordinary(text).len() as u64;
        for found in [vocabulary.count(text), vocabulary.count_by_pattern(text)] {
            let shown = text.chars().take(200).collect::<String>();
            assert_eq!(found, expected, "{}, {what}: {shown:?}", vocabulary.name());
        }
    }
}

#[test]
fn random_strings_match_the_oracle() {
    let strings = |seed| {
        let mut strings = Strings::new(ChaCha8Rng::seed_from_u64(seed));
        for number in 0..STRINGS {
            let (name, generate) = GENERATORS[usize::try_from(number).unwrap() % GENERATORS.len()];
            let text = generate(&mut strings);
            hold(&text, name);
        }
    };
    std::thread::scope(|scope| {
        let threads = SEEDS.map(|seed| scope.spawn(move || strings(seed)));
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn prose_code_and_json_match_the_oracle() {
    for (name, text) in [
        ("prose", include_str!("vocabularies/prose.txt")),
        ("code", include_str!("vocabularies/code.txt")),
        ("json", include_str!("vocabularies/records.json")),
    ] {
        hold(text, name);
        // Split anywhere, so that every piece also occurs at the start and at the end of a text.
        for at in (0..text.len()).step_by(7).filter(|at| text.is_char_boundary(*at)) {
            let (front, back) = text.split_at(at);
            hold(front, name);
            hold(back, name);
        }
    }
}

#[test]
fn spellings_of_special_tokens_are_ordinary_text() {
    // Seven ordinary tokens: `<`, `|`, `end`, `of`, `text`, `|`, `>` (the maker's tokenizer page, o200k).
    assert_eq!(Vocabulary::O200k.count("<|endoftext|>"), 7);
    for text in ["<|endoftext|>", "a<|endoftext|>b", "<|fim_prefix|><|im_start|>user", "<|endofprompt|>"] {
        hold(text, "special");
    }
}

#[test]
fn contractions_with_a_long_s_are_split_by_the_patterns() {
    // Two words with one contraction each; the fast counter's own scanner finds three pieces in each.
    for text in
        ["that'ſ", "a's'ſ", "'ſ", "'ſabc", "A'ſB 'ſ x", "!!'ſ \n  x'ſ", "\u{301}'ſ", "don't'ſ'll", "é'ſ\t\t\ty'ſ  "]
    {
        hold(text, "long s");
    }
    // A word of a megabyte before the pair is split by the patterns too.
    hold(&format!("{}'ſ", "abc ".repeat(50_000).replace(' ', "é")), "long s");
    hold(&format!(" I{}'ſ", "'ſ I".repeat(20_000)), "long s");
}

/// A megabyte of one string, and its o200k tokens if counted elsewhere.
const RUNS: [(&str, Option<u64>); 8] = [
    ("a", Some(125_000)),
    ("\n", Some(62_500)),
    ("=", Some(15_625)),
    ("7", Some(333_334)),
    ("\u{1f600}", None),
    ("\u{4e2d}", None),
    (" \n", None),
    ("\u{301}", None),
];

#[test]
fn a_megabyte_of_one_string_matches_the_oracle() {
    for (unit, measured) in RUNS {
        let text = unit.repeat(MEGABYTE.div_ceil(unit.len()));
        hold(&text, unit);
        if let Some(measured) = measured {
            assert_eq!(Vocabulary::O200k.count(&text), measured, "{unit:?}");
        }
    }
}

#[test]
fn a_megabyte_of_spaces_is_counted_though_the_oracle_panics() {
    // The longest token of spaces in o200k has 128: 1,000,000 ÷ 128, rounded up.
    let spaces = " ".repeat(MEGABYTE);
    assert_eq!(Vocabulary::O200k.count(&spaces), 7_813);
    for vocabulary in Vocabulary::ALL {
        for unit in [" ", "\t", "\u{a0}", "\u{3000}"] {
            let step = ORACLE_WHITESPACE_MAX / unit.len();
            let expected = oracle(vocabulary).encode_ordinary(&unit.repeat(step / 4)).len() as u64;
            let found = vocabulary.count(&unit.repeat(step * 2));
            // Eight times the length gives eight times the tokens, except at boundaries.
            assert!(found.abs_diff(expected * 8) <= 16, "{} {unit:?}: {found} of {expected}", vocabulary.name());
            assert!(vocabulary.count(&format!("{}x", unit.repeat(step * 2))) > 0);
        }
    }
}

#[test]
fn invalid_utf8_can_be_counted() {
    for vocabulary in Vocabulary::ALL {
        assert_eq!(vocabulary.count_bytes(b""), 0);
        assert_eq!(vocabulary.count_bytes(b"plain"), vocabulary.count("plain"));
        // One replacement character for each maximal ill-formed part (Unicode 3.9, table 3-8).
        assert_eq!(vocabulary.count_bytes(b"a\xf0\x80b"), vocabulary.count("a\u{fffd}\u{fffd}b"));
        assert_eq!(vocabulary.count_bytes(b"\xe2\x82"), vocabulary.count("\u{fffd}"));
    }
    let mut strings = Strings::new(ChaCha8Rng::seed_from_u64(1));
    for _ in 0..2_000 {
        let bytes = strings.bytes(200);
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(Vocabulary::O200k.count_bytes(&bytes), Vocabulary::O200k.count(&shown));
    }
}
