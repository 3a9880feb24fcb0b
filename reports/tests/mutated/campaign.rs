//! Cases one after the other, each determined by its number, watched from another thread: panics are caught, and cases
//! that take too long are abandoned.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use forkcast_reports::names::Names;
use forkcast_sim::guard::lock::Lock;
use forkcast_sim::pricing::PriceBook;
use peak_alloc::PeakAlloc;

use super::mutate::{self, NAMES, PLANTED};
use super::recordings::{self, Case};
use super::seeds::{self, Fixture, Shape};
use super::shown::{Finding, Schemas, Shown};
use super::texts;
use super::tree::Tree;
use forkcast_fixtures::Dice;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// A case that takes longer does not end.
const LONGEST: Duration = Duration::from_secs(60);

/// A case that takes longer is slow: most take some milliseconds, a busy machine more.
const SLOW: Duration = Duration::from_secs(20);

/// The stack of a program's first thread on most systems.
const STACK_BYTES: usize = 8 << 20;

/// A long campaign says how far it is.
const REPORTED_EVERY: u64 = 5_000;

/// The maximum addition of a case to the heap; the vocabularies of tokenizers are loaded before.
const MEMORY_MAX: usize = 512 << 20;

/// What cases are made of.
pub struct Material {
    recordings: Vec<Fixture>,
    scenarios: Vec<Fixture>,
    bodies: Vec<Tree>,
    book: String,
    lock: Lock,
    lock_text: String,
    schemas: Schemas,
}

/// How many, and by which name.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: String,
    pub first: u64,
    pub cases: u64,
    pub longest: Duration,
}

/// One case by its number; its files are in the folder.
pub type Job = Arc<dyn Fn(u64, &Path) -> Vec<Finding> + Send + Sync>;

/// How often each fixture is replayed as it is: views, verbs and tokens counted or not are drawn.
const DRAWS: u64 = 4;

/// Lines of the built-in price book that are mutated.
const BOOK_LINES: usize = 150;

