//! Sessions and the agents within them.

use std::collections::BTreeMap;
use std::path::Path;

use forkcast_replay::input::Inputs;

use super::{Account, Counted, Entry, Side};
use crate::names::Names;

/// The requests of one input file.
#[derive(Clone, Debug)]
pub struct Session {
    /// Index of the file among all files of the input, as ledger lines have it.
    pub index: usize,
    /// Unique: the file's name without folder and ending.
    pub id: String,
    /// The file.
    pub source: String,
    /// How it was read.
    pub format: &'static str,
    /// Chains with a request in this file.
    pub chains: usize,
    /// Who sent the requests.
    pub agents: Vec<Agent>,
    /// Sums.
    pub account: Account,
}

/// A chain of requests within a session.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The input's own id, or a number.
    pub id: String,
    /// What was billed.
    pub billed: Side,
}

/// Who sent the requests that no profile could read: no chain is known of them.
const NO_PROFILE: &str = "no_profile";

/// Ids of all chains: the input's own where it has them, a number in order of first request where it has not.
pub(super) fn chain_ids(entries: &[Entry<'_>], names: Names) -> BTreeMap<usize, String> {
    let mut ids = BTreeMap::new();
    for entry in entries {
        let Some(chain) = entry.chain else { continue };
        let own = entry.exchange.and_then(|exchange| exchange.chain.as_deref());
        ids.entry(chain).or_insert_with(|| own.map_or_else(|| format!("chain-{chain}"), |own| names.agent(own)));
    }
    ids
}

/// One session for each input file with exchanges.
pub(super) fn sessions(
    inputs: &Inputs,
    entries: &[Entry<'_>],
    chain_ids: &BTreeMap<usize, String>,
    names: Names,
    counted: Counted,
) -> Vec<Session> {
    let mut of_session: BTreeMap<usize, Vec<&Entry<'_>>> = BTreeMap::new();
    for entry in entries {
        of_session.entry(entry.line.session).or_default().push(entry);
    }
    let mut taken = BTreeMap::new();
    let files = inputs.scopes.iter().flat_map(|scope| &scope.files).enumerate();
    files
        .filter_map(|(index, file)| {
            let entries = of_session.get(&index)?;
            let agents = agents(entries, chain_ids, counted);
            Some(Session {
                index,
                id: unique(&stem(&file.file, names), &mut taken),
                source: names.file(&file.file),
                format: file.format.name(),
                chains: agents.iter().filter(|agent| agent.id != NO_PROFILE).count(),
                agents,
                account: Account::of(entries.iter().copied(), counted),
            })
        })
        .collect()
}

/// Agents in the order of their first request; the sum over them is the session.
fn agents(entries: &[&Entry<'_>], chain_ids: &BTreeMap<usize, String>, counted: Counted) -> Vec<Agent> {
    let mut of_chain: BTreeMap<(bool, Option<usize>), Vec<&Entry<'_>>> = BTreeMap::new();
    for entry in entries {
        of_chain.entry((entry.chain.is_none(), entry.chain)).or_default().push(entry);
    }
    let agent = |((_, chain), list): ((bool, Option<usize>), Vec<&Entry<'_>>)| {
        let id = chain.and_then(|chain| chain_ids.get(&chain)).map_or(NO_PROFILE, String::as_str);
        Agent { id: id.to_owned(), billed: Account::of(list, counted).billed }
    };
    of_chain.into_iter().map(agent).collect()
}

fn stem(file: &str, names: Names) -> String {
    if names == Names::Anonymous {
        return names.file(file);
    }
    let name = Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned());
    let stem = name.split_once('.').map_or(name.as_str(), |(stem, _)| stem);
    if stem.is_empty() { name } else { stem.to_owned() }
}

/// The stem, with a number behind it from its second use on.
fn unique(stem: &str, taken: &mut BTreeMap<String, usize>) -> String {
    let mut id = stem.to_owned();
    while let Some(uses) = taken.get_mut(&id) {
        *uses += 1;
        id = format!("{stem}-{uses}");
    }
    taken.insert(id.clone(), 1);
    id
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{stem, unique};
    use crate::names::Names;

    #[test]
    fn ids_are_stems_and_unique() {
        let mut taken = BTreeMap::new();
        let ids: Vec<String> = ["a/x.json", "b/x.yaml", "x.jsonl.gz", ".env"]
            .iter()
            .map(|file| unique(&stem(file, Names::Plain), &mut taken))
            .collect();
        assert_eq!(ids, ["x", "x-2", "x-3", ".env"]);
    }
}
