//! Reminders that a real client moved in its history, captured request by request. The expected differences were
//! determined by hand from the JSON: which messages differ, their content before and after, and the first different
//! byte.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Facts, Guard, Rules, Sent};

use super::captured::{FLAP, MOVE, arrays};
use super::case::Case;
use super::judged::differences;
use super::prompt::Prompt;
use super::twin::Sides;
use forkcast_fixtures::Dice;

/// Cause, path, offset in the block.
type Found = (&'static str, &'static str, u64);

/// The expected differences between two captured requests.
struct Truth {
    file: &'static str,
    requests: [u32; 2],
    differences: &'static [Found],
}

/// Four reminders after a result become one system message; another reminder and the system message after it become
/// another; one becomes a third. The client's final question also differs.
const APART: [Found; 10] = [
    ("message_removed", "messages[85].content[3]", 9),
    ("message_removed", "messages[85].content[4]", 9),
    ("message_removed", "messages[85].content[5]", 9),
    ("message_removed", "messages[85].content[6]", 9),
    ("message_inserted", "messages[86].content[0]", 9),
    ("message_removed", "messages[90].content[2]", 9),
    ("message_edited", "messages[91].content[0]", 11),
    ("message_removed", "messages[93].content[1]", 9),
    ("message_inserted", "messages[94].content[0]", 9),
    ("message_edited", "messages[98].content[0]", 11),
];

/// And back again.
const TOGETHER: [Found; 10] = [
    ("message_removed", "messages[85].content[3]", 9),
    ("message_inserted", "messages[85].content[3]", 9),
    ("message_inserted", "messages[85].content[4]", 9),
    ("message_inserted", "messages[85].content[5]", 9),
    ("message_inserted", "messages[85].content[6]", 9),
    ("message_inserted", "messages[89].content[2]", 9),
    ("message_edited", "messages[90].content[0]", 11),
    ("message_removed", "messages[92].content[1]", 9),
    ("message_inserted", "messages[92].content[1]", 9),
    ("message_edited", "messages[96].content[0]", 11),
];

/// The same as the first, except for three messages that replace the last question.
const APART_AGAIN: [Found; 10] = {
    let mut found = APART;
    found[9] = ("rewound", "messages[98].content[0]", 11);
    found
};

/// Two reminders after a result and the system message after them become one; six later messages are replaced.
const JOINED: [Found; 4] = [
    ("message_removed", "messages[222].content[2]", 9),
    ("message_removed", "messages[222].content[3]", 9),
    ("message_edited", "messages[223].content[0]", 12),
    ("rewound", "messages[227].content[0]", 12),
];

const TRUTHS: [Truth; 7] = [
    Truth { file: FLAP, requests: [102, 104], differences: &APART },
    Truth { file: FLAP, requests: [104, 105], differences: &TOGETHER },
    Truth { file: FLAP, requests: [105, 108], differences: &APART_AGAIN },
    Truth { file: MOVE, requests: [187, 195], differences: &JOINED },
    // One message is replaced by three, and the following ones by others.
    Truth { file: MOVE, requests: [195, 196], differences: &[("message_edited", "messages[233].content[0]", 11)] },
    Truth { file: MOVE, requests: [196, 197], differences: &[("rewound", "messages[233].content[0]", 11)] },
    Truth { file: MOVE, requests: [197, 198], differences: &[("rewound", "messages[233].content[0]", 11)] },
];

fn case(truth: &Truth) -> Option<Case> {
    let all = arrays(truth.file);
    let prompt = |number: u32| all.iter().find(|(n, _)| *n == number).map(|(_, body)| Prompt::parse(body));
    let [older, newer] = truth.requests.map(prompt);
    Some(Case { older: older?, newer: newer?, dice: Dice::new(0) })
}

#[test]
fn moved_reminders_are_found_at_the_expected_places() {
    for truth in &TRUTHS {
        let Some(case) = case(truth) else { return };
        let found = differences(&case);
        let said: Vec<(&str, &str, u64)> = found
            .iter()
            .map(|one| (one.cause.word(), one.path.as_str(), one.offset_in_block.expect("a block")))
            .collect();
        assert_eq!(said, truth.differences, "{} {:?}", truth.file, truth.requests);
        let first = Sides::new(&case.older, &case.newer).first();
        assert_eq!((found[0].path.as_str(), found[0].offset_in_block), (&*first.path, Some(first.offset_in_block)));
        assert_eq!(found[0].offset_in_prefix, Some(first.offset_in_prefix), "{:?}", truth.requests);
    }
}

/// For each request of a file: the request it is compared with, and whether the change at the first difference breaks
/// the prefix.
fn watched(file: &str, chain: Option<&str>) -> Vec<(Option<usize>, Option<bool>)> {
    let mut guard = Guard::new(Rules::default());
    let take = |(_, body): (u32, String)| {
        let checked = guard
            .take(&Sent { facts: Facts { chain, ..Facts::default() }, ..Sent::body(body.as_bytes()) })
            .expect("a body");
        let first = checked.findings.first();
        (first.and_then(|first| first.older), first.map(|first| first.breaks_prefix))
    };
    arrays(file).into_iter().map(take).collect()
}

/// Without names, the side questions form a separate chain, which keeps its own form and breaks nothing. As one chain,
/// each form breaks the prefix once; a form that returns reads its own earlier entries, and the change loses nothing.
#[test]
fn an_alternating_reminder_breaks_the_prefix_once_per_form() {
    let all = watched(FLAP, None);
    if !all.is_empty() {
        assert_eq!(all, [(None, None), (Some(0), Some(true)), (None, None), (None, None)]);
        let named = watched(FLAP, Some("main"));
        assert_eq!(named, [(None, None), (Some(0), Some(true)), (Some(1), Some(true)), (Some(2), Some(false))]);
    }
}

/// The second last request drops the side question and reads all that remains. The last one drops four blocks of the
/// conversation that would have been read; its breakpoint, two blocks before its end, is not an additional error.
#[test]
fn joined_reminders_break_the_prefix_and_so_does_a_rewind_of_cached_blocks() {
    for all in [None, Some("main")].map(|chain| watched(MOVE, chain)) {
        if !all.is_empty() {
            let breaks: Vec<_> = all.iter().map(|(_, breaks)| *breaks).collect();
            assert_eq!(breaks, [None, Some(true), Some(true), Some(false), Some(true)]);
        }
    }
}

#[test]
fn no_captured_request_is_reported_to_lack_a_breakpoint() {
    let mut guard = Guard::new(Rules::default());
    for (number, body) in arrays(MOVE) {
        let found = guard.take(&Sent::body(body.as_bytes())).expect("a body").findings;
        assert!(found.iter().all(|one| one.cause != Cause::NoBreakpoint), "{number}: {found:?}");
    }
}
