//! Whether what came out is what was expected: one sentence for each claim that does not hold, with the place in the
//! scenario where it is made.

mod difference;
mod events;
mod figures;
mod requests;

use crate::format::problem::Problem;
use crate::format::reading::Origin;
use crate::run::Run;

/// Claims that do not hold; empty where all do.
pub fn failures(run: &Run) -> Vec<Problem> {
    let mut failed = Failures { run, found: Vec::new() };
    ending(&mut failed);
    idle(&mut failed);
    figures::check(&mut failed);
    events::check(&mut failed);
    requests::check(&mut failed);
    failed.found.sort_by_key(|one| one.place);
    failed.found
}

/// Claims that failed so far.
struct Failures<'a> {
    run: &'a Run,
    found: Vec<Problem>,
}

impl Failures<'_> {
    fn add(&mut self, origin: &Origin, says: String) {
        let file = self.run.scenario.file.clone();
        let place = origin.place;
        let path = origin.path.to_string();
        self.found.push(Problem { file, place, path, found: None, says });
    }
}

/// An act that found nothing to act upon does not do what the scenario tells.
fn idle(failed: &mut Failures<'_>) {
    let run = failed.run;
    for (act, why) in &run.idle {
        if let Some(act) = run.scenario.user.get(*act) {
            let says =
                format!("at {} ms this looked for {why}, and there was none; mend the instant or the name", act.at_ms);
            failed.add(&act.origin, says);
        }
    }
}

fn ending(failed: &mut Failures<'_>) {
    let run = failed.run;
    let expect = &run.scenario.expect;
    let message = run.message.as_deref().unwrap_or_default();
    if run.ends != expect.ends {
        let why = if message.is_empty() { String::new() } else { format!(": {message}") };
        let says = format!("expected a run that ends `{}`; it ended `{}`{why}", expect.ends.word(), run.ends.word());
        failed.add(&Origin::default(), says);
    } else if let Some((text, origin)) = &expect.message
        && !message.contains(&**text)
    {
        failed.add(origin, format!("expected a message with {text:?} in it; it is {message:?}"));
    }
}
