//! Requests that the provider answers with HTTP 400, unless a finding reports it: nothing is read, written or billed,
//! and the chain's next request finds nothing in the cache.

use std::collections::BTreeMap;

use super::finding::{Finding, NoteKind, Noted, Rule, Violation};
use super::identity::Lane;
use super::rules::{Rules, Severity};
use super::sent::Facts;
use super::thinking;
use crate::cache::{Refusal, refusal};
use crate::diagnosis::{Cause, Subject};
use crate::wire::model::Platform;
use crate::wire::{BlockKind, ChainId, Level, Maker, Place, Request, Wire, json};

/// The first request of each chain that its provider does not take as it is, and how many more there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    chains: BTreeMap<ChainId, Refused>,
}

#[derive(Clone, Debug)]
struct Refused {
    chain: String,
    request: usize,
    path: String,
    answer: String,
    expected: &'static str,
    more: usize,
}

impl Refusals {
    /// Adds the request `number` of a chain, with the place, the provider's answer, and what it expects.
    pub fn add(&mut self, lane: &Lane, number: usize, path: String, answer: String, expected: &'static str) {
        let first = Refused { chain: lane.name.clone(), request: number, path, answer, expected, more: 0 };
        self.chains.entry(lane.chain).and_modify(|known| known.more += 1).or_insert(first);
    }

    /// One violation of `rule` for each chain; `found` makes a finding of the provider's answer.
    pub fn violations(&self, rule: Rule, found: fn(&str) -> String) -> impl Iterator<Item = Violation> {
        self.chains.values().map(move |refused| {
            let Refused { chain, request, path, answer, expected, more } = refused;
            let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
            let more = if *more == 0 { String::new() } else { format!(", and {more} more of the chain") };
            let what = format!("request {request}{place}{more}");
            let of_chain = Violation::new(rule, chain, what, found(answer), *expected);
            Violation { path: path.clone(), ..of_chain.of_request(*request) }
        })
    }

    /// The provider's error for a request that its rules forbid, or a note if the check's rules allow it. A recorded
    /// usage shows that the provider accepted it.
    pub fn take(
        &mut self,
        wire: &Wire,
        taken: &Subject,
        facts: &Facts<'_>,
        lane: &Lane,
        findings: &[Finding],
        rules: &Rules,
    ) -> (Option<String>, Option<Noted>) {
        let says_so = |found: &Finding| matches!(found.cause, Cause::BreakpointLimit | Cause::TtlOrder);
        let request = &taken.request;
        let (place, answer, expected) = match &taken.refusal {
            Some(_) if findings.iter().any(says_so) => return (None, None),
            Some(refusal) => (refusal::place(request, refusal), words(request, refusal), accepted(refusal)),
            None => match missing_tool(request)
                .or_else(|| empty(request))
                .or_else(|| blank(wire, request))
                .or_else(|| of_thinking(wire, request, facts, rules))
            {
                Some((place, answer, expected)) => (Some(place), answer, expected),
                None => return (None, None),
            },
        };
        let path = place.map_or_else(String::new, |place| request.path(place));
        if facts.usage.is_some() || rules.stability != Severity::Fail {
            let noted = Noted::new(&lane.name, taken.number, NoteKind::Refused, path);
            return (None, Some(Noted { answer: Some(answer), ..noted }));
        }
        self.add(lane, taken.number, path, answer.clone(), expected);
        (Some(answer), None)
    }
}

/// What the provider accepts instead.
const fn accepted(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::TooManyBreakpoints { .. } => "four breakpoints at most",
        Refusal::TtlOrder { .. } => "one-hour breakpoints before five-minute ones",
        Refusal::NotAllowed { .. } => "the breakpoint on a block that may have one, such as the one before",
        Refusal::EmptyText { .. } => "no breakpoint on an empty block: leave the block out, or mark the one before",
        Refusal::Deferred { .. } => "the breakpoint on a tool that is not deferred",
        Refusal::NovaTool { .. } => "no breakpoint among the tools of an Amazon Nova model",
        Refusal::WithinResult { .. } => "the breakpoint on the whole tool result, or after it",
        Refusal::AutomaticConflict { .. } => "one lifetime for the last block",
        Refusal::LongTtl { .. } => "five minutes, the only lifetime of this model on Bedrock",
        Refusal::NoCaching => "no breakpoints: Bedrock caches prompts of Claude and Nova only",
        Refusal::PreWarm { .. } => "a request that it accepts",
    }
}

/// A refusal because of thinking; none if a recorded usage shows that it was taken, for recorders leave signatures out.
fn of_thinking(wire: &Wire, request: &Request, facts: &Facts<'_>, rules: &Rules) -> Option<Said> {
    let is_asked = facts.usage.is_none() && rules.thinking != Severity::Off;
    let refused = is_asked.then(|| thinking::refused(wire, request))??;
    Some((refused.place, refused.answer, refused.expected))
}

