//! Whether a change broke the prompt cache: regression tests on prefix bytes.
//!
//! A [`Guard`] eats requests in the order in which they are sent, bodies as they go over the wire, and says of each which
//! changes make it read less from the cache than it would have read without them: which byte moved, in which block, why,
//! and what it costs. [`Watch`] is the same over requests that the caller has already read.
//!
//! * [`Rules`]: what is checked and how hard; a small file says it.
//! * [`Sent`], [`Facts`]: a request and what is known beside its bytes.
//! * [`lock`]: prefixes that were sent, as digests in a text that people review.
//! * [`Checked`], [`Finding`], [`Noted`], [`Violation`], [`Report`]: what was found.
//! * [`assert_prefix_stable!`](crate::assert_prefix_stable), [`Guard::assert_next`]: the same in a test suite.
//! * [`conformance`]: what any harness's forks can be put through, with a score card.
//!
//! **A change breaks the prefix** where, time left out and all other changes of its request undone, the request reads
//! less than with all of them undone. What is only appended is no change.

mod assertion;
mod bodies;
mod breakpoints;
mod budget;
mod clock;
pub mod conformance;
mod finding;
mod identity;
mod judge;
pub mod lock;
mod member;
mod pair;
mod refusal;
mod report;
mod rules;
mod sent;
mod sharing;
mod spelling;
mod text;
mod timeless;
mod uncached;
mod unread;
mod watch;

pub use assertion::{Body, assert_stable};
pub use bodies::Guard;
pub use breakpoints::Breakpoints;
pub use finding::{Finding, Loss, NoteKind, Noted, Rule, Unknown, Violation};
pub use identity::{Identity, Kinship, Lane, Recent, Relative, Sender, Sibling, Whose};
pub use pair::{Judged, judge_pair};
pub use report::{Checked, LISTED_MAX, Report, Unlisted};
pub use rules::{Allowed, BadRules, Budget, REQUESTS_PER_DAY_MAX, Rules, Severity};
pub use sent::{Facts, Sent};
pub use watch::Watch;
