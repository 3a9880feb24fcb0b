//! Files that are no recordings, and files that would like to break a reader.

use std::io::Write as _;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use forkcast_fixtures::{files, fixture, tempdir, workspace};
use forkcast_replay::formats::{self, Format};
use forkcast_replay::input::{InputFormat, Inputs};
use proptest::prelude::*;

fn auto(bytes: &[u8]) -> Inputs {
    Inputs::from_bytes("memory", bytes, InputFormat::Auto)
}

fn skipped(bytes: &[u8]) -> String {
    let inputs = auto(bytes);
    assert_eq!((inputs.unreadable.len(), inputs.exchanges().count()), (0, 0), "{:?}", inputs.unreadable);
    inputs.skipped[0].reason.clone()
}

fn unreadable(bytes: &[u8]) -> (usize, String) {
    let inputs = auto(bytes);
    assert_eq!((inputs.skipped.len(), inputs.exchanges().count()), (0, 0), "{:?}", inputs.skipped);
    (inputs.unreadable[0].line, inputs.unreadable[0].reason.clone())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn files_that_are_no_recordings_are_skipped_with_a_reason() {
    assert_eq!(skipped(b""), "empty file");
    assert_eq!(skipped(&vec![b' '; 1 << 20]), "nothing but white space at its beginning");
    assert_eq!(skipped(b"<!doctype html><p>"), "HTML or XML");
    assert_eq!(skipped(b"a,b,c\n1,2,3\n"), "a table of comma-separated values");
    assert_eq!(skipped(b"Permission is hereby granted"), "text of another kind");
    assert_eq!(skipped(b"\x89PNG\r\n\0\0"), "binary data");
    assert_eq!(skipped(b"\xff\xfe{\0}\0"), "UTF-16 text, only UTF-8 is read");
    assert_eq!(skipped(b"messages:\n- a: 1\n"), "YAML of a client's own messages, no HTTP exchanges");
    assert_eq!(skipped(b"[1, 2]"), "a JSON list, no recording");
    assert_eq!(skipped(br#"{"a":1,"b":2}"#), "JSON of another kind (keys `a`, `b`)");
    assert_eq!(skipped(b"\xff\xff\xff garbage"), "text of another kind");
}

#[test]
fn damage_is_placed_by_line_and_column() {
    assert_eq!(
        unreadable(b"\n{\"model\": \"x\",\n\"messages\": [{"),
        (3, "column 15: the text ends inside 3 open brackets".to_owned())
    );
    assert_eq!(unreadable(b"{\"a\": 1,\n  b}"), (2, "column 3: found `b`, expected a key in quotes".to_owned()));
    assert_eq!(unreadable(b"{\"model\": \"x\", \"messages\": nope}").0, 1);
    assert!(unreadable(b"{\"model\": \"\xff\", \"messages\": []}").1.contains("unicode"));
    assert!(unreadable(b"interactions: 5\n").1.contains("interactions"));
    let (line, reason) =
        unreadable(b"{\"header\":{},\n\"records\":\n[{\"ts\":\"late\",\"body\":{\"model\":\"m\",\"messages\":[]}}]}");
    assert_eq!((line, reason.as_str()), (3, "column 2: `ts` is no date as in 2000-01-01T00:00:00.000Z"));
}

#[test]
fn nesting_costs_no_stack() {
    const DEEP: usize = 1_000_000;
    assert!(unreadable("[".repeat(DEEP).as_bytes()).1.contains("1000000 open brackets"));
    let body = format!("{{\"model\":\"m\",\"messages\":{}{}}}", "[".repeat(DEEP), "]".repeat(DEEP));
    assert!(unreadable(body.as_bytes()).1.contains("nested 1000001 deep"));
    let line = format!("{{\"v\":1,\"request\":{body}}}");
    assert!(unreadable(line.as_bytes()).1.contains("nested 1000001 deep"));
    let answer = format!(
        "{{\"request\":{{\"model\":\"m\",\"messages\":[]}},\"response\":{{\"usage\":{}}}}}",
        "[".repeat(DEEP) + &"]".repeat(DEEP)
    );
    assert_eq!(auto(answer.as_bytes()).exchanges().count(), 1);
    let yaml = format!("interactions:\n- request: {}\n", "[".repeat(DEEP));
    assert_eq!(auto(yaml.as_bytes()).exchanges().count(), 0);
    let json = format!("{{\"interactions\":[{{\"request\":{}{}}}]}}", "[".repeat(DEEP), "]".repeat(DEEP));
    assert!(unreadable(json.as_bytes()).1.contains("recursion limit"));
}

#[test]
fn a_torn_line_may_hold_any_number_of_records() {
    let line = "{\"v\":1,\"request\":{\"messages\":[]}}".repeat(50_000);
    let inputs = auto(line.as_bytes());
    assert_eq!((inputs.exchanges().count(), inputs.repaired.len(), inputs.unreadable.len()), (50_000, 1, 0));
}

#[test]
fn aliases_neither_fill_memory_nor_the_stack() {
    let mut bomb = String::from("interactions:\n- &a0 [x, x, x, x, x, x, x, x]\n");
    let mut ladder = String::from("interactions:\n- &a0 [x]\n");
    for i in 1..2000 {
        let before = i - 1;
        if i < 12 {
            bomb.push_str(&format!("- &a{i} [{}]\n", vec![format!("*a{before}"); 8].join(", ")));
        }
        ladder.push_str(&format!("- &a{i} {}*a{before}{}\n", "[".repeat(200), "]".repeat(200)));
    }
    for text in [bomb, ladder] {
        let inputs = auto(text.as_bytes());
        assert!(
            inputs.unreadable.iter().any(|unreadable| unreadable.reason.contains("aliases")),
            "{:?}",
            inputs.unreadable.last()
        );
    }
}

#[test]
fn packed_files_are_detected_by_their_bytes_and_keep_the_part_before_damage() {
    let log = std::fs::read(workspace().join("replay/sample/sample.exchanges.jsonl")).unwrap();
    for (packed, name) in [(gzip(&log), "gzip"), (zlib(&log), "zlib"), (zstd(&log), "zstd")] {
        let inputs = auto(&packed);
        assert_eq!((inputs.exchanges().count(), inputs.unreadable.len()), (14, 0), "{name}: {:?}", inputs.unreadable);
        let inputs = auto(&packed[..packed.len() / 2]);
        let read = inputs.exchanges().count();
        assert!(read < 14 && (read > 0 || name == "zstd"), "{name}: {read}");
        let breaks = format!("{name} breaks off");
        assert!(
            inputs.unreadable.iter().any(|unreadable| unreadable.reason.contains(&breaks)),
            "{:?}",
            inputs.unreadable
        );
    }
}

/// A skippable frame and two frames by zstandard 0.25.0, each of some lines `{"v":1,"request":{…}}`.
const FRAMES: &str = "XipNGAUAAABoZWxsbyi1L/0gxj0CACJEDxeQxTkyIAL5Jg5t5LXV3VKwVWqWrm8DEMF7RlF0HkGZX64xcYaTLWHnqSF1uGj1xJZd0YB8U764Rig6YBcBAEKgoEIUKLUv/SCEPQIAIkQPF5DFOTIgAvkmDm3ktdXdUrBVapaubwMQwXtGUXQeQZlfrjFxhpMtYeepIXW4aPXEll3RgHxTvrhGKDpgFwEAwgspRAE=";

#[test]
fn all_frames_of_a_packed_file_are_read_and_those_before_damage_kept() {
    let frames = BASE64.decode(FRAMES).unwrap();
    assert_eq!((auto(&frames).exchanges().count(), auto(&frames).unreadable.len()), (5, 0));
    let inputs = auto(&frames[..frames.len() - 20]);
    assert_eq!((inputs.exchanges().count(), inputs.unreadable.len()), (3, 1), "{:?}", inputs.unreadable);
    let inputs = auto(&frames[..8]);
    assert_eq!((inputs.exchanges().count(), inputs.unreadable.len() + inputs.skipped.len()), (0, 1));
}

#[test]
fn a_truncated_frame_gives_the_contents_of_its_window() {
    // Blocks hold at most 128 KiB: the first of three is whole when the last byte is missing.
    let line = "{\"v\":1,\"request\":{\"model\":\"claude-opus-4-8\",\"messages\":[]}}\n";
    let packed = zstd(line.repeat(400_000 / line.len()).as_bytes());
    let inputs = auto(&packed[..packed.len() - 5]);
    assert!(inputs.exchanges().count() >= 2 * (128 << 10) / line.len() - 1, "{}", inputs.exchanges().count());
    assert!(inputs.unreadable.last().unwrap().reason.contains("zstd breaks off"), "{:?}", inputs.unreadable);
}

#[test]
fn packed_bombs_stop_at_the_limit_of_a_body() {
    let body = zstd(&vec![b' '; 1 << 20]);
    let wrapped = gzip(&gzip(&body));
    assert_eq!(skipped(&body), "nothing but white space at its beginning");
    let cassette = format!(
        "interactions:\n- request:\n    method: POST\n    uri: https://api.anthropic.com/v1/messages\n    body: !!binary {}\n",
        BASE64.encode(&wrapped)
    );
    let (_, reason) = unreadable(cassette.as_bytes());
    assert!(reason.contains("found the end, expected a request body"), "{reason}");
}

#[test]
fn a_log_whose_first_line_is_damaged_is_still_a_log() {
    for first in [&b"{\"v\":1,\"at_ms\":\"broken\n"[..], b"\xff\xfd\n", b"garbage\n"] {
        let mut bytes = first.to_vec();
        bytes.extend_from_slice(b"{\"v\":1,\"request\":{\"model\":\"claude-opus-4-8\",\"messages\":[]}}\n");
        let inputs = auto(&bytes);
        assert_eq!((inputs.exchanges().count(), inputs.unreadable.len()), (1, 1), "{first:?}: {:?}", inputs.unreadable);
        assert_eq!(inputs.unreadable[0].line, 1);
    }
}

#[test]
fn folders_are_walked_by_name_and_links_lead_nowhere_twice() {
    let place = tempdir().unwrap();
    let root = place.path().join("all");
    let inner = root.join("b");
    std::fs::create_dir_all(&inner).unwrap();
    let body = |word: &str| format!("{{\"model\":\"claude-opus-4-8\",\"messages\":[\"{word}\"]}}");
    std::fs::write(root.join("c.txt"), body("3")).unwrap();
    std::fs::write(root.join("a.gz"), gzip(body("1").as_bytes())).unwrap();
    std::fs::write(inner.join("x"), body("2")).unwrap();
    std::fs::write(root.join("LICENSE"), "Permission").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("..", inner.join("loop")).unwrap();
    let inputs = Inputs::read(&[&root], InputFormat::Auto).unwrap();
    let bodies: Vec<_> =
        inputs.exchanges().map(|exchange| String::from_utf8_lossy(&exchange.body).into_owned()).collect();
    // Each name is there once, so the names count on over folders.
    assert_eq!(bodies, [body("1"), body("3"), body("2")]);
    assert_eq!(inputs.scopes.len(), 1);
    assert_eq!(inputs.skipped.len(), if cfg!(unix) { 2 } else { 1 });
    let empty = root.join("empty");
    std::fs::create_dir(&empty).unwrap();
    let nothing = Inputs::read(&[&empty], InputFormat::Auto).unwrap();
    assert_eq!((nothing.files, nothing.scopes[0].files.len()), (0, 0));
    std::fs::remove_dir_all(&root).unwrap();
    let error = Inputs::read(&[&root], InputFormat::Auto).unwrap_err().to_string();
    assert!(error.starts_with(&root.display().to_string()), "{error}");
}

/// The least time of a walk through this many nested folders.
fn walk_time(folders: usize) -> Duration {
    let root = tempdir().unwrap();
    let deepest = root.path().join("d/".repeat(folders));
    std::fs::create_dir_all(&deepest).unwrap();
    std::fs::write(deepest.join("x"), "{\"model\":\"claude-opus-4-8\",\"messages\":[]}").unwrap();
    let times = (0..7).map(|_| {
        let begun = Instant::now();
        let inputs = Inputs::read(&[root.path()], InputFormat::Auto).unwrap();
        assert_eq!((inputs.files, inputs.unreadable.len()), (1, 0));
        begun.elapsed()
    });
    times.min().unwrap()
}

/// Asking the system for the real path of each folder made eight times the depth 280 times the work. The system alone walks
/// eight times as long a path to each of eight times as many folders.
#[test]
fn a_walk_takes_as_long_as_the_folders_are_deep() {
    let shallow = walk_time(100);
    let deep = walk_time(800);
    assert!(deep < shallow * 120 + Duration::from_millis(20), "{shallow:?} for 100 folders, {deep:?} for 800");
}

#[test]
fn an_override_reads_files_that_detection_would_not() {
    let inputs = Inputs::from_bytes("memory", b"no yaml: [", InputFormat::As(Format::Vcr));
    assert_eq!((inputs.skipped.len(), inputs.unreadable.len()), (0, 1));
    let folder = Inputs::read(&[fixture("")], InputFormat::Auto).unwrap();
    assert_eq!(folder.files, files(&fixture("")).len());
}

fn fixtures() -> Vec<Vec<u8>> {
    files(&fixture("")).into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_break_no_reader(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        auto(&bytes);
        for format in Format::ALL {
            formats::read(*format, "memory", &bytes);
        }
    }

    #[test]
    fn mutated_and_truncated_fixtures_break_no_reader(
        pick in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let all = fixtures();
        let mut bytes = pick.get(&all).clone();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        auto(&bytes);
        auto(&gzip(&bytes));
        for format in Format::ALL {
            formats::read(*format, "memory", &bytes);
        }
    }
}
