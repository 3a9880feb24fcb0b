//! Texts of prompts as blocks: cut where two prompts diverge, so that two prompts share a run of whole blocks.

/// A part of a text that every prompt has completely or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrefixRun {
    /// Index of a prompt that has it.
    pub prompt: usize,
    /// Its first byte.
    pub start: usize,
    /// Its end.
    pub end: usize,
}

/// Prompts cut into runs: run number `i` is a block with the id `i`.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    /// Every run, in order of first appearance.
    pub runs: Vec<PrefixRun>,
    /// The runs of each prompt, as their numbers, in the order of the prompts.
    pub paths: Vec<Vec<u64>>,
}

/// A prompt among the others in order of their texts.
struct Sorted {
    prompt: usize,
    /// Bytes shared with the one before it in that order.
    shared: usize,
}

impl Prompts {
    /// Cuts texts where they diverge. In the order of their texts, each has its longest common prefix with a neighbour, and
    /// texts with a common prefix are adjacent.
    pub fn cut(texts: &[&str]) -> Self {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|prompt| (texts[*prompt], *prompt));
        let mut sorted: Vec<Sorted> = Vec::with_capacity(order.len());
        for prompt in order {
            let before = sorted.last().map_or("", |last| texts[last.prompt]);
            sorted.push(Sorted { prompt, shared: shared(before, texts[prompt]) });
        }
        let mut prompts = Self { runs: Vec::new(), paths: vec![Vec::new(); texts.len()] };
        prompts.walk(texts, &sorted);
        prompts
    }

    fn walk(&mut self, texts: &[&str], sorted: &[Sorted]) {
        // The runs of the prompt before, each with its end.
        let mut open: Vec<(u64, usize)> = Vec::new();
        for (at, here) in sorted.iter().enumerate() {
            open.truncate(open.iter().take_while(|(_, end)| *end <= here.shared).count());
            for end in cuts(texts, sorted, at, open.last().map_or(0, |(_, end)| *end)) {
                let start = open.last().map_or(0, |(_, end)| *end);
                let id = self.runs.len() as u64;
                self.runs.push(PrefixRun { prompt: here.prompt, start, end });
                open.push((id, end));
            }
            self.paths[here.prompt] = open.iter().map(|(id, _)| *id).collect();
        }
    }
}

/// The cuts of the prompt at `at` after `from`: where later ones diverge from it, and at its end.
fn cuts(texts: &[&str], sorted: &[Sorted], at: usize, from: usize) -> Vec<usize> {
    let whole = texts[sorted[at].prompt].len();
    let (mut least, mut ends) = (whole, Vec::new());
    if whole > from {
        ends.push(whole);
    }
    for later in &sorted[at + 1..] {
        if later.shared <= from {
            break;
        }
        if later.shared < least {
            least = later.shared;
            ends.push(least);
        }
    }
    ends.reverse();
    ends
}

/// Bytes of the longest common prefix of whole characters.
fn shared(one: &str, other: &str) -> usize {
    let bytes = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    (0..=bytes).rev().find(|end| other.is_char_boundary(*end) && one.is_char_boundary(*end)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Prompts;
    use proptest::prelude::*;

    fn written(texts: &[&str]) -> Vec<Vec<String>> {
        let cut = Prompts::cut(texts);
        let run = |id: &u64| {
            let run = cut.runs[usize::try_from(*id).unwrap()];
            texts[run.prompt][run.start..run.end].to_owned()
        };
        cut.paths.iter().map(|path| path.iter().map(run).collect()).collect()
    }

    #[test]
    fn texts_are_cut_where_they_part() {
        let found = written(&["abc", "abcdef", "abcdxx", "", "abc", "q"]);
        let expected: [&[&str]; 6] = [&["abc"], &["abc", "d", "ef"], &["abc", "d", "xx"], &[], &["abc"], &["q"]];
        assert_eq!(found, expected);
    }

    #[test]
    fn no_character_is_cut() {
        assert_eq!(written(&["aä", "aö"]), [["a", "ä"], ["a", "ö"]]);
    }

    proptest! {
        #[test]
        fn two_prompts_share_as_many_bytes_in_blocks_as_in_text(texts in prop::collection::vec("[ab]{0,8}", 0..8)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let cut = Prompts::cut(&texts);
            let runs = written(&texts);
            for (one, text) in texts.iter().enumerate() {
                prop_assert_eq!(&runs[one].concat(), text);
                for (other, behind) in texts.iter().enumerate() {
                    let ids = cut.paths[one].iter().zip(&cut.paths[other]).take_while(|(a, b)| a == b).count();
                    let bytes: usize = runs[one][..ids].iter().map(String::len).sum();
                    let plain = text.bytes().zip(behind.bytes()).take_while(|(a, b)| a == b).count();
                    prop_assert_eq!(bytes, plain, "{} {}", one, other);
                }
            }
        }
    }
}
