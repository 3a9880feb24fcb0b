//! Every run of the catalog and six fan-outs, recorded and played again: the same session, event by event.

use std::rc::Rc;

use forkcast_replay::exchange::{Exchange, Origin, RecordedAnswer};
use forkcast_replay::formats::exchange_log::{RawAnswer, write_line};
use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::recording::Recording;
use forkcast_replay::replay;
use forkcast_replay::source::Scope;
use forkcast_replay::source::order::{Arrival, Stream};
use forkcast_scenarios::capture::{self, Recorder};
use forkcast_scenarios::fanout::{self, Cell, Spawn};
use forkcast_scenarios::run::{Options, Run, play};
use forkcast_scenarios::{catalog, load};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{LaunchPolicy, Profile};
use forkcast_sim::cache::Rules;
use forkcast_sim::ledger::Line;
use forkcast_sim::model::recorded::Fidelity;
use forkcast_sim::pricing::{Date, PriceBook};
use forkcast_sim::simulation::{self, Finished, Passage, RateLimits, Setup};
use forkcast_sim::wire::{NormalForms, Ttl, Usage};

/// The recording of these exchanges.
fn recording(exchanges: &[Exchange]) -> Recording {
    let arrival = |exchange| -> Arrival<'_> {
        let exchange: &Exchange = exchange;
        Arrival { exchange, session: 0, times: exchange.times().unwrap() }
    };
    let stream = Stream {
        scope: Scope { name: "run".to_owned(), timed: true, siblings: false },
        requests: exchanges.iter().map(arrival).collect(),
    };
    Recording::of(&stream, NormalForms::default())
}

/// A recording played again.
struct Played {
    digest: u128,
    message: Option<String>,
}

fn again(exchanges: &[Exchange], setup: Setup, fidelity: Fidelity) -> Played {
    let recording = recording(exchanges);
    assert!(recording.unread.is_empty(), "{:?}", recording.unread);
    let unheard = recording.unknown_answers + recording.reported_answers + recording.repeated_answers;
    assert_eq!(unheard, 0, "every answer was recorded");
    let setup = Setup { script: Box::new(recording.play(fidelity)), ..setup };
    match simulation::run(setup) {
        Ok(finished) => Played { digest: finished.digest, message: None },
        Err(failed) => Played { digest: failed.until.digest, message: Some(failed.to_string()) },
    }
}

/// A run of the catalog that keeps its answers.
fn recorded(item: &catalog::CatalogItem) -> (Run, Vec<Exchange>) {
    let run = play(item.read(&[]).unwrap(), &Options { keeps_answers: true, ..Options::default() });
    let exchanges = Recorder::new(&run).calls().collect();
    (run, exchanges)
}

fn without_ids(exchanges: &[Exchange]) -> Vec<Exchange> {
    let without = |exchange: &Exchange| Exchange { chain: None, parent: None, ..exchange.clone() };
    exchanges.iter().map(without).collect()
}

/// By content every run comes back, whether it ends well or not. By position alone, without the names of agents, the rest
/// has agents that began in one way, or a fork whose first request is no continuation of its parent's last one.
#[test]
fn all_runs_of_the_catalog_play_back_to_the_same_session() {
    let (mut alike, mut loosely_alike, mut differ) = (0, 0, Vec::new());
    for item in catalog::all() {
        let (run, exchanges) = recorded(item);
        let setup = || load::setup(&run.scenario, None);
        let strict = again(&exchanges, setup(), Fidelity::Strict);
        let loose = again(&without_ids(&exchanges), setup(), Fidelity::Loose);
        alike += usize::from(strict.digest == run.digest);
        loosely_alike += usize::from(loose.digest == run.digest);
        if strict.digest != run.digest {
            differ.push(format!("{}: {:?}", item.name, strict.message));
        }
    }
    let all = catalog::all().len();
    assert_eq!(alike, all, "{}", differ.join("\n"));
    assert!(loosely_alike >= 59, "{loosely_alike} of {all}");
}

