//! `forkcast lock --review`: what changed since the lock, accepted or rejected change by change.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};

use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_sim::guard::lock::{Change, Lock, changes, reviewed};

use crate::args::LockArgs;
use crate::exit::{BadInput, Outcome};
use crate::verbs::check::lock_file;
use crate::{screen, talk};

/// Accepts every change.
const ALL: &str = "all";

/// Compares `new` with the lock, asks which changes are meant, and writes these. Open changes fail.
pub fn run(args: &LockArgs, old: &Lock, new: &Lock, mut end: Outcome) -> anyhow::Result<()> {
    let found = changes(old, new);
    let together = found.together();
    let mut accepted = named(&args.accept, &together)?;
    if args.accept.is_empty() && io::stdin().is_terminal() && io::stderr().is_terminal() {
        accepted = ask(&together, &mut io::stdin().lock(), &mut io::stderr())?;
    }
    let meant: BTreeSet<String> = accepted.iter().flat_map(|at| &together[*at]).map(|change| change.name()).collect();
    let is_accepted = |change: &Change| meant.contains(&change.name());
    if !accepted.is_empty() {
        lock_file::write(&reviewed(old, new, &is_accepted), &args.output)?;
    }
    let file = args.output.display().to_string();
    end.printed(screen::document(&human::check::reviewed(&found, &file, &is_accepted, Names::Plain), args.format))?;
    let open: Vec<String> =
        together.iter().filter(|group| !is_accepted(group[0])).map(|group| group[0].name()).collect();
    end.failures.extend((!open.is_empty()).then(|| {
        format!("not accepted: {}; `--review --accept CHANGE` accepts one, `--accept {ALL}` all", open.join(", "))
    }));
    end.done()
}

/// The changes that the user named: one request's, a chain's, or all.
fn named(names: &[String], together: &[Vec<&Change>]) -> anyhow::Result<BTreeSet<usize>> {
    let mut accepted = BTreeSet::new();
    for name in names {
        let is_meant = |change: &&Change| name == ALL || name == change.chain() || *name == change.name();
        let meant = (0..together.len()).filter(|at| together[*at].iter().any(is_meant));
        let mut meant = meant.peekable();
        if meant.peek().is_none() && name != ALL {
            let known: Vec<String> = together.iter().map(|group| group[0].name()).collect();
            let known = if known.is_empty() { "nothing changed".to_owned() } else { known.join(", ") };
            return Err(BadInput::error(format_args!("--accept {name}: expected a change or its chain: {known}")));
        }
        accepted.extend(meant);
    }
    Ok(accepted)
}

/// Asks for each change. Without a further answer the rest stays open.
fn ask(
    together: &[Vec<&Change>],
    answers: &mut impl BufRead,
    questions: &mut impl Write,
) -> io::Result<BTreeSet<usize>> {
    let mut accepted = BTreeSet::new();
    for (at, group) in together.iter().enumerate() {
        writeln!(questions, "{}", talk::plain(&group[0].to_string()))?;
        if let Some(same) = same(group) {
            writeln!(questions, "    {same}")?;
        }
        write!(questions, "({} of {}) accept? [y]es, [n]o, [a]ll, [q]uit: ", at + 1, together.len())?;
        questions.flush()?;
        let mut answer = String::new();
        answers.read_line(&mut answer)?;
        match answer.trim() {
            "y" | "yes" => drop(accepted.insert(at)),
            "n" | "no" => {}
            "a" | "all" => {
                accepted.extend(at..together.len());
                break;
            }
            _ => break,
        }
    }
    Ok(accepted)
}

/// `the same in requests 2, 3`; `None` if no other request has this change.
fn same(group: &[&Change]) -> Option<String> {
    let place = |change: &&Change| match change {
        Change::Request { position, .. } => Some(position.to_string()),
        Change::ChainAdded { .. } | Change::ChainRemoved { .. } => None,
    };
    let further: Vec<String> = group.iter().skip(1).filter_map(place).collect();
    let requests = if further.len() == 1 { "request" } else { "requests" };
    (!further.is_empty()).then(|| format!("the same in {requests} {}", further.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(answers: &str) -> (Vec<usize>, String) {
        let added = |chain: &str| Change::ChainAdded { chain: chain.to_owned(), requests: 1, cost: None };
        let edited = |position: usize| Change::Request {
            chain: "d".to_owned(),
            position,
            what: vec!["tool_changed".to_owned()],
            before: None,
            after: None,
        };
        let chains = ["a", "b", "c"].map(added);
        let requests = [edited(0), edited(4)];
        let mut together: Vec<Vec<&Change>> = chains.iter().map(|change| vec![change]).collect();
        together.push(requests.iter().collect());
        let mut questions = Vec::new();
        let accepted = ask(&together, &mut answers.as_bytes(), &mut questions).unwrap();
        (accepted.into_iter().collect(), String::from_utf8(questions).unwrap())
    }

    #[test]
    fn changes_are_accepted_one_by_one() {
        let (accepted, questions) = answered("y\nn\nyes\nn\n");
        assert_eq!(accepted, [0, 2]);
        assert!(questions.contains("+ chain b: 1 requests"), "{questions}");
        assert!(questions.contains("the same in request 4\n(4 of 4) accept?"), "{questions}");
    }

    #[test]
    fn all_accepts_the_rest_and_an_end_nothing_more() {
        assert_eq!(answered("n\na\n").0, [1, 2, 3]);
        assert_eq!(answered("y\nq\n").0, [0]);
        assert_eq!(answered("y\n").0, [0]);
        assert!(answered("what?\n").0.is_empty());
    }
}
