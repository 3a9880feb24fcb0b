//! Whether a fork was sent when there was something to read.

use crate::time::{Duration, Instant};

/// When a request was sent, and when its answer began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timing {
    /// Position among all requests.
    pub request: usize,
    /// When it was sent.
    pub at: Option<Instant>,
    /// When its answer's first byte came.
    pub first_byte_at: Option<Instant>,
}

/// Verdict on a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Launch {
    /// Something could be read, or it was not being written.
    Fine,
    /// It was sent before the answer of the only writer had begun.
    TooEarly(String),
    /// The input does not show it.
    Unknown(&'static str),
}

const NO_INSTANTS: &str = "the input does not say when requests were sent";
const NO_FIRST_BYTES: &str = "the input does not say when answers began";

/// Judges a fork by the earlier writers of its prefix: its parent's requests, and its siblings. An entry lives for
/// `lifetime` from its last use (`providers.md` 1.3).
pub(super) fn judge(fork: &Timing, writers: &[Timing], lifetime: Duration) -> Launch {
    let Some(at) = fork.at else { return Launch::Unknown(NO_INSTANTS) };
    let before = writers.iter().filter_map(|writer| Some((writer, writer.at.filter(|sent| *sent <= at)?)));
    let (mut waits_for, mut may_wait) = (None, false);
    for (writer, sent) in before {
        match writer.first_byte_at {
            Some(began) if began <= at && at < sent + lifetime => return Launch::Fine,
            Some(began) if began > at => waits_for = Some((writer, sent, began)),
            None => may_wait = may_wait || at < sent + lifetime,
            Some(_) => {}
        }
    }
    match waits_for {
        Some((writer, sent, began)) => Launch::TooEarly(format!(
            "sent {} ms after request {}, whose answer began {} ms later",
            at.since(sent).as_millis(),
            writer.request,
            began.since(at).as_millis()
        )),
        None if may_wait => Launch::Unknown(NO_FIRST_BYTES),
        None if writers.iter().all(|writer| writer.at.is_none()) => Launch::Unknown(NO_INSTANTS),
        None => Launch::Fine,
    }
}

#[cfg(test)]
mod tests {
    use super::{Launch, Timing, judge};
    use crate::time::{Duration, Instant};

    fn timing(request: usize, at_ms: u64, first_byte_ms: u64) -> Timing {
        let at = Some(Instant::from_millis(at_ms));
        Timing { request, at, first_byte_at: Some(Instant::from_millis(first_byte_ms)) }
    }

    fn launch(fork: Timing, writers: &[Timing]) -> Launch {
        judge(&fork, writers, Duration::from_secs(300))
    }

    #[test]
    fn a_fork_of_a_warm_parent_may_ask_at_any_time() {
        let parent = timing(0, 0, 1_000);
        assert_eq!(launch(timing(1, 1_000, 2_000), &[parent]), Launch::Fine);
        assert_eq!(launch(timing(2, 1_001, 2_000), &[parent, timing(1, 1_000, 2_000)]), Launch::Fine);
    }

    #[test]
    fn a_fork_does_not_ask_before_its_parents_answer_begins() {
        let found = launch(timing(1, 900, 2_000), &[timing(0, 0, 1_000)]);
        assert_eq!(found, Launch::TooEarly("sent 900 ms after request 0, whose answer began 100 ms later".to_owned()));
    }

    #[test]
    fn siblings_of_a_cold_parent_wait_for_the_first_of_them() {
        let (parent, first) = (timing(0, 0, 1_000), timing(1, 400_000, 402_000));
        assert_eq!(launch(first, &[parent]), Launch::Fine, "somebody has to write it");
        assert!(matches!(launch(timing(2, 400_005, 402_000), &[parent, first]), Launch::TooEarly(_)));
        assert_eq!(launch(timing(2, 402_000, 403_000), &[parent, first]), Launch::Fine);
    }

    #[test]
    fn missing_instants_are_not_guessed() {
        let silent = Timing { request: 0, at: None, first_byte_at: None };
        assert!(matches!(launch(silent, &[timing(1, 0, 1)]), Launch::Unknown(_)));
        assert!(matches!(launch(timing(1, 5, 6), &[silent]), Launch::Unknown(_)));
        let unanswered = Timing { first_byte_at: None, ..timing(0, 0, 0) };
        assert!(matches!(launch(timing(1, 5, 6), &[unanswered]), Launch::Unknown(_)));
    }
}
