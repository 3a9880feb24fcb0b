//! Requests that the provider rejects with HTTP 400 because of their breakpoints.
//!
//! Known texts are the provider's own, because clients and logs search for them.

use std::fmt;

use super::rules::Rules;
use crate::wire::{BadMarkerWhy, Level, Marker, Place, Request, Ttl, json};

/// A request that the provider refuses: HTTP 400, `invalid_request_error`. Nothing is read, written or billed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// More breakpoints than allowed (anthropics/claude-code#8901, tghamm/Anthropic.SDK#50).
    TooManyBreakpoints {
        /// Number found.
        found: usize,
        /// Number allowed.
        max: usize,
    },
    /// A one-hour breakpoint after a five-minute one (claude-code#38320, agno#8406).
    TtlOrder {
        /// Path of the block, in the provider's spelling.
        path: String,
    },
    /// A breakpoint on something that has no such field: thinking (Antigravity-Manager#744), a message (ax-llm/ax#517).
    NotAllowed {
        /// Path of the block, in the provider's spelling.
        path: String,
    },
    /// A breakpoint on a text block without text (claude-code#50082).
    EmptyText {
        /// Path of the block, in the provider's spelling.
        path: String,
    },
    /// A breakpoint on a tool with deferred loading (claude-code#30920, CLIProxyAPI#4561). The provider's text has the
    /// tool's name instead of its path.
    Deferred {
        /// Path of the tool, in the provider's spelling.
        path: String,
    },
    /// A breakpoint on a tool in a request to Amazon's Nova (hermes-agent#97281, LibreChat#13838). Converse counts the
    /// breakpoint as an element of the list.
    NovaTool {
        /// Number of the tool in the list.
        tool: u32,
    },
    /// A breakpoint within the content of a tool result (hermes-agent#89886, langchain#34920).
    WithinResult {
        /// Path of the part, in the provider's spelling.
        path: String,
    },
    /// The automatic breakpoint and an explicit one on the same block differ in lifetime. The wording is not known.
    AutomaticConflict {
        /// Lifetime of the top-level field.
        automatic: Ttl,
        /// Lifetime of the block.
        explicit: Ttl,
    },
    /// One hour asked of a model that has five minutes only on Bedrock: Claude before 4.5 (earendil-works/pi#1570, 2026-02,
    /// can1357/oh-my-pi#6409, 2026-07) and Nova (LibreChat-AI/agents#256), for which the provider has other words.
    LongTtl {
        /// Path of the block, in the provider's spelling.
        path: String,
    },
    /// A breakpoint for a model that Bedrock offers without prompt caching (zeroclaw-labs/zeroclaw#7312, 2026-06,
    /// strands-agents/harness-sdk#1807, 2026-03, BerriAI/litellm#39210, 2026-09).
    NoCaching,
    /// `max_tokens: 0` (pre-warming) together with something that it excludes. The provider's wording is not known.
    PreWarm {
        /// The excluded field.
        field: &'static str,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyBreakpoints { found, max } => {
                write!(f, "A maximum of {max} blocks with cache_control may be provided. Found {found}.")
            }
            Self::TtlOrder { path } => write!(
                f,
                "{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' \
                 cache_control block. Note that blocks are processed in the following order: `tools`, `system`, \
                 `messages`."
            ),
            Self::NotAllowed { path } => write!(f, "{path}.cache_control: Extra inputs are not permitted"),
            Self::EmptyText { path } => write!(f, "{path}: cache_control cannot be set for empty text blocks"),
            Self::Deferred { path } => write!(
                f,
                "{path}: Tool cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot \
                 use prompt caching."
            ),
            Self::NovaTool { tool } => write!(
                f,
                "Malformed input request: #/toolConfig/tools/{}: extraneous key [cachePoint] is not permitted, please \
                 reformat your input and try again.",
                tool + 1
            ),
            Self::WithinResult { path } => write!(
                f,
                "{path}.cache_control: cache_control may not be specified within `tool_result.content`. Instead, place it \
                 directly on `tool_result`"
            ),
            Self::AutomaticConflict { automatic, explicit } => write!(
                f,
                "cache_control: ttl='{automatic}' differs from ttl='{explicit}' of the last block, which is marked"
            ),
            Self::LongTtl { path } => write!(f, "{path}.cache_control.ttl: Extra inputs are not permitted"),
            Self::NoCaching => f.write_str(
                "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for \
                 more information.",
            ),
            Self::PreWarm { field } => write!(f, "max_tokens: 0 is not supported with {field}"),
        }
    }
}

