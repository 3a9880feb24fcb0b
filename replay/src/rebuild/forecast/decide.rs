//! The rules in their order: the first that holds says where the read lands.

use forkcast_sim::cache::Rules;
use forkcast_sim::service::{FRAME_TOKENS, Step};
use forkcast_sim::time::{Duration, Instant};

use super::landing::{landing, of_model};
use super::observation::{Class, Owner, Shared};
use super::risk::{Doubt, Risk, Turn, risk};
use super::track::{Before, Position, Track, cached};
use super::{Outgoing, State};
use crate::rebuild::profile::RuleName;

/// The prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Tokens read.
    pub read_tokens: u64,
    /// Why this many.
    pub rule: RuleName,
    /// Line of the transcript that shows it.
    pub line: u32,
    /// The read ends in the hidden prefix, or is nothing.
    pub in_head: bool,
    /// Where the last answer ends, in tokens, where a hidden request could have extended the prefix to it.
    pub answer_end: Option<u64>,
    /// What may be missed although no rule foresees it.
    pub risk: Option<Risk>,
    /// What would be read if every sent prefix were read within its lifetime by the same model, and nothing else.
    pub naive_read_tokens: u64,
    /// What the request follows.
    pub step: Step,
    /// Tokens of attachments after the last breakpoint.
    pub attached_tokens: u64,
}

/// The maximum number of positions that are searched for the one that a conversation continues from.
const REWOUND_MAX: usize = 1024;

/// Bytes of text for a token, in tenths: an answer without a final count has the growth of the prompt minus the prompt's text
/// (recordings up to 2.1.58).
const BYTES_PER_TOKEN_TENTHS: u64 = 36;

/// No hidden request is sent if the next prompt comes earlier than this.
const FOLLOW_UP_AFTER: Duration = Duration::from_secs(8);

/// … nor after a request that wrote more: present in 0.7 to 0.86 of cases below 20,000 tokens, in 0.41 up to 50,000.
const FOLLOW_UP_WRITTEN_MAX: u64 = 10_000;

/// The number of ends of turns that show whether the client sends hidden requests.
const FOLLOW_UPS_LOOKED_AT: usize = 2;

/// Cold starts that show whether unseen sessions keep hidden prefixes alive.
const WARM_NEEDED: usize = 2;
const WARM_LOOKED_AT: usize = 5;

/// A prompt that was interrupted so early, with nothing in the cache, wrote nothing.
const COLD_FIRST_BYTE: Duration = Duration::from_secs(3);

/// By so much the shared block grows with the first tools: 19 of 22 sessions of 2.1.112 to 2.1.205 whose first request had read
/// something, on five models.
const FIRST_TOOLS_TOKENS: u64 = 93;

/// For so long a teammate's messages are built again.
const TEAMMATE_STARTS: Duration = Duration::from_secs(20);

/// Thinking of fewer tokens is no thinking block worth a miss.
const STRIPPED_TOKENS_MIN: u64 = 30;

fn tokens(bytes: u64) -> u64 {
    bytes * 10 / BYTES_PER_TOKEN_TENTHS
}

/// One request and what it is judged by.
struct Situation<'c> {
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
    let frame = if tail <= TAIL_TOKENS_MAX { tail } else { 0 };
    let expected = cached(&before.answered);
    let attached = if request.profile.has(RuleName::Tail) { request.signs.attached.tokens() } else { 0 };
    // Results of tools come before them, so they are in no prefix that was sent before.
    let attached = attached.min(request.total_tokens.saturating_sub(expected + frame));
    let cap = request.total_tokens.saturating_sub(frame + attached);
    let answer_end = answer_end(request, &before, cap);
    let may_follow = may_follow(request, &before);
    let follows = may_follow && writes_little(&before) && follows(track, request, shared);
    if follows {
        track.extend_last(answer_end);
    }
    let mut case = Situation {
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
    let verdict = case.decide();
    let line = case.line(verdict.rule);
    let turn = case.ended_turn();
    let step = match turn {
        _ if request.agent != 0 => Step::Agent,
        Some(_) => Step::TurnEnd,
        None => Step::ToolLoop,
    };
    let naive_read_tokens = case.naive_read_tokens();
    let head = track_head(&case, turn.is_some());
    let doubt = Doubt { turn, edits: request.profile.edits_turns, teammate_for: case.teammate_for() };
    let risk = (!verdict.in_head).then(|| risk(doubt, verdict.read_tokens.saturating_sub(head)));
    track.head_tokens = Some(head);
    if verdict.rewrites {
        track.epoch += 1;
    }
    let answer_end = (may_follow
        && before.answered.usage.cache_creation_input_tokens() <= FOLLOW_UP_WRITTEN_MAX
        && !request.profile.strips_thinking)
        .then_some(answer_end);
    let Verdict { read_tokens, rule, in_head, .. } = verdict;
    let read_tokens = read_tokens.min(cap);
    Some(Decision {
        read_tokens,
        rule,
        line,
        in_head,
        answer_end,
        risk,
        naive_read_tokens,
        step,
        attached_tokens: attached,
    })
}

