//! The rules in their order: the first that holds says where the read lands.

use forkcast_sim::cache::Rules;
use forkcast_sim::time::{Duration, Instant};

use super::landing::{landing, of_model};
use super::observed::{Class, Shared};
use super::track::{Before, FRAME_TOKENS, Position, Track, cached};
use super::{Outgoing, State};
use crate::rebuild::profile::RuleName;

/// What is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Tokens read.
    pub read_tokens: u64,
    /// Why so many.
    pub rule: RuleName,
    /// Line of the transcript that shows it.
    pub line: u32,
    /// Where the last answer ends, in tokens, where a hidden request could have extended the prefix to it.
    pub answer_end: Option<u64>,
}

/// Bytes of text for a token, in tenths: where an answer was not counted to its end, it is what the prompt's text leaves of
/// the growth (recordings up to 2.1.58).
const BYTES_PER_TOKEN_TENTHS: u64 = 36;

/// A hidden request does not come about where the next prompt comes faster.
const FOLLOW_UP_AFTER: Duration = Duration::from_secs(8);

/// … nor behind a request that wrote more: present in 0.7 to 0.86 of cases below 20,000 tokens, in 0.41 up to 50,000.
const FOLLOW_UP_WRITTEN_MAX: u64 = 10_000;

/// How many ends of turns tell whether the client sends hidden requests.
const FOLLOW_UPS_LOOKED_AT: usize = 2;

/// Cold starts that tell whether somebody unseen keeps hidden prefixes alive.
const WARM_NEEDED: usize = 2;
const WARM_LOOKED_AT: usize = 3;

/// A prompt that was interrupted so early, with nothing in the cache, wrote nothing.
const COLD_FIRST_BYTE: Duration = Duration::from_secs(3);

/// Thinking of fewer tokens is no thinking block worth a miss.
const STRIPPED_TOKENS_MIN: u64 = 30;

fn tokens(bytes: u64) -> u64 {
    bytes * 10 / BYTES_PER_TOKEN_TENTHS
}

/// One request and what it is judged by.
struct Case<'c> {
    track: &'c Track,
    request: &'c Outgoing<'c>,
    shared: &'c Shared,
    rules: &'c Rules,
    before: &'c Before,
    /// What the request before left.
    expected: u64,
    /// Tokens up to the last breakpoint.
    cap: u64,
    /// A hidden request extended the prefix to here.
    followed_to: Option<u64>,
    /// The prompt that the user interrupted had been sent.
    interrupted: bool,
}

/// The decision; `None` for the first request of a chain.
pub(super) fn decide(track: &mut Track, request: &Outgoing<'_>, shared: &Shared, rules: &Rules) -> Option<Decision> {
    let before = track.before.clone()?;
    let tail = before.answered.usage.input_tokens;
    let cap = request.total_tokens - if tail <= TAIL_TOKENS_MAX { tail.min(request.total_tokens) } else { 0 };
    let expected = cached(&before.answered);
    let answer_end = answer_end(request, &before, cap);
    let may_follow = may_follow(track, request, &before);
    let follows = may_follow && writes_little(&before) && follows(track, request, shared);
    if follows && let Some(position) = track.positions.last_mut() {
        position.extended_tokens = Some(answer_end);
    }
    let mut case = Case {
        track,
        request,
        shared,
        rules,
        before: &before,
        expected,
        cap,
        followed_to: follows.then_some(answer_end),
        interrupted: false,
    };
    case.interrupted = case.interrupted_was_sent();
    let (read_tokens, rule, rewrites) = case.decide();
    let line = case.line(rule);
    if rewrites {
        track.epoch += 1;
    }
    let answer_end = (may_follow
        && before.answered.usage.cache_creation_input_tokens() <= FOLLOW_UP_WRITTEN_MAX
        && !request.profile.strips_thinking)
        .then_some(answer_end);
    Some(Decision { read_tokens: read_tokens.min(cap), rule, line, answer_end })
}

/// More than this behind the last breakpoint says nothing of the next request.
const TAIL_TOKENS_MAX: u64 = 20;

/// Where the last answer ends: by its count where that is final, else by what the prompt's text leaves of the total.
fn answer_end(request: &Outgoing<'_>, before: &Before, cap: u64) -> u64 {
    match before.answered.output_tokens.filter(|_| before.final_output) {
        Some(output) if output > 3 => cached(&before.answered) + output,
        _ => cap.saturating_sub(tokens(request.signs.text_bytes)),
    }
}

/// A hidden request may have followed the last answer of the main agent.
fn may_follow(_: &Track, request: &Outgoing<'_>, before: &Before) -> bool {
    request.agent == 0
        && request.signs.prompt.is_some()
        && before.answered.turn_over
        && before.model == *request.model
        && request.at.since(before.answered.ended_at) >= FOLLOW_UP_AFTER
}

