//! The lower bound of cost for all launch and breakpoint policies, without pings (`economics.md` 3.4; own derivation).
//!
//! A token in n requests costs at least φ(n) = min(n, w + (n − 1) r) of plain input if it is not cached, and r n if an
//! entry holds it. So with N children of K requests
//!
//! LB = [r NK, or φ(NK) for a cold parent] P + φ(NK) T + N φ(K) D + N g Σ φ(K − k + 1), k from 2 to K.
//!
//! T is shared by all siblings in forks as the contract defines them; in the client of 2026 each fork has its own
//! share, so there the term is φ(K) T. A head that lives for an hour outlives a cold parent: r NK. Under limits of a minute, P and T may be read from the parent's next request: r n.

use forkcast_sim::agent::spawn::fork::{Ablation, Profile};
use forkcast_sim::pricing::{Category, ModelKey, Money, PriceBook, Rate, Terms};
use forkcast_sim::wire::Ttl;

use super::cell::Cell;

/// The lowest possible cost of the children's requests, including output. `None` for a model without a price, and for
/// children with another prompt or model: named agents, and forks that lose content on purpose.
pub fn lower_bound(cell: &Cell, book: &PriceBook) -> Option<Money> {
    let rates = book.rates(&ModelKey::from(&*cell.model), &Terms::default()).ok()?;
    if cell.spawn.is_some() || OF_OTHER_PROMPTS.iter().any(|ablation| cell.ablations.contains(ablation)) {
        return None;
    }
    let write = match cell.ttl {
        Ttl::FiveMinutes => Category::Write5m,
        Ttl::OneHour => Category::Write1h,
    };
    let least = Least {
        input: rates.per_token(Category::Input),
        read: rates.per_token(Category::Read),
        write: rates.per_token(write),
    };
    let n = u64::from(cell.children);
    let k = u64::from(cell.turns);
    // Under a limit children may wait until the parent's next request has written what they share with it.
    let is_limited = cell.itpm.is_some() || cell.rpm.is_some();
    let shared = |tokens, requests, is_written| match is_written {
        true => least.read_only(tokens, requests),
        false => least.of(tokens, requests),
    };
    let head = if cell.has_hour_head { cell.head() } else { 0 };
    let prefix = shared(head, n * k, true) + shared(cell.prefix - head, n * k, is_limited || !cell.is_cold);
    let tail = match cell.profile {
        Profile::Documents => shared(cell.tail, n * k, is_limited),
        Profile::Client2026 => shared(cell.tail, k, is_limited),
    };
    let directives = least.of(cell.directive * n, k);
    let growth = (2..=k).fold(Money::ZERO, |sum, turn| sum + least.of(cell.growth * n, k - turn + 1));
    let output = rates.line(Category::Output, cell.output * n * k);
    // Prices after a discount may be fractions of a unit: the bill rounds them once for each request.
    let is_rounded = least.all().iter().any(|rate| rate.denominator > 1);
    let rounding = if is_rounded { Money::from_picousd(i128::from(n * k)) } else { Money::ZERO };
    Some(prefix + tail + directives + growth + output - rounding)
}

/// Ablations with which children send less, to another model, or other content than the declared sizes are for.
const OF_OTHER_PROMPTS: [Ablation; 7] = [
    Ablation::FilterTools,
    Ablation::DropAgent,
    Ablation::StripHistory,
    Ablation::RealResults,
    Ablation::Interleave,
    Ablation::OtherModel,
    Ablation::NamedSpawn,
];

/// Prices of one token.
struct Least {
    input: Rate,
    read: Rate,
    write: Rate,
}

impl Least {
    const fn all(&self) -> [Rate; 3] {
        [self.input, self.read, self.write]
    }

    /// `tokens` that occur in `requests` requests and in no entry.
    fn of(&self, tokens: u64, requests: u64) -> Money {
        if requests == 0 {
            return Money::ZERO;
        }
        let plain = cost(tokens * requests, self.input);
        plain.min(cost(tokens, self.write) + cost(tokens * (requests - 1), self.read))
    }

    /// `tokens` that occur in `requests` requests and in an entry.
    fn read_only(&self, tokens: u64, requests: u64) -> Money {
        cost(tokens * requests, self.read).min(cost(tokens * requests, self.input))
    }
}

/// Rounded down.
fn cost(tokens: u64, rate: Rate) -> Money {
    Money::from_picousd((i128::from(tokens) * rate.numerator).div_euclid(rate.denominator))
}
