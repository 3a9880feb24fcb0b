//! The recording of a line, without its body: together with the body, the request can be replayed again.

use forkcast_replay::exchange::{BilledUnits, Dialect, Exchange, Origin, OtherPasses, PassKind, Passes, RecordedUsage};
use forkcast_scenarios::run::Run;
use forkcast_sim::outside;
use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::resolve;
use forkcast_sim::wire::{TOKENS_MAX, Usage};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

mod fields;

use crate::format::number::Count;
use crate::names::Names;

/// The object `exchange` of a ledger line.
#[derive(Clone, Debug, Deserialize)]
pub struct Stored {
    /// Position among the paths that the user named.
    pub scope: usize,
    /// That path.
    pub path: String,
    /// Position of the file among all files.
    pub session: usize,
    /// How the file was read.
    pub format: String,
    /// Who answered.
    pub provider: String,
    /// How the request was spelled.
    #[serde(deserialize_with = "dialect")]
    pub dialect: Dialect,
    /// HTTP status.
    pub status: Option<u16>,
    /// When the request was sent, in nanoseconds since 1970.
    pub sent_ns: Option<u64>,
    /// When the first byte of the answer came.
    pub first_byte_ns: Option<u64>,
    /// When the answer ended.
    pub ended_ns: Option<u64>,
    /// The input's own id of the chain.
    pub chain: Option<String>,
    /// The chain that started this one.
    #[serde(default)]
    pub parent: Option<String>,
    /// The input's own cache scope.
    pub own_scope: Option<String>,
    /// The request was given up before the first byte of its answer.
    #[serde(default)]
    pub given_up: bool,
    /// The body was altered on its way.
    pub altered: bool,
    /// The service tier, as [`ServiceTier::word`] spells it.
    #[serde(deserialize_with = "tier")]
    pub tier: ServiceTier,
    /// The region of the host.
    pub region: Option<String>,
    /// The recorded usage of the answer.
    #[serde(default, deserialize_with = "usage")]
    pub usage: Option<RecordedUsage>,
    /// The request of another agent that it continues, by its line, if a simulated run records it.
    #[serde(default)]
    pub continues: Option<usize>,
    /// The sizes that a simulated run declares, if its bodies are next to the ledger.
    #[serde(default)]
    pub sizes: Option<StoredSizes>,
}

/// Tokens of a prompt's blocks, as far as they differ from the line before.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredSizes {
    /// So many blocks from the start are as large as those of the line before.
    same_blocks: usize,
    /// Tokens of each block after them.
    own_tokens: Vec<Count>,
}

impl StoredSizes {
    /// Those of all requests of a run, in order.
    pub fn all(run: &Run) -> impl Iterator<Item = Self> {
        let (mut recount, mut before) = (run.recount(), Vec::new());
        run.requests.iter().map(move |request| {
            let sizes = recount.cumulative(&request.draft());
            let stored = Self::of(&sizes, &before);
            before = sizes;
            stored
        })
    }

    /// `cumulative` tokens of prefixes, with those `before` them.
    fn of(cumulative: &[u64], before: &[u64]) -> Self {
        let same_blocks = cumulative.iter().zip(before).take_while(|(own, before)| own == before).count();
        let (same, own) = cumulative.split_at(same_blocks);
        let mut start = same.last().copied().unwrap_or(0);
        let tokens = |end: &u64| Count(end - std::mem::replace(&mut start, *end));
        Self { same_blocks, own_tokens: own.iter().map(tokens).collect() }
    }

    /// Tokens of each prefix, with those `before`; `None` if these have fewer blocks or sums are beyond any prompt.
    pub fn cumulative(&self, before: &[u64]) -> Option<Vec<u64>> {
        let mut cumulative = before.get(..self.same_blocks)?.to_vec();
        for tokens in &self.own_tokens {
            let sum = cumulative.last().copied().unwrap_or(0_u64).checked_add(tokens.0)?;
            cumulative.push(Some(sum).filter(|sum| *sum <= TOKENS_MAX)?);
        }
        Some(cumulative)
    }
}

