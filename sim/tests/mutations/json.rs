//! JSON with its spelling: keys in order, numbers and escapes as written. Independent of the reader under test.

use std::fmt;

use forkcast_fixtures::Members;
use serde_json::value::RawValue;

/// A value that remembers its spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// A string, number or word as it is written.
    Raw(String),
    /// An array.
    List(Vec<Json>),
    /// An object; a key may occur twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn parse(raw: &str) -> Self {
        let raw = raw.trim();
        match raw.as_bytes()[0] {
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(raw).expect("an array");
                Self::List(items.into_iter().map(|item| Self::parse(item.get())).collect())
            }
            b'{' => {
                let members: Members<'_> = serde_json::from_str(raw).expect("an object");
                Self::Object(members.0.into_iter().map(|(key, value)| (key, Self::parse(value.get()))).collect())
            }
            _ => Self::Raw(raw.to_owned()),
        }
    }

    /// A string in serde's spelling.
    pub fn text(text: &str) -> Self {
        Self::Raw(serde_json::to_string(text).expect("text is JSON"))
    }

    /// The content of a string; `None` for other values.
    pub fn said(&self) -> Option<String> {
        match self {
            Self::Raw(raw) if raw.starts_with('"') => serde_json::from_str(raw).ok(),
            _ => None,
        }
    }

    /// The last field called `key`.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match self {
            Self::Object(members) => members.iter_mut().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Sets a field; a new one is added at the end.
    pub fn set(&mut self, key: &str, value: Self) {
        match self.get_mut(key) {
            Some(known) => *known = value,
            None => {
                if let Self::Object(members) = self {
                    members.push((key.to_owned(), value));
                }
            }
        }
    }

    pub fn remove(&mut self, key: &str) {
        if let Self::Object(members) = self {
            members.retain(|(name, _)| name != key);
        }
    }

    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub fn items_mut(&mut self) -> &mut [Self] {
        match self {
            Self::List(items) => items,
            _ => &mut [],
        }
    }

    /// Every string value inside, at any depth, except keys.
    pub fn strings_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Self>) {
        match self {
            Self::List(items) => items.iter_mut().for_each(|item| item.strings_mut(found)),
            Self::Object(members) => members.iter_mut().for_each(|(_, value)| value.strings_mut(found)),
            Self::Raw(raw) if raw.starts_with('"') => found.push(self),
            Self::Raw(_) => {}
        }
    }

    /// Every object inside with at least two fields.
    pub fn objects_mut<'a>(&'a mut self, wanted: usize, seen: &mut usize) -> Option<&'a mut Vec<(String, Self)>> {
        match self {
            Self::List(items) => items.iter_mut().find_map(|item| item.objects_mut(wanted, seen)),
            Self::Object(members) => {
                if members.len() > 1 {
                    *seen += 1;
                    if *seen > wanted {
                        return Some(members);
                    }
                }
                members.iter_mut().find_map(|(_, value)| value.objects_mut(wanted, seen))
            }
            Self::Raw(_) => None,
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raw(raw) => f.write_str(raw),
            Self::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at > 0 { "," } else { "[" })?;
                }
                f.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (key, value)) in members.iter().enumerate() {
                    write!(f, "{}{}:{value}", if at > 0 { "," } else { "" }, Self::text(key))?;
                }
                f.write_str("}")
            }
        }
    }
}
