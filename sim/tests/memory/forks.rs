//! A thousand forks of a large parent: memory grows with their own parts, and the shared history is not read, rendered
//! or counted again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forkcast_sim::agent::entry::Nature;
use forkcast_sim::agent::spawn::fork::{Forks, Profile};
use forkcast_sim::agent::{Entry, Event, Settings};
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{Reply, Rule, Scripted};
use forkcast_sim::simulation::{Act, Does, Lookup, Observer, Setup, Sizing, run};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{Content, Frame, FrameTokens, Piece, Role, TokenCounter};
use serde_json::json;

use super::{ALONE, HEAP};

/// Messages of the parent's history, and bytes of each: about 100,000 tokens in total.
const MESSAGES: usize = 300;
const MESSAGE_BYTES: usize = 1_000;

/// Maximum bytes per fork while all of them wait for answers. Measured: 25,600, which includes 8 bytes twice for each
/// message of its parent: in its own list and in its request's list.
const FORK_BYTES: usize = 30_000;

/// The same without explanations, observers and transcripts, as in the fan-out laboratory.
const BRIEF_FORK_BYTES: usize = 12_000;

/// Maximum bytes read per fork: its directive with the rules, its call, its answer. The history has 300,000.
const FORK_BYTES_READ: u64 = 6_000;

fn history(messages: usize) -> Vec<Rc<Entry>> {
    let message = |at: usize| {
        let words = format!("{at:04} {}", "word after word ".repeat(MESSAGE_BYTES / 16));
        let (role, nature) =
            if at.is_multiple_of(2) { (Role::User, Nature::Typed) } else { (Role::Assistant, Nature::Said) };
        Entry::of(format!("h-{at}").into(), role, vec![Piece::text(&words)], &words, nature)
    };
    (0..messages).map(message).collect()
}

fn setup(profile: Profile, children: usize) -> Setup {
    let call = |child: usize| {
        let mut input = json!({ "description": "a part", "prompt": format!("Look at part {child}.") });
        if profile == Profile::Client2026 {
            input["subagent_type"] = "fork".into();
        }
        Said::ToolUse { id: format!("toolu_{child:05}").into(), name: "Agent".into(), input }
    };
    let rule = |agent: &str, times, said| {
        let reply = Reply { said, ..Reply::default() };
        Rule { agent: Some(agent.into()), times, reply, ..Rule::default() }
    };
    let report = Said::Text("Scope: a part\nResult: it is well".to_owned());
    let mut setup = Setup::new(
        5,
        Scripted::new(vec![
            rule("main", Some(1), (0..children).map(call).collect()),
            rule("fork", None, vec![report]),
            rule("main", None, vec![Said::Text("Good.".to_owned())]),
        ]),
    );
    setup.settings = Settings {
        features: ["FORK_SUBAGENT".to_owned()].into(),
        forks: Forks { profile, ..Forks::default() },
        ..Settings::default()
    };
    setup.history = history(MESSAGES);
    setup.acts = vec![Act { at: Instant::default(), does: Does::Types("Look at all parts".into()) }];
    setup
}

/// The heap's peak above the initial level.
fn peak(setup: Setup) -> usize {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let finished = run(setup).unwrap();
    let peak = HEAP.peak_usage() - before;
    drop(finished);
    peak
}

#[test]
fn memory_and_work_of_forks_depend_only_on_their_suffixes() {
    let _alone = ALONE.lock();
    let [few, some, many] = [100, 1_000, 4_000].map(|forks| peak(setup(Profile::Client2026, forks)));
    let (first, then) = ((some - few) / 900, (many - some) / 3_000);
    assert!(first < FORK_BYTES && then < FORK_BYTES, "{first} bytes a fork, then {then}");
    assert!(then < first * 5 / 4, "{first} bytes a fork up to a thousand, then {then}");
    for profile in Profile::ALL {
        let of_forks = |messages| {
            let [fewer, more] = [100, 300].map(|forks| {
                let mut setup = setup(profile, forks);
                setup.history = history(messages);
                peak(setup)
            });
            (more - fewer) / 200
        };
        let (long, short) = (of_forks(MESSAGES), of_forks(MESSAGES / 10));
        assert!(long < short + MESSAGES * 24, "{profile:?}: {long} bytes a fork, with a tenth of the history {short}");
        looks_at_nothing_again(profile);
    }
    equal_answers_are_stored_once();
    requests_and_transcripts_are_kept_once();
    a_turn_is_kept_once();
}

/// The same when everything is kept: requests, transcripts, explanations.
fn requests_and_transcripts_are_kept_once() {
    let [few, some, many] = [100, 300, 900].map(|forks| {
        let mut setup = setup(Profile::Documents, forks);
        setup.history = history(MESSAGES / 10);
        setup.keeps_drafts = true;
        peak(setup)
    });
    let (first, then) = ((some - few) / 200, (many - some) / 600);
    assert!(first < FORK_BYTES && then < FORK_BYTES, "{first} bytes a fork, then {then}");
    assert!(then < first * 5 / 4, "{first} bytes a fork up to three hundred, then {then}");
}

