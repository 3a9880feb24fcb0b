//! Writes a folder of synthetic Claude Code sessions, shaped like a real one, for measurements.
//!
//! ```text
//! cargo run --release -p forkcast-benches --example transcripts -- DIR [FILES] [SEED] [DENSITY]
//! ```
//!
//! By default 1,300 files and about 540 MB: sizes from quantiles published for a large real folder (236 B, median 105
//! kB, p75 234 kB, p90 654 kB, p95 1.5 MB, p99 5.4 MB, largest 87 MB), shares of bytes and lengths of lines as in 241
//! public sessions (user lines 60 %, of these two thirds `toolUseResult`; 3.4 kB per line), five versions of the
//! client, tool loops, thinking, sub-agent files, resumed sessions, compactions, lifetimes that run out. The same
//! arguments give the same bytes. With a density of 6 all texts are a sixth as long: 140,000 requests in 540 MB.

mod session;
mod sizes;
mod text;
mod write;

use std::fs;
use std::path::{Path, PathBuf};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use session::{Resumable, Session};
use text::Pool;

/// Number of projects that the sessions belong to.
const PROJECTS: u64 = 12;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: transcripts DIR [FILES] [SEED] [DENSITY]");
        std::process::exit(2);
    };
    let mut number = |default| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (files, seed, density) = (number(1300), number(7), number(1));
    let written = generate(Path::new(&folder), files, seed, density.max(1))?;
    println!("{files} files, {written} bytes below {folder}/projects");
    Ok(())
}

/// A number below `bound`.
pub fn below(rng: &mut ChaCha8Rng, bound: u64) -> u64 {
    rng.next_u64() % bound.max(1)
}

fn generate(folder: &Path, files: u64, seed: u64, density: u64) -> std::io::Result<u64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let pool = Pool::new(&mut rng, density);
    let (mut left, mut written) = (sizes::shuffled(files, &mut rng), 0);
    let mut resumable: Option<Resumable> = None;
    while let Some(bytes) = left.pop() {
        let project = below(&mut rng, PROJECTS);
        let (resumes, may_be_resumed) = (below(&mut rng, 2) == 0, below(&mut rng, 12) == 0);
        let old = resumable.take_if(|old| resumes && old.len() < bytes);
        let mut session = match old {
            Some(old) => Session::resumed(&mut rng, &pool, old),
            None => Session::new(&mut rng, &pool, project),
        };
        session.fill(bytes);
        let place = folder.join("projects").join(session.project());
        written += save(&place.join(format!("{}.jsonl", session.id())), session.bytes())?;
        if resumable.is_none() && may_be_resumed && (100_000..2_000_000).contains(&bytes) {
            resumable = Some(session.resumable());
        }
        // Small files usually belong to sub-agents.
        for agent in session.spawned().to_vec() {
            let small = left.iter().rposition(|size| (20_000..700_000).contains(size));
            let Some(size) = small.map(|at| left.swap_remove(at)) else { break };
            let lines = session.sub_agent(&agent, size);
            let path = place.join(session.id()).join("subagents").join(format!("agent-{agent}.jsonl"));
            written += save(&path, &lines)?;
        }
    }
    Ok(written)
}

fn save(path: &PathBuf, bytes: &[u8]) -> std::io::Result<u64> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, bytes)?;
    Ok(bytes.len() as u64)
}
