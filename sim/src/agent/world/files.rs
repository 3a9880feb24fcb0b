//! Files in memory: texts by absolute path, and links to other paths. A folder exists while a file is below it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::rc::Rc;

use super::path;

/// The files of a world.
#[derive(Debug, Default)]
pub struct Files {
    texts: RefCell<BTreeMap<Rc<str>, Text>>,
    /// Symbolic links, with what they point to.
    links: RefCell<BTreeMap<Rc<str>, Rc<str>>>,
}

/// Why a link cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// There is nothing to point to (`ENOENT`).
    NotFound,
    /// Something is there already (`EEXIST`).
    Exists,
    /// A file is where a folder must be (`ENOTDIR`).
    NotFolder,
}

/// A text that is only built when the file is read. Thousands of siblings log messages that they share; stored as
/// texts, these would take quadratic space.
pub trait Unwritten {
    /// The text.
    fn text(&self) -> String;
}

/// The content of a file.
enum Text {
    /// A text shared with its readers.
    Whole(Rc<str>),
    /// A log: appending costs only the appended lines.
    Growing(Vec<Part>),
}

/// A part of a log.
enum Part {
    Written(String),
    Unwritten(Box<dyn Unwritten>),
}

impl Text {
    /// The whole text, built now if necessary.
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
    /// A world with these files. Relative paths start at the root; if two paths are equal, the last one counts.
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let texts = files.into_iter().map(|(path, text)| (key(&path), Text::Whole(text.into())));
        Self { texts: RefCell::new(texts.collect()), links: RefCell::default() }
    }

    /// The same texts and links, which change independently from now on.
    pub fn copy(&self) -> Self {
        let mut texts = self.texts.borrow_mut();
        let texts = texts.iter_mut().map(|(path, text)| (path.clone(), Text::Whole(text.whole()))).collect();
        Self { texts: RefCell::new(texts), links: self.links.clone() }
    }

    /// The text of the file at `path`.
    pub fn read(&self, path: &str) -> Option<Rc<str>> {
        self.texts.borrow_mut().get_mut(&*self.followed(path)).map(Text::whole)
    }

    /// Whether there is a file at `path`.
    pub fn exists(&self, path: &str) -> bool {
        self.texts.borrow().contains_key(&*self.followed(path))
    }

    /// Whether there are files below `path`.
    pub fn is_folder(&self, path: &str) -> bool {
        let path = &*self.followed(path);
        let files = self.texts.borrow();
        let next = files.range::<str, _>((Bound::Excluded(first_below(path).as_str()), Bound::Unbounded)).next();
        next.is_some_and(|(found, _)| path::below(path, found).is_some())
    }

    /// Replaces the content of the file at `path` by `text`.
    pub fn write(&self, path: &str, text: impl Into<Rc<str>>) {
        self.texts.borrow_mut().insert(key(&self.followed(path)), Text::Whole(text.into()));
    }

    /// Appends `text` to the file at `path`, which is created if absent.
    pub fn append(&self, path: &str, text: &str) {
        self.log(path, |parts| match parts.last_mut() {
            Some(Part::Written(log)) => log.push_str(text),
            _ => parts.push(Part::Written(text.to_owned())),
        });
    }

    /// Appends a text that is only built when it is read.
    pub fn append_unwritten(&self, path: &str, text: impl Unwritten + 'static) {
        self.log(path, |parts| parts.push(Part::Unwritten(Box::new(text))));
    }

    fn log(&self, path: &str, add: impl FnOnce(&mut Vec<Part>)) {
        let path = &*self.followed(path);
        let mut files = self.texts.borrow_mut();
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

    /// Removes the file or the link at `path`; returns whether it existed.
    pub fn remove(&self, path: &str) -> bool {
        let was_link = self.links.borrow_mut().remove(path).is_some();
        was_link || self.texts.borrow_mut().remove(&*self.followed(path)).is_some()
    }

    /// Makes `path` a symbolic link to `target`.
    ///
    /// # Errors
    /// As on a real machine.
    pub fn link(&self, target: &str, path: &str) -> Result<(), LinkError> {
        let is_there = |path: &str| self.exists(path) || self.is_folder(path);
        if !is_there(target) {
            return Err(LinkError::NotFound);
        }
        if is_there(path) || self.links.borrow().contains_key(path) {
            return Err(LinkError::Exists);
        }
        if path.match_indices('/').skip(1).any(|(at, _)| self.exists(&path[..at])) {
            return Err(LinkError::NotFolder);
        }
        self.links.borrow_mut().insert(path.into(), target.into());
        Ok(())
    }

    /// Links below `folder`, with what they point to.
    pub fn links_below(&self, folder: &str) -> Vec<(Rc<str>, Rc<str>)> {
        let links = self.links.borrow();
        let inside = links.iter().filter(|(path, _)| path::below(folder, path).is_some());
        inside.map(|(path, target)| (path.clone(), target.clone())).collect()
    }

    /// `path` with the link on it, if there is one, replaced by what it points to.
    fn followed<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let links = self.links.borrow();
        let on_it = links.iter().find_map(|(link, target)| Some((target, path::below(link, path)?)));
        match on_it {
            Some((target, "")) => target.to_string().into(),
            Some((target, rest)) => format!("{target}/{rest}").into(),
            None => path.into(),
        }
    }

    /// Paths of the files below `folder` in order, or `folder` itself if it is a file.
    pub fn below(&self, folder: &str) -> Vec<Rc<str>> {
        let files = self.texts.borrow();
        let own = files.get_key_value(folder).into_iter();
        let inside = files.range::<str, _>((Bound::Included(first_below(folder).as_str()), Bound::Unbounded));
        let inside = inside.take_while(|(path, _)| path::below(folder, path).is_some());
        own.chain(inside).map(|(path, _)| path.clone()).collect()
    }
}

fn key(path: &str) -> Rc<str> {
    path::absolute("/", path).into()
}

/// The lower bound of all paths below `folder`.
fn first_below(folder: &str) -> String {
    format!("{}/", folder.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_exists_while_files_are_below_it() {
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

    #[test]
    fn a_link_is_followed_and_is_not_the_files_that_it_points_to() {
        let files =
            Files::new([("/repo/lib/a.js", "a"), ("/copy/b", "b")].map(|(path, text)| (path.into(), text.into())));
        assert_eq!(files.link("/repo/none", "/copy/none"), Err(LinkError::NotFound));
        assert_eq!(files.link("/repo/lib", "/copy/b"), Err(LinkError::Exists));
        assert_eq!(files.link("/repo/lib", "/copy/b/lib"), Err(LinkError::NotFolder));
        assert_eq!(files.link("/repo/lib", "/copy/lib"), Ok(()));
        assert_eq!(files.link("/repo/lib", "/copy/lib"), Err(LinkError::Exists));
        assert_eq!(files.read("/copy/lib/a.js").as_deref(), Some("a"));
        files.write("/copy/lib/new.js", "n");
        assert!(files.exists("/repo/lib/new.js") && files.is_folder("/copy/lib"));
        assert_eq!(files.below("/copy").len(), 1, "a walk does not follow links");
        assert!(files.remove("/copy/lib") && !files.exists("/copy/lib/a.js") && files.exists("/repo/lib/a.js"));
    }

    struct Later;

    impl Unwritten for Later {
        fn text(&self) -> String {
            "later\n".to_owned()
        }
    }

    #[test]
    fn appended_text_is_read_back() {
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
