//! Scopes of caches and their names: short names that do not depend on the folder of the files.

use std::path::Path;

use super::exchange::platform;
use crate::exchange::Exchange;
use crate::formats::Format;
use crate::input::{FileInput, below};
use crate::names::Names;

/// The scope of bodies that were named one by one.
const LISTED: &str = "bodies";

/// Requests that may share a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Its name: unique, and the same for the same input.
    pub name: String,
    /// The instants of its requests are recorded, not invented.
    pub timed: bool,
    /// Its agents belong to one run: bodies of one folder.
    pub siblings: bool,
}

impl Scope {
    /// The cache of `exchange`: that of its own organisation if the input names one, and of its platform, because platforms
    /// share nothing.
    pub fn of(&self, exchange: &Exchange) -> String {
        let own = exchange.scope.as_deref().unwrap_or(&self.name);
        match platform(exchange) {
            "" => own.to_owned(),
            platform => format!("{own} ({platform})"),
        }
    }
}

/// The scopes of an input.
#[derive(Debug)]
pub(crate) struct Scopes {
    /// Only one path was named.
    alone: bool,
    names: Names,
    /// Labels by number of the named path; empty until it is used.
    labels: Vec<String>,
}

impl Scopes {
    /// The scopes of `paths` named paths.
    pub fn new(paths: usize) -> Self {
        Self { alone: paths == 1, names: Names::default(), labels: Vec::new() }
    }

    /// The scope of requests with instants below the path `named`, the one of this number.
    pub fn timed(&mut self, number: usize, named: &str) -> Scope {
        Scope { name: self.label(number, named), timed: true, siblings: false }
    }

    /// The scope of the requests without instants in `file`: for bodies their named folder, or all that were named one by
    /// one; else the file.
    pub fn untimed(&mut self, number: usize, named: &str, file: &FileInput) -> Scope {
        let siblings = file.format == Format::Bodies;
        let is_listed = !self.alone && file.exchanges.iter().all(|exchange| exchange.origin.file == named);
        let name = match siblings {
            true if is_listed => LISTED.to_owned(),
            true => self.label(number, named),
            false => self.file(number, named, &file.file),
        };
        Scope { name, timed: false, siblings }
    }

    /// The name of `file`, below the path `named`.
    pub fn file(&mut self, number: usize, named: &str, file: &str) -> String {
        let label = self.label(number, named);
        match below(named, file) {
            "" => label,
            below => format!("{label}/{below}"),
        }
    }

    fn label(&mut self, number: usize, named: &str) -> String {
        while self.labels.len() <= number {
            self.labels.push(String::new());
        }
        if self.labels[number].is_empty() {
            self.labels[number] = self.names.unique(&own_name(named));
        }
        self.labels[number].clone()
    }
}

/// The last part of a path; for a path such as `.`, that of its folder.
fn own_name(named: &str) -> String {
    let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let real = || std::fs::canonicalize(named).ok().and_then(|path| last(&path));
    match named {
        "-" => "stdin".to_owned(),
        _ => last(Path::new(named)).or_else(real).unwrap_or_else(|| named.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::Scopes;
    use crate::formats::Format;
    use crate::input::{FileInput, InputFormat, Inputs};

    fn body(file: &str) -> FileInput {
        let body = br#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":"Hi"}]}"#;
        let read = Inputs::from_bytes(file, body, InputFormat::As(Format::Bodies));
        read.scopes.into_iter().flat_map(|scope| scope.files).next().unwrap()
    }

    #[test]
    fn scopes_are_called_by_their_last_part_each_by_its_own() {
        let mut scopes = Scopes::new(6);
        assert_eq!(scopes.timed(0, "a/captures/").name, "captures");
        assert_eq!(scopes.timed(1, "b/captures").name, "captures~2");
        assert_eq!(scopes.timed(0, "a/captures/").name, "captures");
        assert_eq!(scopes.timed(2, "-").name, "stdin");
        let here = scopes.timed(3, ".").name;
        assert!(!here.is_empty() && here != ".");
        assert_eq!(scopes.file(1, "b/captures", "b/captures/x/y.har"), "captures~2/x/y.har");
        assert_eq!(scopes.file(4, "one.har", "one.har"), "one.har");
        assert_eq!(scopes.untimed(5, "1.json", &body("1.json")).name, "bodies");
        assert_eq!(scopes.untimed(0, "a/captures", &body("a/captures/1.json")).name, "captures");
        assert_eq!(Scopes::new(1).untimed(0, "1.json", &body("1.json")).name, "1.json");
    }
}
