//! Requests with thinking that the provider rejects, because other content is before it than when it was made.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{NoteKind, Noted, Rule, ShownBy, Violation};
use super::identity::{Relative, Whose};
use super::refusal::Refusals;
use super::rules::{Rules, Severity};
use super::sent::Facts;
use crate::diagnosis::{
    AnsweredThinking, Circumstances, JudgedThinking, OpenRule, Outcome, Subject, ThinkingCheck, ThinkingRemark,
    ThinkingTurn, outcome, refusal_of_thinking,
};
use crate::pricing::ServiceTier;
use crate::wire::{BlockId, BlockKind, Level, Place, Request, Role, Wire, is_in_a_cloud, json};

/// The check, and the first rejected request of each chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Thinking {
    check: ThinkingCheck,
    rejected: Refusals,
    /// Recorded errors by chain.
    recorded: BTreeMap<Option<String>, RecordedErrors>,
    /// How many recorded errors were taken, whatever they are about.
    errors: usize,
    /// Models for which something was found, though what they do with it is not known.
    open: BTreeSet<String>,
    /// A request to a model that checks was taken.
    pub is_asked: bool,
}

/// The recorded errors about the thinking of a chain.
#[derive(Clone, Debug)]
struct RecordedErrors {
    /// The first message, and what the provider expects.
    first: String,
    /// Its position among all recorded errors.
    position: usize,
    expected: &'static str,
    requests: usize,
}

impl RecordedErrors {
    fn words(&self) -> String {
        match self.requests {
            1 => "a recorded request that was refused".to_owned(),
            requests => format!("{requests} recorded requests that were refused, the first"),
        }
    }
}

impl Thinking {
    /// Takes a request; `whose` is its identity. Returns the provider's error, or notes where the check does not fail.
    pub fn take<T: Relative>(
        &mut self,
        wire: &Wire,
        taken: &Subject,
        facts: &Facts<'_>,
        whose: &Whose<T>,
        rules: &Rules,
    ) -> (Option<String>, Vec<Noted>) {
        if rules.thinking == Severity::Off {
            return (None, Vec::new());
        }
        let judged = self.judge(wire, taken, facts, whose, rules);
        let mut remarks = remarks(&judged, facts);
        let mut error = None;
        if let Some(rejected) = judged.rejected {
            if rejected.outcome.refuses() && facts.usage.is_none() && rules.thinking == Severity::Fail {
                error = Some(rejected.to_string());
                self.rejected.add(&whose.lane, taken.number, rejected.path, rejected.answer, rejected.expected);
            } else {
                let is_open = matches!(rejected.outcome, Outcome::Unknown | Outcome::UnknownModel);
                self.open.extend(is_open.then(|| taken.request.model.clone()));
                let words = rejected.told(answered(facts), facts.usage.is_some());
                remarks.push((NoteKind::ThinkingUnbound, ThinkingRemark { path: rejected.path, words }));
            }
        }
        let noted = |(kind, ThinkingRemark { path, words })| Noted {
            answer: Some(words),
            ..Noted::new(&whose.lane.name, taken.number, kind, path)
        };
        (error, remarks.into_iter().map(noted).collect())
    }

    fn judge<T: Relative>(
        &mut self,
        wire: &Wire,
        taken: &Subject,
        facts: &Facts<'_>,
        whose: &Whose<T>,
        rules: &Rules,
    ) -> JudgedThinking {
        let (request, circumstances) = (&taken.request, circumstances(facts, rules));
        self.is_asked |= outcome(request, &circumstances).is_some_and(|outcome| outcome != Outcome::UnknownModel);
        let (chain, parent) = (whose.lane.chain, whose.parent());
        let previous = whose.previous.as_ref().map(Relative::request);
        self.check.take(&ThinkingTurn { wire, request, chain, previous, parent, circumstances })
    }

    /// Takes a recorded error; others than those about thinking do not matter.
    pub fn refused(&mut self, chain: Option<&str>, message: &str, rules: &Rules) {
        let position = self.errors;
        self.errors += 1;
        let Some(expected) = refusal_of_thinking(message).filter(|_| rules.thinking != Severity::Off) else { return };
        self.is_asked = true;
        let first = RecordedErrors { first: message.to_owned(), position, expected, requests: 0 };
        self.recorded.entry(chain.map(str::to_owned)).or_insert(first).requests += 1;
    }

    /// Forgets what belongs to a wire that is replaced.
    pub fn renew(&mut self) {
        self.check.renew();
    }

