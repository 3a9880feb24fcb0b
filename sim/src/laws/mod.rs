//! What must hold of every run: observers with a small state of their own, outside what they check. A law never calls
//! the code that it checks, takes O(1) for an event, and looks once more at the end.
//!
//! | law | says |
//! |---|---|
//! | `identity` | what the cache was given is what was sent: one request in a hundred is rendered and read again |
//! | `usage_sum` | read + written + fresh is the whole prompt |
//! | `money` | bill − perfect bill is the sum of the causes, line by line |
//! | `reads` | nothing is read before it was written and readable, nor after it expired |
//! | `answers` | every call of a tool is answered exactly once before the next request |
//! | `notifications` | whoever ends in the background is told of once, and nobody else is |
//! | `terminal` | who has ended does nothing any more |
//! | `leftovers` | a run that came to its end leaves no task, item, request or hook behind |

mod answers;
mod identity;
mod leftovers;
mod money;
mod notifications;
mod reads;
mod terminal;
mod usage_sum;

pub use answers::Answers;
pub use identity::Identity;
pub use leftovers::Leftovers;
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
        Box::new(Terminal::default()),
        Box::new(Leftovers::default()),
    ]
}
