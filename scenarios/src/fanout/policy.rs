//! Policies that a harness could adopt, each in a line: when the children start, and where breakpoints stand (`design.md` 5).

use forkcast_sim::agent::query::Placement;

/// Launch policies as they are spelled, and what each does. Those of named agents are not told here: these always start at
/// once.
pub const LAUNCHES: [(&str, &str); 4] = [
    ("burst", "all at once, as clients do; no child can read what a sibling writes"),
    ("primed", "one goes first, the others at its first byte, and read what it wrote"),
    ("stagger=MS", "each MS milliseconds after the one before, at most as long as entries live"),
    ("waves=N", "N at a time, the next N once each of these had its first byte"),
];

/// Placements of breakpoints, and what each marks.
pub const PLACEMENTS: [(Placement, &str); 8] = [
    (Placement::None, "nothing, so nothing is read or written"),
    (Placement::System, "the last block of the system prompt; from turn 2 on the tail too"),
    (Placement::Shared, "the end of what siblings share, before the directive; from turn 2 on the tail"),
    (Placement::Tail, "the end of the prompt"),
    (Placement::Both, "`shared` and `tail`; from turn 2 on the tail"),
    (Placement::TailPrevious, "the tail and where the previous request ended, for a fork its parent's"),
    (Placement::BeforeResults, "the last block before the newest results of tools; from turn 2 on the tail too"),
    (Placement::Client2026, "two blocks of the system prompt and the tail, as the client of 2026 does"),
];

#[cfg(test)]
mod tests {
    use super::{LAUNCHES, PLACEMENTS};
    use forkcast_sim::agent::query::Placement;
    use forkcast_sim::agent::spawn::fork::LaunchPolicy;

    #[test]
    fn every_policy_is_told_once_and_by_its_word() {
        assert_eq!(PLACEMENTS.map(|(placement, _)| placement), Placement::ALL);
        for (form, _) in LAUNCHES {
            let word = form.replace("MS", "150").replace('N', "4");
            assert_eq!(LaunchPolicy::named(&word).map(LaunchPolicy::name), Ok(word));
        }
    }
}
