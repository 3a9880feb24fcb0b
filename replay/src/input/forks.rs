//! The order of agents' folders if nothing says when their requests were sent: a fork comes after the agent whose history
//! it continues, whatever the folders are called.

use forkcast_sim::wire::{BlockId, Level, Maker, Request, Role, Wire};

use super::walk::Found;
use super::{InputFormat, ReadOptions, parallel};
use crate::formats::Format;
use crate::formats::dialect::others;
use crate::formats::value::Value;
use crate::transcript::Sessions;

/// Most folders that are compared: more are sessions of many runs, not the agents of one.
const FOLDERS_MAX: usize = 256;

/// The largest first body of a folder that is read for this, as stored.
const BYTES_MAX: u64 = 4 << 20;

/// Moves the files of a fork after those of its parent. Files must be sorted; nothing changes if requests of several folders
/// take turns.
pub(super) fn after_parents(files: Vec<Found>, options: &ReadOptions) -> Vec<Found> {
    let mut folders = by_folder(files);
    let names = |folders: &[Vec<Found>]| folders.iter().map(|files| folder(&files[0]).to_owned()).collect::<Vec<_>>();
    let mut known = names(&folders);
    known.sort_unstable();
    known.dedup();
    let may_be_bodies = matches!(options.format, InputFormat::Auto | InputFormat::As(Format::Bodies));
    if may_be_bodies && (2..=FOLDERS_MAX).contains(&folders.len()) && known.len() == folders.len() {
        let order = parents_first(&agents(&folders, options));
        let mut left: Vec<Option<Vec<Found>>> = folders.into_iter().map(Some).collect();
        folders = order.into_iter().filter_map(|at| left[at].take()).collect();
    }
    folders.into_iter().flatten().collect()
}

