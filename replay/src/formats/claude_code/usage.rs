//! Usage of one answer. The common object is read here without building it; uncommon ones are read like all other
//! answers of the Messages API, so that only one place defines what usage means.

use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::wire::{TOKENS_MAX, Usage};

use crate::exchange::RecordedUsage;
use crate::formats::json::{ScanError, Scanner, member};
use crate::response;
pub(super) use crate::response::edits_of;

/// Reads the usage object of an answer of `model`.
pub(super) fn read(raw: &[u8], model: Option<&[u8]>) -> Result<RecordedUsage, String> {
    match usual(raw) {
        Ok(Some(usage)) => Ok(usage),
        _ => response::usage_of_messages(raw, model.and_then(|model| std::str::from_utf8(model).ok())),
    }
}

/// The common counts. `recorded` has what needs no check.
#[derive(Default)]
struct Counts {
    input: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    short: Option<u64>,
    long: Option<u64>,
    output: Option<u64>,
    /// Written for an hour by the only pass.
    long_of_pass: Option<u64>,
    recorded: RecordedUsage,
}

/// `None` for anything uncommon: null counts, fractions, several passes, fees, an unknown tier.
fn usual(raw: &[u8]) -> Result<Option<RecordedUsage>, ScanError> {
    let cursor = &mut Scanner::new(raw);
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
    /// Whether the member is a common one.
    fn member(&mut self, key: &[u8], cursor: &mut Scanner<'_>) -> Result<bool, ScanError> {
        let known = match key {
            b"input_tokens" => set(&mut self.input, count(cursor.value()?)),
            b"cache_read_input_tokens" => set(&mut self.read, count(cursor.value()?)),
            b"cache_creation_input_tokens" => set(&mut self.written, count(cursor.value()?)),
            b"output_tokens" => set(&mut self.output, count(cursor.value()?)),
            b"cache_creation" => return self.lifetimes(cursor),
            b"service_tier" => match cursor.string()? {
                Some(b"standard") => set(&mut self.recorded.tier, Some(ServiceTier::Standard)),
                _ => false,
            },
            b"speed" => match cursor.string()? {
                Some(speed) => set(&mut self.recorded.fast, Some(speed == b"fast")),
                None => true,
            },
            b"inference_geo" => match cursor.string()? {
                Some(b"not_available") | None => true,
                Some(geo) => set(&mut self.recorded.geo_us, Some(geo == b"us")),
            },
            b"server_tool_use" => return no_pieces(cursor),
            b"iterations" => return self.one_pass(cursor),
            _ => false,
        };
        Ok(known)
    }

    fn lifetimes(&mut self, cursor: &mut Scanner<'_>) -> Result<bool, ScanError> {
        if !cursor.enter(b'{')? {
            return Ok(false);
        }
        let mut known = true;
        while let Some(key) = cursor.key()? {
            let value = count(cursor.value()?);
            known &= match key {
                b"ephemeral_5m_input_tokens" => set(&mut self.short, value),
                b"ephemeral_1h_input_tokens" => set(&mut self.long, value),
                _ => false,
            };
        }
        Ok(known)
    }

    /// Whether there is at most one pass, and that an ordinary one of the model that answered.
    fn one_pass(&mut self, cursor: &mut Scanner<'_>) -> Result<bool, ScanError> {
        if cursor.peek() == Some(b'n') {
            cursor.value()?;
            return Ok(true);
        }
        if !cursor.enter(b'[')? {
            return Ok(false);
        }
        let (mut passes, mut ordinary) = (0, true);
        while cursor.element()? {
            passes += 1;
            ordinary &= self.pass(cursor)?;
        }
        Ok(passes <= 1 && ordinary)
    }

    /// Whether a pass is an ordinary one: a message of the model that answered.
    fn pass(&mut self, cursor: &mut Scanner<'_>) -> Result<bool, ScanError> {
        if !cursor.enter(b'{')? {
            return Ok(false);
        }
        let (mut is_message, mut names_model) = (false, false);
        self.long_of_pass = None;
        while let Some(key) = cursor.key()? {
            match key {
                b"type" => is_message = cursor.string()? == Some(b"message"),
                b"cache_creation" => {
                    self.long_of_pass = member(cursor.value()?, "ephemeral_1h_input_tokens").and_then(count);
                }
                _ => {
                    names_model |= key == b"model";
                    cursor.value()?;
                }
            }
        }
        Ok(is_message && !names_model)
    }

    fn recorded(&self) -> Option<RecordedUsage> {
        let (short, long) = (self.short?, self.long?);
        if self.written != short.checked_add(long) || self.long_of_pass.is_some_and(|own| own != long) {
            return None;
        }
        let usage = Usage {
            input_tokens: self.input?,
            cache_read_input_tokens: self.read.unwrap_or(0),
            ephemeral_5m_input_tokens: short,
            ephemeral_1h_input_tokens: long,
            output_tokens: self.output.unwrap_or(0),
        };
        Some(RecordedUsage { usage, split_by_ttl: true, ..self.recorded })
    }
}

fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    *place = value;
    place.is_some()
}

/// A whole number as written.
pub(super) fn whole(raw: &[u8]) -> Option<u64> {
    if raw.is_empty() || raw.len() > 19 {
        return None;
    }
    raw.iter().try_fold(0_u64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
}

/// A count of tokens, with the same limit as in all other answers.
pub(super) fn count(raw: &[u8]) -> Option<u64> {
    whole(raw).filter(|count| *count <= TOKENS_MAX)
}

/// Whether nothing was used that has a fee per use.
fn no_pieces(cursor: &mut Scanner<'_>) -> Result<bool, ScanError> {
    if !cursor.enter(b'{')? {
        return Ok(false);
    }
    let mut none = true;
    while cursor.key()?.is_some() {
        none &= cursor.value()? == b"0";
    }
    Ok(none)
}
