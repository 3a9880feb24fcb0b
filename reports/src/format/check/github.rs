//! Commands of a GitHub workflow: text between `::` and a line's end is shown as an annotation of a file.
//!
//! Source: docs.github.com, "Workflow commands for GitHub Actions" (2026-09). GitHub shows ten errors and ten warnings
//! of a step, so a change in many requests is one annotation.

use std::io::{self, Write};

use forkcast_sim::guard::Rule;
use forkcast_sim::outside::{inert_line, visible};

use crate::check::{Check, Kind, Origin, Verdict};
use crate::document::count;
use crate::human::check::words;

/// Writes a check.
///
/// # Errors
/// When the target cannot be written.
pub fn write(check: &Check<'_>, target: &mut dyn Write) -> io::Result<()> {
    for kind in check.kinds() {
        command(check, &kind, target)?;
    }
    for violation in &check.report.violations {
        let chain = violation.chain.as_ref().map(|chain| format!(" of {}", check.names.agent(chain)));
        let said = format!("found {}, expected {}", violation.found, violation.expected);
        let title = format!("{}{}", violation.what, chain.unwrap_or_default());
        let place = check.shows(violation).map_or_else(String::new, |origin| of_origin(check, origin));
        writeln!(target, "::error {place}title={}::{}", property(&title), data(&said))?;
    }
    for graded in check.card.iter().filter(|graded| graded.passed == Some(false)) {
        let place = graded.request.map_or_else(String::new, |request| place(check, request));
        let said = [Some(graded.evidence.as_str()), graded.suggestion.as_deref()];
        let said: Vec<&str> = said.into_iter().flatten().collect();
        let said = check.names.message(&said.join("\n"));
        writeln!(target, "::error {place}title={}::{}", property(&graded.check), data(&said))?;
    }
    for damage in &check.inputs.unreadable {
        let file = property(&check.names.file(&damage.file));
        let reason = data(&check.names.message(&damage.reason));
        writeln!(target, "::error file={file},line={},title=not checked::{reason}", damage.line.max(1))?;
    }
    for warning in &check.report.warnings {
        writeln!(target, "::notice title=limited confidence::{}", data(&check.names.message(warning)))?;
    }
    writeln!(target, "::notice title=forkcast check::{}", data(&summary(check)))
}

fn command(check: &Check<'_>, kind: &Kind<'_>, target: &mut dyn Write) -> io::Result<()> {
    let word = kind.verdict.weight().in_github();
    let place = place(check, kind.first().request);
    let title = property(&words::headline(check, kind));
    writeln!(target, "::{word} {place}title={title}::{}", data(&words::lines(check, kind).join("\n")))
}

fn place(check: &Check<'_>, request: usize) -> String {
    check.origin(request).map_or_else(String::new, |origin| of_origin(check, origin))
}

fn of_origin(check: &Check<'_>, origin: &Origin) -> String {
    format!("file={},line={},", property(&check.names.file(&origin.file)), origin.line.max(1))
}

fn summary(check: &Check<'_>) -> String {
    let held = if check.passes() { "passed" } else { "failed" };
    let part = if check.partial { ", partial: it was stopped" } else { "" };
    let failing = count(check.requests_with(Verdict::Fails) as u64);
    let missing = match check.report.violations.iter().filter(|violation| violation.rule == Rule::Equality).count() {
        0 => String::new(),
        1 => ", 1 difference from the requests of the lock".to_owned(),
        more => format!(", {} differences from the requests of the lock", count(more as u64)),
    };
    format!(
        "{held}: {failing} of {} requests break a cached prefix{missing}{part}",
        count(check.report.requests as u64)
    )
}

/// The text after the second `::`. Line ends are those between its sentences; other hidden characters are written out.
/// The runner prints these lines, so none of them may be a command.
fn data(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| inert_line(&visible(line)).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// A value before the text, in which commas and colons are separators.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn characters_that_end_a_command_are_escaped() {
        assert_eq!(data("100 %\r\nof it: a, b"), "100 %25\\r%0Aof it: a, b");
        assert_eq!(property("a: b, c%\n"), "a%3A b%2C c%25%0A");
        assert_eq!(data("a\n##[add-mask]x\n::stop-commands::y"), "a%0A#\\u{23}[add-mask]x%0A\\u{3a}:stop-commands::y");
    }
}
