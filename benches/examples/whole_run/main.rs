//! A single run in its own process, for a profiler or an instruction counter.
//!
//! ```text
//! cargo run --release -p forkcast-benches --example whole_run -- AGENTS TURNS [none | all | LAW...]
//! ```

use forkcast_benches::crowd::Crowd;
use forkcast_sim::simulation::run;

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u32>().ok());
    let (Some(agents), Some(turns @ 1..)) = (number(0), number(1)) else {
        return Err("usage: whole_run AGENTS TURNS [none | all | LAW...]".to_owned());
    };
    let laws = arguments.get(2..).unwrap_or_default();
    let all = laws.is_empty() || laws == ["all"];
    let setup = Crowd { agents, turns }.watched(|name| all || laws.iter().any(|law| law == name));
    let finished = run(setup).map_err(|failed| failed.to_string())?;
    let held = finished.laws_held.join(", ");
    println!("{} requests, {} events, held: {held}", finished.entries.len(), finished.events);
    // The memory is released when the process ends.
    std::mem::forget(finished);
    Ok(())
}