/// The findings by kind: how often, and the first case.
pub type Found = BTreeMap<(&'static str, String), Times>;

/// How often, and the first of them.
#[derive(Clone, Debug)]
pub struct Times {
    pub times: u64,
    pub case: String,
    pub example: String,
}

/// A guard's rules, as a project may write them.
const RULES: &str =
    "preset = \"docs-2026-09\"\nsiblings = \"warn\"\nrequests_per_day = 500\n[budget]\nhit_rate = 0.8\n";

impl Material {
    pub fn new() -> Self {
        let recordings = seeds::recordings();
        let bodies = bodies(&recordings);
        let lock = super::sample_lock();
        let book = PriceBook::built_in().to_toml();
        Self {
            scenarios: seeds::scenarios(),
            bodies,
            book: book.lines().take(BOOK_LINES).map(|line| line.to_owned() + "\n").collect(),
            lock_text: lock.text(),
            lock,
            schemas: Schemas::all(),
            recordings,
        }
    }

    /// How many cases [`Self::whole`] has.
    pub fn wholes(&self) -> u64 {
        DRAWS * self.recordings.len() as u64 + self.scenarios.len() as u64
    }

    /// Runs a fixture as it is: a recording in several ways, a scenario once.
    pub fn whole(&self, plan: &Plan, number: u64, folder: &Path) -> Vec<Finding> {
        let mut shown = Shown::new(&self.schemas);
        let at = usize::try_from(number).unwrap();
        if let Some(scenario) = self.scenarios.get(at) {
            texts::scenario(&String::from_utf8_lossy(&scenario.bytes), &mut shown);
            return shown.findings;
        }
        let fixture = &self.recordings[(at - self.scenarios.len()) % self.recordings.len()];
        let path = folder.join(&fixture.name);
        fs::write(&path, &fixture.bytes).unwrap();
        let case = Case { paths: &[path], out: &folder.join("out"), names: Names::Plain };
        recordings::run(&case, &mut Dice::of(&plan.seed, number), &mut shown);
        shown.findings
    }

    /// Runs case `number`; its files are in `folder`.
    pub fn case(&self, plan: &Plan, number: u64, folder: &Path) -> Vec<Finding> {
        let mut shown = Shown::new(&self.schemas);
        let dice = &mut Dice::of(&plan.seed, number);
        match dice.below(20) {
            0 => {
                let text = self.scenario(dice);
                fs::write(folder.join("case.yaml"), &text).unwrap();
                texts::scenario(&text, &mut shown);
            }
            1 => texts::book(&drawn(&self.book, dice), &mut shown),
            2 => texts::lock(&drawn(&self.lock_text, dice), &self.lock, &mut shown),
            3 if dice.one_in(4) => texts::rules(&drawn(RULES, dice), &mut shown),
            3 => {
                let [older, newer] = [(); 2].map(|()| self.body(dice));
                texts::body(&older, &newer, &mut shown);
            }
            _ => self.recording(dice, folder, &mut shown),
        }
        shown.findings
    }

    fn body(&self, dice: &mut Dice) -> Vec<u8> {
        let [body, other] = [(); 2].map(|()| dice.pick(&self.bodies));
        mutate::file(Shape::Whole, body, dice, other)
    }

    fn scenario(&self, dice: &mut Dice) -> String {
        let [chosen, other] = [(); 2].map(|()| dice.pick(&self.scenarios));
        let (Some((shape, tree)), Some((_, other))) = (&chosen.tree, &other.tree) else { return String::new() };
        let bytes = if dice.one_in(4) {
            let mut bytes = chosen.bytes.clone();
            (0..=dice.below(3)).for_each(|_| mutate::change_text(&mut bytes, dice));
            bytes
        } else {
            mutate::file(*shape, tree, dice, other)
        };
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn recording(&self, dice: &mut Dice, folder: &Path, shown: &mut Shown<'_>) {
        let files = if dice.one_in(5) { 2 + dice.below(2) } else { 1 };
        let names = if dice.one_in(5) { Names::Anonymous } else { Names::Plain };
        let input = folder.join("in");
        fs::create_dir_all(&input).unwrap();
        let mut paths = Vec::new();
        for at in 0..files {
            let (chosen, bytes) = self.mutated(dice);
            let name = match names {
                Names::Anonymous => format!("{PLANTED}-{at}-{chosen}"),
                Names::Plain if dice.one_in(10) => format!("{at}{}", *dice.pick(&NAMES)),
                Names::Plain => format!("{at}-{chosen}"),
            };
            // The first character counts in a spreadsheet.
            let name = name.strip_prefix("0=").map_or(name.clone(), |rest| format!("={rest}"));
            fs::write(input.join(&name), bytes).unwrap();
            paths.push(input.join(name));
        }
        let paths = if dice.one_in(2) { vec![input] } else { paths };
        let case = Case { paths: &paths, out: &folder.join("out"), names };
        recordings::run(&case, dice, shown);
    }

    fn mutated(&self, dice: &mut Dice) -> (&str, Vec<u8>) {
        let [chosen, other] = [(); 2].map(|()| dice.pick(&self.recordings));
        let bytes = match (&chosen.tree, &other.tree) {
            (Some((shape, tree)), Some((_, other))) if !dice.one_in(10) => mutate::file(*shape, tree, dice, other),
            _ => {
                let mut bytes = chosen.bytes.clone();
                (0..=dice.below(3)).for_each(|_| mutate::change_text(&mut bytes, dice));
                bytes
            }
        };
        (&chosen.name, bytes)
    }
}

fn drawn(text: &str, dice: &mut Dice) -> String {
    let mut bytes = text.as_bytes().to_vec();
    (0..=dice.below(3)).for_each(|_| mutate::change_text(&mut bytes, dice));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Bodies in the fixtures: objects with a model and messages.
fn bodies(recordings: &[Fixture]) -> Vec<Tree> {
    let mut found = Vec::new();
    for (_, tree) in recordings.iter().filter_map(|fixture| fixture.tree.as_ref()) {
        tree.each("", &mut |_, value| {
            if value.get("messages").is_some() && value.get("model").is_some() {
                found.push(value.clone());
            }
        });
    }
    found
}

/// The text and place of the last panic.
static PANICKED: Mutex<Option<String>> = Mutex::new(None);

/// Panics are recorded instead of printed: there may be thousands.
fn take_panics() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |place| format!("{}:{}", place.file(), place.line()));
        let what = panic.payload_as_str().unwrap_or_default();
        let mut first = PANICKED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        first.get_or_insert_with(|| format!("{place}: {what}"));
    }));
}

