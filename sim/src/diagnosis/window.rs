//! Bytes around a difference, fit for a terminal.

use super::ends::{boundary_after, boundary_before};
use crate::outside::visible;

/// The text around a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Before the difference.
    pub before: String,
    /// The character in which it begins; [`Window::END`] if the text ends there.
    pub mark: String,
    /// The text after it.
    pub after: String,
}

impl Window {
    /// Shown in place of the character if one text ends and the other continues.
    pub const END: &str = "(end)";
}

/// Bytes shown on each side.
const SIDE_BYTES: usize = 48;

/// The bytes around `offset`, with the character there to be marked. Cut at character boundaries.
pub fn window(bytes: &[u8], offset: usize) -> Window {
    let offset = boundary_before(bytes, offset.min(bytes.len()));
    let start = boundary_before(bytes, offset.saturating_sub(SIDE_BYTES));
    let behind = boundary_after(bytes, offset + 1);
    let end = boundary_before(bytes, behind.saturating_add(SIDE_BYTES).min(bytes.len()));
    let before = if start > 0 { "…" } else { "" };
    let after = if end < bytes.len() { "…" } else { "" };
    let mark = if offset == bytes.len() { Window::END.to_owned() } else { visible_bytes(&bytes[offset..behind]) };
    Window {
        before: format!("{before}{}", visible_bytes(&bytes[start..offset])),
        mark,
        after: format!("{}{after}", visible_bytes(bytes.get(behind..end).unwrap_or_default())),
    }
}

fn visible_bytes(bytes: &[u8]) -> String {
    visible(&String::from_utf8_lossy(bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::window;

    fn text(bytes: &[u8], offset: usize) -> [String; 3] {
        let found = window(bytes, offset);
        [found.before, found.mark, found.after]
    }

    #[test]
    fn the_differing_character_is_between_its_neighbours() {
        assert_eq!(text(b"one two", 4), ["one ", "t", "wo"]);
        assert_eq!(text(b"one", 3), ["one", "(end)", ""]);
        assert_eq!(text(b"", 0), ["", "(end)", ""]);
    }

    #[test]
    fn characters_are_not_cut() {
        let long = "ä".repeat(100);
        let [before, mark, after] = text(long.as_bytes(), 101);
        assert_eq!(mark, "ä");
        assert_eq!(before.chars().filter(|c| *c == 'ä').count(), 24);
        assert_eq!(after.chars().filter(|c| *c == 'ä').count(), 24);
    }

    #[test]
    fn nothing_moves_the_cursor() {
        let [before, ..] = text("\u{1b}[2J\u{202e}x".as_bytes(), 7);
        assert_eq!(before, "\\u{1b}[2J\\u{202e}");
    }

    #[test]
    fn broken_utf8_is_no_trouble() {
        for offset in 0..8 {
            text(&[0x80, 0xbf, 0xff, 0xc3, 0x28, 0x80], offset);
        }
    }
}
