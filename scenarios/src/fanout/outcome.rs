//! The result of a cell.

use forkcast_sim::pricing::Money;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::Usage;
use serde::{Deserialize, Serialize};

use super::closed::Assumption;

/// The result of a cell. Sums are over the children unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Their usage.
    pub usage: Usage,
    /// Their bill; `None` if the model has no price.
    #[serde(with = "picousd")]
    pub cost: Option<Money>,
    /// The cost of writing the message that starts the children: the parent's output. For forks and named agents alike.
    #[serde(with = "picousd", default)]
    pub launch_cost: Option<Money>,
    /// The bill of the whole run, with the parent's requests.
    #[serde(with = "picousd", default)]
    pub total_cost: Option<Money>,
    /// The cost of the same tokens without a cache.
    #[serde(with = "picousd")]
    pub cost_without_cache: Option<Money>,
    /// The cost of their input in millionths of the price of a plain input token.
    #[serde(with = "digits")]
    pub equivalents_millionths: Option<i128>,
    /// The parent's usage.
    pub parent_usage: Usage,
    /// Time from the start of the first child to the end of the last.
    pub makespan: Duration,
    /// Requests that the children sent.
    pub requests: u64,
    /// Calls refused by a rate limit, including the parent's. They cost time but no money.
    pub over_limits: u64,
    /// Requests that were never answered because their child ran out of retries.
    pub unanswered: u64,
    /// The lower bound for all policies.
    #[serde(with = "picousd")]
    pub bound: Option<Money>,
    /// The formula's input cost in millionths of plain input tokens; `None` if the formula does not apply or there is
    /// no price.
    #[serde(with = "digits")]
    pub formula_millionths: Option<i128>,
    /// The assumption of the formula that does not hold.
    pub assumption: Option<Assumption>,
}

impl Outcome {
    /// The cost of the children and of the message that starts them; `None` if the model has no price.
    pub fn started_cost(&self) -> Option<Money> {
        self.cost.zip(self.launch_cost).map(|(children, launch)| children + launch)
    }
}

/// Numbers as text, because JSON readers may lose precision.
mod digits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub fn serialize<S: Serializer>(number: &Option<i128>, serializer: S) -> Result<S::Ok, S::Error> {
        number.map(|number| number.to_string()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i128>, D::Error> {
        let text: Option<String> = Deserialize::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
    }
}

/// Money in 10⁻¹² USD.
mod picousd {
    use forkcast_sim::pricing::Money;
    use serde::{Deserializer, Serializer};

    use super::digits;

    pub fn serialize<S: Serializer>(money: &Option<Money>, serializer: S) -> Result<S::Ok, S::Error> {
        digits::serialize(&money.map(Money::picousd), serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
        Ok(digits::deserialize(deserializer)?.map(Money::from_picousd))
    }
}