/// Recorded usage as it is read back: with its flags, as far as a bill needs them.
#[derive(Deserialize)]
struct ReadUsage {
    #[serde(flatten)]
    tokens: ReadTokens,
    split_by_ttl: bool,
    server_passes: bool,
    output_is_start_value: bool,
    applied_edits: u32,
    web_search_requests: Count,
    web_fetch_requests: Count,
    code_execution_requests: Count,
    reasoning_tokens: Count,
    input_audio_tokens: Count,
    output_audio_tokens: Count,
    fast: Option<bool>,
    geo_us: Option<bool>,
    /// Input and output as the provider charges them, if that is less than was counted.
    billed_units: Option<(Count, Count)>,
    /// Its passes, if it lists several or has some of other models.
    #[serde(default)]
    passes: Vec<ReadPass>,
}

/// A pass of an answer, or the sum of several by one model.
#[derive(Deserialize)]
struct ReadPass {
    #[serde(deserialize_with = "kind")]
    kind: PassKind,
    model: Option<String>,
    passes: u32,
    longest_prompt_tokens: Count,
    #[serde(flatten)]
    tokens: ReadTokens,
}

#[derive(Deserialize)]
struct ReadTokens {
    input_tokens: Count,
    cache_read_input_tokens: Count,
    ephemeral_5m_input_tokens: Count,
    ephemeral_1h_input_tokens: Count,
    output_tokens: Count,
}

/// The position of an exchange in the input.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// Position among the paths that the user named.
    pub scope: usize,
    /// That path.
    pub path: &'a str,
    /// Position of the file among all files.
    pub session: usize,
    /// How the file was read.
    pub format: &'a str,
}

impl Stored {
    /// The recording of an exchange.
    pub fn of(exchange: &Exchange, standing: Standing<'_>, names: Names) -> Self {
        let nanos = |instant: Option<Instant>| instant.map(|instant| instant.0);
        Self {
            scope: standing.scope,
            path: names.file(standing.path),
            session: standing.session,
            format: standing.format.to_owned(),
            provider: exchange.provider.clone(),
            dialect: exchange.dialect,
            status: exchange.status,
            sent_ns: nanos(exchange.sent_at),
            first_byte_ns: nanos(exchange.first_byte_at),
            ended_ns: nanos(exchange.ended_at),
            chain: exchange.chain.as_deref().map(|chain| names.agent(chain)),
            parent: exchange.parent.as_deref().map(|parent| names.agent(parent)),
            own_scope: exchange.scope.as_deref().map(|scope| names.agent(scope)),
            given_up: exchange.given_up,
            altered: exchange.altered,
            tier: exchange.tier,
            region: exchange.region.clone(),
            usage: exchange.usage,
            continues: exchange.continues,
            sizes: None,
        }
    }

    /// The exchange again, with its body; sizes are the reader's to add.
    pub fn exchange(&self, origin: Origin, model: String, body: Vec<u8>) -> Exchange {
        Exchange {
            provider: self.provider.clone(),
            dialect: self.dialect,
            status: self.status,
            sent_at: self.sent_ns.map(Instant),
            first_byte_at: self.first_byte_ns.map(Instant),
            ended_at: self.ended_ns.map(Instant),
            chain: self.chain.clone(),
            parent: self.parent.clone(),
            continues: self.continues,
            scope: self.own_scope.clone(),
            given_up: self.given_up,
            altered: self.altered,
            tier: self.tier,
            region: self.region.clone(),
            usage: self.usage,
            ..Exchange::request_only(origin, model, body)
        }
    }
}

fn dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Dialect, D::Error> {
    let word = String::deserialize(deserializer)?;
    let found = Dialect::ALL.into_iter().find(|dialect| dialect.name() == word);
    found.ok_or_else(|| D::Error::custom(format_args!("found dialect {}, which is unknown", outside::found(&word))))
}

