//! `published/compaction.md`: from which length on compacting pays, by what recorded sessions would have cost.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use forkcast_fixtures::beside;
use forkcast_fixtures::{golden, workspace};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_replay::what_if::{INSTRUCTION_TOKENS, KEPT_TOKENS, SUMMARY_TOKENS, WhatIf};
use forkcast_sim::pricing::{Date, ModelKey, Money, PriceBook, Terms, grouped, thousands};
use forkcast_sim::wire::Usage;

const FOLDERS: [&str; 5] =
    ["cc-entireio-cli", "cc-marot-spotter", "cc-oh-my-posh", "cc-packmind-context-evaluator", "cc-agentv"];

/// Lengths at which conversations are compacted, in tokens.
const LENGTHS: [u64; 6] = [50_000, 60_000, 80_000, 100_000, 130_000, 160_000];

/// What sessions would have cost, in step with [`LENGTHS`].
#[derive(Clone, Copy, Default)]
struct Tried {
    unchanged: i128,
    costs: [i128; LENGTHS.len()],
    compactions: [u64; LENGTHS.len()],
}

impl Tried {
    fn add(&mut self, other: &Self) {
        self.unchanged += other.unchanged;
        for at in 0..LENGTHS.len() {
            self.costs[at] += other.costs[at];
            self.compactions[at] += other.compactions[at];
        }
    }

    fn difference(&self, at: usize) -> f64 {
        (self.costs[at] - self.unchanged) as f64 / self.unchanged as f64
    }
}

/// The sessions of a folder by their number.
fn tried(folder: &Path) -> BTreeMap<usize, Tried> {
    let inputs = Inputs::read(&[folder], InputFormat::Auto).unwrap();
    let compacted = LENGTHS.map(|tokens| WhatIf { compact_at: Some(tokens), ..WhatIf::default() });
    let what_if = [WhatIf::default()].into_iter().chain(compacted).collect();
    let mut sessions: BTreeMap<usize, Tried> = BTreeMap::new();
    for entry in &replay(&inputs, &Options { what_if, ..Options::default() }).entries {
        let Some((unchanged, others)) = entry.hypotheticals.split_first() else { continue };
        let tried = sessions.entry(entry.line.session).or_default();
        tried.unchanged += unchanged.cost.unwrap_or_default().picousd();
        for (at, other) in others.iter().enumerate() {
            tried.costs[at] += other.cost.unwrap_or_default().picousd();
            tried.compactions[at] += u64::from(other.usage.output_tokens > unchanged.usage.output_tokens);
        }
    }
    sessions
}

fn header(page: &mut String, first: &str) {
    let lengths = LENGTHS.map(|tokens| format!(" {} |", thousands(tokens))).concat();
    let rule = LENGTHS.map(|_| "---:|").concat();
    write!(page, "| {first} |{lengths}\n|---|{rule}\n").unwrap();
}

fn page(folders: &[(&str, BTreeMap<usize, Tried>)]) -> String {
    let mut page = INTRODUCTION.to_owned();
    payback(&mut page);
    page.push_str(BY_SOURCE);
    header(&mut page, "source, sessions, cost as predicted");
    let mut all = Tried::default();
    let row = |page: &mut String, name: &str, sessions: usize, sum: &Tried| {
        write!(page, "| {name}, {sessions}, {} |", Money::from_picousd(sum.unchanged).human()).unwrap();
        for at in 0..LENGTHS.len() {
            write!(page, " {:+.1} % ({}) |", sum.difference(at) * 100.0, grouped(sum.compactions[at])).unwrap();
        }
        page.push('\n');
    };
    for (name, sessions) in folders {
        let mut sum = Tried::default();
        sessions.values().for_each(|session| sum.add(session));
        all.add(&sum);
        row(&mut page, name, sessions.len(), &sum);
    }
    row(&mut page, "all", folders.iter().map(|(_, sessions)| sessions.len()).sum(), &all);
    page.push_str(BY_SESSION);
    header(&mut page, "sessions");
    let sessions = || folders.iter().flat_map(|(_, sessions)| sessions.values());
    let mut count = |name: &str, is: &dyn Fn(&Tried, usize) -> bool| {
        write!(page, "| {name} |").unwrap();
        for at in 0..LENGTHS.len() {
            let found = sessions().filter(|tried| tried.compactions[at] > 0 && is(tried, at)).count();
            write!(page, " {found} |").unwrap();
        }
        page.push('\n');
    };
    count("so long", &|_, _| true);
    count("cheaper", &|tried, at| tried.costs[at] < tried.unchanged);
    count("cheaper by a tenth or more", &|tried, at| tried.difference(at) <= -0.1);
    count("dearer by a tenth or more", &|tried, at| tried.difference(at) >= 0.1);
    page
}