fn writes_little(before: &Before) -> bool {
    let usage = &before.answered.usage;
    let answer = before.answered.output_tokens.filter(|_| before.final_output).unwrap_or(0);
    usage.cache_creation_input_tokens() + usage.input_tokens + answer <= FOLLOW_UP_WRITTEN_MAX
}

fn follows(track: &Track, request: &Outgoing<'_>, shared: &Shared) -> bool {
    let owner = track.owner.as_ref();
    let seen = owner.and_then(|owner| shared.follows_up(owner, request.at, FOLLOW_UPS_LOOKED_AT));
    seen.unwrap_or(request.profile.follows_up)
}

/// Tokens, rule, and whether the messages were written anew.
type Verdict = (u64, RuleName, bool);

impl Case<'_> {
    fn decide(&self) -> Verdict {
        let signs = &self.request.signs;
        if self.before.model != *self.request.model {
            return self.other_model();
        }
        let rewritten = [
            (signs.compacted.or(signs.cleared), Class::In, RuleName::Compacted),
            (signs.restarted.or(signs.unqueued), Class::Out, RuleName::Restarted),
            (signs.micro_compacted, Class::In, RuleName::MicroCompacted),
            (self.version_changed(), Class::Out, RuleName::VersionChanged),
        ];
        if let Some((_, class, rule)) = rewritten.into_iter().find(|(line, _, _)| line.is_some()) {
            return (self.head(class), rule, true);
        }
        if let Some(last) = self.track.positions.last().filter(|last| last.state != self.track.state) {
            return self.other_state(&last.state);
        }
        if self.before.answered.loads_tools && self.request.profile.tools_load_into_list {
            return (self.head(Class::Out), RuleName::ToolsLoaded, true);
        }
        if self.request.at.since(self.used_at()) > self.before.ttl.duration() + self.rules.slack {
            return (self.head(Class::Out), RuleName::Expired, false);
        }
        self.within_the_lifetime()
    }

    fn within_the_lifetime(&self) -> Verdict {
        let signs = &self.request.signs;
        if let Some(verdict) = self.stripped() {
            return verdict;
        }
        if self.request.total_tokens + FRAME_TOKENS < self.expected {
            if signs.prompt.is_none() {
                return (self.head(Class::In), RuleName::Cleared, true);
            }
            if let Some(position) = self.track.positions.iter().rev().find(|position| self.is_kept(position)) {
                return (position.tokens, RuleName::Rewound, false);
            }
        }
        if let Some(verdict) = self.background() {
            return verdict;
        }
        if self.request.profile.one_marker && signs.blocks > self.rules.look_back.reach {
            return (self.head(Class::In), RuleName::BeyondReach, false);
        }
        let whole = self.expected.min(self.cap);
        if self.interrupted {
            let sent = self.cap.saturating_sub(tokens(signs.bytes_from_interrupted()));
            return (whole.max(sent), RuleName::Interrupted, false);
        }
        match self.followed_to {
            Some(end) => (whole.max(end.min(self.cap)), RuleName::FollowUp, false),
            None => (whole, RuleName::Full, false),
        }
    }

    /// A turn with background work ended: what the client had put in about it goes away.
    fn background(&self) -> Option<Verdict> {
        let signs = &self.request.signs;
        let ended = self.before.answered.turn_over || signs.interrupted.is_some();
        let shown = self.track.background.or(signs.background);
        let holds = self.request.profile.notes_background && self.request.agent == 0 && ended;
        (holds && signs.prompt.is_some() && shown.is_some())
            .then(|| (self.head(Class::In), RuleName::Background, false))
    }

    /// When the prefix was used last: by the request before, a hidden one, or a prompt that was interrupted.
    fn used_at(&self) -> Instant {
        let mut at = self.before.at;
        if self.followed_to.is_some() {
            at = at.max(self.before.answered.ended_at);
        }
        match self.request.signs.interrupted_prompt_at.filter(|_| self.interrupted) {
            Some(prompt_at) => at.max(prompt_at),
            None => at,
        }
    }

    fn interrupted_was_sent(&self) -> bool {
        let signs = &self.request.signs;
        let (Some(prompt_at), Some(at)) = (signs.interrupted_prompt_at, signs.interrupted_at) else { return false };
        let warm = prompt_at.since(self.before.at) <= self.before.ttl.duration() + self.rules.slack;
        self.request.agent == 0 && (warm || at.since(prompt_at) >= COLD_FIRST_BYTE)
    }

    fn version_changed(&self) -> Option<u32> {
        let both = self.before.version.as_ref().zip(self.request.version);
        both.filter(|(before, now)| before != now).map(|_| self.request.line)
    }

    /// The model's own newest entry in reach, else the hidden prefix.
    fn other_model(&self) -> Verdict {
        let own = self.track.newest_first(&self.request.signs).find(|(_, position)| {
            position.model == *self.request.model
                && position.epoch == self.track.epoch
                && self.is_alive(position)
                && position.tokens <= self.cap
        });
        match own {
            Some((blocks, position)) if blocks <= self.rules.look_back.reach => {
                (position.tokens, RuleName::ModelChanged, false)
            }
            _ => (self.head(Class::In), RuleName::ModelChanged, false),
        }
    }

    /// The newest live entry that was written in the same state, within reach; else the hidden prefix.
    fn other_state(&self, before: &State) -> Verdict {
        let now = &self.track.state;
        let rule = if before.without_thinking != now.without_thinking {
            RuleName::Thinking
        } else if before.at_once != now.at_once {
            RuleName::AtOnce
        } else {
            RuleName::Effort
        };
        let reach = self.rules.look_back.reach;
        let in_reach = self.track.newest_first(&self.request.signs);
        let own = in_reach
            .take_while(|(blocks, position)| *blocks <= reach && position.epoch == self.track.epoch)
            .find(|(_, position)| self.is_same(position) && self.is_alive(position));
        match own {
            Some((_, position)) => (position.extended_tokens.unwrap_or(position.tokens), rule, false),
            None => (self.head_with_thinking(rule).unwrap_or_else(|| self.head(Class::In)), rule, false),
        }
    }

    /// With thinking switched back on: every fresh session is in that state, so its hidden prefix is alive if anything is.
    fn head_with_thinking(&self, rule: RuleName) -> Option<u64> {
        let on = rule == RuleName::Thinking && !self.track.state.without_thinking && !self.track.alive;
        let recent = self.request.at.since(self.before.at) <= self.before.ttl.duration() + self.rules.slack;
        let owner = self.track.owner.as_ref().filter(|_| on && recent)?;
        let classes = [Class::Out, Class::In, Class::First];
        let shown = classes.into_iter().find_map(|class| self.shared.landing(owner, class, 0, self.request.at));
        shown.or_else(|| of_model(self.track, self.request.model, None))
    }

    /// Models that drop thinking when a user speaks: what stands behind the first dropped block is another prompt.
    fn stripped(&self) -> Option<Verdict> {
        let signs = &self.request.signs;
        let speaks = signs.prompt.is_some() && (self.before.answered.turn_over || signs.interrupted.is_some());
        if !self.request.profile.strips_thinking || !speaks || tokens(self.thinking_of_turn()) <= STRIPPED_TOKENS_MIN {
            return None;
        }
        if self.interrupted {
            let read = self.cap.saturating_sub(tokens(signs.bytes_from_interrupted()));
            return Some((read, RuleName::Stripped, false));
        }
        if let Some(end) = self.followed_to.filter(|_| signs.interrupted.is_none()) {
            return Some((end.min(self.cap), RuleName::Stripped, false));
        }
        let start = self.track.newest_first(signs).find(|(_, position)| position.begins_turn);
        match start {
            Some((blocks, position)) if blocks <= self.rules.look_back.reach => {
                Some((position.tokens, RuleName::Stripped, false))
            }
            _ => Some((self.head(Class::In), RuleName::Stripped, false)),
        }
    }

    /// Bytes of thinking in the turn that ends here.
    fn thinking_of_turn(&self) -> u64 {
        let mut bytes = 0;
        for position in self.track.positions.iter().rev() {
            bytes += position.thinking_bytes;
            if position.begins_turn {
                break;
            }
        }
        bytes
    }

    fn is_same(&self, position: &Position) -> bool {
        position.model == *self.request.model && position.state == self.track.state
    }

    fn is_kept(&self, position: &Position) -> bool {
        position.tokens <= self.cap && position.state == self.track.state && position.epoch == self.track.epoch
    }

    fn is_alive(&self, position: &Position) -> bool {
        let used_at = self.track.last_use(position);
        self.request.at.since(used_at) <= position.ttl.duration() + self.rules.slack
    }

    /// The hidden prefix, where something keeps it alive; else nothing.
    fn head(&self, class: Class) -> u64 {
        let Some(owner) = &self.track.owner else { return 0 };
        let find = |class| landing(self.track, owner, self.request, class, self.shared);
        if self.track.alive {
            return find(class);
        }
        let warm = || self.shared.is_kept_warm(owner, self.request.ttl, self.request.at, WARM_NEEDED, WARM_LOOKED_AT);
        if self.track.others || self.request.profile.global_head || warm() {
            return find(Class::Out);
        }
        0
    }

    /// The line that shows why.
    fn line(&self, rule: RuleName) -> u32 {
        let signs = &self.request.signs;
        let shown = match rule {
            RuleName::Compacted => signs.compacted.or(signs.cleared),
            RuleName::Background => self.track.background.or(signs.background),
            RuleName::Restarted => signs.restarted.or(signs.unqueued),
            RuleName::MicroCompacted => signs.micro_compacted,
            RuleName::Thinking => self.track.thinking_line,
            RuleName::Stripped | RuleName::FollowUp => signs.prompt,
            RuleName::Interrupted => signs.interrupted,
            RuleName::Rewound => signs.rewound.or(signs.prompt),
            _ => None,
        };
        shown.unwrap_or(self.request.line)
    }
}
