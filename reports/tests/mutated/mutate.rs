//! Changes of values: those that a client, a crash, a merge or an attacker may write, not those of a bad disk.

use super::seeds::Shape;
use super::tree::Tree;
use forkcast_fixtures::Dice;

/// Planted at a place for which names are not allowed, so no output may contain it.
pub const PLANTED: &str = "PLANTEDkq7z";

/// Numbers at which something ends.
const EXTREMES: [&str; 22] = [
    "0",
    "-1",
    "1",
    "2",
    "64",
    "1023",
    "1024",
    "4294967296",
    "2147483648",
    "9007199254740991",
    "9007199254740992",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1e308",
    "-1e308",
    "1e-308",
    "-0.0",
    "0.5",
    "1e999",
];

/// Instants, as text and as numbers, at which something ends.
const INSTANTS: [&str; 20] = [
    "0",
    "-1",
    "1793663410000",
    "1793663410",
    "1793663410000000000",
    "253402300799999",
    "9223372036854775807",
    "18446744073709551615",
    "-62135596800000",
    "1e300",
    "0.000000001",
    "\"1970-01-01T00:00:00Z\"",
    "\"0000-01-01T00:00:00Z\"",
    "\"-009999-01-01T00:00:00Z\"",
    "\"9999-12-31T23:59:59.999999999Z\"",
    "\"2554-07-21T23:34:33.709551615Z\"",
    "\"2026-02-30T00:00:00Z\"",
    "\"2026-11-02T23:59:60Z\"",
    "\"2026-11-02T23:50:10+23:59\"",
    "\"\"",
];

/// Strings that mean something to a terminal, a spreadsheet, a page, a file system or a parser. As JSON.
const HOSTILE: [&str; 20] = [
    r#""\u001b]0;title\u0007""#,
    r#""a\u001b[2Jb""#,
    r#""\u009b31m red""#,
    r#""\u202eevil\u2066""#,
    r#""a\u0000b""#,
    r#""\ud800""#,
    r#""\udc00\ud800""#,
    r#""=cmd|' /C calc'!A0""#,
    r#""@SUM(1+1)""#,
    r#""+1+1""#,
    r#""-2+3""#,
    r#""\t=1""#,
    r#""a\r\n::error::b""#,
    r#""`<img src=x>` ![x](http://evil) | # h""#,
    r#""]]><script>""#,
    r#""../../../etc/passwd""#,
    r#""""#,
    r#""{\"a\":[""#,
    r#""data: {\"type\":\"message_start\"}\n\ndata: [DONE]""#,
    r#""\ufeff\u2028\u2029\u0085\u007f""#,
];

/// Files may be called so.
pub const NAMES: [&str; 8] =
    ["a.jsonl", "=cmd.jsonl", "\u{1b}]0;t\u{7}.json", "b\u{202e}.json", "c d.yaml", "-x.json", "e\n.jsonl", "`f`.json"];

const WORDS_OF_TIME: [&str; 9] = ["time", "stamp", "_at", "at_ms", "ts", "date", "wait", "started", "ended"];
const WORDS_OF_IDS: [&str; 7] = ["id", "uuid", "parent", "session", "agent", "scope", "call"];
const WORDS_OF_COUNTS: [&str; 9] =
    ["token", "length", "count", "size", "hash_ids", "input", "output", "cache", "total"];

/// Keys of names, which outputs show.
const WORDS_OF_NAMES: [&str; 9] = ["model", "name", "version", "id", "cwd", "path", "type", "role", "kind"];

/// Keys of prompts and answers.
const WORDS_OF_TEXT: [&str; 7] = ["text", "content", "thinking", "prompt", "arguments", "stdout", "reasoning"];

type Wanted<'a> = &'a dyn Fn(&str, &Tree) -> bool;

fn has(key: &str, words: &[&str]) -> bool {
    let key = key.to_ascii_lowercase();
    words.iter().any(|word| key.contains(word)) || key == "t"
}

fn is_leaf(tree: &Tree) -> bool {
    matches!(tree, Tree::Raw(_) | Tree::Text(_))
}

