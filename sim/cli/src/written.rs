//! Files that are written beside the printed output: pages, and files of viewers. A file that is not ours is never
//! replaced.

use std::io;
use std::path::Path;

use forkcast_replay::output::file::{self, Kind};
use forkcast_reports::document::count;
use forkcast_reports::export::{otlp, stacks, trace};
use forkcast_reports::folder::Written;
use forkcast_reports::format::parquet;
use forkcast_reports::page::{HEAD, Page};
use forkcast_reports::report::Report;

use crate::args::{ExportArgs, TalkArgs};
use crate::exit::BadInput;

const PAGE: Kind = Kind { name: "page", is_ours: |head| file::begins(head, HEAD) };
const TRACE: Kind = Kind { name: "trace", is_ours: |head| file::begins(head, "{\"displayTimeUnit\":") };
const STACKS: Kind = Kind { name: "list of stacks", is_ours: |_| false };
const TABLE: Kind = Kind { name: "table", is_ours: |_| false };
const SPANS: Kind = Kind { name: "list of spans", is_ours: |head| file::begins(head, "{\"resourceSpans\":") };

/// Refuses files that are not ours before the work begins.
///
/// # Errors
/// When a file could not be written.
pub fn check(html: Option<&Path>, export: Option<&ExportArgs>) -> anyhow::Result<()> {
    let of_export = export.iter().flat_map(|export| {
        [(&export.trace, TRACE), (&export.stacks, STACKS), (&export.otlp, SPANS), (&export.parquet, TABLE)]
    });
    let of_export = of_export.map(|(path, kind)| (path.as_deref(), kind));
    for (path, kind) in std::iter::once((html, PAGE)).chain(of_export) {
        if let Some(path) = path {
            file::check(path, kind).map_err(BadInput::error)?;
        }
    }
    if export.is_some_and(|export| export.parquet.is_some()) && !parquet::IS_BUILT {
        return Err(BadInput::error(
            "--parquet: this forkcast was built without it; `cargo install --path sim/cli --features parquet` builds it in",
        ));
    }
    Ok(())
}

/// Says what a folder got.
pub fn folder(written: &Written, path: &Path, talk: &TalkArgs) {
    talk.note(format_args!("forkcast: wrote {} into {}", written.files.join(", "), path.display()));
    if let Some(bodies) = written.bodies {
        talk.note(format_args!("forkcast: wrote {bodies} bodies with the whole text of the prompts into it"));
    }
}

/// Writes a page, if it is requested.
///
/// # Errors
/// When the file cannot be written.
pub fn page(path: Option<&Path>, make: impl FnOnce() -> io::Result<Page>, talk: &TalkArgs) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    save(path, PAGE, make()?.made_by(command()).html().as_bytes(), talk)
}

/// Writes the requested files of viewers.
///
/// # Errors
/// When a file cannot be written.
pub fn export(args: &ExportArgs, report: &Report<'_>, talk: &TalkArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.trace {
        let mut text = Vec::new();
        let timeless = trace::write(report, &mut text)?;
        save(path, TRACE, &text, talk)?;
        note(timeless, path, talk);
    }
    if let Some(path) = &args.stacks {
        let mut text = Vec::new();
        stacks::write(report, args.stacks_by.into(), &mut text)?;
        save(path, STACKS, &text, talk)?;
    }
    if let Some(path) = &args.otlp {
        let mut text = Vec::new();
        let timeless = otlp::write(report, &mut text)?;
        save(path, SPANS, &text, talk)?;
        note(timeless, path, talk);
    }
    if let Some(path) = &args.parquet {
        let mut bytes = Vec::new();
        parquet::write(report, &mut bytes)?;
        save(path, TABLE, &bytes, talk)?;
    }
    Ok(())
}

fn note(timeless: u64, path: &Path, talk: &TalkArgs) {
    if timeless > 0 {
        let (number, path) = (count(timeless), path.display());
        talk.note(format_args!("forkcast: {path}: {number} requests have no times and are not in it"));
    }
}

fn save(path: &Path, kind: Kind, bytes: &[u8], talk: &TalkArgs) -> anyhow::Result<()> {
    file::write(path, kind, bytes).map_err(BadInput::error)?;
    talk.note(format_args!("forkcast: wrote {}", path.display()));
    Ok(())
}

/// Options about where and how output is written, which change nothing in it: with a value, and without one.
const ELSEWHERE: [&str; 8] = ["--html", "--out", "-o", "--trace", "--stacks", "--otlp", "--parquet", "--progress"];
const SILENT: [&str; 3] = ["--quiet", "-q", "--overwrite"];

/// The command line, so that a page says how it was made.
fn command() -> Option<String> {
    let mut given = std::env::args_os().skip(1).map(|word| word.into_string().ok());
    let mut words = Vec::new();
    while let Some(word) = given.next() {
        let word = word?;
        let (name, has_value) = (word.split('=').next().unwrap_or(&word), word.contains('='));
        if ELSEWHERE.contains(&name) {
            if !has_value {
                given.next();
            }
        } else if !SILENT.contains(&name) {
            words.push(word);
        }
    }
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:@+%#".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    Some(format!("forkcast {}", words.join(" ")))
}
