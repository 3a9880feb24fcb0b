//! Whether a change broke the prompt cache: regression tests on prefix bytes.
//!
//! A [`Guard`] takes requests in the order in which they are sent, bodies as they go over the wire. For each it reports
//! the changes that make it read less from the cache than it would have read without them: which byte changed, in which
//! block, why, and what it costs. [`Watch`] does the same for requests that the caller has already read.
//!
//! * [`Rules`]: checks and their severities; a small file contains them.
//! * [`Sent`], [`Facts`]: a request and the facts besides its bytes.
//! * [`lock`]: prefixes that were sent, as digests in a text that people review.
//! * [`Checked`], [`Finding`], [`Noted`], [`Violation`], [`Report`]: results.
//! * [`assert_prefix_stable!`](crate::assert_prefix_stable), [`Guard::assert_next`]: the same in a test suite.
//! * [`conformance`]: checks for the forks of any harness, with a score card.
//!
//! **A change breaks the prefix** if, ignoring time and with all other changes of its request undone, the request reads
//! less than with all of them undone. Appended content is no change.

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
mod strip;
mod text;
mod thinking;
mod timeless;
mod uncached;
mod unread;
mod watch;

pub use assertion::{Body, assert_stable};
pub use bodies::Guard;
pub use breakpoints::Breakpoints;
pub use finding::{Finding, Loss, NoteKind, Noted, Rule, ShownBy, Unknown, Violation};
pub use identity::{Identity, Kinship, Lane, Recent, Relative, Sender, Sibling, Whose};
pub use pair::{Judged, judge_pair};
pub use report::{Checked, LISTED_MAX, Report, Unlisted};
pub use rules::{Allowed, BadRules, Budget, REQUESTS_PER_DAY_MAX, Rules, Severity};
pub use sent::{Facts, Sent};
pub use strip::Stretch;
pub use watch::Watch;
