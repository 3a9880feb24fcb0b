//! The same changes compared with a lock of the older request: same cause, place, tokens and cost as in the chain, if
//! digests can tell.

use std::collections::BTreeMap;
use std::fs;

use forkcast_fixtures::{beside, unpacked};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::lock::{Lock, Recorder, Recording, RequestRecord, equality};
use forkcast_sim::guard::{Facts, Finding, Guard, Rules, Sent};
use forkcast_sim::wire::Wire;

use super::captured;
use super::compared::{generated, grown};
use super::judged::{cases, seed};
use super::kinds::KINDS;
use super::watched::{PLACEMENTS, keep_marked, place};

/// The lock of one request.
fn lock_of(body: &str) -> Lock {
    let (mut guard, mut recorder) = (Guard::new(Rules::default()), Recorder::new(Recording::default()));
    let sent = Sent {
        facts: Facts { chain: Some("main"), scope: "scope", ..Facts::default() },
        ..Sent::body(body.as_bytes())
    };
    let checked = guard.take(&sent).expect("a body");
    let seen: RequestRecord<'_> = guard.seen(&checked, None).expect("it was just checked");
    recorder.take(&seen);
    recorder.finish()
}

/// The figures that must be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Damage {
    cause: Cause,
    path: String,
    breaks_prefix: bool,
    tokens: Option<u64>,
    cost: Option<i128>,
    is_upper_bound: bool,
}

impl Damage {
    fn of(found: &Finding) -> Self {
        Self {
            cause: found.cause,
            path: found.path.clone(),
            breaks_prefix: found.breaks_prefix,
            tokens: found.tokens_lost(),
            cost: found.cost().map(|cost| cost.picousd()),
            is_upper_bound: found.loss.is_some_and(|loss| loss.is_upper_bound),
        }
    }
}

/// Kinds of changes for which digests give another cause or place, and why.
const UNTOLD: [(&str, &[&str]); 1] = [("the content besides a call's id is not kept", &["call-ids"])];

/// How two findings of one change differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Differs {
    /// They are equal.
    Not,
    /// The lock gives an upper bound of the tokens.
    Bound,
    /// In cause or place; the tokens are equal, or an upper bound.
    Told,
    /// In tokens or cost.
    Damage,
}

fn differ(chain: &[Damage], lock: &[Damage]) -> Differs {
    let tokens = |side: &[Damage]| side.iter().filter_map(|found| found.tokens).sum::<u64>();
    let money = |side: &[Damage]| side.iter().filter_map(|found| found.cost).sum::<i128>();
    let places = |side: &[Damage]| side.iter().map(|found| (found.cause, found.path.clone())).collect::<Vec<_>>();
    let is_bound =
        lock.iter().any(|found| found.is_upper_bound) && tokens(lock) >= tokens(chain) && money(lock) >= money(chain);
    let is_equal = tokens(chain) == tokens(lock) && money(chain) == money(lock);
    match (chain == lock, is_equal || is_bound, places(chain) == places(lock)) {
        (true, ..) => Differs::Not,
        (false, true, true) => Differs::Bound,
        (false, true, false) => Differs::Told,
        (false, false, _) => Differs::Damage,
    }
}

/// The findings of the chain for two bodies, and of a lock of the older for the newer.
fn compared(older: &str, newer: &str) -> [Vec<Damage>; 2] {
    let mut guard = Guard::new(Rules::default());
    let mut take = |body: &str| {
        guard
            .take(&Sent {
                facts: Facts { chain: Some("main"), scope: "scope", ..Facts::default() },
                ..Sent::body(body.as_bytes())
            })
            .expect("a body")
    };
    take(older);
    let chain = take(newer).findings;
    let old = Lock::parse(&lock_of(older).text()).expect("a lock");
    let mut found = equality(&old, &lock_of(newer), &Rules::default()).findings;
    // A lock lists sent blocks; an appended block is no change of a growing conversation.
    let is_appended = |found: &Finding| !found.breaks_prefix && found.tokens_lost().unwrap_or(0) == 0;
    let in_chain = |found: &Finding| chain.iter().any(|known| (known.cause, &known.path) == (found.cause, &found.path));
    found.retain(|found| in_chain(found) || !is_appended(found));
    [chain.iter().map(Damage::of).collect(), found.iter().map(Damage::of).collect()]
}

