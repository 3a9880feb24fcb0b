//! WEKA's traces of Claude Code outside the project: measured by this crate, by a simple method that reads the files
//! directly, and in the published statistics, in one table. Skipped with a message if the traces are absent.
//!
//! The simple method is independent of this crate: a request reads the longest common run of its block ids with those
//! of the previous request in its conversation, at most its size, if that began within the lifetime; the rest is
//! written.
//!
//! The published figures are of 692 to 739 conversations without sub-agents; 86 of these are available here.

mod plain;
mod table;

use forkcast_fixtures::beside;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::rebuild::Dispatch;
use forkcast_replay::replay::{Options, replay};
use forkcast_replay::trace::{Rest, Sends, Trace, turns};
use forkcast_replay::what_if::{Bound, BoundPings, Columns, WhatIf};
use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::{Category, ModelKey, PriceBook, Rates, Terms};
use forkcast_sim::service::Quote;
use forkcast_sim::wire::Usage;
use plain::{Counts, Policy};
use table::{POLICIES, Row, print};

fn traces() -> Option<(Vec<Trace>, Vec<plain::Conversation>)> {
    let folder = beside("kv-weka-claude-code")?;
    let inputs = Inputs::read(&[&folder], InputFormat::Auto).expect("the folder opens");
    assert!(inputs.unreadable.is_empty(), "{:?}", inputs.unreadable);
    let files = inputs.scopes.into_iter().flat_map(|scope| scope.files);
    let ours: Vec<Trace> = files.flat_map(|file| file.traces).collect();
    Some((ours, plain::conversations(&folder)))
}

/// Prices with the published factors: a read a tenth, a write a quarter more, or double. A ping's answer costs nothing.
fn rates() -> Rates {
    let price = |category| match category {
        Category::Input => "10",
        Category::Read => "1",
        Category::Write5m => "12.5",
        Category::Write1h => "20",
        Category::Output => "0",
    };
    let book = Category::ALL.into_iter().fold(PriceBook::built_in(), |book, category| {
        book.with_override("made", category, price(category).parse().unwrap())
    });
    book.rates(&ModelKey::from("made"), &Terms::default()).unwrap()
}

fn counts(usages: impl IntoIterator<Item = Usage>) -> Counts {
    usages.into_iter().fold(Counts::default(), |sum, usage| Counts {
        plain: sum.plain + usage.input_tokens,
        read: sum.read + usage.cache_read_input_tokens,
        written_5m: sum.written_5m + usage.ephemeral_5m_input_tokens,
        written_1h: sum.written_1h + usage.ephemeral_1h_input_tokens,
    })
}

/// Sends every request of the main agent.
pub fn send(trace: &Trace, sends: &Sends<'_>, rest: Rest, serve: &mut dyn FnMut(&Dispatch<'_>)) {
    let quote = Quote { rates: Some(rates()), ..Quote::default() };
    for turn in turns(trace).iter().filter(|turn| turn.conversation == 0) {
        serve(&sends.dispatch(turn, &sends.sizes(turn, rest), &quote));
    }
}

/// The engine's counts under each what-if, of one main agent.
fn columns(trace: &Trace, what_ifs: &[WhatIf], book: &PriceBook) -> Vec<Counts> {
    let sends = Sends::of(trace);
    let mut columns = Columns::new(what_ifs, &Rules::default(), book);
    send(trace, &sends, Rest::Written, &mut |sent| columns.serve(sent));
    let rows = columns.finish(sends.prefixes());
    (0..what_ifs.len()).map(|at| counts(rows.iter().map(|row| row[at].usage))).collect()
}

fn bound(trace: &Trace, pings: BoundPings) -> Counts {
    let mut bound = Bound::new(&Rules::default(), pings);
    send(trace, &Sends::of(trace), Rest::Plain, &mut |sent| bound.serve(sent));
    counts(bound.finish().iter().map(|row| row.usage))
}

