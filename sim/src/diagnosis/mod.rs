//! Why a cache missed: one cause for each token that was sent before and was not read.
//!
//! [`compare`] compares two requests and names their differences; [`Trials`] try each change alone to find its damage,
//! for every command; [`explain`] accounts for every input token of a request as read, new or missed. [`Cause`] is the
//! closed list, [`ThinkingCheck`] finds thinking that its provider rejects; [`DIAGNOSING`] lists the makers who have words of their own for them.

mod align;
mod blame;
mod cause;
mod classify;
mod compaction;
mod counterfactual;
mod coverage;
mod difference;
mod ends;
mod field;
mod history;
mod open_rule;
mod pairing;
mod parts;
mod provider;
mod resent;
mod seams;
mod shortfall;
mod sides;
mod sign;
mod stretches;
mod subject;
mod thinking;
mod trials;
mod volatile;
mod window;

pub use align::{Alignment, Gap, align, blocks};
pub use cause::{CAUSES, Cause, CauseKind, Note, Volatile};
pub use compaction::{could_be_summary, is_summary};
pub use counterfactual::{CarriedBlock, MixedPrompt};
pub use difference::{ChangeSite, Comparison, Difference, appended, compare};
pub use ends::{CommonEnds, first_difference};
pub use open_rule::OpenRule;
pub use pairing::{Pair, tool_name};
pub use provider::DIAGNOSING;
pub use resent::{BlockBeginning, Resent, ResentBlocks};
pub use shortfall::{BilledRequest, Explanation, Missed, explain};
pub use sign::signs;
pub(crate) use stretches::{equal_bytes, rewriting, sentences};
pub use subject::{Billing, Subject};
pub use thinking::{
    AnsweredThinking, Circumstances, DropReason, JudgedThinking, Outcome, PROFILE, ProfileRow, RejectedThinking,
    THINKING_AT, ThinkingCheck, ThinkingRemark, ThinkingTurn, Unset, outcome, refusal_of_thinking,
};
pub use trials::{CacheMoment, ChangeDamage, RequestDamage, Trials};
pub(crate) use volatile::recognise;
pub use window::{Window, window};
