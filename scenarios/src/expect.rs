//! Compares results with expectations: one sentence for each failed expectation, with its place in the scenario.

mod difference;
mod events;
mod figures;
mod requests;

use crate::format::problem::Problem;
use crate::format::reading::Origin;
use crate::format::tree::Place;
use crate::run::Run;

/// Failed expectations; empty if all hold.
///
/// ```
/// use forkcast_scenarios::format::Scenario;
/// use forkcast_scenarios::{expect, run};
///
/// let text = "about: One question.\nscript: {main: [{say: Yes.}]}\nuser: [{at_ms: 0, types: Well?}]\n\
///             expect: {agents: {main: {requests: 2}}}\n";
/// let scenario = Scenario::read("question", "question.yaml", text, &[])?;
/// let run = run::play(scenario, &run::Options::default());
/// assert_eq!(expect::failures(&run).len(), 1);
/// # Ok::<(), forkcast_scenarios::format::problem::Problems>(())
/// ```
pub fn failures(run: &Run) -> Vec<Problem> {
    let mut failed = Failures { run, found: Vec::new() };
    ending(&mut failed);
    silent(&mut failed);
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

/// A run without acts of the user shows nothing, so it must not pass.
fn silent(failed: &mut Failures<'_>) {
    let run = failed.run;
    if run.scenario.user.is_empty() && run.requests.is_empty() {
        let says = "the user does nothing, so no request was sent; add what the user does, such as \
                    `user: [{at_ms: 0, types: Hello}]`";
        let place = Place { line: 1, column: 1 };
        failed.add(&Origin { place, path: "user".into(), ..Origin::default() }, says.to_owned());
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
