//! Descriptions of the policies that a harness could adopt: when children start, and where breakpoints are placed
//! (`design.md` 5).

use forkcast_sim::agent::query::Placement;

/// Launch policies as spelled, with descriptions. They hold for the forks of one message, and for its named agents of one
/// type.
pub const LAUNCHES: [(&str, &str); 5] = [
    ("burst", "all at once, as clients do; no child can read what a sibling writes"),
    ("primed", "one starts first; the others start at its first byte and read what it wrote"),
    ("stagger=MS", "each MS milliseconds after the previous one, at most the TTL"),
    ("waves=N", "N at a time; the next N start when all of these have their first byte"),
    ("serial", "one at a time; each starts when the previous one has ended"),
];

/// Breakpoint placements, and what each marks.
pub const PLACEMENTS: [(Placement, &str); 8] = [
    (Placement::None, "nothing: no reads and no writes"),
    (Placement::System, "the last block of the system prompt; from turn 2 on also the tail"),
    (Placement::Shared, "the end of what siblings share, before the directive; from turn 2 on the tail"),
    (Placement::Tail, "the end of the prompt"),
    (Placement::Both, "`shared` and `tail`; from turn 2 on the tail"),
    (Placement::TailPrevious, "the tail and the end of the previous request (for a fork, its parent's)"),
    (Placement::BeforeResults, "the last block before the newest tool results; from turn 2 on also the tail"),
    (Placement::Client2026, "two blocks of the system prompt and the tail, as in the client of 2026"),
];

#[cfg(test)]
mod tests {
    use super::{LAUNCHES, PLACEMENTS};
    use forkcast_sim::agent::query::Placement;
    use forkcast_sim::agent::spawn::fork::LaunchPolicy;

    #[test]
    fn every_policy_is_listed_once_under_its_name() {
        assert_eq!(PLACEMENTS.map(|(placement, _)| placement), Placement::ALL);
        for (form, _) in LAUNCHES {
            let word = form.replace("MS", "150").replace('N', "4");
            assert_eq!(LaunchPolicy::named(&word).map(LaunchPolicy::name), Ok(word));
        }
    }
}
