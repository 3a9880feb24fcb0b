//! A replay that is stopped keeps what it computed and says that it is a part.

#![allow(clippy::expect_used, clippy::panic)] // A test may stop at once.

use std::cell::Cell;

use forkcast_replay::input::{InputFormat, Inputs, Progress};
use forkcast_replay::replay::{Options, replay, replay_until};

#[test]
fn what_was_computed_stays_and_is_marked_partial() {
    let inputs = Inputs::sample();
    let whole = replay(&inputs, &Options::default());
    assert!(!whole.partial);
    let asked = Cell::new(0);
    let after_five = || {
        asked.set(asked.get() + 1);
        asked.get() > 5
    };
    let part = replay_until(&inputs, &Options::default(), &after_five);
    assert!(part.partial);
    assert_eq!(part.lines.len(), 5);
    for (line, expected) in part.lines.iter().zip(&whole.lines) {
        assert_eq!(line.predicted, expected.predicted);
        assert_eq!(line.charge, expected.charge);
    }
}

#[test]
fn what_was_read_stays_and_the_other_files_are_counted() {
    let folder = std::env::temp_dir().join(format!("forkcast-interrupted-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in 0..20 {
        std::fs::write(folder.join(format!("{name}.jsonl")), forkcast_replay::input::SAMPLE).expect("a file");
    }
    let read = |watch: &(dyn Fn(Progress) -> bool + Sync)| Inputs::read_watched(&[&folder], InputFormat::Auto, watch);
    let size = forkcast_replay::input::SAMPLE.len() as u64;
    let whole = read(&|progress| {
        assert_eq!((progress.files, progress.bytes), (20, 20 * size));
        true
    });
    assert_eq!(whole.expect("readable").unread_files, 0);
    let part = read(&|progress| progress.files_done < 3).expect("readable");
    std::fs::remove_dir_all(&folder).expect("its own folder");
    let files: usize = part.scopes.iter().map(|scope| scope.files.len()).sum();
    assert_eq!(files + part.unread_files, 20);
    assert!(files >= 3 && part.unread_files > 0, "{files}");
}