/// Changes one drawn value among those that are wanted.
fn one(tree: &mut Tree, dice: &mut Dice, wanted: Wanted<'_>, change: impl FnOnce(&mut Tree, &mut Dice)) {
    let mut count = 0;
    tree.each("", &mut |key, value| count += usize::from(wanted(key, value)));
    if count == 0 {
        return;
    }
    let (mut at, mut change) = (dice.below(count), Some(change));
    tree.each_mut("", &mut |key, value| {
        if change.is_none() || !wanted(key, value) {
            return;
        }
        match at.checked_sub(1) {
            Some(before) => at = before,
            None => {
                if let Some(change) = change.take() {
                    change(value, dice);
                }
            }
        }
    });
}

/// A key of a value that is wanted, drawn.
fn key_of(tree: &Tree, dice: &mut Dice, wanted: Wanted<'_>) -> Option<String> {
    let mut keys = Vec::new();
    tree.each("", &mut |key, value| {
        if wanted(key, value) {
            keys.push(key);
        }
    });
    (!keys.is_empty()).then(|| (*dice.pick(&keys)).to_owned())
}

/// All values with one drawn key that has one of the words.
fn all_of(tree: &mut Tree, dice: &mut Dice, words: &[&str], change: &mut dyn FnMut(&mut Tree, &mut Dice)) {
    let Some(chosen) = key_of(tree, dice, &|key, value| is_leaf(value) && has(key, words)) else { return };
    tree.each_mut("", &mut |key, value| {
        if key == chosen && is_leaf(value) {
            change(value, dice);
        }
    });
}

fn raw(text: &str) -> Tree {
    Tree::Raw(text.to_owned())
}

fn extreme(value: &mut Tree, dice: &mut Dice) {
    *value = raw(dice.pick::<&str>(&EXTREMES));
}

fn hostile(value: &mut Tree, dice: &mut Dice) {
    *value = match dice.below(12) {
        0 => Tree::Text("x".repeat(10_000)),
        1 => Tree::Text("\u{1f9e8}\u{200d}".repeat(500)),
        2 => raw(&format!("\"{}\"", "\\u0000".repeat(300))),
        _ => raw(dice.pick::<&str>(&HOSTILE)),
    };
}

/// Text instead of another value that is not a name.
fn plant_text(value: &mut Tree, _: &mut Dice) {
    if !matches!(value, Tree::Text(_)) {
        *value = Tree::Text(format!("{PLANTED} {PLANTED}"));
    }
}

/// Another type.
fn retype(value: &mut Tree, dice: &mut Dice) {
    *value = match (&*value, dice.below(6)) {
        (Tree::Text(_), 0 | 1) => raw("7"),
        (_, 2) => raw("true"),
        (_, 3) => Tree::List(vec![value.clone()]),
        (_, 4) => Tree::Object(vec![("value".to_owned(), value.clone())]),
        (Tree::List(items), _) => items.first().cloned().unwrap_or_else(|| raw("{}")),
        (Tree::Object(_), _) => Tree::List(Vec::new()),
        _ => raw("null"),
    };
}

fn nest(value: &mut Tree, dice: &mut Dice) {
    let depth = *dice.pick(&[50, 127, 128, 200, 5_000]);
    *value = match dice.below(3) {
        0 => raw(&format!("{}{}", "[".repeat(depth), "]".repeat(depth))),
        1 => raw(&format!("{}1{}", "{\"content\":".repeat(depth), "}".repeat(depth))),
        _ => raw(&"[".repeat(depth)),
    };
}

fn members(value: &mut Tree, dice: &mut Dice) {
    let Tree::Object(members) = value else { return };
    let at = dice.below(members.len());
    match dice.below(4) {
        0 | 1 => drop(members.remove(at)),
        2 => {
            let (key, mut twice) = members[at].clone();
            extreme(&mut twice, dice);
            members.insert(dice.below(members.len() + 1), (key, twice));
        }
        _ => {
            let to = dice.below(members.len());
            members.swap(at, to);
        }
    }
}

