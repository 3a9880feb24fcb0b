//! What may be missed although nothing in the transcript foresees it: the hazard of a fall to the hidden prefix.

/// The hazard of one request, and what it would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Risk {
    /// Tokens of the conversation that would be missed.
    pub tokens: u64,
    /// Chance in millionths: lower end of the interval.
    pub low_per_million: u32,
    /// … and upper end.
    pub high_per_million: u32,
}

/// The turn that is going on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// How many turns came before it.
    pub number: u32,
    /// Requests in it so far.
    pub requests: u32,
}

/// Falls without a sign, of requests by which no rule foresaw one: recordings of Claude Code 2.0.64 to 2.1.217, 2026-01 to
/// 2026-07. Where a turn ends (498 cases), by its length and whether it was the session's first; each with the ends of
/// the exact 90 % interval (Clopper and Pearson) in millionths. Release notes of 2.1.70 and 2.1.89 name two causes that no
/// transcript shows: servers that connect after the first turn, and bytes of tool schemas that change in long sessions.
const FIRST_TURN: [(u32, u32, u32); 3] = [(5, 15_674, 249_249), (30, 37_495, 142_655), (u32::MAX, 145_686, 478_728)]; // 2 of 23, 7 of 89, 7 of 24
const LATER_TURN: [(u32, u32, u32); 3] = [(5, 0, 14_794), (30, 6_084, 56_430), (u32::MAX, 54_312, 318_242)]; // 0 of 201, 3 of 135, 4 of 26

/// Within a turn: 7 of 11,290.
const WITHIN: (u32, u32) = (291, 1_165);

/// The hazard of missing `tokens`; `turn` is the one that ends with this request's prompt, if one does.
pub(super) fn risk(turn: Option<Turn>, tokens: u64) -> Risk {
    let (low_per_million, high_per_million) = match turn {
        None => WITHIN,
        Some(turn) => {
            let table = if turn.number == 0 { &FIRST_TURN } else { &LATER_TURN };
            let row = table.iter().find(|(longest, _, _)| turn.requests <= *longest);
            row.map_or(WITHIN, |(_, low, high)| (*low, *high))
        }
    };
    Risk { tokens, low_per_million, high_per_million }
}
