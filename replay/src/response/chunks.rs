//! Streams whose counts are cumulative: the last event with usage counts.

use super::Answer;
use super::payload::{Event, Events};
use crate::formats::json::member_text;
use crate::formats::text::json_reason;

/// The maximum number of listed damaged events of one stream; further ones are counted.
const FAULTS_LISTED: usize = 4;

/// The events of a dialect.
pub(super) struct Grammar {
    /// Whether an event carries usage.
    pub carries: fn(&[u8]) -> bool,
    /// Whether an event ends the answer, so that no count can grow any more.
    pub ends: fn(&[u8]) -> bool,
    /// Reads an event that carries usage.
    pub read: fn(&[u8]) -> Answer,
    /// The message if no event carries usage.
    pub missing: &'static str,
}

/// Reads a stream.
pub(super) fn read(events: &Events<'_>, grammar: &Grammar) -> Answer {
    let mut damage = Damage::default();
    let (mut carrier, mut ended, mut model) = (None, false, None);
    for event in &events.list {
        ended |= is_done(&event.data);
        if !damage.passes(event) {
            continue;
        }
        carrier = (grammar.carries)(&event.data).then_some(event).or(carrier);
        ended |= (grammar.ends)(&event.data);
        model = model.or_else(|| member_text(&event.data, "model"));
    }
    let mut answer = carrier.map(|event| (grammar.read)(&event.data)).unwrap_or_default();
    answer.model = answer.model.or(model.map(|model| model.into_owned()));
    let count = events.list.len();
    let cause = events.cut.clone().or_else(|| damage.broken_off.take());
    if carrier.is_none() {
        let (cause, missing) = (cause.as_ref().map_or(String::new(), |cause| format!(" ({cause})")), grammar.missing);
        let broken = if ended { String::new() } else { format!(", which breaks off after {count} events{cause}") };
        answer.faults.push(format!("{missing} of the stream{broken}"));
    } else if !ended || events.cut.is_some() {
        let cause = cause.unwrap_or_else(|| "nothing says that the answer ended".to_owned());
        answer.repairs.push(format!("the stream breaks off after {count} events ({cause})"));
        if let Some(usage) = &mut answer.usage {
            usage.output_is_start_value = true;
        }
    }
    answer.faults.extend(events.faults.iter().cloned());
    damage.report(&mut answer.faults);
    answer
}

/// The data that `OpenAI` and providers with its API send after the last chunk.
pub(super) fn is_done(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]"
}

/// Events that are not JSON.
#[derive(Default)]
pub(super) struct Damage {
    whole: usize,
    listed: Vec<String>,
    beyond: usize,
    /// The fault of the last event, where the stream broke off.
    pub broken_off: Option<String>,
}

impl Damage {
    /// Whether an event is JSON; otherwise it is noted.
    pub fn passes(&mut self, event: &Event<'_>) -> bool {
        if is_done(&event.data) {
            return false;
        }
        let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&event.data) else {
            self.whole += 1;
            return true;
        };
        let what = format!("event {}: {}", self.whole, json_reason(&error));
        match event.last {
            true => self.broken_off = Some(what),
            false if self.listed.len() < FAULTS_LISTED => self.listed.push(what),
            false => self.beyond += 1,
        }
        false
    }

    /// The number of events that were JSON.
    pub const fn whole(&self) -> usize {
        self.whole
    }

    /// Reports the noted events.
    pub fn report(self, faults: &mut Vec<String>) {
        faults.extend(self.listed);
        if self.beyond > 0 {
            faults.push(format!("{} more damaged events", self.beyond));
        }
    }
}
