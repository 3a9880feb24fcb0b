//! All edits of a build at once: the variable `FORKCAST_BREAK` chooses the one that acts.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use forkcast_fixtures::workspace;

use super::breaks::Break;

/// The edited files; dropped, they are as before.
pub struct Edited {
    before: BTreeMap<PathBuf, String>,
}

/// Edits of one place, with their numbers.
struct Place<'a> {
    begin: usize,
    end: usize,
    edits: Vec<(usize, &'a Break)>,
}

impl Edited {
    /// Makes the numbered edits. Edits of overlapping places do not go together: these are given back.
    pub fn of<'a>(edits: &[(usize, &'a Break)]) -> (Self, Vec<(usize, &'a Break)>) {
        let mut by_file: BTreeMap<PathBuf, Vec<(usize, &Break)>> = BTreeMap::new();
        for (number, edit) in edits {
            by_file.entry(workspace().join(&edit.file)).or_default().push((*number, edit));
        }
        let mut edited = Self { before: BTreeMap::new() };
        let mut left = Vec::new();
        for (file, edits) in by_file {
            let text = fs::read_to_string(&file).expect("a source file");
            let (places, later) = places(&text, edits);
            left.extend(later);
            fs::write(&file, switched(&text, &places)).expect("a source file");
            edited.before.insert(file, text);
        }
        (edited, left)
    }
}

impl Drop for Edited {
    fn drop(&mut self) {
        for (file, text) in &self.before {
            fs::write(file, text).expect("a source file");
        }
    }
}

fn places<'a>(text: &str, edits: Vec<(usize, &'a Break)>) -> (Vec<Place<'a>>, Vec<(usize, &'a Break)>) {
    let mut places: Vec<Place<'_>> = Vec::new();
    let mut left = Vec::new();
    for (number, edit) in edits {
        let begin = edit.place(text).expect("a test keeps each edit's place clear");
        let end = begin + edit.old.len();
        let same = places.iter_mut().find(|place| place.begin == begin && place.end == end);
        if let Some(place) = same {
            place.edits.push((number, edit));
        } else if places.iter().any(|place| place.begin < end && begin < place.end) {
            left.push((number, edit));
        } else {
            places.push(Place { begin, end, edits: vec![(number, edit)] });
        }
    }
    places.sort_by_key(|place| place.begin);
    (places, left)
}

fn switched(text: &str, places: &[Place<'_>]) -> String {
    let mut switched = String::new();
    let mut written = 0;
    for place in places {
        let old = &text[place.begin..place.end];
        switched.push_str(&text[written..place.begin]);
        switched.push_str(&switch(old, &place.edits));
        written = place.end;
    }
    switched + &text[written..]
}

/// `(if <edit 7 acts> { new } else { old })`, or the same as a statement.
fn switch(old: &str, edits: &[(usize, &Break)]) -> String {
    let mut switch = String::new();
    for (number, edit) in edits {
        let acts = format!(
            "{{ static ACTS: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| \
             std::env::var(\"FORKCAST_BREAK\").is_ok_and(|number| number == \"{number}\")); *ACTS }}"
        );
        switch.push_str(&format!("if {acts} {{ {} }} else ", edit.new));
    }
    if old.ends_with('\n') { format!("{switch}{{ {old} }}\n") } else { format!("({switch}{{ {old} }})") }
}
