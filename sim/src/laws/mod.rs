//! Laws that must hold in every run. Each is an observer with little state of its own, independent of the code it
//! checks. A law never calls that code, takes O(1) per event, and checks once more at the end.
//!
//! | law | says |
//! |---|---|
//! | `identity` | the cache receives exactly the sent bytes: one request in a hundred is rendered and read again |
//! | `usage_sum` | read + written + fresh is the whole prompt |
//! | `money` | bill − perfect bill is the sum of the causes, line by line |
//! | `reads` | nothing is read before it is written and readable, or after it expires |
//! | `answers` | every tool call is answered exactly once before the next request |
//! | `notifications` | each task that ends in the background is reported exactly once, and no other task is |
//! | `messages` | every message to an agent, and every one in a mailbox, is delivered once, or returned with a reason |
//! | `claims` | no entry of a team's task list is claimed twice |
//! | `compaction` | compaction never loses an unanswered call |
//! | `internal` | an internal fork never changes its parent's bytes |
//! | `terminal` | ended tasks and agents do nothing more |
//! | `leftovers` | a finished run leaves no task, item, request or hook open |

mod answers;
mod claims;
mod compaction;
mod identity;
mod internal;
mod leftovers;
mod messages;
mod money;
mod notifications;
mod reads;
mod terminal;
mod usage_sum;

pub use answers::Answers;
pub use claims::Claims;
pub use compaction::Compaction;
pub use identity::Identity;
pub use internal::Internal;
pub use leftovers::Leftovers;
pub use messages::Messages;
pub use money::Money;
pub use notifications::Notifications;
pub use reads::Reads;
pub use terminal::Terminal;
pub use usage_sum::UsageSum;

use crate::cache::Rules;
use crate::seed::Seed;
use crate::simulation::Observer;

/// All laws, for a run under `rules` with `seed`.
pub fn all(rules: &Rules, seed: &Seed) -> Vec<Box<dyn Observer>> {
    vec![
        Box::new(Identity::new(rules.forms, &seed.child("law.identity"))),
        Box::new(UsageSum),
        Box::new(Money),
        Box::new(Reads::new(rules)),
        Box::new(Answers::default()),
        Box::new(Notifications::default()),
        Box::new(Messages::default()),
        Box::new(Claims::default()),
        Box::new(Compaction::default()),
        Box::new(Internal::default()),
        Box::new(Terminal::default()),
        Box::new(Leftovers::default()),
    ]
}