    /// One violation for each chain, and one for each with recorded errors.
    pub fn violations(&self, rules: &Rules) -> impl Iterator<Item = Violation> {
        let recorded = self.recorded.iter().filter(|_| rules.thinking == Severity::Fail);
        let recorded = recorded.map(|(chain, errors)| Violation {
            rule: Rule::Thinking,
            chain: chain.clone(),
            shown_by: Some(ShownBy::RecordedError(errors.position)),
            path: String::new(),
            what: errors.words(),
            found: format!("HTTP 400: {}", errors.first),
            expected: errors.expected.to_owned(),
        });
        self.rejected.violations(Rule::Thinking, str::to_owned).chain(recorded)
    }

    /// What is not known, and recorded errors that are allowed, in words.
    pub fn warnings(&self, rules: &Rules) -> impl Iterator<Item = String> {
        let allowed = self.recorded.values().filter(|_| rules.thinking == Severity::Note);
        let allowed = allowed.map(|errors| format!("Allowed by the rules: {}: {}", errors.words(), errors.first));
        self.open.iter().map(|model| OpenRule::ThinkingCheck.warning(model)).chain(allowed)
    }
}

/// What there is to know of thinking in a request besides the rejected.
fn remarks(judged: &JudgedThinking, facts: &Facts<'_>) -> Vec<(NoteKind, ThinkingRemark)> {
    let dropped = answered(facts).filter(|answered| answered.dropped > 0 && judged.rejected.is_none());
    let dropped = dropped.map(|answered| ThinkingRemark { path: String::new(), words: answered.dropped_words() });
    let dropped = judged.unread.clone().or(dropped).map(|remark| (NoteKind::ThinkingDropped, remark));
    let altered = judged.altered.clone().map(|remark| (NoteKind::ThinkingAltered, remark));
    dropped.into_iter().chain(altered).collect()
}

/// What decides the outcome for a request besides its body.
fn circumstances(facts: &Facts<'_>, rules: &Rules) -> Circumstances {
    let batch = facts.price.is_some_and(|price| price.tier == ServiceTier::Batch);
    Circumstances { account_created: rules.account_created, batch, ..Circumstances::default() }.at(facts.recorded_at)
}

/// What the recorded answer says about thinking.
fn answered(facts: &Facts<'_>) -> Option<AnsweredThinking> {
    facts.price.and_then(|price| price.answer.thinking)
}

/// Why the provider refuses a request with thinking, whatever was sent before it.
pub(super) struct RefusedThinking {
    pub place: Place,
    /// Its words.
    pub answer: String,
    pub expected: &'static str,
}

/// The first block of a request because of which its provider refuses it. Bodies in other spellings pass: what a router or Converse
/// makes of them is not known.
pub(super) fn refused(wire: &Wire, request: &Request) -> Option<RefusedThinking> {
    let is_passed = !request.has_modelled_cache() || request.addresses.is_some();
    if is_passed {
        return None;
    }
    let of_blocks = || unsigned(wire, request).or_else(|| doubled(wire, request));
    let is_signed = wire.blocks.has_kind(BlockKind::Thinking) && is_claude(request);
    is_signed.then(of_blocks).flatten().or_else(|| unthought(wire, request))
}

/// Whether its model signs thinking: servers with other models do not.
fn is_claude(request: &Request) -> bool {
    is_in_a_cloud(&request.envelope, request.resolved)
        || match request.resolved {
            Some(resolved) => resolved.id.row().claude.is_some(),
            None => request.model.to_ascii_lowercase().contains("claude"),
        }
}

/// Thinking that the latest answer has twice (openclaw 103587, 2026).
fn doubled(wire: &Wire, request: &Request) -> Option<RefusedThinking> {
    let new = request.nodes.iter().zip(&request.places).skip(request.known);
    let mut seen: BTreeSet<BlockId> = BTreeSet::new();
    let mut answer = None;
    let mut place = None;
    for (node, at) in new.filter(|(_, at)| at.level == Level::Messages && !at.keys) {
        let Some(block) = wire.prefixes.block(*node) else { continue };
        if wire.blocks.role(block) == Role::Assistant && answer != Some(at.item) {
            (answer, place) = (Some(at.item), None);
            seen.clear();
        }
        if wire.blocks.kind(block) == BlockKind::Thinking && !seen.insert(block) {
            place = place.or(Some(*at));
        }
    }
    let place = place?;
    let answer = format!(
        "messages.{}.content.{}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. \
         These blocks must remain as they were in the original response.",
        place.item, place.part
    );
    Some(RefusedThinking { place, answer, expected: "each thinking block once, as it was answered" })
}

