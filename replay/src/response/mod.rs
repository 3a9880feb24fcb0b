//! Answers of the provider: what they say about usage.

mod dialects;
mod messages;
mod sse;
mod stream;
mod tokens;

use crate::exchange::{Dialect, RecordedUsage};
use crate::formats::text::{glimpse, json_reason};

/// What one answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its usage; `None` where it has none or where it cannot be believed (then `faults` says why).
    pub usage: Option<RecordedUsage>,
    /// Why usage is missing although an answer is there.
    pub faults: Vec<String>,
    /// What was mended, for instance a stream that broke off.
    pub repairs: Vec<String>,
    /// What was seen and changes nothing, for instance stream events of an unknown kind.
    pub notes: Vec<String>,
}

impl Answer {
    /// An answer without usage, and why.
    fn without_usage(why: impl Into<String>) -> Self {
        Self { faults: vec![why.into()], ..Self::default() }
    }
}

/// Reads the body of an answer with HTTP status below 400, JSON or a stream of server-sent events.
///
/// Whether it is a stream is told by its first bytes, since recorders keep headers and bodies apart.
pub fn read(dialect: Dialect, body: &[u8]) -> Answer {
    let body = body.trim_ascii();
    match body.first() {
        None => Answer::without_usage("found an empty answer, expected JSON or a stream"),
        Some(b'{') => read_json(dialect, body),
        Some(_) => match sse::payload(body) {
            sse::Payload::Json(json) => read_json(dialect, json),
            sse::Payload::Events => stream::read(dialect, body),
            sse::Payload::Neither => Answer::without_usage(format!(
                "found {}, expected an answer in JSON or a stream of events",
                glimpse(body)
            )),
        },
    }
}

fn read_json(dialect: Dialect, body: &[u8]) -> Answer {
    if let Err(error) = serde_json::from_slice::<&serde_json::value::RawValue>(body) {
        return Answer::without_usage(format!("answer is no JSON: {}", json_reason(&error)));
    }
    match dialect {
        Dialect::Messages | Dialect::BedrockInvoke => messages::read_json(body),
        Dialect::BedrockConverse => dialects::converse(body),
        Dialect::OpenRouter => dialects::openrouter(body),
    }
}

/// A usage object in the spelling of a recorder.
pub(crate) struct Counts(tokens::Fields);

impl Counts {
    /// Reads raw JSON.
    pub fn new(raw: &[u8]) -> Result<Self, String> {
        tokens::fields(raw).map(Self)
    }

    /// The count under `name`; `None` where it is absent or null.
    pub fn get(&self, name: &str) -> Result<Option<u64>, String> {
        tokens::count(&self.0, name)
    }
}
