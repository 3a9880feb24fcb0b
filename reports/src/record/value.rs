//! The value of a field.

use std::borrow::Cow;
use std::collections::BTreeMap;

use forkcast_sim::pricing::{Factor, Money};
use forkcast_sim::time::{Duration, Instant};
use serde::ser::{Error, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::number::{Millionths, Millis};

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// JSON leaves it out.
    Absent,
    /// JSON leaves it out, rows do not.
    Derived(Box<Self>),
    /// It is unknown, or there is none.
    Null,
    /// True or false.
    Truth(bool),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// An amount.
    Usd(Money),
    /// An instant, or a span.
    Millis(Instant),
    /// Millionths.
    Millionths(i128),
    /// A factor or a percentage.
    Exact(Factor),
    /// Text.
    Text(Cow<'static, str>),
    /// Several values of one kind.
    List(Vec<Self>),
    /// Values by names that are not known in advance.
    Map(Vec<(Cow<'static, str>, Self)>),
    /// A record, field by field.
    Fields(Vec<(&'static str, Self)>),
}

impl Value {
    /// Text that lives as long as its source.
    pub fn text(text: &str) -> Self {
        Self::Text(Cow::Owned(text.to_owned()))
    }

    /// Texts that live as long as their sources.
    pub fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(|text| Self::text(text.as_ref())).collect())
    }

    /// Values by their names, in order of these.
    pub fn map<V: Into<Self>>(entries: impl IntoIterator<Item = (impl Into<Cow<'static, str>>, V)>) -> Self {
        let entries = entries.into_iter().map(|(name, value)| (name.into(), value.into()));
        let entries: BTreeMap<Cow<'static, str>, Self> = entries.collect();
        Self::Map(entries.into_iter().collect())
    }

    /// The digits of a number, or the text; empty if there is none.
    pub(super) fn plain(&self) -> Cow<'_, str> {
        match self {
            Self::Absent | Self::Null | Self::Fields(_) | Self::Map(_) => Cow::Borrowed(""),
            Self::Derived(value) => value.plain(),
            Self::Truth(holds) => Cow::Borrowed(if *holds { "true" } else { "false" }),
            Self::Count(count) => Cow::Owned(count.to_string()),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Usd(amount) => Cow::Owned(amount.to_string()),
            Self::Millis(instant) => Cow::Owned(Millis(*instant).to_string()),
            Self::Millionths(millionths) => Cow::Owned(Millionths(*millionths).to_string()),
            Self::Exact(factor) => Cow::Owned(factor.to_string()),
            Self::Text(text) => Cow::Borrowed(text),
            Self::List(values) => Cow::Owned(values.iter().map(Self::first).collect::<Vec<_>>().join(" ")),
        }
    }

    /// The name of a value in a list: the first field of a record.
    fn first(&self) -> Cow<'_, str> {
        match self {
            Self::Fields(fields) => fields.first().map_or(Cow::Borrowed(""), |(_, value)| value.plain()),
            value => value.plain(),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent | Self::Derived(_) | Self::Null => serializer.serialize_none(),
            Self::Truth(holds) => serializer.serialize_bool(*holds),
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Usd(_) | Self::Millis(_) | Self::Millionths(_) | Self::Exact(_) => {
                let digits = self.plain();
                serde_json::from_str::<&RawValue>(&digits).map_err(S::Error::custom)?.serialize(serializer)
            }
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Map(entries) => serializer.collect_map(entries.iter().map(|(word, value)| (word, value))),
            Self::Fields(fields) => {
                let mut map = serializer.serialize_map(None)?;
                splice(&mut map, fields)?;
                map.end()
            }
        }
    }
}

/// Fields in their order; fields of a record without a name are among them.
fn splice<M: SerializeMap>(map: &mut M, fields: &[(&'static str, Value)]) -> Result<(), M::Error> {
    for (word, value) in fields {
        match value {
            Value::Absent | Value::Derived(_) => {}
            Value::Fields(own) if word.is_empty() => splice(map, own)?,
            value => map.serialize_entry(word, value)?,
        }
    }
    Ok(())
}

macro_rules! from {
    ($($kind:ty: $name:ident => $value:expr,)*) => {$(
        impl From<$kind> for Value {
            fn from($name: $kind) -> Self {
                $value
            }
        }
    )*};
}

from! {
    bool: holds => Self::Truth(holds),
    u16: count => Self::Count(count.into()),
    u32: count => Self::Count(count.into()),
    u64: count => Self::Count(count),
    usize: count => Self::Count(count as u64),
    f64: number => Self::Number(number),
    Money: amount => Self::Usd(amount),
    Instant: instant => Self::Millis(instant),
    Duration: span => Self::Millis(Instant(span.0)),
    Factor: factor => Self::Exact(factor),
    Millionths: millionths => Self::Millionths(millionths.0),
    &'static str: word => Self::Text(Cow::Borrowed(word)),
    String: text => Self::Text(Cow::Owned(text)),
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Self>> From<[T; 2]> for Value {
    fn from(values: [T; 2]) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Value;
    use forkcast_sim::pricing::Money;
    use forkcast_sim::time::Instant;

    #[test]
    fn no_digit_is_lost() {
        let json = |value: Value| serde_json::to_string(&value).unwrap();
        assert_eq!(json(Money::from_picousd(123_456_789_012_345_678).into()), "123456.789012345678");
        assert_eq!(json(Money::from_picousd(-1).into()), "-0.000000000001");
        assert_eq!(json(Instant(1_793_663_410_000_000_001).into()), "1793663410000.000001");
        assert_eq!(json(Instant::from_millis(5).into()), "5");
    }
}
