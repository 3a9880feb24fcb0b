//! Seeded generators of strings that tokenizers often get wrong.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// A source of strings.
pub struct Strings {
    random: ChaCha8Rng,
}

/// A named generator.
pub type Generator = (&'static str, fn(&mut Strings) -> String);

/// All generators, used in turn.
pub const GENERATORS: [Generator; 11] = [
    ("any unicode", any_unicode),
    ("mixed scripts", mixed_scripts),
    ("long piece", long_piece),
    ("like code", like_code),
    ("like JSON", like_json),
    ("white space", white_space),
    ("special tokens", special_tokens),
    ("words", words),
    ("digits and signs", digits_and_signs),
    ("contractions", contractions),
    ("long s among all", long_s),
];

const SCRIPTS: [(u32, u32); 14] = [
    (0x20, 0x7e),
    (0xa0, 0x24f),
    (0x300, 0x36f),
    (0x370, 0x3ff),
    (0x400, 0x4ff),
    (0x5d0, 0x5ea),
    (0x600, 0x6ff),
    (0x900, 0x97f),
    (0xe00, 0xe7f),
    (0x3040, 0x30ff),
    (0x4e00, 0x9fff),
    (0xac00, 0xd7a3),
    (0x1f300, 0x1f9ff),
    (0x2000, 0x206f),
];

const SPACES: [&str; 14] =
    [" ", "  ", "    ", "\n", "\n\n", "\r\n", "\r", "\t", "\t\t", "\u{a0}", "\u{3000}", "\u{2028}", "\u{85}", "\u{b}"];

const SPECIALS: [&str; 9] = [
    "<|endoftext|>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|endofprompt|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|start|>",
    "<|",
];

const WORDS: [&str; 24] = [
    "the",
    "cache",
    "Prefix",
    "tokens",
    "HTTPServer",
    "getElementById",
    "snake_case",
    "naïve",
    "Straße",
    "éclair",
    "Ωmega",
    "don't",
    "WE'LL",
    "x86_64",
    "3.14",
    "v2",
    "—",
    "…",
    "'s",
    "fn",
    "impl",
    "über",
    "İstanbul",
    "ǅ",
];

const SIGNS: [&str; 20] =
    ["{", "}", "(", ")", "[", "]", ";", "=>", "==", "!=", "/*", "*/", "//", "->", "::", ",", ".", "<", ">", "&&"];

impl Strings {
    pub fn new(random: ChaCha8Rng) -> Self {
        Self { random }
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.random.next_u64() % bound as u64).unwrap()
    }

    fn one_of(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len())]
    }

    fn char_of(&mut self, (from, to): (u32, u32)) -> char {
        let code = from + u32::try_from(self.below((to - from + 1) as usize)).unwrap();
        char::from_u32(code).unwrap_or('\u{fffd}')
    }

    pub fn bytes(&mut self, len_max: usize) -> Vec<u8> {
        let len = self.below(len_max + 1);
        (0..len).map(|_| u8::try_from(self.random.next_u64() & 0xff).unwrap()).collect()
    }

    fn joined(&mut self, parts_max: usize, mut part: impl FnMut(&mut Self) -> String) -> String {
        let parts = self.below(parts_max) + 1;
        (0..parts).map(|_| part(self)).collect()
    }
}

fn any_unicode(strings: &mut Strings) -> String {
    strings.joined(60, |strings| strings.char_of((0, 0x10_ffff)).to_string())
}

fn mixed_scripts(strings: &mut Strings) -> String {
    strings.joined(12, |strings| {
        let script = SCRIPTS[strings.below(SCRIPTS.len())];
        strings.joined(9, |strings| strings.char_of(script).to_string())
    })
}

/// One piece without a boundary, mostly shorter than a hundred characters, sometimes several thousand.
fn long_piece(strings: &mut Strings) -> String {
    let script = SCRIPTS[strings.below(SCRIPTS.len())];
    let alphabet: Vec<char> = (0..=strings.below(6)).map(|_| strings.char_of(script)).collect();
    let len = if strings.below(40) == 0 { strings.below(4_000) } else { strings.below(120) };
    (0..len).map(|_| alphabet[strings.below(alphabet.len())]).collect()
}

fn like_code(strings: &mut Strings) -> String {
    strings.joined(40, |strings| match strings.below(4) {
        0 => strings.one_of(&SIGNS).to_owned(),
        1 => strings.one_of(&SPACES).to_owned(),
        2 => format!("{} ", strings.one_of(&WORDS)),
        _ => strings.one_of(&WORDS).to_owned(),
    })
}

fn like_json(strings: &mut Strings) -> String {
    strings.joined(12, |strings| {
        let (key, value) = (strings.one_of(&WORDS), strings.one_of(&WORDS));
        match strings.below(3) {
            0 => format!("{{\"{key}\":\"{value}\"}},"),
            1 => format!("\"{key}\": [{}, null, true],\n  ", strings.below(1_000_000)),
            _ => format!("\"{key}\":\"{}\\n\\u00e9\\\\\",", strings.one_of(&SIGNS)),
        }
    })
}

fn white_space(strings: &mut Strings) -> String {
    strings.joined(30, |strings| match strings.below(4) {
        0 => strings.one_of(&WORDS).to_owned(),
        1 => strings.one_of(&SPACES).repeat(strings.below(40)),
        _ => strings.one_of(&SPACES).to_owned(),
    })
}

fn special_tokens(strings: &mut Strings) -> String {
    strings.joined(8, |strings| match strings.below(3) {
        0 => strings.one_of(&WORDS).to_owned(),
        _ => strings.one_of(&SPECIALS).to_owned(),
    })
}

fn words(strings: &mut Strings) -> String {
    strings.joined(60, |strings| format!("{} ", strings.one_of(&WORDS)))
}

fn digits_and_signs(strings: &mut Strings) -> String {
    strings.joined(30, |strings| match strings.below(3) {
        0 => strings.one_of(&SIGNS).to_owned(),
        1 => strings.below(100_000).to_string(),
        _ => strings.char_of((0x21, 0x40)).to_string(),
    })
}

/// Apostrophes in all contexts: both vocabularies have a special rule for English contractions.
fn contractions(strings: &mut Strings) -> String {
    const ENDS: [&str; 12] = ["'s", "'S", "'re", "'RE", "'ll", "'lL", "'d", "'ſ", "\u{2019}s", "'", "''", "'x"];
    strings.joined(20, |strings| format!("{}{}", strings.one_of(&WORDS), strings.one_of(&ENDS)))
}

/// The long s, which is a case variant of `s`, among everything that affects splitting.
fn long_s(strings: &mut Strings) -> String {
    strings.joined(20, |strings| match strings.below(6) {
        0 => strings.one_of(&SPACES).repeat(strings.below(4)),
        1 => strings.one_of(&SIGNS).to_owned(),
        2 => strings.below(10_000).to_string(),
        3 => strings.one_of(&["'ſ", "ſ", "'", "\u{301}", "'ſt", "'S"]).to_owned(),
        4 => strings.one_of(&WORDS).to_owned(),
        _ => format!("{}'ſ", strings.one_of(&WORDS)),
    })
}