/// Sums of a ledger: usage and picodollars of the requests that were billed.
fn bill<'a>(lines: impl Iterator<Item = &'a Line>) -> (Usage, i128) {
    let mut sum = (Usage::default(), 0);
    for line in lines {
        sum.0 += line.billed().unwrap_or_default();
        sum.1 += line.charge.bill.as_ref().map_or(0, |bill| bill.total.picousd());
    }
    sum
}

/// The bill of `exchanges`, written as a log and read again.
fn bill_of_log(exchanges: &[Exchange], rules: Rules, prices_of: Option<Date>) -> (Usage, i128) {
    let mut log = Vec::new();
    for exchange in exchanges {
        write_line(&mut log, exchange, RawAnswer::kept(exchange)).unwrap();
    }
    let inputs = Inputs::from_bytes("exchanges.jsonl", &log, ReadOptions::default().with_answers());
    assert!(inputs.unreadable.is_empty(), "{:?}", inputs.unreadable);
    let kept = |exchange: &Exchange| exchange.answer.clone().filter(|answer| **answer != RecordedAnswer::default());
    let read: Vec<&Exchange> = inputs.exchanges().collect();
    assert_eq!(read.len(), exchanges.len());
    for (read, written) in read.iter().zip(exchanges) {
        assert_eq!((&read.body, kept(read)), (&written.body, kept(written)));
    }
    let options = replay::Options { rules: Some(rules), prices_of, ..replay::Options::default() };
    bill(replay::replay(&inputs, &options).lines())
}

#[test]
fn an_exchange_log_has_the_bill_of_its_run() {
    for item in catalog::all() {
        let (run, exchanges) = recorded(item);
        let rules = run.scenario.cache.unwrap_or_default();
        let billed = bill(run.requests.iter().map(|request| &request.line));
        assert_eq!(bill_of_log(&exchanges, rules, run.scenario.prices), billed, "{}", item.name);
    }
}

/// The calls of a fan-out as exchanges. All agents have names.
fn of_fan_out(finished: &Finished) -> Vec<Exchange> {
    let exchange = |(index, passage): (usize, &Passage)| {
        let draft = passage.line.map(|line| finished.drafts.draft(line)).or_else(|| passage.draft.clone()).unwrap();
        let entry = passage.line.map(|line| &finished.entries[line]);
        let origin = Origin { file: "fan-out".to_owned(), index, line: 0 };
        let chain = Some(passage.agent.to_string());
        Exchange { chain, ..capture::exchange(origin, passage, &draft, entry) }
    };
    finished.traffic.iter().enumerate().map(exchange).collect()
}

#[test]
fn six_fan_outs_play_back_strictly() {
    let book = Rc::new(PriceBook::built_in());
    let wide = Cell { children: 12, turns: 3, growth: 700, output: 300, ..Cell::default() };
    let spawn = Spawn { system: 3_000, tools: 9_000, brief: 400, gathered: 2_000, gathering_turns: 1 };
    let cells = [
        wide.clone(),
        Cell { launch: LaunchPolicy::Primed, is_cold: true, ..wide.clone() },
        Cell { placement: Placement::Both, ttl: Ttl::OneHour, ..wide.clone() },
        Cell { profile: Profile::Client2026, ..wide.clone() },
        Cell { rpm: Some(5), ..wide.clone() },
        Cell { spawn: Some(spawn), ..wide },
    ];
    for cell in cells {
        cell.check().unwrap();
        let setup = || Setup { keeps_drafts: true, keeps_traffic: true, ..fanout::setup::setup(&cell, &book) };
        let first = simulation::run(setup()).unwrap();
        let played =
            again(&of_fan_out(&first), Setup { rate_limits: RateLimits::default(), ..setup() }, Fidelity::Strict);
        assert_eq!((played.digest, played.message), (first.digest, None), "{cell:?}");
        let billed = bill(first.entries.iter().map(|entry| &entry.line));
        assert_eq!(bill_of_log(&of_fan_out(&first), cell.rules, None), billed, "{cell:?}");
    }
}
