//! What a folder of bodies shows of each of them: its agent, and whether it is a request at all.
//!
//! Each subfolder is one agent, named by its path below the named folder; bodies directly in that folder have no agent
//! (`design.md` 3, *Scope and order*). Where others have `max_tokens`, bodies without it only count tokens: the Messages API
//! requires it, and `/v1/messages/count_tokens` does not take it (Anthropic API reference, token counting, 2026-11).

use std::collections::BTreeSet;

use super::FileInput;
use crate::exchange::Dialect;
use crate::formats::Format;

/// A folder of bodies, or all below one named path: what those so far show.
#[derive(Debug, Default)]
pub(crate) struct BodyFolder {
    /// The agents' folders.
    folders: BTreeSet<String>,
    /// There was a request for an answer.
    has_requests: bool,
}

impl BodyFolder {
    /// Looks for requests for an answer. Returns whether `file` may have only counts of tokens, which is decided by the
    /// first such request.
    pub fn look(&mut self, file: &FileInput) -> bool {
        self.has_requests |= file.exchanges.iter().any(|exchange| exchange.asks_for_answer == Some(true));
        !self.has_requests && file.exchanges.iter().any(|exchange| exchange.asks_for_answer == Some(false))
    }

    /// Sets the agent of each body in `file`, and its parent: the nearest folder above with bodies. Existing ones are kept.
    /// Marks bodies that only count tokens.
    pub fn mark(&mut self, named: &str, file: &mut FileInput) {
        if file.format != Format::Bodies {
            return;
        }
        if self.has_requests {
            let counts = file.exchanges.iter_mut().filter(|exchange| exchange.asks_for_answer == Some(false));
            counts.for_each(|exchange| exchange.dialect = Dialect::TokenCount);
        }
        let Some((folder, _)) = below(named, &file.file).rsplit_once('/') else { return };
        self.folders.insert(folder.to_owned());
        let parent = self.above(folder);
        for exchange in file.exchanges.iter_mut().filter(|exchange| exchange.chain.is_none()) {
            exchange.chain = Some(folder.to_owned());
            exchange.parent = parent.clone();
        }
    }

    fn above(&self, folder: &str) -> Option<String> {
        let mut above = folder;
        while let Some((up, _)) = above.rsplit_once('/') {
            if self.folders.contains(up) {
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
    use super::BodyFolder;
    use crate::formats::Format;
    use crate::input::{FileInput, InputFormat};

    #[test]
    fn subfolders_are_agents_below_the_next_folder_with_bodies() {
        let body = br#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":"Hi"}]}"#;
        let read = crate::input::Inputs::from_bytes("1.json", body, InputFormat::As(Format::Bodies));
        let mut folders = BodyFolder::default();
        let mut of = |file: &str| {
            let exchanges = read.exchanges().cloned().collect();
            let mut input = FileInput {
                file: file.to_owned(),
                format: Format::Bodies,
                exchanges,
                traces: Vec::new(),
                notes: Vec::new(),
            };
            folders.mark("captures", &mut input);
            (input.exchanges[0].chain.clone(), input.exchanges[0].parent.clone())
        };
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(of("captures/1.json"), (None, None));
        assert_eq!(of("captures/main/1.json"), (some("main"), None));
        assert_eq!(of("captures/main/deep/er/1.json"), (some("main/deep/er"), some("main")));
    }

    #[test]
    fn bodies_without_a_limit_only_count_tokens_where_others_have_one() {
        let counts_of = |files: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            for (number, limit) in files.iter().enumerate() {
                let body =
                    format!(r#"{{"model":"claude-opus-4-8",{limit}"messages":[{{"role":"user","content":"Hi"}}]}}"#);
                std::fs::write(folder.path().join(format!("{number}.json")), body).unwrap();
            }
            let read = crate::input::Inputs::read(&[folder.path()], InputFormat::Auto).unwrap();
            let dialects: Vec<bool> =
                read.exchanges().map(|exchange| exchange.dialect == crate::exchange::Dialect::TokenCount).collect();
            dialects
        };
        let limit = r#""max_tokens":9,"#;
        assert_eq!(counts_of(&["", "", limit, "", limit]), [true, true, false, true, false]);
        assert_eq!(counts_of(&["", ""]), [false, false]);
    }
}
