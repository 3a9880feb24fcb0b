//! `forkcast lock --review`: what changed since the lock, accepted or rejected chain by chain.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};

use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_sim::guard::lock::{Change, Changes, Lock, changes, reviewed};

use crate::args::LockArgs;
use crate::exit::{BadInput, Outcome};
use crate::verbs::check::lock_file;
use crate::{screen, talk};

/// Accepts every change.
const ALL: &str = "all";

/// Compares `new` with the lock, asks which changes are meant, and writes these. Open changes fail.
pub fn run(args: &LockArgs, old: &Lock, new: &Lock, mut end: Outcome) -> anyhow::Result<()> {
    let found = changes(old, new);
    let chains: BTreeSet<&str> = found.changes.iter().map(Change::chain).collect();
    let mut accepted = named(&args.accept, &chains)?;
    if args.accept.is_empty() && io::stdin().is_terminal() && io::stderr().is_terminal() {
        accepted = ask(&found, &chains, &mut io::stdin().lock(), &mut io::stderr())?;
    }
    if !accepted.is_empty() {
        lock_file::write(&reviewed(old, new, &|chain| accepted.contains(chain)), &args.output)?;
    }
    let file = args.output.display().to_string();
    end.printed(screen::document(&human::check::reviewed(&found, &file, &accepted, Names::Plain), args.format))?;
    let open: Vec<&str> = chains.into_iter().filter(|chain| !accepted.contains(*chain)).collect();
    end.failures.extend((!open.is_empty()).then(|| {
        format!("not accepted: {}; `--review --accept CHAIN` accepts one, `--accept {ALL}` all", open.join(", "))
    }));
    end.done()
}

/// The chains that the user named.
fn named(names: &[String], chains: &BTreeSet<&str>) -> anyhow::Result<BTreeSet<String>> {
    if names.iter().any(|name| name == ALL) {
        return Ok(chains.iter().map(|chain| (*chain).to_owned()).collect());
    }
    if let Some(name) = names.iter().find(|name| !chains.contains(name.as_str())) {
        let known = if chains.is_empty() {
            "nothing changed".to_owned()
        } else {
            Vec::from_iter(chains.iter().copied()).join(", ")
        };
        return Err(BadInput::error(format_args!("--accept {name}: expected a chain that changed: {known}")));
    }
    Ok(names.iter().cloned().collect())
}

/// Asks for each chain. Without a further answer the rest stays open.
fn ask(
    found: &Changes,
    chains: &BTreeSet<&str>,
    answers: &mut impl BufRead,
    questions: &mut impl Write,
) -> io::Result<BTreeSet<String>> {
    let mut accepted = BTreeSet::new();
    let mut all = false;
    for (number, chain) in chains.iter().enumerate() {
        if !all {
            for change in found.changes.iter().filter(|change| change.chain() == *chain) {
                writeln!(questions, "{}", talk::plain(&change.to_string()))?;
            }
            write!(questions, "({} of {}) accept? [y]es, [n]o, [a]ll, [q]uit: ", number + 1, chains.len())?;
            questions.flush()?;
            let mut answer = String::new();
            answers.read_line(&mut answer)?;
            match answer.trim() {
                "y" | "yes" => {}
                "a" | "all" => all = true,
                "n" | "no" => continue,
                _ => break,
            }
        }
        accepted.insert((*chain).to_owned());
    }
    Ok(accepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(answers: &str) -> (Vec<String>, String) {
        let added = |chain: &str| Change::ChainAdded { chain: chain.to_owned(), requests: 1, cost: None };
        let found = Changes { changes: ["a", "b", "c"].map(added).to_vec(), ..Changes::default() };
        let chains = found.changes.iter().map(Change::chain).collect();
        let mut questions = Vec::new();
        let accepted = ask(&found, &chains, &mut answers.as_bytes(), &mut questions).unwrap();
        (accepted.into_iter().collect(), String::from_utf8(questions).unwrap())
    }

    #[test]
    fn chains_are_accepted_one_by_one() {
        let (accepted, questions) = answered("y\nn\nyes\n");
        assert_eq!(accepted, ["a", "c"]);
        assert!(questions.contains("+ chain b: 1 requests"), "{questions}");
        assert!(questions.contains("(3 of 3) accept?"), "{questions}");
    }

    #[test]
    fn all_accepts_the_rest_and_an_end_nothing_more() {
        assert_eq!(answered("n\na\n").0, ["b", "c"]);
        assert_eq!(answered("y\nq\n").0, ["a"]);
        assert_eq!(answered("y\n").0, ["a"]);
        assert!(answered("what?\n").0.is_empty());
    }
}