fn folder(found: &Found) -> &str {
    found.name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Neighbouring files of one folder together.
fn by_folder(files: Vec<Found>) -> Vec<Vec<Found>> {
    let mut folders: Vec<Vec<Found>> = Vec::new();
    for found in files {
        match folders.last_mut() {
            Some(last) if folder(&last[0]) == folder(&found) => last.push(found),
            _ => folders.push(vec![found]),
        }
    }
    folders
}

/// The messages of an agent's first request, and of its last one if others may go on from it.
#[derive(Default)]
struct Agent {
    first: Vec<BlockId>,
    last: Vec<BlockId>,
    /// The first request contains an answer, so it does not begin a conversation.
    goes_on: bool,
}

/// What is known of each folder; nothing if it has no bodies. Last requests are read if some agent has a history of another.
fn agents(folders: &[Vec<Found>], options: &ReadOptions) -> Vec<Agent> {
    let options = ReadOptions { measuring: None, ..options.clone() };
    let mut wire = Wire::default();
    let mut agents: Vec<Agent> = Vec::new();
    for files in folders {
        let Some(request) = read(&mut wire, &files[0], &options) else {
            agents.push(Agent::default());
            continue;
        };
        let first = messages(&wire, &request);
        let goes_on = first.iter().any(|block| wire.blocks.role(*block) == Role::Assistant);
        agents.push(Agent { first, last: Vec::new(), goes_on });
    }
    if agents.iter().any(|agent| agent.goes_on) {
        for (agent, files) in agents.iter_mut().zip(folders).filter(|(_, files)| files.len() > 1) {
            let last = files.last().and_then(|found| read(&mut wire, found, &options));
            agent.last = last.map_or_else(Vec::new, |request| messages(&wire, &request));
        }
    }
    agents
}

impl Agent {
    /// Whether it has the history of `parent`, from the beginning, or most of it with changes.
    fn is_fork_of(&self, parent: &Self) -> bool {
        let (own, begins) = (&self.first, &parent.first);
        if begins.is_empty() || own.len() <= begins.len() || !self.goes_on {
            return false;
        }
        let inherited = own.iter().filter(|block| parent.last.contains(block)).count();
        // The same request in two folders has no directive, and does not say which of them sent it first.
        let has_directive = inherited < own.len();
        has_directive && (own.starts_with(begins) || inherited * 2 > own.len())
    }
}

fn read(wire: &mut Wire, found: &Found, options: &ReadOptions) -> Option<Request> {
    if !found.rereadable || found.bytes > BYTES_MAX {
        return None;
    }
    let read = parallel::one(found, &Sessions::default(), options);
    let file = read.scopes.into_iter().flat_map(|scope| scope.files).find(|file| file.format == Format::Bodies)?;
    let exchange = file.exchanges.first()?;
    let maker = exchange.maker();
    if maker == Maker::Anthropic {
        return wire.read_by(maker, &exchange.body, "", &exchange.model).ok();
    }
    let own = Value::from_json(&exchange.body).ok()?;
    let translated = others::translate(maker, exchange.dialect, &own, &exchange.model)?;
    wire.read_by(maker, &translated.body.to_json(), "", &exchange.model).ok()
}

fn messages(wire: &Wire, request: &Request) -> Vec<BlockId> {
    let placed = request.nodes.iter().zip(&request.places);
    let said = placed.filter(|(_, place)| place.level == Level::Messages && !place.keys);
    said.filter_map(|(node, _)| wire.prefixes.block(*node)).collect()
}

/// The order in which each comes after those whose history it has; else as given.
fn parents_first(agents: &[Agent]) -> Vec<usize> {
    let mut order = Vec::with_capacity(agents.len());
    let mut waits: Vec<usize> = (0..agents.len()).rev().collect();
    while let Some(at) = waits.pop() {
        if order.contains(&at) {
            continue;
        }
        // A parent's first request is shorter, so this ends.
        let is_parent = |parent: &usize| agents[at].is_fork_of(&agents[*parent]) && !order.contains(parent);
        match (0..agents.len()).find(is_parent) {
            Some(parent) => waits.extend([at, parent]),
            None => order.push(at),
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::json;

    use crate::input::{InputFormat, Inputs};

    fn write(folder: &Path, name: &str, says: &[&str]) {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
        let messages = says.iter().enumerate().map(|(at, text)| json!({"role": role(at), "content": text}));
        let body = json!({"model": "claude-opus-4-8", "max_tokens": 9, "messages": messages.collect::<Vec<_>>()});
        fs::write(folder.join(name), body.to_string()).unwrap();
    }

    fn order(folder: &Path) -> Vec<String> {
        let read = Inputs::read(&[folder], InputFormat::Auto).unwrap();
        let below = |file: &str| Path::new(file).strip_prefix(folder).unwrap().display().to_string();
        let bodies = read.exchanges().map(|exchange| below(&exchange.origin.file));
        bodies.collect()
    }

    #[test]
    fn a_fork_comes_after_its_parent_whatever_the_folders_are_called() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "fork/1.json", &["Mend it", "Which file?", "All.", "Fine.", "You are a fork."]);
        write(folder.path(), "explorer/1.json", &["Look around"]);
        write(folder.path(), "main/1.json", &["Mend it"]);
        write(folder.path(), "main/2.json", &["Mend it", "Which file?", "All."]);
        assert_eq!(order(folder.path()), ["explorer/1.json", "main/1.json", "main/2.json", "fork/1.json"]);
    }

    #[test]
    fn a_fork_may_have_changed_its_parents_history() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "fork/1.json", &["Mend IT", "Which file?", "All.", "Fine.", "You are a fork."]);
        write(folder.path(), "main/1.json", &["Mend it"]);
        write(folder.path(), "main/2.json", &["Mend it", "Which file?", "All.", "Fine.", "Now the tests."]);
        assert_eq!(order(folder.path()), ["main/1.json", "main/2.json", "fork/1.json"]);
    }

    #[test]
    fn a_counter_for_all_agents_is_their_order() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "fork/2.json", &["Mend it", "Which file?", "All."]);
        write(folder.path(), "main/1.json", &["Mend it"]);
        write(folder.path(), "main/3.json", &["Mend it", "Done.", "Thanks."]);
        assert_eq!(order(folder.path()), ["main/1.json", "fork/2.json", "main/3.json"]);
    }
}
