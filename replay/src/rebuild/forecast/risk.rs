//! What may be missed although nothing in the transcript shows it: the chance of a fall to the hidden prefix.

use forkcast_sim::time::Duration;

/// The chance of one request, and what a fall would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Risk {
    /// Tokens of the conversation that would be missed.
    pub tokens: u64,
    /// The chance in millionths.
    pub per_million: u32,
}

/// The turn that is going on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// How many turns came before it.
    pub number: u32,
    /// Requests in it so far.
    pub requests: u32,
}

/// Nine of ten sessions cost at least and at most so much more than forecast, in thousandths of the predicted input cost
/// (public transcripts of 2026-01 to 2026-08; the test `residual` measures the same on sources that are left out).
pub const INTERVAL_PER_MILLE: (i64, i64) = (-30, 100);

/// Falls without a sign at the end of a turn, of requests by which no rule foresaw one, by the length of the turn and whether it
/// was the session's first: Claude Code 2.0.64 to 2.1.63, 498 cases. Release notes of 2.1.70 and 2.1.89 name two causes that no
/// transcript shows: servers that connect after the first turn, and bytes of tool schemas that change in long sessions.
const FIRST_TURN: [(u32, u32); 3] = [(5, 86_957), (30, 78_652), (u32::MAX, 291_667)]; // 2 of 23, 7 of 89, 7 of 24
const LATER_TURN: [(u32, u32); 3] = [(5, 0), (30, 22_222), (u32::MAX, 153_846)]; // 0 of 201, 3 of 135, 4 of 26

/// The same from 2.1.64 to 2.1.199, whatever the length: 1 of 519.
const KEPT_TURN: u32 = 1_927;

/// Within a turn: 7 of 11,290.
const WITHIN: u32 = 620;

/// Requests of a teammate's session from 20 to 30 s after its first one, and in the rest of its first minute: 11 of 20, 6 of 42
/// (2.1.39 to 2.1.42).
const YOUNG_TEAMMATE: [(Duration, u32); 2] = [(Duration::from_secs(30), 550_000), (Duration::from_secs(60), 142_857)];

/// What the chance depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    /// The turn that ends with the request's prompt, if one does.
    pub turn: Option<Turn>,
    /// The client is of a version that edits what it sent when a turn ends.
    pub edits: bool,
    /// The age of the session, if it is a teammate's.
    pub teammate_for: Option<Duration>,
}

/// The chance of missing `tokens`.
pub(super) fn risk(doubt: Doubt, tokens: u64) -> Risk {
    let young = doubt.teammate_for.and_then(|age| YOUNG_TEAMMATE.iter().find(|(until, _)| age < *until));
    let per_million = match (young, doubt.turn) {
        (Some((_, chance)), _) => *chance,
        (None, None) => WITHIN,
        (None, Some(_)) if !doubt.edits => KEPT_TURN,
        (None, Some(turn)) => {
            let table = if turn.number == 0 { &FIRST_TURN } else { &LATER_TURN };
            let row = table.iter().find(|(longest, _)| turn.requests <= *longest);
            row.map_or(WITHIN, |(_, chance)| *chance)
        }
    };
    Risk { tokens, per_million }
}
