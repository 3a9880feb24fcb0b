//! The rules by which a recording becomes a cast: what transcripts do not say. Each can be left out, to count what it mends and
//! breaks (`CASTS.md`).

use std::collections::BTreeSet;

use forkcast_sim::words;

words! {
    /// A rule.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CastRule {
        /// A notification came when it entered the client's queue.
        Queued = "queued",
        /// A request was sent after all that it contains, also if its last line is an older one that waited in the queue.
        SentLast = "sent_last",
        /// The start of an agent in the background takes as long as its call did: hooks run first.
        Launches = "launches",
        /// A result that failed shortly before an interruption is its consequence.
        CutOff = "cut_off",
        /// The last answer of an agent whose conversation lacks it is its report.
        Reported = "reported",
        /// The plain input of a first request is what is attached after its breakpoint.
        FirstTail = "first_tail",
        /// The end of an agent that was never reported is heard by nobody.
        Unheard = "unheard",
        /// The plain input of a later request is what follows its breakpoint: results that were sent after the last one.
        LaterTail = "later_tail",
        /// A prompt has changed where the provider said so.
        Diagnosed = "diagnosed",
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
        /// Cache entries live as long as was billed, also where that changed.
        Lifetimes = "lifetimes",
        /// What the forecast of `replay` says of prompts: rebuilt parts, hidden requests, entries that others kept.
        Forecast = "forecast",
    }
}

/// Rules that are left out.
pub type LeftOut = BTreeSet<CastRule>;
