//! Numbers that keep all their digits: money and instants, as raw JSON numbers made from integers.

use forkcast_sim::pricing::{Factor, Money};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::TOKENS_MAX;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// What stands in a column: nothing where it is unknown.
pub(super) fn cell(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A count of tokens or of what a provider charges for, held to the one bound of all readers where it is read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64")]
pub struct Count(pub u64);

impl TryFrom<u64> for Count {
    type Error = String;

    fn try_from(count: u64) -> Result<Self, String> {
        if count <= TOKENS_MAX {
            Ok(Self(count))
        } else {
            Err(format!("found more than {TOKENS_MAX} of what is counted"))
        }
    }
}

/// An amount in USD with all digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usd(pub Money);

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw(self.0.to_string(), serializer)
    }
}

/// A factor or a percentage with all digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact(pub Factor);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw(self.0.to_string(), serializer)
    }
}

/// An instant in milliseconds with up to six decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Millis(pub Instant);

const NANOS_PER_MILLI: u64 = 1_000_000;

impl std::fmt::Display for Millis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(Instant(nanos)) = self;
        let decimals = format!("{:06}", nanos % NANOS_PER_MILLI);
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{}{point}{decimals}", nanos / NANOS_PER_MILLI)
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw(self.to_string(), serializer)
    }
}

/// Millionths, with all digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Millionths(pub i128);

impl std::fmt::Display for Millionths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decimals = format!("{:06}", self.0.unsigned_abs() % 1_000_000);
        let decimals = decimals.trim_end_matches('0');
        let sign = if self.0 < 0 { "-" } else { "" };
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{sign}{}{point}{decimals}", self.0.unsigned_abs() / 1_000_000)
    }
}

impl Serialize for Millionths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw(self.to_string(), serializer)
    }
}

fn raw<S: Serializer>(digits: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(digits).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::{Millis, Usd};
    use forkcast_sim::pricing::Money;
    use forkcast_sim::time::Instant;

    #[test]
    fn no_digit_is_lost() {
        let json = |value: &dyn Fn() -> serde_json::Result<String>| value().unwrap();
        assert_eq!(
            json(&|| serde_json::to_string(&Usd(Money::from_picousd(123_456_789_012_345_678)))),
            "123456.789012345678"
        );
        assert_eq!(json(&|| serde_json::to_string(&Usd(Money::from_picousd(-1)))), "-0.000000000001");
        assert_eq!(
            json(&|| serde_json::to_string(&Millis(Instant(1_793_663_410_000_000_001)))),
            "1793663410000.000001"
        );
        assert_eq!(json(&|| serde_json::to_string(&Millis(Instant::from_millis(5)))), "5");
    }
}
