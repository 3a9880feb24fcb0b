//! What may be missed although nothing in the transcript shows it: the chance of a fall to the hidden prefix.

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

/// The chance of missing `tokens`; `turn` is the one that ends with this request's prompt, if one does, `edits` whether it is of
/// a version that edits what it sent when a turn ends.
pub(super) fn risk(turn: Option<Turn>, edits: bool, tokens: u64) -> Risk {
    let per_million = match turn {
        None => WITHIN,
        Some(_) if !edits => KEPT_TURN,
        Some(turn) => {
            let table = if turn.number == 0 { &FIRST_TURN } else { &LATER_TURN };
            let row = table.iter().find(|(longest, _)| turn.requests <= *longest);
            row.map_or(WITHIN, |(_, chance)| *chance)
        }
    };
    Risk { tokens, per_million }
}
