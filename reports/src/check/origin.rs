//! The place in which each request of a check was read.

use std::collections::BTreeMap;

use forkcast_replay::exchange;
use forkcast_sim::guard::lock::Lock;

use super::Origin;

/// The requests of a file.
#[derive(Default)]
struct Extent {
    requests: usize,
    /// Lines on which they begin.
    lines: usize,
    last_line: usize,
}

impl Origin {
    /// The place in which each request was read, with its chain if a lock has it. A line is given if a file has several, a position
    /// if it has several requests.
    pub fn list(origins: &[exchange::Origin], lock: Option<&Lock>) -> Vec<Self> {
        let mut chains: BTreeMap<usize, &str> = BTreeMap::new();
        for chain in lock.into_iter().flat_map(|lock| &lock.chains) {
            chains.extend(chain.requests.iter().map(|request| (request.request, chain.name.as_str())));
        }
        let mut files: BTreeMap<&str, Extent> = BTreeMap::new();
        for origin in origins {
            let file = files.entry(&origin.file).or_default();
            file.requests += 1;
            file.lines += usize::from(file.lines == 0 || file.last_line != origin.line);
            file.last_line = origin.line;
        }
        let read = |(number, origin): (usize, &exchange::Origin)| {
            let file = &files[origin.file.as_str()];
            Self {
                file: origin.file.clone(),
                line: if file.lines > 1 { origin.line } else { 0 },
                index: (file.requests > 1).then_some(origin.index),
                chain: chains.get(&number).copied().unwrap_or_default().to_owned(),
            }
        };
        origins.iter().enumerate().map(read).collect()
    }

    /// The place of each recorded error.
    pub fn of_errors(origins: &[exchange::Origin]) -> Vec<Self> {
        let read = |origin: &exchange::Origin| Self {
            file: origin.file.clone(),
            line: origin.line,
            index: Some(origin.index),
            chain: String::new(),
        };
        origins.iter().map(read).collect()
    }
}
