//! Lines without content for the model that show what the client did.

use super::message::Blocks;
use super::record::Record;
use super::records::{Place, Records};
use super::usage::count;
use super::usage::whole;
use crate::formats::json::{elements, members, unescaped};
use crate::transcript::{InputOrigin, QueueStep, Sign, Thinking, Version, call_id};

/// Versions that record the state of thinking on prompts; in these, a prompt without it runs without thinking.
const NOTES_THINKING: std::ops::RangeInclusive<Version> = (2, 0, 64)..=(2, 1, 45);

impl<'a> Records<'a> {
    /// Progress of a tool, a hook or a sub-agent.
    pub fn progress_line(&mut self, place: Place, line: &Record<'a>, blocks: &Blocks<'a>) -> Option<u32> {
        match line.progress.kind {
            b"agent_progress" => self.message_of_agent(place, line, blocks),
            b"hook_progress" => self.hook(place, line.progress.hook),
            _ => {}
        }
        None
    }

    /// A hook ran. Several may run for one event.
    pub fn hook(&mut self, place: Place, name: Option<&[u8]>) {
        let agent = &mut self.agents[place.agent];
        if name == Some(b"SessionStart:resume") && !std::mem::replace(&mut agent.since.restarted, true) {
            self.sign(place, Sign::Restarted);
        }
        if name == Some(b"SessionStart:clear") {
            self.sign(place, Sign::Cleared);
        }
    }

    /// A line of the client itself.
    pub fn system_line(&mut self, place: Place, line: &Record<'a>) -> Option<u32> {
        let sign = match line.subtype {
            b"compact_boundary" => compacted(line.compaction),
            b"microcompact_boundary" => micro_compacted(line.compaction),
            b"api_error" => {
                self.agents[place.agent].since.failed += 1;
                let attempt = line.attempt.and_then(|attempt| u32::try_from(attempt).ok()).unwrap_or(1);
                Sign::Failed { status: line.error.and_then(status), attempt, retry_in_ms: line.retry_in_ms }
            }
            b"turn_duration" => Sign::TurnEnded { duration_ms: line.duration_ms },
            b"stop_hook_summary" => {
                self.agents[place.agent].since.queued = true;
                Sign::StopHooks
            }
            b"away_summary" => Sign::AwaySummary,
            b"local_command" => {
                let text = line.content.unwrap_or_default();
                if !text.starts_with(RECONNECTED.as_bytes()) {
                    self.command(place, text);
                    return None;
                }
                Sign::Reconnected
            }
            _ => return None,
        };
        let boundary = matches!(sign, Sign::Compacted { .. });
        let index = self.sign(place, sign);
        if boundary {
            self.agents[place.agent].compacted = Some(index);
        }
        boundary.then_some(index)
    }

    /// A prompt or a notification enters or leaves the queue.
    pub fn queue_line(&mut self, place: Place, line: &Record<'a>, keeps_content: bool) -> Option<u32> {
        if line.operation == Some(b"enqueue") {
            self.agents[place.agent].since.queued = true;
            self.sign(place, Sign::Enqueued);
        }
        if keeps_content && let Some(operation) = line.operation {
            let operation = String::from_utf8_lossy(operation).into();
            let text = line.content.map(|content| unescaped(content).into());
            self.sign(place, Sign::Queue(Box::new(QueueStep { operation, text })));
        }
        None
    }

    /// A client that opens a session writes its modes down again, without the last prompt that it writes at the end of a turn.
    pub fn reopened(&mut self, place: Place) {
        let since = &mut self.agents[place.agent].since;
        if since.modes > since.last_prompts && !std::mem::replace(&mut since.restarted, true) {
            self.sign(place, Sign::Restarted);
        }
    }

    /// The permission mode, if it changes to or from planning.
    pub fn mode_line(&mut self, place: Place, mode: Option<&[u8]>) -> Option<u32> {
        let plans = mode? == b"plan";
        let agent = &mut self.agents[place.agent];
        if std::mem::replace(&mut agent.plans, plans) != plans {
            self.sign(place, Sign::PlanMode(plans));
        }
        None
    }

    /// The state of thinking that a prompt requests.
    pub fn thinking(&mut self, place: Place, line: &Record<'a>, origin: InputOrigin) {
        let asks = matches!(origin, InputOrigin::Prompt | InputOrigin::Injected | InputOrigin::Notification);
        let state = match line.thinking {
            Some(raw) => thinking(raw).unwrap_or(Thinking::Off),
            None if asks && NOTES_THINKING.contains(&self.version()) => Thinking::Off,
            None => return,
        };
        self.sign(place, Sign::Thinking(state));
    }

