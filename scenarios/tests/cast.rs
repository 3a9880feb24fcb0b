//! Recorded sessions through the runtime.

use std::path::Path;

use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_scenarios::cast::comparison::{Comparison, Departure, secs};
use forkcast_scenarios::cast::{Content, cast};
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Options, play};

/// Prints the table of all folders: `cargo test -p forkcast-scenarios --test all -- cast::all --ignored --nocapture`.
#[test]
#[ignore = "a measurement over all open folders"]
fn all() {
    let folders = std::env::var("FOLDERS").unwrap_or_else(|_| "cc-oh-my-posh".to_owned());
    let only = std::env::var("ONLY").unwrap_or_default();
    for folder in folders.split(',') {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(folder);
        let inputs = Inputs::read_with(&[path], &ReadOptions::default().with_answers(), &|_| true).unwrap();
        for at in 0..inputs.sessions.len() {
            let session = inputs.sessions.load(at).unwrap().unwrap();
            if !session.id.starts_with(&only) {
                continue;
            }
            let cast = cast(&session, Content::Full);
            let scenario = match cast.scenario(&[]) {
                Ok(scenario) => scenario,
                Err(problems) => {
                    let first = problems.0.first().map(ToString::to_string).unwrap_or_default();
                    println!(
                        "{} REFUSED {} {}",
                        session.id,
                        problems.0.len(),
                        first.chars().take(300).collect::<String>()
                    );
                    continue;
                }
            };
            let run = play(scenario, &Options::default());
            let comparison = Comparison::new(&cast, &run);
            let (recorded, simulated) = (comparison.recorded(), comparison.simulated());
            let main = cast.takes.iter().filter(|take| take.agent == "main").count();
            let own = run
                .requests
                .iter()
                .filter(|request| request.agent == 0 && request.usage().total_input_tokens() > 0)
                .count();
            let late = |s: f64| {
                comparison.pairs.iter().filter(|pair| comparison.delay_secs(pair).is_some_and(|d| d.abs() > s)).count()
            };
            let departure = comparison.departure(20.0).map(|(why, pair)| {
                let at = pair.take.map(|take| (take.line, secs(take.ended_at)));
                let d = comparison.delay_secs(pair);
                (why, at, d)
            });
            println!(
                "{} {:?} main {}/{} all {}/{} late5 {} late20 {} hit {:.2}/{:.2} cost {:+.1}% gaps {} {:?} {}",
                &session.id[..8],
                run.ends,
                own,
                main,
                simulated.requests,
                recorded.requests,
                late(5.0),
                late(20.0),
                simulated.hit_rate().unwrap_or(0.0) * 100.0,
                recorded.hit_rate().unwrap_or(0.0) * 100.0,
                simulated
                    .input_cost
                    .zip(recorded.input_cost)
                    .map_or(0.0, |(one, other)| (one.picousd() as f64 / other.picousd() as f64 - 1.0) * 100.0),
                cast.gaps.len(),
                departure,
                if run.ends == Ends::Finished { "" } else { run.message.as_deref().unwrap_or_default() },
            );
            assert!(!matches!(departure, Some((Departure::Late, None, _))));
        }
    }
}
