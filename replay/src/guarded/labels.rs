//! What scopes and chains are called: short names that do not depend on where the files lie.

use std::collections::BTreeSet;
use std::path::Path;

use crate::input::below;

/// The scope of bodies that were named one by one.
const LISTED: &str = "bodies";

/// Names of the paths that were named.
#[derive(Debug, Default)]
pub(super) struct Labels {
    taken: BTreeSet<String>,
    /// In step with the named paths, as far as they were asked for.
    labels: Vec<(String, String)>,
}

impl Labels {
    /// The label of the named path number `scope`, below which `file` was found.
    pub fn scope(&mut self, scope: usize, named: &str) -> String {
        while self.labels.len() <= scope {
            self.labels.push((String::new(), String::new()));
        }
        if self.labels[scope].0.is_empty() {
            let label = self.unused(&own_name(named));
            self.labels[scope] = (label, named.to_owned());
        }
        self.labels[scope].0.clone()
    }

    fn unused(&mut self, name: &str) -> String {
        let numbered = |number: usize| if number == 1 { name.to_owned() } else { format!("{name}~{number}") };
        let free = (1..).map(numbered).find(|label| self.taken.insert(label.clone()));
        free.unwrap_or_else(|| name.to_owned())
    }

    /// The scope of a body: its named folder, or all that were named one by one.
    pub fn bodies(&mut self, scope: usize, named: &str, file: &str, alone: bool) -> String {
        if named == file && !alone { LISTED.to_owned() } else { self.scope(scope, named) }
    }

    /// The scope of a recording without instants: the file alone.
    pub fn file(&mut self, scope: usize, named: &str, file: &str) -> String {
        let label = self.scope(scope, named);
        match below(named, file) {
            "" => label,
            below => format!("{label}/{below}"),
        }
    }
}

/// The last part of a path; of one without, such as `.`, that of the folder which it means.
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
    use super::Labels;

    #[test]
    fn scopes_are_called_by_their_last_part_each_by_its_own() {
        let mut labels = Labels::default();
        assert_eq!(labels.scope(0, "a/captures/"), "captures");
        assert_eq!(labels.scope(1, "b/captures"), "captures~2");
        assert_eq!(labels.scope(0, "a/captures/"), "captures");
        assert_eq!(labels.scope(2, "-"), "stdin");
        assert!(!labels.scope(3, ".").is_empty() && labels.scope(3, ".") != ".");
        assert_eq!(labels.file(1, "b/captures", "b/captures/x/y.har"), "captures~2/x/y.har");
        assert_eq!(labels.file(4, "one.har", "one.har"), "one.har");
        assert_eq!(labels.bodies(5, "1.json", "1.json", false), "bodies");
        assert_eq!(labels.bodies(5, "1.json", "1.json", true), "1.json");
    }
}