/// A long conversation takes only what its turns add; separate lists per request would take 32,000 bytes at the end.
fn a_turn_is_kept_once() {
    let [few, some, many] = [200, 1_000, 2_000].map(|turns| {
        let read = Said::ToolUse { id: "".into(), name: "Read".into(), input: json!({ "file_path": "/x" }) };
        let rule = |times, said| {
            let reply = Reply { said: vec![said], ..Reply::default() };
            Rule { agent: Some("main".into()), times, reply, ..Rule::default() }
        };
        let script = Scripted::new(vec![rule(Some(turns), read), rule(None, Said::Text("Good.".to_owned()))]);
        let mut setup = Setup::new(5, script);
        setup.keeps_drafts = true;
        setup.acts = vec![Act { at: Instant::default(), does: Does::Types("Read".into()) }];
        peak(setup)
    });
    let (first, then) = ((some - few) / 800, (many - some) / 1_000);
    assert!(then < first * 5 / 4, "{first} bytes a turn up to a thousand, then {then}");
}

/// N forks of one message get N calls and N results each (FORK-20, FORK-23). Without transcripts and explanations, a
/// fork takes the same space for any N: separate lists would take 80,000 bytes for the last ones.
fn equal_answers_are_stored_once() {
    let [few, some, many] = [200, 1_000, 10_000].map(|forks| {
        let mut setup = setup(Profile::Documents, forks);
        setup.history = history(MESSAGES / 10);
        setup.settings.without_transcripts = true;
        setup.explains = false;
        peak(setup)
    });
    let (first, then) = ((some - few) / 800, (many - some) / 9_000);
    assert!(first < BRIEF_FORK_BYTES && then < BRIEF_FORK_BYTES, "{first} bytes a fork, then {then}");
}

/// For a request: the agent, and the amounts of work.
type Looked = (Rc<str>, u64, u64, usize);

/// For each request, the agent and the bytes read and counted so far.
#[derive(Default)]
struct Work {
    requests: Rc<RefCell<Vec<Looked>>>,
    rendered: Rc<RefCell<BTreeMap<Rc<str>, u32>>>,
    counter: Arc<Lengths>,
}

impl Observer for Work {
    fn name(&self) -> &'static str {
        "work"
    }

    fn served(&mut self, seen: &Lookup<'_>) -> Result<(), String> {
        let counted = self.counter.0.load(Ordering::Relaxed);
        let (read, held) = (seen.wire.bytes_read(), seen.wire.blocks.total_bytes());
        self.requests.borrow_mut().push((seen.agent.into(), read, counted, held));
        Ok(())
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        if let Event::PromptRendered { agent, .. } = event {
            *self.rendered.borrow_mut().entry(agent.clone()).or_default() += 1;
        }
        Ok(())
    }
}

/// Counts one token per byte, and the bytes it was given.
#[derive(Debug, Default)]
struct Lengths(AtomicU64);

impl TokenCounter for Lengths {
    fn block_tokens(&self, _tokenizer: Tokenizer, content: Content<'_>) -> u64 {
        let bytes = content.bytes.len() as u64;
        self.0.fetch_add(bytes, Ordering::Relaxed);
        bytes
    }

    fn frame_tokens(&self, _frame: &Frame) -> FrameTokens {
        FrameTokens::default()
    }
}

fn looks_at_nothing_again(profile: Profile) {
    let (children, work) = (50, Work::default());
    let (requests, rendered) = (work.requests.clone(), work.rendered.clone());
    let mut setup = setup(profile, children);
    setup.sizing = Sizing::Counted(work.counter.clone());
    setup.observers = vec![Box::new(work)];
    run(setup).unwrap();
    let requests = requests.borrow();
    let (parent, read, ..) = &requests[0];
    assert!(&**parent == "main" && *read > (MESSAGES * MESSAGE_BYTES) as u64, "{parent} read {read}");
    let pairs = requests.iter().zip(&requests[1..]).filter(|(_, (agent, ..))| &**agent != "main");
    let mut forks = 0;
    // The first fork reads the parent's message with all calls and placeholders, which are then known.
    for ((_, read, counted, held), (agent, read_then, counted_then, held_then)) in pairs.skip(1) {
        let (read, counted, held) = (read_then - read, counted_then - counted, held_then - held);
        assert!(read < FORK_BYTES_READ && counted < FORK_BYTES_READ, "{agent}: read {read}, counted {counted}");
        assert!(held < FORK_BYTES_READ as usize, "{agent}: {held} bytes interned");
        forks += 1;
    }
    assert_eq!(forks, children - 1);
    let rendered: Vec<String> = rendered.borrow().keys().map(|agent| agent.to_string()).collect();
    assert_eq!(rendered, ["main"], "who rendered a prompt");
}
