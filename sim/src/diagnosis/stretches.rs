//! How much of a changed text was sent before: its equal ends, and equal stretches between its changes.
//!
//! A date at the head of a system prompt and a counter at its end leave all between them as it was; the bill of the
//! unchanged twin has it as read. Between the ends, texts are compared sentence by sentence, and word by word where
//! sentences differ.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::ends::CommonEnds;

/// Most pieces of a text that are compared: beyond, only its ends count.
const PIECES_MAX: usize = 8_000;

/// Least bytes of an equal stretch between the ends: shorter ones are equal by chance.
const STRETCH_BYTES_MIN: usize = 24;

/// Longest change within a stretch: another escape, a line break, a tab.
const CHANGE_BYTES_MAX: usize = 16;

/// Least times as many bytes of a stretch are equal as changed, or what it joins may be equal by chance.
const EQUAL_TO_CHANGED_MIN: usize = 3;

/// Bytes of `new` that are equal at both ends of `old` and `new`, or in the same order between them.
pub(crate) fn equal_bytes(old: &[u8], new: &[u8]) -> usize {
    let ends = CommonEnds::of_characters(old, new);
    if ends.len() >= old.len().min(new.len()) {
        return ends.len();
    }
    let [old, new] = [old, new].map(|text| &text[ends.start..text.len() - ends.end]);
    ends.len() + between(old, new)
}

/// The same for two texts with different ends.
fn between(old: &[u8], new: &[u8]) -> usize {
    let [was, is] = [old, new].map(|text| sentences(text).collect::<Vec<_>>());
    if was.len().max(is.len()) > PIECES_MAX {
        return 0;
    }
    let ops = capture_diff_slices(Algorithm::Histogram, &was, &is);
    let replaced = ops.iter().filter_map(|op| match op {
        DiffOp::Replace { .. } => Some(within(&was[op.old_range()].concat(), &is[op.new_range()].concat())),
        _ => None,
    });
    replaced.sum::<usize>() + stretches(&ops, &was, &is)
}

/// The same for sentences that differ.
fn within(old: &[u8], new: &[u8]) -> usize {
    let [was, is] = [old, new].map(|text| text.split_inclusive(|byte| *byte == b' ').collect::<Vec<_>>());
    if was.len().max(is.len()) > PIECES_MAX {
        return 0;
    }
    stretches(&capture_diff_slices(Algorithm::Histogram, &was, &is), &was, &is)
}

/// The bytes of equal stretches that are long enough, with small changes in them or without.
fn stretches(ops: &[DiffOp], was: &[&[u8]], is: &[&[u8]]) -> usize {
    let bytes = |pieces: &[&[u8]]| pieces.iter().map(|piece| piece.len()).sum::<usize>();
    let counts = |equal: usize| if equal < STRETCH_BYTES_MIN { 0 } else { equal };
    let (mut counted, mut equal, mut changed, mut pending) = (0, 0, 0, 0);
    for op in ops {
        let [old, new] = [bytes(&was[op.old_range()]), bytes(&is[op.new_range()])];
        if !matches!(op, DiffOp::Equal { .. }) {
            pending += old.max(new);
            continue;
        }
        let joins = pending <= CHANGE_BYTES_MAX && equal + new >= (changed + pending) * EQUAL_TO_CHANGED_MIN;
        (counted, equal, changed) = match joins {
            true => (counted, equal + new, changed + pending),
            false => (counted + counts(equal), new, 0),
        };
        pending = 0;
    }
    counted + counts(equal)
}

/// What a text became that contains an earlier one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rewriting {
    /// The longest stretch that was put between sentences of the earlier text without replacing any, in bytes.
    pub longest_insertion: usize,
    /// Bytes of the earlier text that others replaced before the longest stretch that both have.
    pub replaced_before: usize,
}

/// How `new` contains `old`; nothing of it if they are too long to be compared.
pub(crate) fn rewriting(old: &[u8], new: &[u8]) -> Rewriting {
    let [was, is] = [old, new].map(|text| sentences(text).collect::<Vec<_>>());
    let mut found = Rewriting::default();
    if was.len().max(is.len()) > PIECES_MAX {
        return found;
    }
    let bytes = |pieces: &[&[u8]]| pieces.iter().map(|piece| piece.len()).sum::<usize>();
    let (mut longest, mut replaced) = (0, 0);
    for op in capture_diff_slices(Algorithm::Histogram, &was, &is) {
        let [old, new] = [bytes(&was[op.old_range()]), bytes(&is[op.new_range()])];
        match op {
            DiffOp::Equal { .. } if old > longest => {
                longest = old;
                found.replaced_before = replaced;
            }
            DiffOp::Equal { .. } => {}
            DiffOp::Insert { .. } => found.longest_insertion = found.longest_insertion.max(new),
            DiffOp::Replace { .. } => replaced += old,
            DiffOp::Delete { .. } => {}
        }
    }
    found
}

/// The sentences of a text in canonical JSON, each with the byte that ends it: of a line (escaped), a sentence, a member.
pub(crate) fn sentences(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| matches!(byte, b'\\' | b'.' | b',' | b';' | b'}'))
}

#[cfg(test)]
mod tests {
    use super::{PIECES_MAX, equal_bytes};

    fn share(old: &str, new: &str) -> usize {
        equal_bytes(old.as_bytes(), new.as_bytes()) * 100 / new.len()
    }

    #[test]
    fn what_stays_between_two_changes_was_sent_before() {
        let text = |clock: u32, used: u32| {
            let rules =
                "Read a file before you edit it. Run the tests after each change, and say what failed.\\n".repeat(50);
            format!("It is 12:{clock}. {rules} You have used {used} tokens. Be brief.")
        };
        assert_eq!(share(&text(10, 1_000), &text(10, 1_000)), 100);
        assert_eq!(share(&text(10, 1_000), &text(11, 1_000)), 99);
        assert_eq!(share(&text(10, 1_000), &text(11, 2_300)), 99);
    }

    #[test]
    fn a_text_in_which_every_line_changed_a_little_was_sent_before() {
        let lines =
            |end: &str| ["def f(x):", "    return x", "f(1)", "f(2)", "print(f(3))", "exit()"].join(end).repeat(9);
        assert!(share(&lines("\\n"), &lines("\\r\\n")) >= 75);
        assert!(share(&lines("\\n"), &lines("\\\\n")) >= 85);
    }

    #[test]
    fn another_text_has_nothing_in_common() {
        assert_eq!(share("All is well today", "Nobody knows when she left"), 0);
        assert_eq!(share("", "new"), 0);
        assert_eq!(share("the cat sat on a mat", "no cat sat in a box"), 0);
    }

    #[test]
    fn texts_of_too_many_pieces_have_equal_ends_only() {
        let text = |middle: &str| format!("a{}b", middle.repeat(PIECES_MAX + 1));
        assert_eq!(equal_bytes(text("x.").as_bytes(), text("y.").as_bytes()), 2 + 1);
    }

    proptest::proptest! {
        #[test]
        fn no_more_is_equal_than_there_is(old in "[ab .,\\\\é]{0,40}", new in "[ab .,\\\\é]{0,40}") {
            let equal = equal_bytes(old.as_bytes(), new.as_bytes());
            proptest::prop_assert!(equal <= new.len().min(old.len()));
            proptest::prop_assert_eq!(equal == new.len() && old.len() == new.len(), old == new);
        }
    }
}
