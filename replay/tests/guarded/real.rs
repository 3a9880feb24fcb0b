//! Real recordings, if present: all of them are processed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use forkcast_replay::check::{Check, Checking};
use forkcast_replay::input::ReadOptions;
use forkcast_replay::source::feed;
use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, equality, sharing};

use crate::places::data;

/// The row of a folder whose recordings were checked and whose lock was read back.
fn checked(folder: &Path) -> String {
    let mut check = Check::new(Checking { recording: Some(Default::default()), ..Checking::default() });
    let fed = feed(&[folder], &ReadOptions::default(), &|_| true, &mut check).unwrap();
    let outcome = check.finish();
    let lock = outcome.lock.unwrap();
    let text = lock.text();
    let read = Lock::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    assert_eq!(read.text(), text);
    let again = equality(&read, &lock, &Rules::default());
    assert!(
        again.findings.is_empty()
            && again.missing.is_empty()
            && again.strangers.is_empty()
            && sharing(&read, &lock, &Rules::default()).is_empty()
    );
    let breaks = outcome.report.findings.iter().filter(|finding| finding.breaks_prefix).count();
    format!(
        "| {} | {} | {} | {} | {breaks} | {} | {} | {} |",
        folder.file_name().unwrap().to_string_lossy(),
        fed.inputs.files,
        fed.requests,
        outcome.report.chains,
        outcome.report.notes.len(),
        fed.unchecked.iter().map(|found| found.requests).sum::<usize>(),
        text.len() / 1000
    )
}

#[test]
fn every_recording_goes_through_and_its_lock_comes_back() {
    let Some(data) = data() else { return };
    let mut folders: Vec<_> =
        fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    // The folders are of very different sizes, so each core takes the next one.
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(BTreeMap::new());
    let take = || {
        while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
            let row = checked(folder);
            rows.lock().unwrap().insert(folder, row);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(take);
        take();
    });
    println!(
        "| recordings | files | requests | chains | breaks | notes | not checked | lock, kB |\n|---|---|---|---|---|---|---|---|"
    );
    rows.into_inner().unwrap().values().for_each(|row| println!("{row}"));
}
