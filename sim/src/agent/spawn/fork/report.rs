//! Reports of forks: five labels, and errors of reports without them (contract FORK-41, FORK-42).

use crate::agent::event::Event;
use crate::agent::session::Context;

/// A report, split at its labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The scope, in the child's words.
    pub scope: String,
    /// Its findings or work.
    pub result: String,
    /// Relevant paths.
    pub key_files: Vec<String>,
    /// Changed paths, as written.
    pub files_changed: Vec<String>,
    /// Open problems.
    pub issues: Option<String>,
}

/// Why a report is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It does not begin with its scope (FORK-40).
    #[error("it does not begin with `Scope:`")]
    Beginning,
    /// A label is missing.
    #[error("it has no `{0}`")]
    Missing(&'static str),
    /// A label is out of order.
    #[error("`{0}` stands out of order")]
    Order(&'static str),
    /// A label appears twice.
    #[error("`{0}` stands twice")]
    Twice(&'static str),
    /// A required label has no text.
    #[error("`{0}` is empty")]
    Empty(&'static str),
}

/// The labels in order; the first two are required (FORK-41).
const LABELS: [&str; 5] = ["Scope:", "Result:", "Key files:", "Files changed:", "Issues:"];

impl Report {
    /// Reads a report.
    ///
    /// # Errors
    /// The first problem.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        if !text.trim_start().starts_with(LABELS[0]) {
            return Err(Malformed::Beginning);
        }
        let parts = split(text)?;
        let [scope, result, key_files, files_changed, issues] = parts;
        Ok(Self {
            scope: required(scope, LABELS[0])?,
            result: required(result, LABELS[1])?,
            key_files: paths(key_files),
            files_changed: paths(files_changed),
            issues: issues.filter(|issues| !issues.is_empty()),
        })
    }
}

/// The text of a required label.
fn required(said: Option<String>, label: &'static str) -> Result<String, Malformed> {
    match said {
        None => Err(Malformed::Missing(label)),
        Some(said) if said.is_empty() => Err(Malformed::Empty(label)),
        Some(said) => Ok(said),
    }
}

/// The text after each label.
fn split(text: &str) -> Result<[Option<String>; 5], Malformed> {
    let mut parts: [Option<String>; 5] = Default::default();
    let mut current = 0;
    for line in text.trim_start().lines() {
        let label = LABELS.iter().position(|label| line.starts_with(label));
        let Some(at) = label else {
            if let Some(part) = &mut parts[current] {
                part.push('\n');
                part.push_str(line);
            }
            continue;
        };
        if parts[at].is_some() {
            return Err(Malformed::Twice(LABELS[at]));
        }
        if at < current {
            return Err(Malformed::Order(LABELS[at]));
        }
        current = at;
        parts[at] = Some(line[LABELS[at].len()..].to_owned());
    }
    Ok(parts.map(|part| part.map(|said| said.trim().to_owned())))
}

/// Paths of a list: one per line, or separated by commas; bullets are removed.
fn paths(said: Option<String>) -> Vec<String> {
    let said = said.unwrap_or_default();
    let items = said.split(['\n', ',']).map(|item| item.trim().trim_start_matches(['-', '*']).trim());
    items.filter(|item| !item.is_empty() && !item.eq_ignore_ascii_case("none")).map(str::to_owned).collect()
}

/// Emits the outcome of a fork's report.
pub fn tell(context: &Context, text: &str) {
    let parsed = Report::parse(text);
    let problem = parsed.as_ref().err().map(|why| why.to_string().into());
    context.emit(&Event::ForkReport { agent: context.agent.clone(), is_well_formed: parsed.is_ok(), problem });
}
