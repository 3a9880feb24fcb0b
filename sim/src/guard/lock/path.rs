//! Places of blocks, read back from their paths.

use crate::wire::{Level, Place};

/// The place that [`Place`]'s own text means; `None` where it is none.
pub(super) fn read(path: &str) -> Option<Place> {
    let (name, rest) = path.find('[').map_or((path, ""), |at| path.split_at(at));
    let level = Level::ALL.into_iter().find(|level| level.name() == name)?;
    if rest.is_empty() {
        return Some(Place::head(level));
    }
    let (item, rest) = index(rest)?;
    if item == Place::LEVEL_HEAD {
        return None;
    }
    match (level, rest) {
        (Level::Messages, "") => Some(Place { level, item, part: 0, keys: true }),
        (Level::Messages, rest) => {
            let (part, rest) = index(rest.strip_prefix(".content")?)?;
            rest.is_empty().then_some(Place { level, item, part, keys: false })
        }
        (_, rest) => rest.is_empty().then_some(Place { level, item, part: 0, keys: false }),
    }
}

/// `[4]` at the beginning of `text`, and what stands behind it.
fn index(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.strip_prefix('[')?.split_once(']')?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    Some((digits.parse().ok().filter(|_| plain)?, rest))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn paths_come_back() {
        for path in ["tools[4]", "system[0]", "messages[3].content[1]", "messages[7]", "tools", "system", "messages"] {
            assert_eq!(read(path).map(|place| place.to_string()).as_deref(), Some(path));
        }
        for path in [
            "",
            "tools[",
            "tools[]",
            "tools[-1]",
            "tools[01]",
            "tools[+1]",
            "tools[1]x",
            "other[1]",
            "messages[1].content",
            "messages[1].content[2]x",
            "messages[1]x",
            "system[4294967296]",
            "tools[4294967295]",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
    }
}
