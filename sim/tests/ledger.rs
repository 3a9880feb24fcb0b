//! The cost of requests: bills and perfect bills, sums, and unread writes.

use std::collections::BTreeMap;

use forkcast_sim::diagnosis::{Cause, Explanation, Missed};
use forkcast_sim::ledger::{CauseCost, CauseTotal, Charge, Line, PredictedCost, Totals, UnreadWrites, charge};
use forkcast_sim::pricing::{Category, Money, PriceBook, Rates, Terms};
use forkcast_sim::wire::{
    BlockId, BlockKind, Blocks, Content, Level, Marker, NodeId, Place, Prefixes, Role, Ttl, Usage,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// Rates in 10⁻¹² USD per million tokens: input, five minutes, an hour, read, output.
fn rates(prices: [i128; 5]) -> Rates {
    let mut book = PriceBook::built_in();
    for (category, price) in Category::ALL.into_iter().zip(prices) {
        book = book.with_override("mine", category, Money::from_picousd(price));
    }
    book.rates(&"mine".into(), &Terms::default()).unwrap()
}

/// 10, 12.5, 20 and 1 unit per token, 50 for output.
fn plain_rates() -> Rates {
    rates([10_000_000, 12_500_000, 20_000_000, 1_000_000, 50_000_000])
}

fn usage(input: u64, read: u64, write_5m: u64, write_1h: u64) -> Usage {
    Usage {
        input_tokens: input,
        cache_read_input_tokens: read,
        ephemeral_5m_input_tokens: write_5m,
        ephemeral_1h_input_tokens: write_1h,
        output_tokens: 3,
    }
}

fn explained(missed: &[(Cause, Category, u64)]) -> Explanation {
    let missed = missed.iter().map(|(cause, billed_as, tokens)| Missed {
        cause: *cause,
        billed_as: *billed_as,
        tokens: *tokens,
    });
    Explanation { missed: missed.collect(), ..Explanation::default() }
}

fn units(amount: i128) -> Money {
    Money::from_picousd(amount)
}

#[test]
fn a_charge_is_the_bill_the_perfect_bill_and_a_cost_for_each_cause() {
    let missed = explained(&[
        (Cause::SystemChanged, Category::Input, 100),
        (Cause::SystemChanged, Category::Write5m, 200),
        (Cause::Expired, Category::Write1h, 40),
    ]);
    let found = charge(Some(&plain_rates()), &usage(1_000, 5_000, 400, 80), &[], Some(&missed));
    assert_eq!(found.bill.map(|bill| bill.total), Some(units(10_000 + 5_000 + 5_000 + 1_600 + 150)));
    // As if 340 more tokens had been read: 900 input, 5,340 read, 200 and 40 written.
    assert_eq!(found.perfect, Some(units(9_000 + 5_340 + 2_500 + 800 + 150)));
    let causes = [
        CauseCost { cause: Cause::SystemChanged, tokens: 300, cost: Some(units(900 + 2_300)) },
        CauseCost { cause: Cause::Expired, tokens: 40, cost: Some(units(760)) },
    ];
    assert_eq!(found.causes, causes);
}

#[test]
fn without_misses_there_is_no_extra_cost() {
    let used = usage(10, 20, 30, 40);
    for explanation in [None, Some(Explanation::default())] {
        let found = charge(Some(&plain_rates()), &used, &[], explanation.as_ref());
        assert_eq!(found.bill.map(|bill| bill.total), found.perfect);
        assert!(found.causes.is_empty());
    }
}

#[test]
fn without_a_price_tokens_count_and_money_is_unknown() {
    let missed = explained(&[(Cause::Expired, Category::Input, 5), (Cause::Expired, Category::Write5m, 7)]);
    let found = charge(None, &usage(10, 0, 10, 0), &[], Some(&missed));
    let causes = vec![CauseCost { cause: Cause::Expired, tokens: 12, cost: None }];
    assert_eq!(found, Charge { bill: None, perfect: None, causes });
}

#[test]
fn the_last_cause_takes_the_rounding_remainder() {
    // Half a unit per token, free reads. 3 tokens cost 2 (1.5 to even), 1 and 1 missed cost 0 each (0.5 to even).
    let rates = rates([500_000, 500_000, 500_000, 0, 0]);
    let missed = explained(&[(Cause::SystemChanged, Category::Input, 1), (Cause::Expired, Category::Input, 1)]);
    let found = charge(Some(&rates), &usage(3, 0, 0, 0), &[], Some(&missed));
    assert_eq!((found.bill.map(|bill| bill.total), found.perfect), (Some(units(2)), Some(units(0))));
    let costs: Vec<_> = found.causes.iter().map(|cause| cause.cost).collect();
    assert_eq!(costs, [Some(units(0)), Some(units(2))]);
}

#[test]
fn a_read_that_is_dearer_than_input_makes_a_miss_cheap() {
    let found = charge(
        Some(&rates([1_000_000, 0, 0, 4_000_000, 0])),
        &usage(10, 0, 0, 0),
        &[],
        Some(&explained(&[(Cause::Expired, Category::Input, 10)])),
    );
    assert_eq!(found.causes[0].cost, Some(units(-30)));
}

fn line(
    recorded: Option<Usage>,
    predicted: Option<Usage>,
    rates: Option<&Rates>,
    missed: &[(Cause, Category, u64)],
) -> Line {
    let billed = recorded.or(predicted);
    // Unbilled requests have no explanation, and no more is explained than was billed.
    let explanation = billed.map(|_| Explanation { read_tokens: 1, new_tokens: 2, ..explained(missed) });
    Line {
        index: 0,
        session: 0,
        chain: None,
        at: None,
        first_byte_at: None,
        model: "mine".to_owned(),
        recorded,
        predicted,
        predicted_cost: rates.zip(predicted).map(|(rates, usage)| PredictedCost::of(&rates.bill(&usage, &[]))),
        charge: billed.map(|usage| charge(rates, &usage, &[], explanation.as_ref())).unwrap_or_default(),
        explanation,
        unread_writes: rates.map(|_| units(7)),
        remarks: Vec::new(),
    }
}

#[test]
fn a_line_is_billed_as_recorded_or_else_as_predicted() {
    let (a, b) = (usage(1, 0, 0, 0), usage(2, 0, 0, 0));
    assert_eq!(line(Some(a), Some(b), None, &[]).billed(), Some(a));
    assert_eq!(line(None, Some(b), None, &[]).billed(), Some(b));
    assert_eq!(line(None, None, None, &[]).billed(), None);
}

#[test]
fn totals_are_sums_of_lines() {
    let rates = plain_rates();
    let missed = [(Cause::SystemChanged, Category::Input, 4), (Cause::Expired, Category::Input, 2)];
    let lines = [
        line(Some(usage(10, 1, 0, 0)), Some(usage(5, 6, 0, 0)), Some(&rates), &missed),
        line(Some(usage(20, 2, 0, 0)), Some(usage(15, 7, 0, 0)), Some(&rates), &missed[..1]),
        // A model without a price, and a request without usage among others that have it.
        line(Some(usage(40, 4, 0, 0)), None, None, &[]),
        line(None, Some(usage(80, 8, 0, 0)), Some(&rates), &missed),
    ];
    let totals = Totals::of(&lines);
    assert_eq!((totals.requests, totals.recorded_requests, totals.predicted_requests, totals.unpriced), (4, 3, 2, 1));
    assert_eq!(totals.recorded, Usage { output_tokens: 9, ..usage(70, 7, 0, 0) });
    assert_eq!(totals.predicted, Usage { output_tokens: 6, ..usage(20, 13, 0, 0) });
    assert_eq!(totals.bill, units(100 + 1 + 150 + 200 + 2 + 150));
    assert_eq!(totals.bill - totals.perfect, units(10 * 9));
    assert_eq!(totals.predicted_bill, units(50 + 6 + 150 + 150 + 7 + 150));
    assert_eq!(totals.unread_writes, units(14));
    assert_eq!((totals.read_tokens, totals.new_tokens, totals.missed_tokens), (3, 6, 10));
    assert_eq!(totals.unknown_tokens, 77 - 19, "input that nothing explains");
    let causes = BTreeMap::from([
        (Cause::SystemChanged, CauseTotal { requests: 2, tokens: 8, cost: units(72) }),
        (Cause::Expired, CauseTotal { requests: 1, tokens: 2, cost: units(18) }),
    ]);
    assert_eq!(totals.causes, causes);
}

#[test]
fn without_recorded_usage_the_prediction_is_the_bill() {
    let rates = plain_rates();
    let lines = [line(None, Some(usage(80, 8, 0, 0)), Some(&rates), &[]), line(None, None, Some(&rates), &[])];
    let totals = Totals::of(&lines);
    assert_eq!((totals.requests, totals.recorded_requests, totals.predicted_requests), (2, 0, 1));
    assert_eq!(totals.bill, units(800 + 8 + 150));
    assert_eq!((totals.unpriced, totals.recorded), (0, Usage::default()), "a line without any usage is not unpriced");
    assert_eq!(Totals::of(&[]), Totals::default());
}

/// A trunk of prefixes, each of which is written.
struct Tree {
    prefixes: Prefixes,
    block: [BlockId; 2],
    trunk: Vec<NodeId>,
}

impl Tree {
    fn new(depth: usize) -> Self {
        let mut blocks = Blocks::default();
        let block = [b"a", b"b"].map(|bytes| {
            blocks.intern(Content { level: Level::Messages, role: Role::User, kind: BlockKind::Text, bytes })
        });
        let mut tree = Self { prefixes: Prefixes::default(), block, trunk: Vec::new() };
        let mut end = tree.prefixes.root("s", "m");
        for _ in 0..depth {
            end = tree.prefixes.extend(end, block[0], BlockKind::Text).0;
            tree.trunk.push(end);
        }
        tree
    }

    fn fork(&mut self, at: NodeId) -> NodeId {
        self.prefixes.extend(at, self.block[1], BlockKind::Text).0
    }
}

fn write(node: NodeId, ttl: Ttl, tokens: u64) -> (Marker, u64) {
    (Marker { node, ttl, place: Place::head(Level::Messages), automatic: false }, tokens)
}

const SHORT: Ttl = Ttl::FiveMinutes;
const LONG: Ttl = Ttl::OneHour;

#[test]
fn a_write_has_paid_once_it_is_read() {
    let tree = Tree::new(3);
    let mut unread = UnreadWrites::default();
    assert!(unread.unread().is_empty());
    unread.wrote(&tree.prefixes, 0, &[write(tree.trunk[0], LONG, 10), write(tree.trunk[2], SHORT, 20)]);
    assert_eq!(unread.unread(), BTreeMap::from([(0, (20, 10))]));
    unread.read(&tree.prefixes, tree.trunk[2]);
    assert!(unread.unread().is_empty());
    unread.read(&tree.prefixes, tree.trunk[2]);
    assert!(unread.unread().is_empty());
}

#[test]
fn a_shorter_hit_counts_only_the_writes_it_reads() {
    let tree = Tree::new(3);
    let mut unread = UnreadWrites::default();
    unread.wrote(&tree.prefixes, 0, &[write(tree.trunk[0], LONG, 10), write(tree.trunk[2], SHORT, 20)]);
    unread.read(&tree.prefixes, tree.trunk[1]);
    assert_eq!(unread.unread(), BTreeMap::from([(0, (20, 0))]));
    unread.read(&tree.prefixes, tree.trunk[2]);
    assert!(unread.unread().is_empty());
}

#[test]
fn a_read_of_a_prefix_written_twice_counts_only_for_the_newer_write() {
    let tree = Tree::new(1);
    let mut unread = UnreadWrites::default();
    unread.wrote(&tree.prefixes, 3, &[write(tree.trunk[0], SHORT, 10)]);
    unread.wrote(&tree.prefixes, 5, &[write(tree.trunk[0], SHORT, 11)]);
    unread.read(&tree.prefixes, tree.trunk[0]);
    assert_eq!(unread.unread(), BTreeMap::from([(3, (10, 0))]));
}

#[test]
fn lost_writes_stay_unread_when_their_successors_are_read() {
    let mut tree = Tree::new(4);
    let fork = tree.fork(tree.trunk[2]);
    let mut unread = UnreadWrites::default();
    let writes = [(0, LONG, 1), (1, SHORT, 2), (2, SHORT, 4), (3, SHORT, 8)];
    unread.wrote(&tree.prefixes, 0, &writes.map(|(at, ttl, tokens)| write(tree.trunk[at], ttl, tokens)));
    let alive = tree.trunk[1];
    unread.lose(&tree.prefixes, fork, Some(tree.trunk[0]), |node| node != alive);
    unread.wrote(&tree.prefixes, 1, &[write(fork, SHORT, 7)]);
    unread.read(&tree.prefixes, fork);
    assert_eq!(unread.unread(), BTreeMap::from([(0, (12, 0))]), "the third was lost, the fourth is on no path");
}

#[test]
fn a_requests_unread_writes_add_up_by_lifetime() {
    let tree = Tree::new(4);
    let mut unread = UnreadWrites::default();
    let writes = [(0, LONG, 1), (1, LONG, 2), (2, SHORT, 4), (3, SHORT, 8)];
    unread.wrote(&tree.prefixes, 0, &writes.map(|(at, ttl, tokens)| write(tree.trunk[at], ttl, tokens)));
    unread.wrote(&tree.prefixes, 1, &[write(tree.trunk[3], SHORT, 0)]);
    assert_eq!(unread.unread(), BTreeMap::from([(0, (12, 3))]), "a stretch without tokens is none");
}

#[test]
fn a_fork_reads_the_trunk_below_it_and_not_beyond() {
    let mut tree = Tree::new(4);
    let fork = tree.fork(tree.trunk[1]);
    let twig = tree.fork(fork);
    let mut unread = UnreadWrites::default();
    unread.wrote(
        &tree.prefixes,
        0,
        &[write(tree.trunk[0], SHORT, 1), write(tree.trunk[1], SHORT, 2), write(tree.trunk[3], SHORT, 4)],
    );
    unread.wrote(&tree.prefixes, 1, &[write(fork, SHORT, 8), write(twig, SHORT, 16)]);
    unread.read(&tree.prefixes, fork);
    assert_eq!(unread.unread(), BTreeMap::from([(0, (4, 0)), (1, (16, 0))]));
    unread.read(&tree.prefixes, tree.trunk[3]);
    assert_eq!(unread.unread(), BTreeMap::from([(1, (16, 0))]));
}

#[test]
fn a_write_far_up_a_long_chain_is_found() {
    let tree = Tree::new(100_000);
    let mut unread = UnreadWrites::default();
    let last = tree.trunk.len() - 1;
    unread.wrote(&tree.prefixes, 0, &[write(tree.trunk[0], LONG, 5), write(tree.trunk[last], SHORT, 6)]);
    unread.read(&tree.prefixes, tree.trunk[last]);
    assert!(unread.unread().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 5_000,
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn causes_add_up_to_the_last_unit_for_any_price_and_any_usage(
        prices in prop::array::uniform5(-1_000_000_000..1_000_000_000_000_000i128),
        extra in prop::array::uniform4(0..1_000_000_000u64),
        missed in prop::collection::btree_map(
            (select(vec![Cause::ModelChanged, Cause::SystemChanged, Cause::Expired]), select(vec![Category::Input, Category::Write5m, Category::Write1h])),
            1..1_000_000_000u64,
            0..9,
        ),
    ) {
        let sum = |category: Category| missed.iter().filter(|((_, billed_as), _)| *billed_as == category).map(|(_, tokens)| tokens).sum::<u64>();
        let used = usage(
            extra[0] + sum(Category::Input),
            extra[1],
            extra[2] + sum(Category::Write5m),
            extra[3] + sum(Category::Write1h),
        );
        let list: Vec<_> = missed.iter().map(|((cause, billed_as), tokens)| (*cause, *billed_as, *tokens)).collect();
        let rates = rates(prices);
        let found = charge(Some(&rates), &used, &[], Some(&explained(&list)));
        let costs: Money = found.causes.iter().map(|cause| cause.cost.unwrap()).sum();
        let (bill, perfect) = (found.bill.unwrap().total, found.perfect.unwrap());
        prop_assert_eq!(bill - perfect, costs);
        prop_assert_eq!(bill, rates.bill(&used, &[]).total);
        let read = extra[1] + missed.values().sum::<u64>();
        prop_assert_eq!(perfect, rates.bill(&usage(extra[0], read, extra[2], extra[3]), &[]).total);
        // Except for the last one, which absorbs the rest, each cause costs its own difference, rounded once per price.
        prop_assert!(found.causes.is_sorted_by(|a, b| a.cause < b.cause));
        for cause in found.causes.iter().rev().skip(1) {
            let own = list.iter().filter(|(other, _, _)| *other == cause.cause);
            let own: Money = own.map(|(_, billed_as, tokens)| rates.difference(*billed_as, Category::Read, *tokens)).sum();
            prop_assert_eq!(cause.cost, Some(own));
        }
    }
}
