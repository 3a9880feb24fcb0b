//! Numbers that are read back.

use forkcast_sim::pricing::Money;
use forkcast_sim::wire::TOKENS_MAX;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A count of tokens or of things that a provider charges for, checked against the limit of all readers when it is read
/// back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub struct Count(pub u64);

impl TryFrom<u64> for Count {
    type Error = String;

    fn try_from(count: u64) -> Result<Self, String> {
        if count <= TOKENS_MAX {
            Ok(Self(count))
        } else {
            Err(format!("found more than {TOKENS_MAX} of a counted unit"))
        }
    }
}

/// An amount, from a JSON number with all its digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usd(pub Money);

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = Box::<RawValue>::deserialize(deserializer)?;
        digits.get().parse().map(Self).map_err(|_| D::Error::custom("found no amount, expected USD as a number"))
    }
}
