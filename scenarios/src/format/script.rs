//! The models' answers: a list of replies for each agent.
//!
//! Every agent uses the list of its type, one reply per request; `reviewer#2` is a list for the second reviewer only,
//! `toolu_01` one for the agent that the call with this id starts, and `*` one for every agent, tried last.
//! Replies with `when` are tried before the list. `times` caps how often a reply is used for one agent; the default is
//! once.

use std::rc::Rc;

use forkcast_sim::model::{Broken, CallError, Fault, Interruption, Unseen};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::Ttl;
use serde_json::Value;

use super::outline;
use super::reading::{At, Fields, Origin, yes};

mod events;

pub use events::RawEvents;
pub(super) use events::{BARE, OPENED};

/// The replies of one agent.
#[derive(Clone, Debug)]
pub struct AgentScript {
    /// Its type or id, the id of the call that starts it, or `*` for every agent.
    pub agent: Rc<str>,
    /// The agent's number within its type, counted from one; `None` for all.
    pub instance: Option<u32>,
    /// Its place.
    pub origin: Origin,
    /// The replies in order.
    pub replies: Vec<Reply>,
}

/// A reply.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Its id, by which results of a run name it.
    pub id: Option<Rc<str>>,
    /// Its condition; without one it is used in list order.
    pub when: Option<When>,
    /// The content.
    pub content: Content,
    /// Tokens of the answer, if they are not counted.
    pub output_tokens: Option<u64>,
    /// Tokens of the answer in the prompts that follow, if they are not counted.
    pub kept_tokens: Option<u64>,
    /// Time to the first byte, if it does not follow from the tokens.
    pub first_byte_ms: Option<u64>,
    /// Time from the first byte to the end.
    pub streaming_ms: Option<u64>,
    /// Time from the first byte to the end of each block, in order.
    pub block_ends_ms: Vec<u64>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// How often it is used for one agent.
    pub times: u32,
    /// What happened to the prompt of its request.
    pub unseen: Unseen,
    /// The request goes to this model: the client has switched to it.
    pub model: Option<Rc<str>>,
}

/// The content of a reply.
#[derive(Clone, Debug)]
pub enum Content {
    /// A message: thinking, text, calls.
    Message {
        /// Thinking.
        think: Option<Rc<str>>,
        /// Text.
        say: Option<Rc<str>>,
        /// Calls of tools.
        tools: Vec<ToolCall>,
    },
    /// Raw events of a stream.
    Events(RawEvents),
}

/// The condition of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// The agent's turn, counted from zero.
    pub turn: Option<u32>,
    /// The newest message has the result of the call with this id.
    pub after: Option<Rc<str>>,
    /// The last user text contains this.
    pub user_has: Option<Rc<str>>,
    /// The last user text equals this.
    pub user_is: Option<Rc<str>>,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool.
    pub tool: Rc<str>,
    /// Its input.
    pub input: Value,
    /// Its id; by default one is generated.
    pub id: Option<Rc<str>>,
    /// Whether the model calls a tool that does not exist.
    pub missing: bool,
    /// Tokens of its result, if they are not counted.
    pub result_tokens: Option<u64>,
    /// Tokens of the notification about the task that it starts.
    pub notice_tokens: Option<u64>,
    /// Tokens of the first message of the agent that it starts.
    pub brief_tokens: Option<u64>,
    /// How long the start of the agent takes.
    pub launch_ms: Option<u64>,
    /// Its place.
    pub origin: Origin,
}

/// Reads `script`.
pub fn of(fields: &Fields<'_>) -> Vec<AgentScript> {
    let scripts = fields.must("script", |at| {
        at.named(|agent, at| {
            let (agent, instance) = match agent.split_once('#').map(|(agent, number)| (agent, number.parse())) {
                None => (agent, None),
                Some((agent, Ok(number))) => (agent, Some(number)),
                Some((_, Err(_))) => {
                    at.wrong("expected a number after `#`, as in `reviewer#2`: the second reviewer");
                    return None;
                }
            };
            Some(AgentScript { agent: agent.into(), instance, origin: at.origin(), replies: at.list(Reply::of)? })
        })
    });
    scripts.unwrap_or_default().into_iter().map(|(_, script)| script).collect()
}

impl Reply {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::REPLY)?;
        let fault = fields.may("fault", fault);
        let spoken = fields.among(&["think", "say", "tools", "events"]);
        if spoken.is_empty() && fault.is_none() {
            at.wrong("expected a reply: `think`, `say`, `tools`, `events` or a `fault`");
            return None;
        }
        if spoken.len() > 1 && spoken.contains(&"events") {
            at.wrong("expected either `events` or `think`, `say` and `tools`: raw events are the whole answer");
            return None;
        }
        Some(Self {
            id: fields.may("id", At::name),
            when: fields.may("when", When::of),
            content: Content::of(&fields)?,
            output_tokens: fields.may("output_tokens", At::tokens),
            kept_tokens: fields.may("kept_tokens", At::tokens),
            first_byte_ms: fields.may("first_byte_ms", At::number),
            streaming_ms: fields.may("streaming_ms", At::number),
            block_ends_ms: fields.list("block_ends_ms", At::number),
            fault,
            times: fields.may("times", |at| at.small(1)).unwrap_or(1),
            unseen: fields.or_default("unseen", unseen),
            model: fields.may("model", At::name),
        })
    }
}