    /// The origin of a text with this beginning.
    pub fn headed(&mut self, place: Place, head: &'a [u8]) -> InputOrigin {
        let text = head.trim_ascii_start();
        let begins = |with: &str| text.starts_with(with.as_bytes());
        if begins("[Request interrupted") {
            self.sign(place, Sign::Interrupted);
            return InputOrigin::Interruption;
        }
        if begins("<task-notification") {
            self.notified(place, text);
            return InputOrigin::Notification;
        }
        if begins("<command-name>") {
            self.command(place, text);
        } else if begins(RECONNECTED) {
            self.sign(place, Sign::Reconnected);
        }
        match LOCAL.iter().any(|tag| begins(tag)) {
            true => InputOrigin::Command,
            false => InputOrigin::Prompt,
        }
    }

    /// A command that the client itself ran.
    fn command(&mut self, place: Place, text: &'a [u8]) {
        let Some(name) = between(text, "<command-name>", "</command-name>") else { return };
        let name = name.strip_prefix(b"/").unwrap_or(name);
        self.agents[place.agent].since.exit |= name == b"exit";
        let name = self.names.get(name);
        self.sign(place, Sign::Command(name));
    }

    /// A notification of a background task.
    pub fn notified(&mut self, place: Place, text: &'a [u8]) {
        let task = between(text, "<task-id>", "</task-id>").unwrap_or_default();
        let call = between(text, "<tool-use-id>", "</tool-use-id>").map_or(0, call_id);
        let task = self.names.get(task);
        self.sign(place, Sign::Notified { call, task });
    }
}

/// Texts of commands that the client itself runs, and their output.
const LOCAL: [&str; 7] = [
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<command-name>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
];

/// The beginning of the output of `/mcp` if a server was connected again.
const RECONNECTED: &str = "<local-command-stdout>Reconnected to ";

/// The maximum offset at which tags of a text are searched.
const HEAD: usize = 2048;

/// The text between two tags near the beginning of a text.
fn between<'a>(text: &'a [u8], open: &str, close: &str) -> Option<&'a [u8]> {
    let head = text.get(..HEAD).unwrap_or(text);
    let start = memchr::memmem::find(head, open.as_bytes())? + open.len();
    let length = memchr::memmem::find(head.get(start..)?, close.as_bytes())?;
    head.get(start..start + length)
}

/// Members of a small object, each passed raw to `take`.
pub(super) fn each<'a>(raw: &'a [u8], mut take: impl FnMut(&'a [u8], &'a [u8])) {
    // The whole line was scanned, so this is valid too.
    for (key, value) in members(raw).map_while(Result::ok) {
        take(inside(key).unwrap_or_default(), value);
    }
}

/// The text between the quotes of a string, as written; `None` for any other value.
pub(super) fn inside(string: &[u8]) -> Option<&[u8]> {
    string.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

fn compacted(raw: Option<&[u8]>) -> Sign {
    let (mut before_tokens, mut automatic) = (None, false);
    each(raw.unwrap_or_default(), |key, value| match key {
        b"preTokens" => before_tokens = count(value),
        b"trigger" => automatic = value == b"\"auto\"",
        _ => {}
    });
    Sign::Compacted { before_tokens, automatic }
}

fn micro_compacted(raw: Option<&[u8]>) -> Sign {
    let (mut saved_tokens, mut results) = (None, 0);
    each(raw.unwrap_or_default(), |key, value| match key {
        b"tokensSaved" => saved_tokens = count(value),
        b"compactedToolIds" => results = u32::try_from(elements(value).count()).unwrap_or(u32::MAX),
        _ => {}
    });
    Sign::MicroCompacted { saved_tokens, results }
}

fn status(error: &[u8]) -> Option<u16> {
    let mut status = None;
    each(error, |key, value| {
        if key == b"status" {
            status = whole(value).and_then(|status| u16::try_from(status).ok());
        }
    });
    status
}

/// `{maxThinkingTokens}`, or `{level, disabled, triggers}` up to 2.1.17.
fn thinking(raw: &[u8]) -> Option<Thinking> {
    let (mut off, mut on) = (false, None);
    each(raw, |key, value| match key {
        b"disabled" => off |= value == b"true",
        b"level" => {
            off |= value == b"\"none\"";
            on = Some(call_id(value));
        }
        b"maxThinkingTokens" => {
            off |= value == b"0";
            on = Some(call_id(value));
        }
        _ => {}
    });
    if off { Some(Thinking::Off) } else { on.map(Thinking::On) }
}