const INTRODUCTION: &str = "\
# When compacting pays

A long conversation is read again with every request. A client that compacts pays for one more request, whose answer is the
summary, and for writing that summary; from then on each request reads less. `forkcast replay DIR --compact-at 60k..160k:20k`
prices that for your own sessions. `FORKCAST_UPDATE=1 cargo test -p forkcast-reports compactions::` makes this page from the
recordings beside the project, and a test compares it.

What is assumed: a compaction leaves 22,400 tokens after tools and system prompt, and its answer has 3,300 (medians of 34 recorded
ones, `sim/docs/observed.md` 9); a recorded one for which no prompt is long enough any more is left out. What cannot be known: an agent that has forgotten a file reads it again, and may answer worse. That
cost is not in these figures, so they are the most that compacting can save.

## Requests until it has paid

Opus 5.5 at the list prices of 2026-11-30, 25,000 tokens of tools and system prompt; every later request comes within the lifetime.

";

const BY_SOURCE: &str = "
## What recorded sessions would have cost

All requests of each source, compacted when a prompt has so many tokens: the difference, and how often it happens. The clients
themselves compacted at 155,000 to 178,000 (34 times), so in the last column little changes but for cc-oh-my-posh, whose models
have windows of a million. All columns are predictions, the first too.

";

const BY_SESSION: &str = "
## By session

Sessions in which at least one conversation gets so long.

";

/// Tokens of tools and system prompt.
const HEAD: u64 = 25_000;

/// Requests after a compaction until it is cheaper than none, by lifetime.
fn payback(page: &mut String) {
    let (key, date) = (ModelKey::from("claude-opus-5-5"), Some(Date(2026, 11, 30)));
    let rates = PriceBook::built_in().rates(&key, &Terms { date, ..Terms::default() }).unwrap();
    let cost = |usage: Usage| rates.bill(&usage, &[]).total.picousd() as f64;
    let read = |tokens| cost(Usage { cache_read_input_tokens: tokens, ..Usage::default() });
    header(page, "lifetime");
    for (name, written) in [
        ("5 minutes", Usage { ephemeral_5m_input_tokens: KEPT_TOKENS, ..Usage::default() }),
        ("1 hour", Usage { ephemeral_1h_input_tokens: KEPT_TOKENS, ..Usage::default() }),
    ] {
        let summary = Usage { input_tokens: INSTRUCTION_TOKENS, output_tokens: SUMMARY_TOKENS, ..Usage::default() };
        write!(page, "| {name} |").unwrap();
        for tokens in LENGTHS {
            // The request for a summary reads what the next request would have read; that one reads tools and system prompt.
            let paid = cost(summary) + cost(written) + read(HEAD);
            let saved = read(tokens - HEAD - KEPT_TOKENS);
            write!(page, " {:.0} |", (paid / saved).ceil() + 1.0).unwrap();
        }
        page.push('\n');
    }
}

#[test]
fn the_published_page_has_what_recorded_sessions_would_have_cost() {
    let found: Option<Vec<_>> = FOLDERS.iter().map(|name| Some((*name, tried(&beside(name)?)))).collect();
    let Some(found) = found else { return };
    let path = workspace().join("reports/published/compaction.md");
    let page = page(&found);
    golden(&path, &page);
}
