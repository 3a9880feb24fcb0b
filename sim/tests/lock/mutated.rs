//! A broken lock gives an error and never a panic.

use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, changes, equality, sharing};
use proptest::prelude::*;

use super::stage::Talk;

/// Everything that the program does with a lock.
pub fn use_up(text: &str) {
    if let Ok(lock) = Lock::parse(text) {
        let good = Talk::new().lock();
        for (old, new) in [(&lock, &good), (&good, &lock), (&lock, &lock)] {
            equality(old, new, &Rules::default());
            changes(old, new);
            sharing(old, new, &Rules::default());
        }
        assert_eq!(Lock::parse(&lock.text()).unwrap().text(), lock.text());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bytes_changed_anywhere_never_panic(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut text = Talk::new().lock().text().into_bytes();
        for (at, byte) in edits {
            let at = at.index(text.len());
            text[at] = byte;
        }
        use_up(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn lines_dropped_doubled_and_swapped_never_panic(edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8), 1..6)) {
        let text = Talk::new().lock().text();
        let mut lines: Vec<&str> = text.lines().collect();
        for (at, edit) in edits {
            let at = at.index(lines.len());
            match edit {
                0 => { lines.remove(at); }
                1 => lines.insert(at, lines[at]),
                _ => lines.swap(at, 0),
            }
        }
        use_up(&lines.join("\n"));
    }

    #[test]
    fn numbers_of_any_size_never_panic(at in any::<prop::sample::Index>(), number in prop_oneof![any::<u64>().prop_map(|n| n.to_string()), Just("-1".to_owned()), Just("18446744073709551615".to_owned())]) {
        let text = Talk::new().lock().text();
        let digits: Vec<usize> = text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
        let start = digits[at.index(digits.len())];
        use_up(&format!("{}{number}{}", &text[..start], &text[start + 1..]));
    }
}
