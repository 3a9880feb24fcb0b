//! Usage of one answer. The usual object is read here without building it; whatever is unusual goes the way of all other
//! answers of the Messages API, so that one place decides what usage means.

use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::wire::{TOKENS_MAX, Usage};

use super::scan::{Broken, Cursor, whole};
use crate::exchange::RecordedUsage;
use crate::response;

/// Reads a usage object.
pub(super) fn read(raw: &[u8]) -> Result<RecordedUsage, String> {
    match usual(raw) {
        Ok(Some(usage)) => Ok(usage),
        _ => response::usage_of_messages(raw),
    }
}

#[derive(Default)]
struct Counts {
    input: Option<u64>,
    read: u64,
    written: Option<u64>,
    short: Option<u64>,
    long: Option<u64>,
    output: u64,
    tier: Option<ServiceTier>,
    fast: Option<bool>,
    geo_us: Option<bool>,
}

/// `None` where something is unusual: null counts, fractions, several passes, fees, an unknown tier.
fn usual(raw: &[u8]) -> Result<Option<RecordedUsage>, Broken> {
    let cursor = &mut Cursor::new(raw);
    let mut counts = Counts::default();
    if !cursor.enter(b'{')? {
        return Ok(None);
    }
    while let Some(key) = cursor.key()? {
        if !counts.member(key, cursor)? {
            return Ok(None);
        }
    }
    Ok(counts.recorded())
}

impl Counts {
    /// Whether the member is a usual one.
    fn member(&mut self, key: &[u8], cursor: &mut Cursor<'_>) -> Result<bool, Broken> {
        let known = match key {
            b"input_tokens" => set(&mut self.input, count(cursor.skip()?)),
            b"cache_read_input_tokens" => set_plain(&mut self.read, count(cursor.skip()?)),
            b"cache_creation_input_tokens" => set(&mut self.written, count(cursor.skip()?)),
            b"output_tokens" => set_plain(&mut self.output, count(cursor.skip()?)),
            b"cache_creation" => return self.lifetimes(cursor),
            b"service_tier" => match cursor.string()? {
                Some(b"standard") => set(&mut self.tier, Some(ServiceTier::Standard)),
                _ => false,
            },
            b"speed" => match cursor.string()? {
                Some(speed) => set(&mut self.fast, Some(speed == b"fast")),
                None => true,
            },
            b"inference_geo" => match cursor.string()? {
                Some(b"not_available") | None => true,
                Some(geo) => set(&mut self.geo_us, Some(geo == b"us")),
            },
            b"server_tool_use" => return no_pieces(cursor),
            b"iterations" => return one_pass(cursor),
            _ => false,
        };
        Ok(known)
    }

    fn lifetimes(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Broken> {
        if !cursor.enter(b'{')? {
            return Ok(false);
        }
        let mut known = true;
        while let Some(key) = cursor.key()? {
            let value = count(cursor.skip()?);
            known &= match key {
                b"ephemeral_5m_input_tokens" => set(&mut self.short, value),
                b"ephemeral_1h_input_tokens" => set(&mut self.long, value),
                _ => false,
            };
        }
        Ok(known)
    }

    fn recorded(&self) -> Option<RecordedUsage> {
        let (short, long) = (self.short?, self.long?);
        if self.written != short.checked_add(long) {
            return None;
        }
        let usage = Usage {
            input_tokens: self.input?,
            cache_read_input_tokens: self.read,
            ephemeral_5m_input_tokens: short,
            ephemeral_1h_input_tokens: long,
            output_tokens: self.output,
        };
        let (tier, fast, geo_us) = (self.tier, self.fast, self.geo_us);
        Some(RecordedUsage { usage, split_by_ttl: true, tier, fast, geo_us, ..RecordedUsage::default() })
    }
}

fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    *place = value;
    place.is_some()
}

fn set_plain(place: &mut u64, value: Option<u64>) -> bool {
    *place = value.unwrap_or(0);
    value.is_some()
}

/// A count of tokens, held to the same bound as in all other answers.
pub(super) fn count(raw: &[u8]) -> Option<u64> {
    whole(raw).filter(|count| *count <= TOKENS_MAX)
}

/// Whether nothing that is charged by the piece was used.
fn no_pieces(cursor: &mut Cursor<'_>) -> Result<bool, Broken> {
    if !cursor.enter(b'{')? {
        return Ok(false);
    }
    let mut none = true;
    while cursor.key()?.is_some() {
        none &= cursor.skip()? == b"0";
    }
    Ok(none)
}

/// Whether there is at most one pass, and that an ordinary one.
fn one_pass(cursor: &mut Cursor<'_>) -> Result<bool, Broken> {
    if cursor.peek() == Some(b'n') {
        cursor.skip()?;
        return Ok(true);
    }
    if !cursor.enter(b'[')? {
        return Ok(false);
    }
    let (mut passes, mut ordinary) = (0, true);
    while cursor.element()? {
        let pass = cursor.skip()?;
        passes += 1;
        ordinary &= memchr::memmem::find(pass, b"compaction").is_none();
    }
    Ok(passes <= 1 && ordinary)
}