/// Items of a list, or lines of a file: removed, doubled, reordered.
fn items(value: &mut Tree, dice: &mut Dice) {
    let Tree::List(items) = value else { return };
    let (at, to) = (dice.below(items.len()), dice.below(items.len()));
    match dice.below(7) {
        0 => drop(items.remove(at)),
        1 => items.insert(to, items[at].clone()),
        2 => items.swap(at, to),
        3 => items.reverse(),
        4 => dice.shuffle(items),
        5 => items.truncate(at),
        _ => {
            let times = *dice.pick(&[2, 3, 20]);
            let all: Vec<Tree> = items.iter().take(30).cloned().collect();
            (1..times).for_each(|_| items.extend(all.iter().cloned()));
        }
    }
}

/// The values of one key go to other places: order of time is no longer that of the file, parents are children.
fn permute(tree: &mut Tree, dice: &mut Dice, words: &[&str]) {
    let mut values = Vec::new();
    let Some(chosen) = key_of(tree, dice, &|key, value| is_leaf(value) && has(key, words)) else { return };
    tree.each("", &mut |key, value| {
        if key == chosen && is_leaf(value) {
            values.push(value.clone());
        }
    });
    match dice.below(3) {
        0 => values.reverse(),
        1 => dice.shuffle(&mut values),
        _ => values.rotate_left(1),
    }
    let mut values = values.into_iter();
    tree.each_mut("", &mut |key, value| {
        if key == chosen && is_leaf(value) {
            *value = values.next().unwrap();
        }
    });
}

/// One value for all that have the key, or another one for one of them.
fn ids(tree: &mut Tree, dice: &mut Dice) {
    let Some(chosen) = key_of(tree, dice, &|key, value| is_leaf(value) && has(key, &WORDS_OF_IDS)) else { return };
    let wanted = |key: &str, value: &Tree| key == chosen && is_leaf(value);
    let mut known = Vec::new();
    tree.each("", &mut |key, value| {
        if has(key, &WORDS_OF_IDS) && is_leaf(value) {
            known.push(value.clone());
        }
    });
    let drawn = dice.pick(&known).clone();
    match dice.below(3) {
        0 => tree.each_mut("", &mut |key, value| {
            if wanted(key, value) {
                *value = drawn.clone();
            }
        }),
        1 => one(tree, dice, &wanted, |value, _| *value = drawn),
        _ => one(tree, dice, &wanted, hostile),
    }
}

/// A value from another place, or from another file.
fn transplant(tree: &mut Tree, dice: &mut Dice, other: &Tree) {
    let mut pieces = Vec::new();
    other.each("", &mut |key, value| pieces.push((key, value)));
    let (key, piece) = *dice.pick(&pieces);
    let (key, piece) = (key.to_owned(), piece.clone());
    one(tree, dice, &|known, _| known == key, |value, _| *value = piece);
}

/// Text of a prompt with something in it that no output may hold.
fn plant(tree: &mut Tree, dice: &mut Dice) {
    let wanted = |key: &str, value: &Tree| matches!(value, Tree::Text(_)) && WORDS_OF_TEXT.contains(&key);
    one(tree, dice, &wanted, |value, _| {
        if let Tree::Text(text) = value {
            text.insert_str(0, PLANTED);
        }
    });
}

fn equal_instants(tree: &mut Tree, dice: &mut Dice) {
    let instant = raw(dice.pick::<&str>(&INSTANTS));
    all_of(tree, dice, &WORDS_OF_TIME, &mut |value, _| *value = instant.clone());
}

fn equal_counts(tree: &mut Tree, dice: &mut Dice) {
    let count = raw(dice.pick::<&str>(&EXTREMES));
    all_of(tree, dice, &WORDS_OF_COUNTS, &mut |value, _| *value = count.clone());
}

