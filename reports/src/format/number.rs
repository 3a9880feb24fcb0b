//! Numbers that are read back.

use forkcast_sim::wire::TOKENS_MAX;
use serde::Deserialize;

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
