//! The guard, for bodies.

use super::breakpoints::Breakpoints;
use super::lock::RequestRecord;
use super::report::{Checked, Report};
use super::rules::Rules;
use super::sent::Sent;
use super::spelling::SpellingMemory;
use super::watch::Watch;
use crate::pricing::PriceBook;
use crate::wire::{BodyError, Pins, Ttl, Wire};

/// Wires below this are never rebuilt. Larger ones are rebuilt at twice their live size: amortised over new bytes.
const FRESH_BYTES_MIN: usize = 12 << 20;

/// Checks bodies one after the other.
///
/// ```
/// use forkcast_sim::guard::{Facts, Guard, Rules, Sent};
///
/// let body = |date: &str| {
///     format!(
///         r#"{{"model":"claude-opus-4-8","system":[{{"type":"text","text":"Today is {date}.",
///         "cache_control":{{"type":"ephemeral"}}}}],"messages":[{{"role":"user","content":"Hi"}}]}}"#
///     )
/// };
/// let mut guard = Guard::new(Rules { in_tests: true, ..Rules::default() });
/// for date in ["2026-11-20", "2026-11-21"] {
///     let facts = Facts { chain: Some("main"), ..Facts::default() };
///     guard.take(&Sent { facts, ..Sent::body(body(date).as_bytes()) })?;
/// }
/// let report = guard.finish();
/// assert_eq!(report.findings[0].cause.word(), "system_changed");
/// # Ok::<(), forkcast_sim::wire::BodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Guard {
    wire: Wire,
    /// Number of the current wire; each wire has another one.
    arena: u64,
    watch: Watch,
    pins: Pins,
    spelled: SpellingMemory,
    /// Size of the wire in bytes at which it is rebuilt.
    limit_bytes: usize,
    requests: usize,
    /// No body carried a breakpoint so far.
    unmarked: bool,
    /// Assume breakpoints until a body has one.
    pub(super) implies: bool,
}

impl Guard {
    /// A guard under `rules`, at list prices.
    pub fn new(rules: Rules) -> Self {
        Self {
            wire: Wire::new(rules.preset.forms),
            arena: 0,
            implies: rules.in_tests,
            watch: Watch::new(rules),
            pins: Pins::default(),
            spelled: SpellingMemory::default(),
            limit_bytes: FRESH_BYTES_MIN,
            requests: 0,
            unmarked: true,
        }
    }

    /// The same with other prices.
    pub fn with_prices(mut self, book: PriceBook) -> Self {
        self.watch = self.watch.with_prices(book);
        self
    }

    /// The rules in force.
    pub const fn rules(&self) -> &Rules {
        self.watch.rules()
    }

    /// Number of bodies taken.
    pub const fn len(&self) -> usize {
        self.requests
    }

    /// Whether no body was taken.
    pub const fn is_empty(&self) -> bool {
        self.requests == 0
    }

    /// Takes the next body.
    ///
    /// # Errors
    /// When it is no request of the Messages API; the guard is unchanged then.
    pub fn take(&mut self, sent: &Sent<'_>) -> Result<Checked, BodyError> {
        let mut request = self.wire.read_by(sent.maker, sent.body, sent.facts.scope, sent.model_outside)?;
        request.addresses = sent.addresses.cloned();
        self.unmarked &= request.markers_sent == 0;
        let is_implied = self.unmarked && self.implies && sent.breakpoints == Breakpoints::AsSent;
        let breakpoints = if is_implied { Breakpoints::Implied(Ttl::FiveMinutes) } else { sent.breakpoints };
        breakpoints.apply(&mut request);
        let total_tokens = sent.facts.usage.map(|usage| usage.total_input_tokens());
        let cumulative = self.pins.sizes(&request, &self.wire, sent.sizes, total_tokens);
        if total_tokens.is_some() {
            self.pins.show(&request, &self.wire, &cumulative);
        }
        let taken = self.watch.taken(self.requests, request.clone(), cumulative);
        self.requests += 1;
        let (mut checked, shown) = self.watch.checked(&self.wire, taken, &sent.facts, is_implied);
        let spelled = self.spelled.next(checked.chain, checked.request, sent, &self.wire);
        self.watch.note(&mut checked, spelled);
        if let Some(usage) = sent.facts.usage {
            self.pins.learn(&request, &self.wire.prefixes, &shown.effective, shown.hit, &usage);
        }
        if self.wire.total_bytes() > self.limit_bytes {
            self.renew();
        }
        Ok(checked)
    }