/// One case with everything that can happen to it.
fn guarded(job: &Job, number: u64, folder: &Path) -> Vec<Finding> {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let started = Instant::now();
    let run = panic::catch_unwind(AssertUnwindSafe(|| job(number, folder)));
    let panicked = PANICKED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    let mut findings = run.unwrap_or_default();
    findings.extend(panicked.map(|what| Finding { class: "panic", what, example: String::new() }));
    if started.elapsed() > SLOW {
        findings.push(of_case("slow", "it took longer than it may"));
    }
    if HEAP.peak_usage().saturating_sub(before) > MEMORY_MAX {
        findings.push(of_case("memory", "it took more than it may"));
    }
    findings
}

/// The same finding of other numbers is the same finding.
fn kind(class: &str, what: &str) -> String {
    let mut kind = String::new();
    for c in what.chars().take(150) {
        let c = if c.is_ascii_digit() && class != "panic" { '0' } else { c };
        if !(c == '0' && kind.ends_with('0')) {
            kind.push(c);
        }
    }
    kind
}

/// The folders for cases, and for the files of cases with findings.
fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutated")
}

/// Panics and the heap belong to the whole program, so campaigns run one after the other.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs a campaign: returns the number of cases, and the findings.
pub fn run(plan: &Plan, job: &Job) -> (u64, Found) {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    take_panics();
    let began = Instant::now();
    let (mut found, mut number, end) = (Found::new(), plan.first, plan.first + plan.cases);
    while number < end && began.elapsed() < plan.longest {
        number = worker(job, plan, number, began, &mut found);
    }
    drop(panic::take_hook());
    (number - plan.first, found)
}

/// Cases from `first` on, until the last or until one hangs; gives the number of the next.
fn worker(job: &Job, plan: &Plan, first: u64, began: Instant, found: &mut Found) -> u64 {
    let (sender, receiver) = mpsc::channel();
    let (job, own) = (Arc::clone(job), plan.clone());
    let folder = scratch().join(format!("{}-{first}", std::process::id()));
    let working = folder.clone();
    let end = plan.first + plan.cases;
    let work = move || {
        for number in first..end {
            drop(fs::remove_dir_all(&working));
            fs::create_dir_all(&working).unwrap();
            let findings = guarded(&job, number, &working);
            if !findings.is_empty() {
                keep(&working, &own, number);
            }
            if began.elapsed() > own.longest || sender.send((number, findings)).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).unwrap();
    let mut next = first;
    loop {
        match receiver.recv_timeout(LONGEST) {
            Ok((number, findings)) => {
                take(plan, number, findings, found);
                next = number + 1;
                if next.is_multiple_of(REPORTED_EVERY) {
                    println!("{next} cases, {} kinds of findings", found.len());
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                keep(&folder, plan, next);
                take(plan, next, vec![of_case("hang", "it did not end")], found);
                return next + 1;
            }
            Err(RecvTimeoutError::Disconnected) => {
                drop(fs::remove_dir_all(folder));
                return next.max(if began.elapsed() > plan.longest { end } else { next });
            }
        }
    }
}

/// A finding about a case, detected from outside.
fn of_case(class: &'static str, what: &str) -> Finding {
    Finding { class, what: what.to_owned(), example: String::new() }
}

/// The folder for the files of a case with findings.
fn kept(plan: &Plan, number: u64) -> PathBuf {
    scratch().join("kept").join(format!("{}-{number}", plan.seed))
}

/// Puts the files of a case aside.
fn keep(folder: &Path, plan: &Plan, number: u64) {
    let kept = kept(plan, number);
    drop(fs::remove_dir_all(&kept));
    drop(fs::create_dir_all(kept.parent().unwrap()));
    drop(fs::rename(folder, kept));
}

/// Counts findings. Files stay of the first case of each kind alone.
fn take(plan: &Plan, number: u64, findings: Vec<Finding>, found: &mut Found) {
    let is_new = |finding: &Finding| !found.contains_key(&(finding.class, kind(finding.class, &finding.what)));
    if !findings.is_empty() && !findings.iter().any(is_new) {
        drop(fs::remove_dir_all(kept(plan, number)));
    }
    for Finding { class, what, example } in findings {
        let first = || Times { times: 0, case: format!("{}:{number}", plan.seed), example };
        let key = (class, kind(class, &what));
        found.entry(key).or_insert_with(first).times += 1;
    }
}

/// A table of the findings.
pub fn table(found: &Found) -> String {
    let mut lines = String::new();
    for ((class, what), Times { times, case, example }) in found {
        let what = format!("{what} {example}");
        writeln!(lines, "{times:>7} {class:8} {case:14} {}", what.escape_debug()).unwrap();
    }
    lines
}