/// Thinking that no earlier request had, with an empty signature (codex2api 613, ccs 415, 2026) or without one (openclaw 120596,
/// pi 1523, 2026); the same of the data of redacted thinking (claude-code 56708, OmniRoute 2191, 2026).
fn unsigned(wire: &Wire, request: &Request) -> Option<RefusedThinking> {
    let new = request.nodes.iter().zip(&request.places).skip(request.known);
    let fault = |block: BlockId| {
        let blocks = &wire.blocks;
        if blocks.kind(block) != BlockKind::Thinking || blocks.is_outline(block) {
            return None;
        }
        let member = |key: &[u8]| json::member(blocks.bytes(block), key);
        let is_redacted = member(b"\"type\"") == Some(b"\"redacted_thinking\"");
        match (is_redacted, member(if is_redacted { b"\"data\"" } else { b"\"signature\"" })) {
            (false, Some(b"\"\"")) => Some(": Invalid `signature` in `thinking` block"),
            (false, None) => Some(".thinking.signature: Field required"),
            (true, Some(b"\"\"")) => Some(": Invalid `data` in `redacted_thinking` block"),
            (true, None) => Some(".redacted_thinking.data: Field required"),
            _ => None,
        }
    };
    let mut found = new.filter_map(|(node, place)| Some((*place, wire.prefixes.block(*node).and_then(fault)?)));
    let (place, fault) = found.next()?;
    let Place { item, part, .. } = place;
    let answer = format!("messages.{item}.content.{part}{fault}");
    Some(RefusedThinking { place, answer, expected: "thinking with the signature that came with it, or left out" })
}

/// A tool loop that did not begin with thinking, sent with thinking on. Bedrock and Vertex refuse it (opencode 3077, 2025-10, and
/// kilocode 5219, 2026-01, both to 4.5) for models that think only so; Sonnet 4.6 and Opus 4.6 answer without thinking (pydantic-ai
/// 5304, 2026), and newer ones know adaptive thinking alone. What Anthropic itself does since 2025-11 is not known.
fn unthought(wire: &Wire, request: &Request) -> Option<RefusedThinking> {
    const NEWEST: (u8, u8) = (4, 5);
    let kind = json::member(request.envelope_value("thinking")?, b"\"type\"")?;
    let version = request.resolved.and_then(|resolved| resolved.id.row().claude).map(|(_, version)| version);
    if kind != b"\"enabled\""
        || !is_in_a_cloud(&request.envelope, request.resolved)
        || version.is_some_and(|version| version > NEWEST)
    {
        return None;
    }
    let (place, block) = loop_start(wire, request)?;
    let kind = wire.blocks.kind(block);
    if !matches!(kind, BlockKind::Text | BlockKind::ToolUse) {
        return None;
    }
    let answer = format!(
        "messages.{}.content.{}.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a \
         final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and \
         `tool_result` blocks).",
        place.item,
        place.part,
        kind.name()
    );
    Some(RefusedThinking {
        place,
        answer,
        expected: "the thinking before a tool call sent back with it, or thinking off",
    })
}

/// The first block of the answer that the newest tool results go back to: that of the first of its messages.
fn loop_start(wire: &Wire, request: &Request) -> Option<(Place, BlockId)> {
    let (mut end, mut is_answered, mut first) = (request.nodes.len(), false, None);
    let messages = request.places.chunk_by(|one, other| (one.level, one.item) == (other.level, other.item));
    for places in messages.rev().take_while(|places| places[0].level == Level::Messages) {
        let nodes = &request.nodes[end - places.len()..end];
        end -= places.len();
        let blocks = nodes.iter().zip(places).filter(|(_, place)| !place.keys);
        let blocks: Vec<_> = blocks.filter_map(|(node, at)| Some((*at, wire.prefixes.block(*node)?))).collect();
        let Some(start) = blocks.first().copied() else { continue };
        let has = |kind| blocks.iter().any(|(_, block)| wire.blocks.kind(*block) == kind);
        match wire.blocks.role(start.1) {
            Role::User if has(BlockKind::ToolResult) => is_answered = true,
            Role::Assistant if is_answered && has(BlockKind::ToolUse) => first = Some(start),
            Role::User => break,
            _ => return None,
        }
    }
    first
}