    /// Takes the message of a recorded error about thinking in a request of `chain`, which is not taken itself.
    pub fn refused(&mut self, chain: Option<&str>, message: &str) {
        self.watch.refused(chain, message);
    }

    /// The request just checked, in the form that a lock records. `parent` is the chain that started its chain.
    pub fn seen<'a>(&'a self, checked: &'a Checked, parent: Option<&'a str>) -> Option<RequestRecord<'a>> {
        let seen = self.watch.seen(&self.wire, checked, parent)?;
        Some(RequestRecord { arena: self.arena, ..seen })
    }

    /// Drops everything that no later request is compared with.
    fn renew(&mut self) {
        let (wire, moved) = self.watch.renew(&self.wire);
        self.pins = std::mem::take(&mut self.pins).moved(&moved);
        self.limit_bytes = FRESH_BYTES_MIN.max(wire.total_bytes() * 2);
        self.wire = wire;
        self.arena += 1;
    }

    /// The report on all bodies.
    pub fn finish(self) -> Report {
        self.watch.finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed, TestRunner};
    use serde_json::{Value, json};

    use super::Guard;
    use crate::guard::{Facts, Rules, Sent};
    use crate::time::Instant;
    use crate::wire::Usage;

    /// The next request of an agent: its chain, the delay, how many blocks it adds, and which one it edits.
    type Step = (usize, u64, usize, Option<usize>);

    const NAMES: [Option<&str>; 4] = [Some("a"), Some("b"), None, None];

    #[derive(Default)]
    struct Agents {
        histories: [Vec<Value>; 4],
        said: usize,
    }

    impl Agents {
        /// The next body. An edit always gives new content, because a return to dropped bytes is reported differently.
        fn body(&mut self, (agent, _, added, edited): Step) -> String {
            let history = &mut self.histories[agent];
            let mut say = |role: &str| {
                self.said += 1;
                json!({"role": role, "content": [{"type": "text", "text": format!("agent {agent} says {} ", self.said).repeat(30)}]})
            };
            if let Some(edited) = edited.filter(|_| !history.is_empty()) {
                let at = edited % history.len();
                history[at] = say(["user", "assistant"][at % 2]);
            }
            for _ in 0..=added {
                let role = ["user", "assistant"][history.len() % 2];
                history.push(say(role));
            }
            let mut messages = history.clone();
            if let Some(last) = messages.last_mut() {
                last["content"][0]["cache_control"] = json!({"type": "ephemeral"});
            }
            let system =
                [json!({"type": "text", "text": "policy ".repeat(600), "cache_control": {"type": "ephemeral"}})];
            json!({"model": "claude-sonnet-4-5", "system": system, "messages": messages}).to_string()
        }
    }

    fn agree(steps: &[Step]) -> Result<(), TestCaseError> {
        let (mut agents, mut now) = (Agents::default(), 0);
        let mut unbounded = Guard::new(Rules::default());
        let mut bounded = unbounded.clone();
        for step in steps {
            let body = agents.body(*step);
            now += step.1;
            let usage = Usage { input_tokens: body.len() as u64 / 4, ..Usage::default() };
            let sent = Sent {
                facts: Facts {
                    chain: NAMES[step.0],
                    scope: ["one", "two"][step.0 % 2],
                    at: Some(Instant::from_millis(now)),
                    first_byte_at: Some(Instant::from_millis(now + 900)),
                    usage: (step.0 == 1).then_some(usage),
                    ..Facts::default()
                },
                ..Sent::body(body.as_bytes())
            };
            bounded.limit_bytes = 0;
            let (one, other) = (unbounded.take(&sent), bounded.take(&sent));
            prop_assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
        prop_assert_eq!(bounded.arena, steps.len() as u64, "it was rebuilt each time");
        prop_assert_eq!(format!("{:?}", unbounded.finish()), format!("{:?}", bounded.finish()));
        Ok(())
    }

    #[test]
    fn a_rebuilt_wire_changes_no_result() {
        let config = Config { cases: 200, rng_seed: RngSeed::Fixed(0), failure_persistence: None, ..Config::default() };
        let steps = vec((0..4_usize, 0..200_000_u64, 0..4_usize, prop::option::weighted(0.3, 0..64_usize)), 1..24);
        let held = TestRunner::new(config).run(&steps, |steps| agree(&steps));
        assert!(held.is_ok(), "{held:?}");
    }
}
