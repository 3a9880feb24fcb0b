//! Memory grows with the largest session and with a small index, not with the number of sessions: the heap's peak is measured
//! while folders of more and more sessions are read, replayed and written down. Alone in its program, since the peak is that of
//! all threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use forkcast_fixtures::emptied;
use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs, ReadOptions};
use forkcast_replay::replay::{Options, Passes};
use forkcast_replay::what_if::WhatIf;
use forkcast_reports::figures::png;
use forkcast_reports::folder::{Contents, Folder};
use forkcast_reports::human;
use forkcast_reports::report::{Report, View};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// One test at a time: all of them are measured by one allocator.
static ALONE: Mutex<()> = Mutex::new(());

const SESSIONS: usize = 100;
const REQUESTS_OF_SESSION: usize = 60;
const REQUESTS_OF_LARGEST: usize = 2_000;

/// The maximum addition of a request to the peak, including its share of its session's rows: ids against duplicates,
/// shared facts of sessions, the session's row in the report. Before sessions left memory it was 3,700 bytes.
const INDEX_BYTES_PER_REQUEST: usize = 400;

/// The same if a line for each request is written and a picture drawn.
const INDEX_BYTES_PER_REQUEST_WRITTEN: usize = 400;

/// A request with its tool call, and the result that came in.
fn exchange(text: &mut String, session: usize, request: usize) {
    let (second, place) = (request * 20, (session * 10_000 + request) as u64);
    let at = |after: usize| {
        // Within four weeks: a picture of more days is larger, up to a limit of its own.
        let seconds = (session * 40_000 + second + after) % 2_419_200;
        format!(
            "2026-01-{:02}T{:02}:{:02}:{:02}.000Z",
            1 + seconds / 86_400,
            seconds / 3_600 % 24,
            seconds / 60 % 60,
            seconds % 60
        )
    };
    let common = format!(r#""sessionId":"s-{session}","version":"2.1.63","cwd":"/home/u/work","isSidechain":false"#);
    let parent = if request == 0 { "null".to_owned() } else { format!(r#""r-{}""#, place - 1) };
    let words = "word after word ".repeat(20);
    writeln!(
        text,
        r#"{{"type":"user","uuid":"u-{place}","parentUuid":{parent},"timestamp":"{}",{common},"message":{{"role":"user","content":"{words}"}}}}"#,
        at(0)
    )
    .unwrap();
    let (read, written) = (20_000 + 400 * request, 400);
    writeln!(
        text,
        r#"{{"type":"assistant","uuid":"r-{place}","parentUuid":"u-{place}","timestamp":"{}",{common},"message":{{"id":"msg_{place}","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"text","text":"{words}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":3,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":90}}}}}}"#,
        at(8)
    )
    .unwrap();
}

/// A folder of this many sessions of one size, and a large one.
fn folder(sessions: usize) -> PathBuf {
    let folder = emptied(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-{sessions}")));
    for session in 0..=sessions {
        let requests = if session == sessions { REQUESTS_OF_LARGEST } else { REQUESTS_OF_SESSION };
        let mut text = String::new();
        (0..requests).for_each(|request| exchange(&mut text, session, request));
        fs::write(folder.join(format!("s-{session:05}.jsonl")), text).unwrap();
    }
    folder
}

/// The peak above the initial level while a folder is replayed, and while its run is also written.
fn peaks(sessions: usize) -> (usize, usize) {
    let folder = folder(sessions);
    // A limit that even the smaller folder goes beyond, so that both use the file.
    let reading = ReadOptions { memory_bytes_max: 64 << 10, ..ReadOptions::default() };
    let options = Options { what_if: WhatIf::with_defaults(&[]), ..Options::default() };
    let out = folder.join("out");
    drop(fs::remove_dir_all(&out));
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let inputs = Inputs::read_with(&[&folder], &reading, &|_| true).unwrap();
    let requests = Passes::new(&inputs, &options, &|| false);
    let report = Report::new(&inputs, &requests, &options, View::default());
    assert_eq!(report.tally.requests as usize, sessions * REQUESTS_OF_SESSION + REQUESTS_OF_LARGEST);
    assert!(report.totals.perfect.is_some() && report.unreplayed.is_empty());
    drop(human::replay::document(&report));
    let replayed = HEAP.peak_usage() - before;
    Folder::open(&out, Contents::Replay, false, &[]).unwrap().write(&report, false).unwrap();
    let written = HEAP.peak_usage() - before;
    drop(report);
    fs::remove_dir_all(folder).unwrap();
    (replayed, written)
}

#[test]
fn four_times_the_sessions_add_an_index_and_nothing_else() {
    let _alone = ALONE.lock();
    // Fonts and tables that are made once.
    peaks(2);
    let (few, many) = (peaks(SESSIONS), peaks(4 * SESSIONS));
    let more = 3 * SESSIONS * REQUESTS_OF_SESSION;
    let growth = |few: usize, many: usize| many.saturating_sub(few) / more;
    let (replayed, written) = (growth(few.0, many.0), growth(few.1, many.1));
    println!("peaks {few:?} and {many:?} bytes; a request adds {replayed} to a replay, {written} if it is written");
    assert!(replayed <= INDEX_BYTES_PER_REQUEST, "{replayed} bytes for each request");
    assert!(written <= INDEX_BYTES_PER_REQUEST_WRITTEN, "{written} bytes for each request");
}

/// Most memory for reading `bytes`, besides the bytes themselves.
fn peak_of(bytes: &[u8], format: InputFormat) -> usize {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    drop(Inputs::from_bytes("memory", bytes, format));
    HEAP.peak_usage() - before
}

/// Eight bytes for each line end made ten gigabytes of nine packed megabytes.
#[test]
fn a_text_of_line_ends_takes_about_its_own_size() {
    const LINES: usize = 10 << 20;
    let _alone = ALONE.lock();
    let request = r#"{"v":1,"request":{"model":"claude-opus-4-8","messages":[]}}"#;
    for (head, format) in [(request, InputFormat::Auto), ("interactions:", InputFormat::As(Format::Vcr))] {
        let mut text = format!("{head}\n");
        text.extend(std::iter::repeat_n('\n', LINES));
        let peak = peak_of(text.as_bytes(), format);
        assert!(peak < 3 * LINES, "{format:?}: {peak} bytes for {LINES} lines");
    }
}

/// Ids of blocks take many times their digits once prompts are compared.
#[test]
fn a_prompt_of_too_many_blocks_is_refused_while_it_is_read() {
    const BLOCKS: usize = 10 << 20;
    let _alone = ALONE.lock();
    let ids = format!("{}1", "1,".repeat(BLOCKS));
    for (text, format) in [
        (format!(r#"{{"timestamp":0,"input_length":9,"hash_ids":[{ids}]}}"#), Format::Mooncake),
        (format!(r#"{{"hash_id_scope":"local","requests":[{{"t":0,"in":9,"hash_ids":[{ids}]}}]}}"#), Format::Weka),
    ] {
        let peak = peak_of(text.as_bytes(), InputFormat::As(format));
        assert!(peak < 3 * text.len(), "{format:?}: {peak} bytes for {BLOCKS} blocks");
        let inputs = Inputs::from_bytes("memory", text.as_bytes(), InputFormat::As(format));
        assert_eq!(inputs.unreadable.len(), 1);
        assert!(inputs.unreadable[0].reason.contains("more than 1048576 blocks"), "{:?}", inputs.unreadable);
    }
}

/// A drawing of a year's weeks: at once its bitmap would take 27 MB, and with a palette another 7.
#[test]
fn a_tall_picture_is_drawn_in_parts() {
    let _alone = ALONE.lock();
    let svg = r##"<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="1660"><rect width="1000" height="1660" fill="#fff"/></svg>"##;
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    drop(png::from_svg(svg).unwrap());
    let peak = HEAP.peak_usage() - before;
    assert!(peak < 18 << 20, "{peak} bytes");
}