fn unseen(at: &At<'_>) -> Option<Unseen> {
    let fields = at.fields(&outline::UNSEEN)?;
    Some(Unseen {
        changed_after_tokens: fields.may("changed_after_tokens", At::tokens),
        dropped_tokens: fields.may("dropped_tokens", At::tokens),
        tail_tokens: fields.may("tail_tokens", At::tokens),
        kept_tokens: fields.may("kept_tokens", At::tokens),
        ttl: fields.may("ttl", |at| at.word(&Ttl::WORDS)),
    })
}

impl Content {
    fn of(fields: &Fields<'_>) -> Option<Self> {
        if let Some(at) = fields.get("events") {
            return RawEvents::of(&at).map(Self::Events);
        }
        let think = fields.may("think", At::shared);
        let say = fields.may("say", At::shared);
        Some(Self::Message { think, say, tools: fields.list("tools", ToolCall::of) })
    }
}

impl When {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::WHEN)?;
        let user_has = fields.may("user_has", At::name);
        let user_is = fields.may("user_is", At::shared);
        let after = fields.may("after", At::name);
        Some(Self { turn: fields.may("turn", |at| at.small(0)), after, user_has, user_is })
    }
}

impl ToolCall {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::TOOL_CALL)?;
        let call = Self::read(&fields)?;
        Some(Self {
            missing: fields.or_default("missing", At::truth),
            result_tokens: fields.may("result_tokens", At::tokens),
            notice_tokens: fields.may("notice_tokens", At::tokens),
            brief_tokens: fields.may("brief_tokens", At::tokens),
            launch_ms: fields.may("launch_ms", At::number),
            ..call
        })
    }

    /// Reads what every call has from its fields.
    pub(super) fn read(fields: &Fields<'_>) -> Option<Self> {
        let input = fields.must("input", |at| {
            if at.has_fields() {
                return Some(at.json());
            }
            at.wrong("expected the fields of the tool's input; `{}` for none");
            None
        });
        Some(Self {
            tool: fields.must("tool", At::name)?,
            input: input?,
            id: fields.may("id", At::name),
            missing: false,
            result_tokens: None,
            notice_tokens: None,
            brief_tokens: None,
            launch_ms: None,
            origin: fields.at().origin(),
        })
    }
}

/// HTTP statuses of refusals, with the provider's error type for each (Anthropic errors page, 2026-09).
const STATUSES: [(u64, &str); 8] = [
    (400, "invalid_request_error"),
    (401, "authentication_error"),
    (403, "permission_error"),
    (413, "request_too_large"),
    (429, "rate_limit_error"),
    (500, "api_error"),
    (503, "api_error"),
    (529, "overloaded_error"),
];

/// How a stream breaks off; other fields say more of an error.
pub(super) const BREAKS: [(&str, Option<Interruption>); 4] = [
    ("reset", Some(Interruption::Broken(Broken::Reset))),
    ("silence", Some(Interruption::Broken(Broken::Silent))),
    ("closed", Some(Interruption::Closed)),
    ("error", None),
];

fn fault(at: &At<'_>) -> Option<Fault> {
    let fields = at.fields(&outline::FAULT)?;
    match fields.one_of(&["status", "lost", "breaks"])? {
        "status" => refusal(&fields),
        "lost" => fields.may("lost", yes).map(|()| Fault::Refusal(CallError::Lost)),
        _ => {
            let after_events = fields.needs("after_events", At::number)?;
            let error = stream_error(&fields);
            let how = fields.may("breaks", |at| at.word(&BREAKS))?.unwrap_or(error);
            Some(Fault::Interruption { after_events: after_events as usize, how })
        }
    }
}

fn refusal(fields: &Fields<'_>) -> Option<Fault> {
    let status = fields.may("status", |at| at.between(400, 599))?;
    let known = STATUSES.iter().find(|(known, _)| *known == status).map_or("api_error", |(_, kind)| kind);
    Some(Fault::Refusal(CallError::Refused {
        status: u16::try_from(status).unwrap_or(500),
        kind: fields.may("kind", At::name).unwrap_or_else(|| known.into()),
        message: fields.may("message", At::shared).unwrap_or_else(|| known.replace('_', " ").into()),
        retry_after: fields.may("retry_after_ms", At::number).map(Duration::from_millis),
    }))
}

fn stream_error(fields: &Fields<'_>) -> Interruption {
    let kind = fields.may("kind", At::name).unwrap_or_else(|| "overloaded_error".into());
    let message = fields.may("message", At::shared).unwrap_or_else(|| "overloaded".into());
    Interruption::Error { kind, message }
}
