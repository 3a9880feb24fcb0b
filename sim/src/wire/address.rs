//! Original paths of the parts of a body that was translated into the spelling of the Messages API.

use std::collections::BTreeMap;

use super::level::{Level, Place};

/// Paths in the body that was sent, by place in its translation. A place without a path was sent at the same place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    paths: BTreeMap<Place, String>,
    /// Paths of settings, by their names in the translation.
    settings: BTreeMap<String, String>,
}

impl Addresses {
    /// Notes that the part at `place` was sent at `path`. A later note replaces an earlier one for the same place.
    pub fn note(&mut self, place: Place, path: String) {
        self.paths.insert(place, path);
    }

    /// Notes that the setting `name` was sent at `path`.
    pub fn note_setting(&mut self, name: String, path: String) {
        self.settings.insert(name, path);
    }

    /// The original path of the setting at `path` in the translation.
    pub fn setting(&self, path: &str) -> String {
        let (name, rest) = path.split_at(path.find('.').unwrap_or(path.len()));
        self.settings.get(name).map_or_else(|| path.to_owned(), |sent| format!("{sent}{rest}"))
    }

    /// The path at which the part at `place` was sent. If the translation of a message is shorter than the original,
    /// the message's own path comes before that of a part.
    pub fn path(&self, place: Place) -> String {
        let whole = Place { part: 0, keys: true, ..place };
        let known = self.paths.get(&place).or_else(|| self.paths.get(&whole));
        known.cloned().unwrap_or_else(|| place.to_string())
    }

    /// The original path of the value at `path` in the translation.
    pub fn translate(&self, path: &str) -> String {
        let ends = path.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at);
        let mut ends: Vec<usize> = ends.chain([path.len()]).collect();
        ends.reverse();
        let known = ends.into_iter().find_map(|end| {
            let place = Place::read(&path[..end])?;
            let sent = self.paths.get(&place)?;
            Some(format!("{sent}{}", &path[end..]))
        });
        known.unwrap_or_else(|| self.setting(path))
    }
}

impl Place {
    /// The place that a path means; `None` if it is not the path of a place.
    pub fn read(path: &str) -> Option<Self> {
        let (name, rest) = path.find('[').map_or((path, ""), |at| path.split_at(at));
        let level = Level::ALL.into_iter().find(|level| level.name() == name)?;
        if rest.is_empty() {
            return Some(Self::head(level));
        }
        let (item, rest) = index(rest)?;
        if item == Self::LEVEL_HEAD {
            return None;
        }
        match (level, rest) {
            (Level::Messages, "") => Some(Self { level, item, part: 0, keys: true }),
            (Level::Messages, rest) => {
                let (part, rest) = index(rest.strip_prefix(".content")?)?;
                rest.is_empty().then_some(Self { level, item, part, keys: false })
            }
            (_, rest) => rest.is_empty().then_some(Self { level, item, part: 0, keys: false }),
        }
    }
}

/// `[4]` at the beginning of `text`, and the text after it.
fn index(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.strip_prefix('[')?.split_once(']')?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    Some((digits.parse().ok().filter(|_| plain)?, rest))
}

#[cfg(test)]
mod tests {
    use super::{Addresses, Place};

    #[test]
    fn places_come_back_from_their_texts() {
        for path in ["tools[4]", "system[0]", "messages[3].content[1]", "messages[7]", "tools", "system", "messages"] {
            assert_eq!(Place::read(path).map(|place| place.to_string()).as_deref(), Some(path));
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
            assert_eq!(Place::read(path), None, "{path}");
        }
    }

    #[test]
    fn parts_have_the_path_at_which_they_were_sent() {
        let mut addresses = Addresses::default();
        let mut note = |place: &str, path: &str| {
            let place = Place::read(place);
            place.into_iter().for_each(|place| addresses.note(place, path.to_owned()));
        };
        note("system[0]", "instructions");
        note("messages[3]", "input[3]");
        note("messages[4]", "input[4]");
        note("messages[4].content[1]", "input[4].content[1]");
        let path = |place: &str| Place::read(place).map(|place| addresses.path(place));
        assert_eq!(path("system[0]").as_deref(), Some("instructions"));
        assert_eq!(path("messages[3].content[0]").as_deref(), Some("input[3]"));
        assert_eq!(path("messages[4].content[1]").as_deref(), Some("input[4].content[1]"));
        assert_eq!(path("tools[2]").as_deref(), Some("tools[2]"));
        assert_eq!(addresses.translate("messages[4].content[1].text"), "input[4].content[1].text");
        assert_eq!(addresses.translate("messages[4].role"), "input[4].role");
        assert_eq!(addresses.translate("messages[9].role"), "messages[9].role");
        assert_eq!(addresses.translate("temperature"), "temperature");
        addresses.note_setting("thinking".to_owned(), "additionalModelRequestFields.thinking".to_owned());
        assert_eq!(addresses.translate("thinking.type"), "additionalModelRequestFields.thinking.type");
        assert_eq!(addresses.translate(""), "");
    }
}