/// A block, the provider's words about it, and what it expects.
type Said = (Place, String, &'static str);

/// Whether the body is one of Bedrock's Converse, which has words of its own.
fn is_converse(request: &Request) -> bool {
    let is_on_bedrock = || request.resolved.is_some_and(|model| model.platform == Platform::Bedrock);
    request.addresses.is_some() && (is_on_bedrock() || request.is_to_nova())
}

/// The provider's words (`providers.md` 1.2).
fn words(request: &Request, refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotAllowed { .. } if is_converse(request) => {
            "Cache point cannot be inserted after reasoning block. Please remove the invalid cache point and try again."
                .to_owned()
        }
        Refusal::LongTtl { .. } if request.is_to_nova() => {
            "Extended TTL prompt caching is only supported for Anthropic models".to_owned()
        }
        // A cache point with nothing before it in its message is read as one on an empty text.
        Refusal::EmptyText { .. } if is_converse(request) => {
            "There is nothing available to cache. Please remove the invalid cache point and try again.".to_owned()
        }
        // The words of the service are not known (langchain-aws#499: rejected by the schema).
        Refusal::WithinResult { .. } if is_converse(request) => {
            "cachePoint is no member of toolResult.content; it has to follow the toolResult".to_owned()
        }
        refusal => refusal.to_string(),
    }
}

/// Longest canonical form of a text, or of a tool result, that is looked at for a letter, in bytes.
const BLANK_BYTES_MAX: u64 = 256;

/// A text without a letter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blank {
    /// Nothing at all.
    Empty,
    /// White space.
    Spaces,
}

impl Blank {
    /// Of the `text` of a block, if it has none but white space.
    fn of(block: &[u8]) -> Option<Self> {
        let text = json::string(json::member(block, b"\"text\"")?)?;
        match (text.is_empty(), text.trim().is_empty()) {
            (true, _) => Some(Self::Empty),
            (_, true) => Some(Self::Spaces),
            _ => None,
        }
    }

    const fn expected(self) -> &'static str {
        match self {
            Self::Empty => "be non-empty",
            Self::Spaces => "contain non-whitespace text",
        }
    }

    /// The provider's words about a block at `place` (`providers.md` 1.2); `None` if it is not known to refuse it.
    fn words(self, request: &Request, place: Place, kind: BlockKind) -> Option<String> {
        let level = place.level;
        // Indices count the elements of the list that was sent, cache points too.
        let sent = request.path(place).replace('[', ".").replace(']', "");
        let said = format!("{}: text content blocks must {}", level.name(), self.expected());
        match (is_converse(request), level, kind) {
            (false, Level::System | Level::Messages, BlockKind::Text) => Some(said),
            (true, Level::Messages, BlockKind::ToolResult) => {
                Some(format!("The model returned the following errors: {said}"))
            }
            (true, Level::Messages, BlockKind::Text) => Some(format!(
                "The text field in the ContentBlock object at {sent} is blank. Add text to the text field, and try again."
            )),
            (true, Level::System, BlockKind::Text) if self == Self::Empty => {
                let number: u32 = sent.rsplit('.').next()?.parse().ok()?;
                Some(format!(
                    "1 validation error detected: Value at 'system.{}.member.text' failed to satisfy constraint: Member must \
                     have length greater than or equal to 1",
                    number + 1
                ))
            }
            _ => None,
        }
    }
}

/// A tool that was found and is not among the tools any more, and the provider's words (anthropics/claude-code#81863, 2026-07).
fn missing_tool(request: &Request) -> Option<Said> {
    let missing = request.missing_tool.as_ref().filter(|_| request.maker == Maker::Anthropic)?;
    let answer = format!("Tool reference '{}' not found in available tools", missing.name);
    Some((missing.place, answer, "each tool that the history names among the tools"))
}

/// The first message without any content before the newest one, and the provider's words about it.
fn empty(request: &Request) -> Option<Said> {
    let item = *without_content(request).first()?;
    let place = Place { level: Level::Messages, item, part: 0, keys: true };
    let answer = match (is_converse(request), request.maker) {
        (true, _) => format!(
            "The content field in the Message object at messages.{item} is empty. Add a ContentBlock object to the content \
             field and try again."
        ),
        (false, Maker::Anthropic) => format!(
            "messages.{item}: all messages must have non-empty content except for the optional final assistant message"
        ),
        _ => return None,
    };
    Some((place, answer, "content in each message, or no such message"))
}

/// The messages without content among those that no earlier request had, but for the newest: no block has their number.
fn without_content(request: &Request) -> Vec<u32> {
    let is_excluded = |item: &u32| request.excluded.iter().any(|block| block.place.is_of_message(*item));
    let (known, new) = request.places.split_at(request.known);
    let said = |place: &&Place| place.level == Level::Messages && place.item != Place::LEVEL_HEAD;
    let mut next = known.iter().rev().find(said).map_or(0, |last| last.item + 1);
    let mut empty = Vec::new();
    for place in new.iter().filter(said) {
        empty.extend((next..place.item).filter(|item| !is_excluded(item)));
        next = place.item + 1;
    }
    empty
}

/// The first text without a letter among the blocks that no earlier request had, and the provider's words. Caches go on as if
/// it was accepted.
fn blank(wire: &Wire, request: &Request) -> Option<Said> {
    if request.maker != Maker::Anthropic && !is_converse(request) {
        return None;
    }
    let new = request.nodes.iter().zip(&request.places).skip(request.known);
    new.filter(|(_, place)| !place.keys).find_map(|(node, place)| {
        let block = wire.prefixes.block(*node)?;
        let kind = wire.blocks.kind(block);
        if wire.blocks.is_outline(block) || wire.blocks.len_bytes(block) > BLANK_BYTES_MAX {
            return None;
        }
        let bytes = wire.blocks.bytes(block);
        let blank = match kind {
            BlockKind::Text => Blank::of(bytes),
            BlockKind::ToolResult => json::elements(json::member(bytes, b"\"content\"")?).flatten().find_map(Blank::of),
            _ => None,
        }?;
        Some((*place, blank.words(request, *place, kind)?, "text in the block, or no such block"))
    })
}