/// Where a fall to the hidden prefix would land. It changes seldom, and is looked up again at the ends of turns.
fn track_head(case: &Situation<'_>, anew: bool) -> u64 {
    case.track.head_tokens.filter(|_| !anew).unwrap_or_else(|| case.head(Class::In))
}

/// More tokens than this after the last breakpoint are no evidence for the next request.
const TAIL_TOKENS_MAX: u64 = 20;

/// Where the last answer ends: by its count where that is final, else by what the prompt's text leaves of the total.
fn answer_end(request: &Outgoing<'_>, before: &Before, cap: u64) -> u64 {
    match before.answered.output_tokens.filter(|_| before.final_output) {
        Some(output) if output > 3 => cached(&before.answered) + output,
        _ => cap.saturating_sub(tokens(request.signs.text_bytes)),
    }
}

/// A hidden request may have followed the last answer of the main agent.
fn may_follow(request: &Outgoing<'_>, before: &Before) -> bool {
    request.agent == 0
        && request.profile.has(RuleName::FollowUp)
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

/// Where a read lands, and by which rule.
struct Verdict {
    read_tokens: u64,
    rule: RuleName,
    in_head: bool,
    /// The messages were written anew: nothing that stood in them is read again.
    rewrites: bool,
}

impl Verdict {
    /// At a position of the conversation.
    const fn at(read_tokens: u64, rule: RuleName) -> Self {
        Self { read_tokens, rule, in_head: false, rewrites: false }
    }
}

impl Situation<'_> {
    fn decide(&self) -> Verdict {
        let signs = &self.request.signs;
        if self.before.model != *self.request.model && self.holds(RuleName::ModelChanged) {
            return self.other_model();
        }
        let rewritten = [
            (signs.compacted.or(signs.cleared), Class::In, RuleName::Compacted),
            (signs.restarted, Class::Out, RuleName::Restarted),
            (signs.unqueued, Class::Out, RuleName::Unqueued),
            (signs.reconnected, Class::Out, RuleName::Reconnected),
            (signs.micro_compacted, Class::In, RuleName::MicroCompacted),
            (self.version_changed(), Class::Out, RuleName::VersionChanged),
        ];
        let shown = rewritten.into_iter().find(|(line, _, rule)| line.is_some() && self.holds(*rule));
        let expired = !self.is_within(self.request.at.since(self.used_at())) && self.holds(RuleName::Expired);
        if let Some((_, class, rule)) = shown {
            // No live entry had the rebuilt part before the messages.
            let decides = if expired && class == Class::Out { RuleName::Expired } else { rule };
            return self.rewritten(class, decides);
        }
        if let Some(last) = self.track.positions.last().filter(|last| last.state != self.track.state) {
            return self.other_state(&last.state);
        }
        if self.before.answered.loads_tools && !self.track.loaded_tools && self.holds(RuleName::ToolsLoaded) {
            return self.first_tools();
        }
        if expired {
            return self.in_head(Class::Out, RuleName::Expired);
        }
        self.within_the_lifetime()
    }

    fn within_the_lifetime(&self) -> Verdict {
        let signs = &self.request.signs;
        if let Some(verdict) = self.stripped().or_else(|| self.hooked()) {
            return verdict;
        }
        if self.teammate_for().is_some_and(|age| age < TEAMMATE_STARTS) {
            return self.rewritten(Class::In, RuleName::Teammate);
        }
        if self.request.total_tokens + FRAME_TOKENS < self.expected {
            if signs.prompt.is_none() && self.holds(RuleName::Cleared) {
                return self.rewritten(Class::In, RuleName::Cleared);
            }
            let kept = self.track.newest(REWOUND_MAX).find(|position| self.is_kept(position));
            if let Some(position) = kept.filter(|_| self.holds(RuleName::Rewound)) {
                return Verdict::at(position.tokens, RuleName::Rewound);
            }
        }
        // The breakpoint itself is the first position that is checked.
        if signs.positions >= self.rules.look_back.reach && self.holds(RuleName::BeyondReach) {
            return self.in_head(Class::In, RuleName::BeyondReach);
        }
        let whole = self.expected.min(self.cap);
        if self.interrupted {
            let sent = self.cap.saturating_sub(tokens(signs.bytes_behind_interrupted()));
            return Verdict::at(whole.max(sent), RuleName::Interrupted);
        }
        match self.followed_to {
            Some(end) => Verdict::at(whole.max(end.min(self.cap)), RuleName::FollowUp),
            None => Verdict::at(whole, RuleName::Full),
        }
    }

    fn holds(&self, rule: RuleName) -> bool {
        self.request.profile.has(rule)
    }

    fn naive_read_tokens(&self) -> u64 {
        let kept = self.before.model == *self.request.model && self.is_within(self.request.at.since(self.before.at));
        if kept { self.expected.min(self.cap) } else { 0 }
    }

    fn in_head(&self, class: Class, rule: RuleName) -> Verdict {
        Verdict { read_tokens: self.head(class), rule, in_head: true, rewrites: false }
    }

    fn rewritten(&self, class: Class, rule: RuleName) -> Verdict {
        Verdict { rewrites: true, ..self.in_head(class, rule) }
    }

    /// The turn that ends with this request's prompt, if one does.
    fn ended_turn(&self) -> Option<Turn> {
        let signs = &self.request.signs;
        let ended = self.before.answered.turn_over || signs.interrupted.is_some();
        (signs.prompt.is_some() && ended).then_some(self.track.turn)
    }

    /// When the prefix was used last: by the request before, a hidden one, or a prompt that was interrupted.
    fn used_at(&self) -> Instant {
        let mut at = self.before.at;
        if self.followed_to.is_some() {
            at = at.max(self.before.answered.ended_at);
        }
        let away_at = self.request.signs.away_at.filter(|_| self.holds(RuleName::AwaySummary));
        if let Some(away_at) = away_at.filter(|away_at| self.is_within(away_at.since(at))) {
            at = at.max(away_at);
        }
        match self.request.signs.interrupted_prompt_at.filter(|_| self.interrupted) {
            Some(prompt_at) => at.max(prompt_at),
            None => at,
        }
    }

    /// An entry that was used so long ago can still be read.
    fn is_within(&self, age: Duration) -> bool {
        age <= self.before.ttl.duration() + self.rules.slack
    }

    fn interrupted_was_sent(&self) -> bool {
        let signs = &self.request.signs;
        let (Some(prompt_at), Some(at)) = (signs.interrupted_prompt_at, signs.interrupted_at) else { return false };
        let warm = self.is_within(prompt_at.since(self.before.at));
        let sends = self.request.agent == 0 && self.holds(RuleName::Interrupted);
        sends && (warm || at.since(prompt_at) >= COLD_FIRST_BYTE)
    }

    fn version_changed(&self) -> Option<u32> {
        let both = self.before.version.as_ref().zip(self.request.version);
        both.filter(|(before, now)| before != now).map(|_| self.request.line)
    }

    /// The model's own newest entry in reach, else the hidden prefix.
    fn other_model(&self) -> Verdict {
        let own = self.in_reach().find(|position| {
            position.model == *self.request.model
                && position.epoch == self.track.epoch
                && self.is_alive(position)
                && position.tokens <= self.cap
        });
        match own {
            Some(position) => Verdict::at(position.tokens, RuleName::ModelChanged),
            None => self.in_head(Class::In, RuleName::ModelChanged),
        }
    }

    /// Positions that a look-back from the end of the prompt comes by, the newest first.
    fn in_reach(&self) -> impl Iterator<Item = &Position> {
        let reach = self.rules.look_back.reach;
        let newest = self.track.newest_first(&self.request.signs);
        newest.take_while(move |(distance, _)| *distance < reach).map(|(_, position)| position)
    }

    /// The newest live entry that was written in the same state, within reach; else the hidden prefix.
    fn other_state(&self, before: &State) -> Verdict {
        let now = &self.track.state;
        let rule = if before.without_thinking != now.without_thinking {
            RuleName::Thinking
        } else if before.at_once != now.at_once {
            RuleName::AtOnce
        } else if before.fast != now.fast {
            RuleName::Fast
        } else {
            RuleName::Effort
        };
        let own = self.in_reach().take_while(|position| position.epoch == self.track.epoch);
        let own = own.into_iter().find(|position| self.is_same(position) && self.is_alive(position));
        match own {
            Some(position) => Verdict::at(position.extended_tokens.unwrap_or(position.tokens), rule),
            None => {
                let head = || self.head_with_thinking(rule).unwrap_or_else(|| self.head(Class::In));
                // Nothing is known to keep a hidden prefix of fast requests alive.
                let read_tokens = if rule == RuleName::Fast && now.fast { 0 } else { head() };
                Verdict { read_tokens, rule, in_head: true, rewrites: false }
            }
        }
    }

    /// With thinking switched back on: every fresh session is in that state, so its hidden prefix is alive if anything is.
    fn head_with_thinking(&self, rule: RuleName) -> Option<u64> {
        let on = rule == RuleName::Thinking && !self.track.state.without_thinking && !self.track.alive;
        let recent = self.is_within(self.request.at.since(self.before.at));
        let owner = self.track.owner.as_ref().filter(|_| on && recent)?;
        let classes = [Class::Out, Class::In, Class::First];
        let shown = classes.into_iter().find_map(|class| self.shared.landing(owner, class, 0, self.request.at));
        shown.or_else(|| of_model(self.track, self.request.model, None))
    }

    /// The first tools change the prompt after the block that all users share, which is where the session's first read ended,
    /// if it read anything.
    fn first_tools(&self) -> Verdict {
        let first = self.track.positions.first().map_or(0, |position| position.read_tokens);
        let read_tokens = if first > 0 { first + FIRST_TOOLS_TOKENS } else { 0 };
        Verdict { read_tokens, rule: RuleName::ToolsLoaded, in_head: true, rewrites: true }
    }

    /// A hook added text in the turn that ends: the newest entry from before it is read, if it is in reach.
    fn hooked(&self) -> Option<Verdict> {
        let hooked = self.track.hooked.filter(|_| self.holds(RuleName::HookContext))?;
        self.ended_turn()?;
        let newer = self.track.positions.len() - hooked.positions;
        let kept = self.in_reach().nth(newer).filter(|position| self.is_kept(position));
        Some(match kept {
            Some(position) => Verdict::at(position.tokens, RuleName::HookContext),
            None => self.in_head(Class::In, RuleName::HookContext),
        })
    }

    /// The age of the session, if it is a teammate's.
    fn teammate_for(&self) -> Option<Duration> {
        let since = self.track.teammate_since.filter(|_| self.holds(RuleName::Teammate))?;
        Some(self.request.at.since(since))
    }

    /// Models that drop thinking when a user speaks: from the first dropped block on, the prompt is different.
    fn stripped(&self) -> Option<Verdict> {
        let signs = &self.request.signs;
        let speaks = signs.prompt.is_some() && (self.before.answered.turn_over || signs.interrupted.is_some());
        let thinks = tokens(self.track.thinking_bytes) > STRIPPED_TOKENS_MIN;
        if !self.request.profile.strips_thinking || !speaks || !thinks {
            return None;
        }
        if self.interrupted {
            let read = self.cap.saturating_sub(tokens(signs.bytes_behind_interrupted()));
            return Some(Verdict::at(read, RuleName::Stripped));
        }
        if let Some(end) = self.followed_to.filter(|_| signs.interrupted.is_none()) {
            return Some(Verdict::at(end.min(self.cap), RuleName::Stripped));
        }
        Some(match self.in_reach().find(|position| position.begins_turn) {
            Some(position) => Verdict::at(position.tokens, RuleName::Stripped),
            None => self.in_head(Class::In, RuleName::Stripped),
        })
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
        let shared = self.track.others && self.holds(RuleName::SharedHead);
        if shared || self.holds(RuleName::WarmHead) && self.is_kept_warm(owner) {
            return find(Class::Out);
        }
        0
    }

    /// Whether the newest cold starts found the hidden prefix: of the session, else of everybody, if all share its first
    /// block; else the last few of the same user.
    fn is_kept_warm(&self, owner: &Owner) -> bool {
        let at = self.request.at;
        if self.request.profile.shares_head {
            return self.track.begins_warm.or_else(|| self.shared.begins_warm(owner, at)) == Some(true);
        }
        self.shared.is_kept_warm(owner, self.request.ttl, at, WARM_NEEDED, WARM_LOOKED_AT)
    }

    /// The line that shows why.
    fn line(&self, rule: RuleName) -> u32 {
        let signs = &self.request.signs;
        let shown = match rule {
            RuleName::Compacted => signs.compacted.or(signs.cleared),
            RuleName::Restarted => signs.restarted,
            RuleName::Unqueued => signs.unqueued,
            RuleName::Reconnected => signs.reconnected,
            RuleName::MicroCompacted => signs.micro_compacted,
            RuleName::Thinking => self.track.thinking_line,
            RuleName::HookContext => self.track.hooked.map(|hooked| hooked.line),
            RuleName::Stripped | RuleName::FollowUp => signs.prompt,
            RuleName::Interrupted => signs.interrupted,
            RuleName::Rewound => signs.rewound.or(signs.prompt),
            _ => None,
        };
        shown.unwrap_or(self.request.line)
    }
}