#[test]
fn policies_agree_with_the_plain_method_to_the_token() {
    let Some((ours, plain)) = traces() else { return };
    let mains: Vec<&plain::Conversation> = plain.iter().filter(|found| found.agent.is_none()).collect();
    assert_eq!(ours.len(), mains.len());
    let book = PriceBook::built_in();
    let what_ifs: Vec<WhatIf> = POLICIES.iter().map(|row| row.what_if.parse().unwrap()).collect();
    let engine: Vec<Vec<Counts>> = ours.iter().map(|trace| columns(trace, &what_ifs, &book)).collect();
    let input: u64 = mains.iter().flat_map(|main| &main.requests).map(|request| request.input).sum();
    let mut rows = Vec::new();
    for (at, policy) in POLICIES.iter().enumerate() {
        let mut units = [0, 0];
        for (main, engine) in mains.iter().zip(&engine) {
            let expected = plain::counts(&main.requests, policy.plain);
            assert_eq!(engine[at], expected, "{} of {}", policy.what_if, main.trace);
            units[0] += engine[at].units();
            units[1] += expected.units();
        }
        rows.push(Row::share(policy.name, policy.published, units, input));
    }
    for (name, published, pings, plainly) in [
        ("clairvoyant choice for each block", "0.1590", BoundPings::None, false),
        ("the same with pings allowed", "0.1522", BoundPings::Allowed, true),
    ] {
        let ours: u64 = ours.iter().map(|trace| bound(trace, pings).units()).sum();
        let expected: u64 = mains.iter().map(|main| plain::least(&main.requests, plainly)).sum();
        assert_eq!(ours, expected, "{name}");
        rows.push(Row::share(name, published, [ours, expected], input));
    }
    let expected = mains.iter().filter(|main| {
        let units = |policy| plain::counts(&main.requests, policy).units();
        units(Policy::Lives(3_600_000)) < units(Policy::Lives(300_000))
    });
    let ours = engine.iter().filter(|row| row[2].units() < row[1].units()).count();
    let expected = expected.count();
    assert_eq!(ours, expected);
    rows.push(Row::share(
        "conversations in which 1h is cheaper",
        "0.536",
        [ours as u64 * 1_000, expected as u64 * 1_000],
        86,
    ));
    print("Cost of the input, in tokens of plain input", &rows);
}

#[test]
fn overlaps_and_gaps_agree_with_the_plain_method() {
    let Some((ours, plain)) = traces() else { return };
    let mains = plain.iter().filter(|found| found.agent.is_none());
    let expected: Vec<Vec<plain::Turn>> = mains.map(|main| plain::turns(&main.requests)).collect();
    let of_trace = |trace: &Trace| {
        let mut found: Vec<plain::Turn> =
            turns(trace).iter().filter(|turn| turn.conversation == 0).map(turn_of).collect();
        for (turn, request) in found.iter_mut().zip(&trace.conversations[0].requests) {
            turn.output = request.output_tokens;
        }
        found
    };
    let found: Vec<Vec<plain::Turn>> = ours.iter().map(of_trace).collect();
    assert_eq!(found, expected);
    print("Overlap with the previous request, gaps, retention", &table::statistics(&found, &expected));
}

fn turn_of(turn: &forkcast_replay::trace::Turn) -> plain::Turn {
    plain::Turn {
        input: turn.input_tokens,
        output: 0,
        kept: turn.kept_tokens,
        gap_ms: turn.gap.map(|gap| gap.as_millis()),
    }
}

#[test]
fn a_replay_of_the_folder_reads_as_much_as_the_plain_method_including_sub_agents() {
    let Some(folder) = beside("kv-weka-claude-code") else { return };
    let inputs = Inputs::read(&[&folder], InputFormat::Auto).expect("the folder opens");
    let replayed = replay(&inputs, &Options { book: PriceBook::built_in(), ..Options::default() });
    let plain = plain::conversations(&folder);
    assert_eq!((replayed.entries.len(), plain.len()), (6_569, 86 + 38));
    let expected = plain.iter().map(|found| plain::counts(&found.requests, Policy::Lives(300_000)));
    let expected = expected.fold(Counts::default(), Counts::plus);
    let found = counts(replayed.lines().map(|line| line.predicted.unwrap()));
    assert_eq!(found, expected);
    for line in replayed.lines() {
        let explanation = line.explanation.as_ref().unwrap();
        let parts = explanation.read_tokens + explanation.new_tokens + explanation.missed_tokens();
        assert_eq!(parts, line.predicted.unwrap().total_input_tokens());
    }
    assert!(replayed.unpriced().is_empty(), "{:?}", replayed.unpriced());
}
