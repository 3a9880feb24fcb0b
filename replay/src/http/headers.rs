//! Headers of a message.

use std::borrow::Cow;

/// Names and values in recorded order. Names are compared without regard to case, as HTTP does.
#[derive(Clone, Debug, Default)]
pub struct Headers<'a> {
    lines: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Headers<'a> {
    /// Adds a header at the end.
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) {
        self.lines.push((name.into(), value.into()));
    }

    /// The first value of a header.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_ref())
    }
}