/// One change. `other` is a tree to take pieces from.
pub fn change(tree: &mut Tree, dice: &mut Dice, other: &Tree) {
    let is_full = |value: &Tree| matches!(value, Tree::List(items) if !items.is_empty());
    match dice.below(20) {
        0 | 1 => one(tree, dice, &|_, value| matches!(value, Tree::Raw(_)), extreme),
        2 | 3 => one(tree, dice, &|key, value| is_leaf(value) && has(key, &WORDS_OF_COUNTS), extreme),
        4 => equal_counts(tree, dice),
        5 => one(tree, dice, &|key, value| is_leaf(value) && has(key, &WORDS_OF_TIME), |value, dice| {
            *value = raw(dice.pick::<&str>(&INSTANTS));
        }),
        6 => equal_instants(tree, dice),
        7 => permute(tree, dice, &WORDS_OF_TIME),
        8 => permute(tree, dice, &WORDS_OF_IDS),
        9 => permute(tree, dice, &WORDS_OF_COUNTS),
        10 => ids(tree, dice),
        11 if dice.one_in(2) => one(tree, dice, &|key, _| !has(key, &WORDS_OF_NAMES), plant_text),
        11 => one(tree, dice, &|_, _| true, retype),
        12 => one(tree, dice, &|_, value| is_leaf(value), |value, _| *value = raw("null")),
        13 => one(tree, dice, &|_, value| matches!(value, Tree::Object(all) if !all.is_empty()), members),
        14 => one(tree, dice, &|_, value| is_full(value), items),
        15 => match tree {
            Tree::List(all) if !all.is_empty() => items(tree, dice),
            _ => one(tree, dice, &|_, value| matches!(value, Tree::List(all) if all.len() > 1), items),
        },
        16 => one(tree, dice, &|_, value| matches!(value, Tree::Text(_)), hostile),
        17 => one(tree, dice, &|_, _| true, nest),
        18 => transplant(tree, dice, other),
        _ => plant(tree, dice),
    }
}

/// Changes of a text that no tree knows: numbers and strings in it, lines, bytes.
pub fn change_text(text: &mut Vec<u8>, dice: &mut Dice) {
    match dice.below(6) {
        0 => text.truncate(dice.below(text.len() + 1)),
        1 => {
            let at = dice.below(text.len());
            if let Some(byte) = text.get_mut(at) {
                *byte = u8::try_from(dice.below(256)).unwrap();
            }
        }
        2 | 3 => scalar(text, dice),
        _ => lines(text, dice),
    }
}

fn lines(text: &mut Vec<u8>, dice: &mut Dice) {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let (at, to) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(3) {
        0 if !lines.is_empty() => drop(lines.remove(at)),
        1 if !lines.is_empty() => lines.insert(to, lines[at]),
        _ if !lines.is_empty() => lines.swap(at, to),
        _ => {}
    }
    *text = lines.concat();
}

/// Changes a number or a text between quotes.
fn scalar(text: &mut Vec<u8>, dice: &mut Dice) {
    let begins = |at: usize| text[at].is_ascii_digit() && (at == 0 || !text[at - 1].is_ascii_alphanumeric());
    let places: Vec<usize> = (0..text.len()).filter(|at| begins(*at) || text[*at] == b'"').collect();
    if places.is_empty() {
        return;
    }
    let at = *dice.pick(&places);
    let rest = &text[at + 1..];
    let is_end = |byte: &u8| if text[at] == b'"' { *byte == b'"' } else { !byte.is_ascii_digit() && *byte != b'.' };
    let is_string = text[at] == b'"';
    let end = at + 1 + rest.iter().position(is_end).map_or(rest.len(), |found| found + usize::from(is_string));
    let new = match dice.below(3) {
        0 => *dice.pick(&HOSTILE),
        1 => *dice.pick(&INSTANTS),
        _ => *dice.pick(&EXTREMES),
    };
    text.splice(at..end, new.bytes());
}

/// A file as it is after some changes.
pub fn file(shape: Shape, tree: &Tree, dice: &mut Dice, other: &Tree) -> Vec<u8> {
    let mut tree = tree.clone();
    for _ in 0..=dice.below(4) {
        change(&mut tree, dice, other);
    }
    let mut bytes = shape.text(&tree).into_bytes();
    if dice.one_in(12) {
        change_text(&mut bytes, dice);
    }
    bytes
}
