//! Real recordings, if present: all of them are processed.

use std::fs;

use forkcast_replay::check::{Check, Checking};
use forkcast_replay::input::ReadOptions;
use forkcast_replay::source::feed;
use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, equality, sharing};

use crate::places::data;

#[test]
fn every_recording_goes_through_and_its_lock_comes_back() {
    let Some(data) = data() else { return };
    let mut folders: Vec<_> =
        fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    println!(
        "| recordings | files | requests | chains | breaks | notes | not checked | lock, kB |\n|---|---|---|---|---|---|---|---|"
    );
    for folder in folders {
        let mut check = Check::new(Checking { recording: Some(Default::default()), ..Checking::default() });
        let fed = feed(&[&folder], &ReadOptions::default(), &|_| true, &mut check).unwrap();
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
        println!(
            "| {} | {} | {} | {} | {breaks} | {} | {} | {} |",
            folder.file_name().unwrap().to_string_lossy(),
            fed.inputs.files,
            fed.requests,
            outcome.report.chains,
            outcome.report.notes.len(),
            fed.unchecked.iter().map(|found| found.requests).sum::<usize>(),
            text.len() / 1000
        );
    }
}
