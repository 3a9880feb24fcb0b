//! The agents of a folder of bodies (`design.md` 3, *Scope and order*): each subfolder is one agent, named by its path below
//! the named folder. Bodies directly in that folder have no agent.

use std::collections::BTreeSet;

use super::FileInput;
use crate::formats::Format;

/// The agents' folders so far below one named path.
#[derive(Debug, Default)]
pub(crate) struct AgentFolders(BTreeSet<String>);

impl AgentFolders {
    /// Sets the agent of each body in `file`, and its parent: the nearest folder above with bodies. Existing ones are kept.
    pub fn name(&mut self, named: &str, file: &mut FileInput) {
        if file.format != Format::Bodies {
            return;
        }
        let Some((folder, _)) = below(named, &file.file).rsplit_once('/') else { return };
        self.0.insert(folder.to_owned());
        let parent = self.above(folder);
        for exchange in file.exchanges.iter_mut().filter(|exchange| exchange.chain.is_none()) {
            exchange.chain = Some(folder.to_owned());
            exchange.parent = parent.clone();
        }
    }

    fn above(&self, folder: &str) -> Option<String> {
        let mut above = folder;
        while let Some((up, _)) = above.rsplit_once('/') {
            if self.0.contains(up) {
                return Some(up.to_owned());
            }
            above = up;
        }
        None
    }
}

/// The path of `file` from the named path on.
pub(crate) fn below<'a>(named: &str, file: &'a str) -> &'a str {
    file.strip_prefix(named.trim_end_matches('/')).unwrap_or(file).trim_start_matches('/')
}

#[cfg(test)]
mod tests {
    use super::AgentFolders;
    use crate::formats::Format;
    use crate::input::{FileInput, InputFormat};

    #[test]
    fn subfolders_are_agents_below_the_next_folder_with_bodies() {
        let body = br#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":"Hi"}]}"#;
        let read = crate::input::Inputs::from_bytes("1.json", body, InputFormat::As(Format::Bodies));
        let mut folders = AgentFolders::default();
        let mut of = |file: &str| {
            let exchanges = read.exchanges().cloned().collect();
            let mut input = FileInput {
                file: file.to_owned(),
                format: Format::Bodies,
                exchanges,
                traces: Vec::new(),
                notes: Vec::new(),
            };
            folders.name("captures", &mut input);
            (input.exchanges[0].chain.clone(), input.exchanges[0].parent.clone())
        };
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(of("captures/1.json"), (None, None));
        assert_eq!(of("captures/main/1.json"), (some("main"), None));
        assert_eq!(of("captures/main/deep/er/1.json"), (some("main/deep/er"), some("main")));
    }
}
