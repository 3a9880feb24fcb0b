//! The request that a user names, as reports show names: whole or shortened.

use std::path::PathBuf;

use forkcast_reports::report::{Recorded, Report};

use crate::args::ExplainArgs;
use crate::exit::BadInput;

impl ExplainArgs {
    /// The same; a request alone, as reports name it, is one of the recording that its name begins with, or else of the
    /// logs on this machine.
    pub fn or_logs(mut self) -> Self {
        let alone = self.run.as_ref().filter(|run| self.request.is_none() && self.session.is_none() && !run.exists());
        let Some(name) = alone.and_then(|run| run.to_str()).map(str::to_owned) else { return self };
        let is_number = name.trim_start_matches('#').parse::<usize>().is_ok();
        if is_number || Wanted::of(&name).is_some() {
            let at = name.rfind([':', '#']).unwrap_or_default();
            self.run = Some(PathBuf::from(&name[..at])).filter(|file| file.exists());
            self.request =
                Some(name.rsplit('/').next().map(str::to_owned).filter(|_| self.run.is_some()).unwrap_or(name));
        }
        self
    }
}

/// The request by its number in the ledger, as `FILE#N`, `FILE:LINE` or `SESSION:LINE`, or as `FILE` if that holds no other. Of a
/// name, its beginning is enough, or what a narrow table leaves of it: `223b…1c6.jsonl:12`.
pub fn entry<'r, 'a>(report: &Report<'_>, entries: &'r [Recorded<'a>], name: &str) -> anyhow::Result<&'r Recorded<'a>> {
    let count = entries.len();
    // `0004` is the beginning of a file's name.
    let is_number = name.len() == 1 || !name.starts_with('0');
    let number = name.trim_start_matches('#').parse::<usize>().ok().filter(|_| is_number);
    if let Some(index) = number {
        let range = || format!("there are {count} requests, expected a number from 0 to {}", count.saturating_sub(1));
        return entries.get(index).ok_or_else(|| BadInput::error(format!("request {index}: {}", range())));
    }
    let whole = |entry: &&Recorded<'_>| {
        let file = &entry.origin.file;
        let (short, index, line) = (report.short(file), entry.origin.index, entry.origin.line);
        name == report.spot(&(*entry).into())
            || [file.as_str(), short.as_str()]
                .iter()
                .any(|file| name == format!("{file}#{index}") || line > 0 && name == format!("{file}:{line}"))
    };
    if let Some(entry) = entries.iter().find(whole) {
        return Ok(entry);
    }
    if let Some(entry) = only_of_file(report, entries, name) {
        return Ok(entry);
    }
    let wanted = Wanted::of(name);
    let found: Vec<&Recorded<'_>> =
        entries.iter().filter(|entry| wanted.as_ref().is_some_and(|it| it.is(report, entry))).collect();
    match found[..] {
        [only] => Ok(only),
        [first, ..] if found.iter().all(|other| report.spot(&(*other).into()) == report.spot(&first.into())) => {
            Ok(first)
        }
        [] => Err(unknown(report, entries, name)),
        [first, second, ..] => Err(BadInput::error(format!(
            "{name}: several requests have such a name, among them {} and {}",
            report.spot(&first.into()),
            report.spot(&second.into())
        ))),
    }
}

/// The only request of the one file with this name, or whose name begins so.
fn only_of_file<'r, 'a>(report: &Report<'_>, entries: &'r [Recorded<'a>], name: &str) -> Option<&'r Recorded<'a>> {
    let is_of_it = |entry: &&Recorded<'_>| {
        let short = report.short(&entry.origin.file);
        short.starts_with(name) || short.rsplit('/').next().is_some_and(|base| base.starts_with(name)) || {
            name.strip_suffix(short.as_str()).is_some_and(|folder| folder.ends_with('/'))
        }
    };
    let mut found = entries.iter().filter(is_of_it);
    found.next().filter(|_| found.next().is_none())
}

fn unknown(report: &Report<'_>, entries: &[Recorded<'_>], name: &str) -> anyhow::Error {
    let in_file = |entry: &&Recorded<'_>| Wanted::of(name).is_some_and(|wanted| wanted.is_name(report, entry));
    let near = entries.iter().find(in_file).or(entries.first());
    let example = near.map_or_else(String::new, |entry| format!(", such as {}", report.spot(&entry.into())));
    BadInput::error(format!(
        "{name}: no such request, expected its number (0 to {}), FILE#N, or FILE:LINE{example}",
        entries.len().saturating_sub(1)
    ))
}

/// A name in its parts.
struct Wanted<'a> {
    /// How the name of the file or the id of the session begins, and how it ends.
    begins: &'a str,
    ends: &'a str,
    number: usize,
    is_line: bool,
}

impl<'a> Wanted<'a> {
    fn of(name: &'a str) -> Option<Self> {
        let at = name.rfind([':', '#'])?;
        let number = name[at + 1..].parse().ok()?;
        let (begins, ends) = name[..at].split_once('\u{2026}').unwrap_or((&name[..at], ""));
        (!begins.is_empty() || !ends.is_empty()).then_some(Self {
            begins,
            ends,
            number,
            is_line: name[at..].starts_with(':'),
        })
    }

    fn is(&self, report: &Report<'_>, entry: &Recorded<'_>) -> bool {
        let number = if self.is_line { entry.origin.line } else { entry.origin.index };
        number == self.number && self.is_name(report, entry)
    }

    /// Whether it is the beginning of the file's name or of the session's id.
    fn is_name(&self, report: &Report<'_>, entry: &Recorded<'_>) -> bool {
        let short = report.short(&entry.origin.file);
        let base = short.rsplit('/').next().unwrap_or(&short);
        let session = entry.session_id();
        [short.as_str(), base, session].iter().any(|name| name.starts_with(self.begins) && name.ends_with(self.ends))
    }
}
