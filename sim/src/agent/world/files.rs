//! Files in memory: texts by their absolute path. A folder is there while a file is below it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::rc::Rc;

use super::path;

/// The files of a world.
#[derive(Debug, Default)]
pub struct Files(RefCell<BTreeMap<Rc<str>, Text>>);

/// A text that is put together when somebody reads the file. Thousands of siblings log messages that they share; as texts
/// these would take the square of what they take as messages.
pub trait Unwritten {
    /// The text.
    fn text(&self) -> String;
}

/// What a file holds.
enum Text {
    /// A text that readers share.
    Whole(Rc<str>),
    /// A log: appending to it costs what is appended.
    Growing(Vec<Part>),
}

/// A part of a log.
enum Part {
    Written(String),
    Unwritten(Box<dyn Unwritten>),
}

impl Text {
    /// The whole text, which is written down now.
    fn whole(&mut self) -> Rc<str> {
        match self {
            Self::Whole(text) => text.clone(),
            Self::Growing(parts) => {
                let text: String = parts.drain(..).map(Part::text).collect();
                let whole = text.as_str().into();
                parts.push(Part::Written(text));
                whole
            }
        }
    }
}

impl Part {
    fn text(self) -> String {
        match self {
            Self::Written(text) => text,
            Self::Unwritten(text) => text.text(),
        }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(text) => f.debug_tuple("Whole").field(text).finish(),
            Self::Growing(parts) => f.debug_tuple("Growing").field(&parts.len()).finish(),
        }
    }
}

impl Files {
    /// These files. Relative paths begin at the root; of equal paths the last counts.
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let texts = files.into_iter().map(|(path, text)| (key(&path), Text::Whole(text.into())));
        Self(RefCell::new(texts.collect()))
    }

    /// The text of the file at `path`.
    pub fn read(&self, path: &str) -> Option<Rc<str>> {
        self.0.borrow_mut().get_mut(path).map(Text::whole)
    }

    /// Whether a file is at `path`.
    pub fn exists(&self, path: &str) -> bool {
        self.0.borrow().contains_key(path)
    }

    /// Whether files are below `path`.
    pub fn is_folder(&self, path: &str) -> bool {
        let files = self.0.borrow();
        let next = files.range::<str, _>((Bound::Excluded(first_below(path).as_str()), Bound::Unbounded)).next();
        next.is_some_and(|(found, _)| path::below(path, found).is_some())
    }

    /// Makes `text` all that the file at `path` holds.
    pub fn write(&self, path: &str, text: impl Into<Rc<str>>) {
        self.0.borrow_mut().insert(key(path), Text::Whole(text.into()));
    }

    /// Adds `text` at the end of the file at `path`, which begins with it where there is none.
    pub fn append(&self, path: &str, text: &str) {
        self.log(path, |parts| match parts.last_mut() {
            Some(Part::Written(log)) => log.push_str(text),
            _ => parts.push(Part::Written(text.to_owned())),
        });
    }

    /// The same for a text that is put together when it is read.
    pub fn append_unwritten(&self, path: &str, text: impl Unwritten + 'static) {
        self.log(path, |parts| parts.push(Part::Unwritten(Box::new(text))));
    }

    fn log(&self, path: &str, add: impl FnOnce(&mut Vec<Part>)) {
        let mut files = self.0.borrow_mut();
        match files.get_mut(path) {
            Some(Text::Growing(parts)) => add(parts),
            Some(Text::Whole(text)) => {
                let mut parts = vec![Part::Written(text.to_string())];
                add(&mut parts);
                files.insert(key(path), Text::Growing(parts));
            }
            None => {
                let mut parts = Vec::new();
                add(&mut parts);
                files.insert(key(path), Text::Growing(parts));
            }
        }
    }

    /// Takes the file at `path` away; says whether there was one.
    pub fn remove(&self, path: &str) -> bool {
        self.0.borrow_mut().remove(path).is_some()
    }

    /// Paths of the files below `folder` in order, or of `folder` itself where it is a file.
    pub fn below(&self, folder: &str) -> Vec<Rc<str>> {
        let files = self.0.borrow();
        let own = files.get_key_value(folder).into_iter();
        let inside = files.range::<str, _>((Bound::Included(first_below(folder).as_str()), Bound::Unbounded));
        let inside = inside.take_while(|(path, _)| path::below(folder, path).is_some());
        own.chain(inside).map(|(path, _)| path.clone()).collect()
    }
}

fn key(path: &str) -> Rc<str> {
    path::absolute("/", path).into()
}

/// What stands before every path below `folder` in the order of paths, and behind all others that do.
fn first_below(folder: &str) -> String {
    format!("{}/", folder.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_what_files_are_below() {
        let files = Files::new(["/repo/a.rs", "repo/src/b.rs", "/repo-2/c.rs"].map(|path| (path.into(), path.into())));
        assert_eq!(
            files.below("/repo").iter().map(AsRef::as_ref).collect::<Vec<_>>(),
            ["/repo/a.rs", "/repo/src/b.rs"]
        );
        assert_eq!(files.below("/repo/a.rs").len(), 1);
        assert_eq!(files.below("/").len(), 3);
        assert!(files.is_folder("/repo/src") && files.is_folder("/") && !files.is_folder("/repo/a.rs"));
        assert!(!files.is_folder("/rep"));
    }

    struct Later;

    impl Unwritten for Later {
        fn text(&self) -> String {
            "later\n".to_owned()
        }
    }

    #[test]
    fn what_is_appended_is_read() {
        let files = Files::default();
        files.append("/log", "a\n");
        files.append("/log", "b\n");
        assert_eq!(files.read("/log").as_deref(), Some("a\nb\n"));
        files.append_unwritten("/log", Later);
        files.append("/log", "d\n");
        for _ in 0..2 {
            assert_eq!(files.read("/log").as_deref(), Some("a\nb\nlater\nd\n"));
        }
        files.write("/log", "c\n");
        files.append("/log", "d\n");
        assert_eq!(files.read("/log").as_deref(), Some("c\nd\n"));
        assert!(files.remove("/log") && !files.remove("/log") && !files.exists("/log"));
    }
}