#[test]
fn a_lock_and_its_chain_agree_on_planted_changes() {
    let mut differing: BTreeMap<(Differs, &str), u64> = BTreeMap::new();
    let prompts = captured::prompts();
    let (mut all, mut wrong) = (0_u64, Vec::new());
    for (at, kind) in KINDS.iter().enumerate() {
        let is_untold = UNTOLD.iter().any(|(_, kinds)| kinds.contains(&kind.word));
        for number in 0..cases(12) {
            let placement = PLACEMENTS[(number % 4) as usize];
            let which = (number as usize).checked_rem(prompts.len()).filter(|_| number % 5 == 4);
            let mut case = match which {
                Some(which) => grown(&prompts[which], seed(at, number)),
                None => generated(seed(at, number) + number),
            };
            case.both(|prompt| place(prompt, placement));
            let Some(planted) = kind.plant(&mut case) else { continue };
            if !planted.is_empty() {
                keep_marked(&mut case, placement);
            }
            all += 1;
            let [chain, lock] = compared(&case.older.body(), &case.newer.body());
            let differs = differ(&chain, &lock);
            *differing.entry((differs, kind.word)).or_default() += 1;
            if differs > Differs::Bound && !is_untold {
                wrong.push(format!(
                    "{} {placement:?} {number}: {differs:?}\n chain {chain:?}\n lock {lock:?}",
                    kind.word
                ));
            }
        }
    }
    let sum = |differs: Differs| differing.iter().filter(|((known, _), _)| *known == differs).map(|(_, n)| n).sum();
    let sums: [u64; 4] = [Differs::Not, Differs::Bound, Differs::Told, Differs::Damage].map(sum);
    println!("{all} changes: the same, a bound, another cause or place, other damage: {sums:?}");
    for (why, kinds) in UNTOLD {
        let of =
            |word: &&str| [Differs::Told, Differs::Damage].map(|differs| differing.get(&(differs, *word)).copied());
        println!("{why}: {:?}", kinds.iter().map(|word| (word, of(word))).collect::<Vec<_>>());
    }
    assert!(wrong.is_empty(), "{} of {all}\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    // If digests cannot tell, a lock gives an upper bound.
    let damage: Vec<_> = differing.keys().filter(|(differs, _)| *differs == Differs::Damage).collect();
    assert!(damage.is_empty(), "{damage:?}");
}

/// Each request of a reported bug, compared with the previous one.
#[test]
fn a_lock_and_its_chain_agree_on_reported_bugs() {
    let Some(folder) = beside("real-bugs") else { return };
    let mut bugs: Vec<_> =
        fs::read_dir(folder).unwrap().map(|bug| bug.unwrap().path()).filter(|path| path.is_dir()).collect();
    bugs.sort();
    let mut sums: BTreeMap<Differs, Vec<String>> = BTreeMap::new();
    for bug in bugs {
        let mut files: Vec<_> = fs::read_dir(&bug).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let mut wire = Wire::default();
        let bodies = files.iter().filter(|file| file.extension().is_some_and(|end| end == "gz"));
        let bodies: Vec<String> = bodies.map(|file| unpacked(file)).collect();
        let bodies: Vec<String> =
            bodies.into_iter().filter(|body| wire.read(body.as_bytes(), "scope", "").is_ok()).collect();
        for (at, pair) in bodies.windows(2).enumerate() {
            let [chain, lock] = compared(&pair[0], &pair[1]);
            let name = bug.file_name().unwrap().to_string_lossy().into_owned();
            let line = format!("{name} {at}: {:?} | {:?}", chain.first(), lock.first());
            sums.entry(differ(&chain, &lock)).or_default().push(line);
        }
    }
    for (differs, lines) in &sums {
        println!(
            "{differs:?}: {}\n{}",
            lines.len(),
            if *differs > Differs::Bound { lines.join("\n") } else { String::new() }
        );
    }
    assert!(sums.keys().all(|differs| *differs <= Differs::Bound), "{sums:#?}");
}
