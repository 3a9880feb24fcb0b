//! Compares results with expectations: one sentence for each failed expectation, with its place in the scenario.

mod difference;
mod events;
mod figures;
mod requests;

use crate::format::problem::Problem;
use crate::format::reading::Origin;
use crate::run::Run;

/// Failed expectations; empty if all hold.
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

/// Expectations that failed so far.
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

/// A user act without a target is a failure, because it does not do what the scenario says.
fn idle(failed: &mut Failures<'_>) {
    let run = failed.run;
    for (act, why) in &run.idle {
        if let Some(act) = run.scenario.user.get(*act) {
            let says = format!("at {} ms there was no {why}; correct the instant or the name", act.at_ms);
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
        failed.add(origin, format!("expected a message that contains {text:?}; found {message:?}"));
    }
}
