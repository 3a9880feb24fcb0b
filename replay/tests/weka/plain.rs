//! The plain method, straight from the JSON of the files.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

/// One agent of one file.
pub struct Conversation {
    pub trace: String,
    pub agent: Option<String>,
    pub requests: Vec<Request>,
}

pub struct Request {
    pub at_ms: u64,
    pub input: u64,
    pub output: u64,
    pub ids: Vec<u64>,
}

/// One request compared with the previous one.
#[derive(Debug, PartialEq, Eq)]
pub struct Turn {
    pub input: u64,
    pub output: u64,
    pub kept: u64,
    pub gap_ms: Option<u64>,
}

/// Input tokens by what they were billed as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub plain: u64,
    pub read: u64,
    pub written_5m: u64,
    pub written_1h: u64,
}

impl Counts {
    pub fn plus(self, other: Self) -> Self {
        Self {
            plain: self.plain + other.plain,
            read: self.read + other.read,
            written_5m: self.written_5m + other.written_5m,
            written_1h: self.written_1h + other.written_1h,
        }
    }

    /// Thousandths of a token of plain input.
    pub fn units(self) -> u64 {
        self.plain * 1_000 + self.read * 100 + self.written_5m * 1_250 + self.written_1h * 2_000
    }
}

#[derive(Clone, Copy)]
pub enum Policy {
    Nothing,
    /// This many milliseconds from each request.
    Lives(u64),
    /// Five minutes, and this many pings every 270 s.
    Pinged(u64),
    /// The cheaper of five minutes and one hour.
    Best,
}

const PING_MS: u64 = 270_000;

/// All agents of all files, main agents before their own.
pub fn conversations(folder: &Path) -> Vec<Conversation> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("trace_"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let mut bytes = std::fs::read(&file).unwrap();
        if file.extension().is_some_and(|ending| ending == "gz") {
            let mut unpacked = Vec::new();
            GzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked).unwrap();
            bytes = unpacked;
        }
        let trace: Value = serde_json::from_slice(&bytes).unwrap();
        let (id, all) = (trace["id"].as_str().unwrap(), trace["requests"].as_array().unwrap());
        let (agents, own): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|request| request["type"] == "subagent");
        found.push(Conversation { trace: id.into(), agent: None, requests: own.into_iter().map(request).collect() });
        for agent in agents {
            let requests = agent["requests"].as_array().unwrap().iter().map(request).collect();
            let name = agent["agent_id"].as_str().unwrap().to_owned();
            found.push(Conversation { trace: id.into(), agent: Some(name), requests });
        }
    }
    found
}

fn request(value: &Value) -> Request {
    let ids = value["hash_ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap());
    Request {
        at_ms: (value["t"].as_f64().unwrap() * 1_000.0).round() as u64,
        input: value["in"].as_u64().unwrap(),
        output: value["out"].as_u64().unwrap(),
        ids: ids.collect(),
    }
}

fn common(one: &[u64], other: &[u64]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

pub fn turns(requests: &[Request]) -> Vec<Turn> {
    let turn = |at: usize| {
        let (this, before) = (&requests[at], at.checked_sub(1).map(|before| &requests[before]));
        Turn {
            input: this.input,
            output: this.output,
            kept: before.map_or(0, |before| (common(&before.ids, &this.ids) as u64 * 64).min(this.input)),
            gap_ms: before.map(|before| this.at_ms - before.at_ms),
        }
    };
    (0..requests.len()).map(turn).collect()
}

pub fn counts(requests: &[Request], policy: Policy) -> Counts {
    if let Policy::Best = policy {
        let (short, long) = (counts(requests, Policy::Lives(300_000)), counts(requests, Policy::Lives(3_600_000)));
        return if long.units() < short.units() { long } else { short };
    }
    let mut sum = Counts::default();
    for (at, turn) in turns(requests).iter().enumerate() {
        let (mut lifetime, mut pings) = (0, 0);
        match (policy, turn.gap_ms) {
            (Policy::Lives(ms), _) => lifetime = ms,
            (Policy::Pinged(most), Some(gap)) => {
                // The last ping goes out before the request.
                while pings < most && (pings + 1) * PING_MS < gap {
                    pings += 1;
                }
                lifetime = pings * PING_MS + 300_000;
            }
            _ => {}
        }
        let pinged = at.checked_sub(1).map_or(0, |before| requests[before].input * pings);
        let read = if turn.gap_ms.is_some_and(|gap| gap <= lifetime) { turn.kept } else { 0 };
        sum.read += read + pinged;
        match policy {
            Policy::Nothing => sum.plain += turn.input - read,
            Policy::Lives(3_600_000) => sum.written_1h += turn.input - read,
            _ => sum.written_5m += turn.input - read,
        }
    }
    if let (Policy::Pinged(most), Some(last)) = (policy, requests.last()) {
        sum.read += last.input * most;
    }
    sum
}

/// The least that the prompts could have cost, in thousandths: every block by itself, from the request that first has it to the last
/// that still begins with it.
pub fn least(requests: &[Request], with_pings: bool) -> u64 {
    let longest = requests.iter().map(|request| request.ids.len()).max().unwrap_or(0);
    let mut sum: u64 = requests.iter().map(|request| (request.input - request.ids.len() as u64 * 64) * 1_000).sum();
    let kept: Vec<usize> = (1..requests.len()).map(|at| common(&requests[at - 1].ids, &requests[at].ids)).collect();
    for block in 0..longest {
        let mut uses: Vec<u64> = Vec::new();
        for (at, request) in requests.iter().enumerate() {
            if at > 0 && kept[at - 1] <= block {
                sum += 64 * least_of(&uses, with_pings);
                uses.clear();
            }
            if block < request.ids.len() {
                uses.push(request.at_ms);
            }
        }
        sum += 64 * least_of(&uses, with_pings);
    }
    sum
}

/// One token used at these instants. The state of the cache: nothing, five minutes, one hour.
fn least_of(uses: &[u64], with_pings: bool) -> u64 {
    let Some((_, later)) = uses.split_first() else { return 0 };
    let fresh = [1_000, 1_250, 2_000];
    let mut costs = fresh;
    for (at, before) in later.iter().zip(uses) {
        let gap = at - before;
        let best = *costs.iter().min().unwrap();
        let mut next = fresh.map(|price| best + price);
        for (state, lifetime) in [(1, 300_000), (2, 3_600_000)] {
            let pings = gap.div_ceil(lifetime).max(1) - 1;
            if pings == 0 || with_pings {
                next[state] = next[state].min(costs[state] + 100 + 100 * pings);
            }
        }
        costs = next;
    }
    *costs.iter().min().unwrap()
}