/// Whether the provider accepts the request, judged by its breakpoints.
///
/// # Errors
/// The first reason for a refusal.
pub fn check(request: &Request, rules: &Rules) -> Result<(), Refusal> {
    if request.markers_sent > rules.breakpoints_max {
        return Err(Refusal::TooManyBreakpoints { found: request.markers_sent, max: rules.breakpoints_max });
    }
    if let Some(bad) = request.bad_markers.first() {
        let path = dotted(bad.place);
        return Err(match bad.why {
            BadMarkerWhy::Thinking => Refusal::NotAllowed { path: format!("{path}.thinking") },
            BadMarkerWhy::EmptyText => Refusal::EmptyText { path: format!("{path}.text") },
            BadMarkerWhy::Deferred => Refusal::Deferred { path },
            BadMarkerWhy::NovaTool => Refusal::NovaTool { tool: bad.place.item },
            BadMarkerWhy::LongTtl => Refusal::LongTtl { path },
            BadMarkerWhy::NoCaching => Refusal::NoCaching,
            BadMarkerWhy::OnMessage => Refusal::NotAllowed { path: format!("messages.{}", bad.place.item) },
            BadMarkerWhy::WithinResult { index } => {
                Refusal::WithinResult { path: format!("{path}.tool_result.content.{index}") }
            }
        });
    }
    if let Some((automatic, explicit)) = request.automatic_conflict {
        return Err(Refusal::AutomaticConflict { automatic, explicit });
    }
    if let Some(marker) = out_of_order(&request.markers) {
        return Err(Refusal::TtlOrder { path: dotted(marker.place) });
    }
    pre_warm(request)
}

/// The block that a refusal is about; `None` if it is about the whole request.
pub fn place(request: &Request, refusal: &Refusal) -> Option<Place> {
    match refusal {
        Refusal::TooManyBreakpoints { max, .. } => {
            request.markers.get(*max).or(request.markers.last()).map(|at| at.place)
        }
        Refusal::NotAllowed { .. }
        | Refusal::EmptyText { .. }
        | Refusal::Deferred { .. }
        | Refusal::NovaTool { .. }
        | Refusal::LongTtl { .. }
        | Refusal::NoCaching
        | Refusal::WithinResult { .. } => request.bad_markers.first().map(|bad| bad.place),
        Refusal::TtlOrder { .. } => out_of_order(&request.markers).map(|marker| marker.place),
        Refusal::AutomaticConflict { .. } => request.markers.last().map(|marker| marker.place),
        Refusal::PreWarm { .. } => None,
    }
}

/// The first one-hour breakpoint after a five-minute one.
fn out_of_order(markers: &[Marker]) -> Option<&Marker> {
    let first_short = markers.iter().position(|marker| marker.ttl == Ttl::FiveMinutes)?;
    markers[first_short..].iter().find(|marker| marker.ttl == Ttl::OneHour)
}

/// The provider's path of a block: `messages.184.content.1`.
fn dotted(place: Place) -> String {
    match place.level {
        Level::Messages => format!("messages.{}.content.{}", place.item, place.part),
        level => format!("{}.{}", level.name(), place.item),
    }
}

/// Features that `max_tokens: 0` excludes (prompt-caching page, pre-warming, 2026-09).
fn pre_warm(request: &Request) -> Result<(), Refusal> {
    if request.envelope_value("max_tokens") != Some(b"0") {
        return Ok(());
    }
    let member = |key: &str, name: &[u8]| json::member(request.envelope_value(key)?, name);
    let field = if request.envelope_value("stream") == Some(b"true") {
        "stream"
    } else if member("thinking", b"\"type\"") == Some(b"\"enabled\"") {
        "thinking.type: enabled"
    } else if member("output_config", b"\"format\"").is_some_and(|format| !json::is_null(format)) {
        "output_config.format"
    } else if matches!(member("tool_choice", b"\"type\""), Some(b"\"any\"" | b"\"tool\"")) {
        "tool_choice: any or tool"
    } else {
        return Ok(());
    };
    Err(Refusal::PreWarm { field })
}
