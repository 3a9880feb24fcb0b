//! Recordings of HTTP calls whose recorders keep bodies or headers in their own way.

use std::fs;
use std::path::PathBuf;

use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs};

use crate::places::{counts, fixture, instants, memory, read, reasons};

/// A folder for one test, which removes it.
fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("forkcast-{name}-{}", std::process::id()))
}

#[test]
fn a_braintrust_cassette_is_read_with_the_bodies_beside_it() {
    let inputs = read("braintrust.json");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::Braintrust, vec![]));
    assert_eq!(counts(&inputs), [(0, Some((3, 20, 10, 4))), (2, Some((5, 30, 0, 6))), (3, Some((9, 0, 0, 8)))]);
    let all: Vec<_> = inputs.exchanges().collect();
    assert_eq!(instants(all[0]), [Some(1500.0), None, Some(2250.0)], "the provider's latency before `recordedAt`");
    let body = String::from_utf8_lossy(&all[1].body);
    assert!(body.contains("From a file") && body.starts_with("{\"model\""), "the bytes of the file: {body}");
    let skipped: Vec<_> = inputs.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!(skipped, ["entry 1, line 28: `GET api.openai.com/v1/responses` is no model request"]);
}

#[test]
fn a_folder_of_bodies_is_read_alone_only_without_its_recording() {
    let folder = temporary("bodies");
    fs::create_dir_all(folder.join("in/braintrust.blobs")).unwrap();
    fs::write(folder.join("in/braintrust.blobs/asked.bin"), fixture("braintrust.blobs/asked.bin")).unwrap();
    let alone = Inputs::read(&[folder.join("in")], InputFormat::Auto).unwrap();
    assert_eq!((alone.exchanges().count(), alone.scopes[0].files[0].format), (1, Format::Bodies));
    fs::write(folder.join("in/braintrust.json"), fixture("braintrust.json")).unwrap();
    let both = Inputs::read(&[folder.join("in")], InputFormat::Auto).unwrap();
    assert_eq!((both.exchanges().count(), both.files, reasons(&both)), (3, 2, vec![]), "the cassette and the folder");
    let skipped = both.skipped.iter().any(|skipped| {
        skipped.file.ends_with("braintrust.blobs") && skipped.reason.starts_with("bodies, read with the recording")
    });
    assert!(skipped, "{:?}", both.skipped);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn bodies_are_only_read_below_the_folder_of_their_recording() {
    let text = String::from_utf8(fixture("braintrust.json")).unwrap();
    let path = "braintrust.blobs/asked.bin";
    let folder = temporary("paths");
    fs::create_dir_all(folder.join("in")).unwrap();
    fs::write(folder.join("secret.json"), r#"{"model":"claude-opus-4-8","messages":[]}"#).unwrap();
    for (other, expected) in [
        ("../secret.json", "does not lead below"),
        ("/etc/hostname", "does not lead below"),
        ("", "missing"),
        (".", "does not lead below"),
        ("missing.bin", "missing"),
    ] {
        fs::write(folder.join("in/a.json"), text.replace(path, other)).unwrap();
        let inputs = Inputs::read(&[folder.join("in")], InputFormat::Auto).unwrap();
        assert_eq!(inputs.exchanges().count(), 2, "{other}: the other calls are kept");
        let [(_, reason)] = reasons(&inputs)[..] else { panic!("{other}: {:?}", inputs.unreadable) };
        assert!(reason.starts_with("entry 2: ") && reason.contains(expected), "{other}: {reason}");
        assert!(!reason.contains("secret"), "{reason}");
    }
    fs::remove_dir_all(&folder).unwrap();
    let inputs = memory(&text);
    let [(_, reason)] = reasons(&inputs)[..] else { panic!("one damaged entry") };
    assert!(reason.contains("only read beside a recording that is a file"), "{reason}");
}

#[test]
fn a_call_of_datadog_is_one_file() {
    let inputs = read("datadog.json");
    assert_eq!((inputs.scopes[0].files[0].format, reasons(&inputs)), (Format::Datadog, vec![]));
    assert_eq!(counts(&inputs), [(0, Some((3, 20, 10, 4)))]);
    let all: Vec<_> = inputs.exchanges().collect();
    assert_eq!(instants(all[0]), [Some(1000.0), None, Some(1000.0)]);
    assert_eq!(all[0].client.as_deref(), Some("claude-cli/2.1.198"));
    let text = String::from_utf8(fixture("datadog.json")).unwrap();
    let body = text.lines().rev().find(|line| line.contains("\"body\"")).unwrap();
    let packed = text.replace(body, "    \"body\": \"base64:eyJ1c2FnZSI6eyJpbnB1dF90b2tlbnMiOjQyfX0=\"");
    assert_eq!(counts(&memory(&packed)), [(0, Some((42, 0, 0, 0)))]);
    let damaged = memory(&text.replace(body, "    \"body\": \"base64:!\""));
    assert_eq!(damaged.exchanges().count(), 1, "the request is kept");
    assert!(reasons(&damaged)[0].1.contains("is no base64"), "{:?}", reasons(&damaged));
}
