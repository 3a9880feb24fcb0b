//! What the transcript shows between two requests of one agent. No usage is read here.

use std::sync::Arc;

use forkcast_sim::cache::PositionCount;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;

use crate::transcript::{Answer, Input, InputOrigin, Item, Part, Sign, Thinking, What};

/// Signs between an agent's previous request and this one; lines are those of the transcript.
#[derive(Clone, Debug, Default)]
pub struct Signs {
    /// The conversation was replaced by a summary.
    pub compacted: Option<u32>,
    /// When that was written down.
    pub compacted_at: Option<Instant>,
    /// The conversation was cleared.
    pub cleared: Option<u32>,
    /// When the client asked for a summary of the session while the user was away.
    pub away_at: Option<Instant>,
    /// The client cleared old results, and says so.
    pub micro_compacted: Option<u32>,
    /// The client was started again.
    pub restarted: Option<u32>,
    /// A prompt came without having passed the queue.
    pub unqueued: Option<u32>,
    /// A server of tools was connected again.
    pub reconnected: Option<u32>,
    /// The conversation went on from an earlier point.
    pub rewound: Option<u32>,
    /// A hook that ran after a tool added text.
    pub hook_context: Option<u32>,
    /// The session is a teammate's.
    pub teammate: Option<u32>,
    /// Attachments after the last result of a tool.
    pub attached: Attached,
    /// A prompt, a notification or a text of the client's own came in.
    pub prompt: Option<u32>,
    /// The user interrupted.
    pub interrupted: Option<u32>,
    /// When the interruption was written down.
    pub interrupted_at: Option<Instant>,
    /// When the prompt was written that was interrupted.
    pub interrupted_prompt_at: Option<Instant>,
    /// Bytes of text that had come in when it was interrupted.
    pub bytes_until_interrupted: u64,
    /// Bytes of text that came in.
    pub text_bytes: u64,
    /// Positions that a look-back counts, with those of the previous answer.
    pub positions: u32,
    /// The state of thinking that the newest prompt asks for, and the line that says so; `None` where none came.
    pub thinking: Option<(Thinking, u32)>,
    prompt_at: Option<Instant>,
    /// Kind of the newest block.
    newest: Option<BlockKind>,
}

/// Attachments at the end of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attached {
    /// They follow results of tools.
    pub behind_results: bool,
    /// How many there are.
    pub count: u64,
    /// Bytes of their JSON.
    pub bytes: u64,
}

/// Tokens of the sentences that the client puts around an attachment, and bytes of its JSON for a token, in tenths: 324
/// tails of Claude Code 2.1.144 to 2.1.205 (`observed.md` 6).
const ATTACHMENT_TOKENS: u64 = 180;
const ATTACHMENT_BYTES_PER_TOKEN_TENTHS: u64 = 26;

impl Attached {
    /// Their estimated tokens.
    pub const fn tokens(&self) -> u64 {
        self.count * ATTACHMENT_TOKENS + self.bytes * 10 / ATTACHMENT_BYTES_PER_TOKEN_TENTHS
    }
}

/// Bytes around the text of a block in JSON: `{"type":"text","text":""}`.
const FRAME_BYTES: u64 = 26;

impl Signs {
    /// Collects the signs of `items`, which begin after the previous answer.
    pub fn of(previous: Option<&Answer>, items: &[Item], count: PositionCount) -> Self {
        let mut signs = Self::default();
        if let Some(answer) = previous {
            signs.count(&answer.parts, count);
        }
        for item in items {
            match &item.what {
                What::Input(input) => {
                    signs.count(&input.parts, count);
                    signs.input(item, input);
                }
                What::Sign(sign) => signs.sign(item, sign),
                What::Answer(_) => {}
            }
        }
        signs
    }

    fn input(&mut self, item: &Item, input: &Input) {
        match input.origin {
            InputOrigin::ToolResults => self.attached = Attached { behind_results: true, ..Attached::default() },
            InputOrigin::Attachment if self.attached.behind_results => {
                self.attached.count += 1;
                self.attached.bytes += input.parts.iter().map(|part| u64::from(part.bytes)).sum::<u64>();
            }
            _ => self.attached = Attached::default(),
        }
        if input.origin == InputOrigin::Summary {
            self.text_bytes = 0;
        }
        if is_prompt(input.origin) {
            self.prompt.get_or_insert(item.line);
        }
        if matches!(input.origin, InputOrigin::Prompt | InputOrigin::Injected | InputOrigin::Notification) {
            self.prompt_at = item.at;
        }
        self.text_bytes +=
            input.parts.iter().map(|part| u64::from(part.bytes).saturating_sub(FRAME_BYTES)).sum::<u64>();
    }

    /// Counts the positions of `parts`, as the cache's look-back does.
    fn count(&mut self, parts: &[Part], count: PositionCount) {
        for part in parts {
            let runs_on =
                matches!(part.kind, BlockKind::ToolUse | BlockKind::ToolResult) && self.newest == Some(part.kind);
            let counts = match count {
                PositionCount::Blocks => true,
                PositionCount::BlocksWithoutThinking => part.kind != BlockKind::Thinking,
                PositionCount::Runs => !runs_on,
            };
            self.positions = self.positions.saturating_add(u32::from(counts));
            self.newest = Some(part.kind);
        }
    }

    fn sign(&mut self, item: &Item, sign: &Sign) {
        match sign {
            Sign::Thinking(state) => self.thinking = Some((*state, item.line)),
            Sign::Compacted { .. } => {
                (self.compacted, self.compacted_at, self.positions) = (Some(item.line), item.at, 0);
            }
            Sign::Cleared => self.cleared = Some(item.line),
            Sign::MicroCompacted { .. } => self.micro_compacted = Some(item.line),
            Sign::Restarted => self.restarted = Some(item.line),
            Sign::Unqueued => self.unqueued = Some(item.line),
            Sign::Rewound { .. } => self.rewound = Some(item.line),
            Sign::Reconnected => self.reconnected = Some(item.line),
            Sign::HookContext => self.hook_context = Some(item.line),
            Sign::Teammate => self.teammate = Some(item.line),
            Sign::AwaySummary => self.away_at = item.at,
            Sign::Interrupted => {
                self.interrupted = Some(item.line);
                self.interrupted_at = self.interrupted_at.or(item.at);
                if self.prompt_at.is_some() {
                    self.interrupted_prompt_at = self.prompt_at;
                    self.bytes_until_interrupted = self.text_bytes;
                }
            }
            _ => {}
        }
    }

    /// Bytes of text added after the interrupted prompt.
    pub fn bytes_behind_interrupted(&self) -> u64 {
        self.text_bytes.saturating_sub(self.bytes_until_interrupted)
    }
}

/// Everything of the user's that is no result of a tool.
const fn is_prompt(origin: InputOrigin) -> bool {
    !matches!(origin, InputOrigin::ToolResults | InputOrigin::Attachment | InputOrigin::Directive)
}

/// The state of the message level's parameters, and of what of it reaches the system level.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    /// The turn runs without thinking.
    pub without_thinking: bool,
    /// Effort, where the client notes it.
    pub effort: Option<Arc<str>>,
    /// The answer came whole: the client asked again without a stream, with another budget for thinking.
    pub at_once: bool,
    /// It goes out with the header of fast mode.
    pub fast: bool,
}
