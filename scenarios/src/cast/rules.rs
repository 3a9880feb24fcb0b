//! The rules by which a recording becomes a cast: what transcripts do not say. Each can be left out, to count what it mends and
//! breaks (`CASTS.md`).

use std::collections::BTreeSet;

use forkcast_sim::words;

words! {
    /// A rule.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CastRule {
        /// Lines leave the client's queue before notifications, whichever came first.
        LinesFirst = "lines_first",
        /// A result that failed shortly before an interruption is its consequence.
        CutOff = "cut_off",
        /// The last answer of an agent whose conversation lacks it is its report.
        Reported = "reported",
        /// The plain input of a first request is what is attached after its breakpoint.
        FirstTail = "first_tail",
        /// An automatic compaction during a turn happens before the next request, and takes its time.
        TurnCompaction = "turn_compaction",
        /// A further notification about a task comes from outside: its agent was resumed, which is not played.
        RepeatedNotices = "repeated_notices",
        /// Calls before the next answer have had results, also those that are not recorded.
        LostResults = "lost_results",
        /// Answers that nothing recorded asked for were asked for by a line.
        Unasked = "unasked",
        /// A prompt that is smaller than its parts has lost the difference where the client rebuilt it.
        Dropped = "dropped",
        /// What the forecast of `replay` says of prompts: rebuilt parts, hidden requests, entries that others kept.
        Forecast = "forecast",
    }
}

/// Rules that are left out.
pub type LeftOut = BTreeSet<CastRule>;
