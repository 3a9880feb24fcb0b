//! Normal forms: prompts that the provider is believed to treat as equal.
//!
//! Envelope keys are sorted and breakpoints left out; key order inside tool inputs and schemas stays, because it
//! reaches the model. Sources: `providers.md` 1.7 and 2.1 (Anthropic prompt-caching page, 2026-09), `clients.md` 9.

use super::json::{self, Member, ScanError};
use super::level::Level;
use super::marker::Ttl;

/// Switches of the normal form. The presets of the cache room set them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NormalForms {
    /// A plain string is the same as a list of one text block. Confirmed on 41 recorded requests (2026-08).
    pub string_is_block: bool,
    /// Tool results of one message are put into the order of their calls. Undocumented, seen in recordings (2026-08).
    pub results_sorted: bool,
    /// Models that do not keep thinking lose earlier thinking blocks at a user turn (prompt-caching page, 2026-09).
    pub thinking_stripped: bool,
    /// Adding the first image to a prompt, or removing the last, changes the messages level (page of 2026-09). Off by
    /// default because the page says "anywhere in the prompt" and recordings neither confirm nor refute it.
    pub images_in_level: bool,
    /// The level at which a change of `thinking` or effort breaks the prefix. The page says "model-specific" above
    /// messages.
    pub thinking_level: Level,
}

impl NormalForms {
    /// The forms of the default preset.
    pub const DEFAULT: Self = Self {
        string_is_block: true,
        results_sorted: true,
        thinking_stripped: true,
        images_in_level: false,
        thinking_level: Level::Messages,
    };
}

impl Default for NormalForms {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The key that carries a breakpoint.
pub(super) const MARKER_KEY: &[u8] = b"\"cache_control\"";

/// Deepest envelope: message block, nested block, its source. Anything deeper is content, and stays as sent.
const ENVELOPE_DEPTH_MAX: u8 = 4;

/// The raw members of an object as the provider sees them: the last of duplicate keys, no breakpoint, no order.
pub fn envelope(raw: &[u8]) -> Result<Vec<Member<'_>>, ScanError> {
    Ok(enveloped(&json::members(raw).collect::<Result<Vec<_>, _>>()?))
}

/// The same for members that were already read.
pub fn enveloped<'a>(members: &[Member<'a>]) -> Vec<Member<'a>> {
    let mut fields: Vec<Member<'_>> = Vec::with_capacity(members.len());
    for (key, value) in members.iter().filter(|(key, _)| *key != MARKER_KEY) {
        match fields.iter_mut().find(|(known, _)| known == key) {
            Some(field) => field.1 = value,
            None => fields.push((key, value)),
        }
    }
    fields.sort_by_key(|(key, _)| *key);
    fields
}

/// The breakpoint among these members of an object, if any.
pub fn marker(members: &[Member<'_>]) -> Option<Ttl> {
    members.iter().rev().find(|(key, _)| *key == MARKER_KEY).and_then(|(_, value)| ttl(value))
}

/// The lifetime that a `cache_control` value asks for; `None` for `null`.
pub fn ttl(cache_control: &[u8]) -> Option<Ttl> {
    if json::is_null(cache_control) {
        return None;
    }
    match json::member(cache_control, b"\"ttl\"") {
        Some(b"\"1h\"") => Some(Ttl::OneHour),
        _ => Some(Ttl::FiveMinutes),
    }
}

/// Canonical bytes of an envelope object: its keys sorted, also in blocks of `content` lists; the rest as sent.
pub fn push_envelope(members: &[Member<'_>], forms: &NormalForms, out: &mut Vec<u8>) -> Result<(), ScanError> {
    push_fields(enveloped(members), forms, ENVELOPE_DEPTH_MAX, out)
}

fn push_nested(raw: &[u8], forms: &NormalForms, depth_left: u8, out: &mut Vec<u8>) -> Result<(), ScanError> {
    push_fields(envelope(raw)?, forms, depth_left, out)
}

fn push_fields(
    fields: Vec<Member<'_>>,
    forms: &NormalForms,
    depth_left: u8,
    out: &mut Vec<u8>,
) -> Result<(), ScanError> {
    out.push(b'{');
    for (index, (key, value)) in fields.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        json::normalise_value(key, out);
        out.push(b':');
        push_field(key, value, forms, depth_left, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn push_field(
    key: &[u8],
    value: &[u8],
    forms: &NormalForms,
    depth_left: u8,
    out: &mut Vec<u8>,
) -> Result<(), ScanError> {
    match (key, value.first()) {
        (b"\"content\"", Some(b'[')) if depth_left > 0 => push_list(value, forms, depth_left - 1, out),
        (b"\"content\"", Some(b'"')) if forms.string_is_block => {
            out.push(b'[');
            push_text_block(value, out);
            out.push(b']');
            Ok(())
        }
        (b"\"source\"", Some(b'{')) if depth_left > 0 => push_nested(value, forms, depth_left - 1, out),
        _ => {
            json::normalise_value(value, out);
            Ok(())
        }
    }
}

fn push_list(raw: &[u8], forms: &NormalForms, depth_left: u8, out: &mut Vec<u8>) -> Result<(), ScanError> {
    out.push(b'[');
    for (index, element) in json::elements(raw).enumerate() {
        let element = element?;
        if index > 0 {
            out.push(b',');
        }
        match element.first() {
            Some(b'{') => push_nested(element, forms, depth_left, out)?,
            _ => json::normalise_value(element, out),
        }
    }
    out.push(b']');
    Ok(())
}

/// Canonical bytes of the text block that a raw JSON string means.
pub fn push_text_block(raw_string: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"text\":");
    json::normalise_value(raw_string, out);
    out.extend_from_slice(b",\"type\":\"text\"}");
}

/// Canonical bytes of an object of unknown meaning: its keys in their order, only the breakpoint left out.
pub fn push_opaque(raw: &[u8], out: &mut Vec<u8>) -> Result<(), ScanError> {
    if raw.first() != Some(&b'{') {
        json::normalise_value(raw, out);
        return Ok(());
    }
    let members: Vec<_> = json::members(raw).collect::<Result<_, _>>()?;
    push_members(members.into_iter().filter(|(key, _)| *key != MARKER_KEY), out);
    Ok(())
}

/// Canonical bytes of a parameter value: all keys sorted at its own level, nested values as sent.
pub fn push_parameter(raw: &[u8], without: &[&[u8]], out: &mut Vec<u8>) -> Result<(), ScanError> {
    if raw.first() != Some(&b'{') {
        json::normalise_value(raw, out);
        return Ok(());
    }
    push_members(envelope(raw)?.into_iter().filter(|(key, _)| !without.contains(key)), out);
    Ok(())
}

/// An object of these raw members in the normal spelling.
pub fn push_members<'a>(members: impl Iterator<Item = (&'a [u8], &'a [u8])>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (key, value)) in members.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        json::normalise_value(key, out);
        out.push(b':');
        json::normalise_value(value, out);
    }
    out.push(b'}');
}