fn tier<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ServiceTier, D::Error> {
    let word = String::deserialize(deserializer)?;
    let found = ServiceTier::of_word(&word);
    found.ok_or_else(|| D::Error::custom(format_args!("found tier {}, which is unknown", outside::found(&word))))
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PassKind, D::Error> {
    let word = String::deserialize(deserializer)?;
    let found = PassKind::named(&word);
    found.ok_or_else(|| D::Error::custom(format_args!("found pass {}, which is unknown", outside::found(&word))))
}

fn usage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RecordedUsage>, D::Error> {
    Ok(Option::<ReadUsage>::deserialize(deserializer)?.as_ref().map(RecordedUsage::from))
}

impl From<&ReadUsage> for RecordedUsage {
    fn from(read: &ReadUsage) -> Self {
        let units = |(input, output): (Count, Count)| BilledUnits { input_tokens: input.0, output_tokens: output.0 };
        let (own, others): (Vec<&ReadPass>, Vec<&ReadPass>) = read.passes.iter().partition(|pass| pass.is_own());
        let mut others = others.into_iter().map(OtherPasses::from);
        Self {
            usage: read.tokens.usage(),
            split_by_ttl: read.split_by_ttl,
            server_passes: read.server_passes,
            output_is_start_value: read.output_is_start_value,
            applied_edits: read.applied_edits,
            web_search_requests: read.web_search_requests.0,
            web_fetch_requests: read.web_fetch_requests.0,
            code_execution_requests: read.code_execution_requests.0,
            reasoning_tokens: read.reasoning_tokens.0,
            input_audio_tokens: read.input_audio_tokens.0,
            output_audio_tokens: read.output_audio_tokens.0,
            fast: read.fast,
            geo_us: read.geo_us,
            billed_units: read.billed_units.map(units),
            passes: match own.as_slice() {
                [first, .., last] => Some(Passes { first: first.tokens.usage(), last: last.tokens.usage() }),
                _ => None,
            },
            others: std::array::from_fn(|_| others.next()),
            ..Self::default()
        }
    }
}

impl From<&ReadPass> for OtherPasses {
    fn from(read: &ReadPass) -> Self {
        Self {
            kind: read.kind,
            model: read.model.as_deref().and_then(resolve).map(|resolved| resolved.id),
            passes: read.passes,
            usage: read.tokens.usage(),
            longest_prompt_tokens: read.longest_prompt_tokens.0,
        }
    }
}

impl ReadPass {
    fn is_own(&self) -> bool {
        self.kind == PassKind::Message && self.model.is_none()
    }
}

impl ReadTokens {
    const fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input_tokens.0,
            cache_read_input_tokens: self.cache_read_input_tokens.0,
            ephemeral_5m_input_tokens: self.ephemeral_5m_input_tokens.0,
            ephemeral_1h_input_tokens: self.ephemeral_1h_input_tokens.0,
            output_tokens: self.output_tokens.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, ServiceTier, Stored, StoredSizes, TOKENS_MAX};
    use serde_json::json;

    #[test]
    fn sizes_come_back_as_they_were_stored() {
        let prompts: [&[u64]; 6] = [&[5, 9, 12], &[5, 9, 11, 20], &[5, 9, 11, 20], &[], &[7], &[5, 9]];
        let (mut written, mut read) = (Vec::new(), Vec::new());
        for prompt in prompts {
            let stored = StoredSizes::of(prompt, &written);
            read = stored.cumulative(&read).unwrap_or_default();
            assert_eq!(read, prompt);
            written = prompt.to_vec();
        }
    }

    #[test]
    fn unknown_words_are_errors() {
        let read = |name: &str, word: &str| {
            let mut stored = json!({"scope": 0, "path": "a", "session": 0, "format": "bodies", "provider": "anthropic",
                "dialect": "messages", "altered": false, "tier": "standard"});
            stored[name] = word.into();
            serde_json::from_value::<Stored>(stored).map_err(|error| error.to_string())
        };
        assert_eq!(read("tier", "batch").map(|stored| stored.tier), Ok(ServiceTier::Batch));
        assert_eq!(read("tier", "gold").unwrap_err(), "found tier `gold`, which is unknown");
        assert_eq!(read("dialect", "smtp").unwrap_err(), "found dialect `smtp`, which is unknown");
    }

    #[test]
    fn impossible_sizes_are_dropped() {
        let forged = |same_blocks, own: &[u64]| StoredSizes {
            same_blocks,
            own_tokens: own.iter().copied().map(Count).collect(),
        };
        assert_eq!(forged(2, &[1]).cumulative(&[5]), None);
        assert_eq!(forged(1, &[TOKENS_MAX]).cumulative(&[5]), None);
        assert_eq!(forged(0, &[TOKENS_MAX]).cumulative(&[5]), Some(vec![TOKENS_MAX]));
    }
}
