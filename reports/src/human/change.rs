//! Words for a change of a prompt, in `diff` and `check`.

use forkcast_sim::diagnosis::{ChangeSite, Volatile};
use forkcast_sim::pricing::Category;

use crate::document::{END, Marked, Part, count};

/// The place: `At tools[1], first differing byte 12 of the field, 812 of the block, 4,021 of the prefix (canonical
/// bytes).` The field is the text as a program holds it.
pub fn place(site: &ChangeSite) -> Option<String> {
    if site.path.is_empty() {
        return None;
    }
    let field = site.offset_in_field.map_or_else(String::new, |field| format!(" {} of the field,", count(field)));
    let offsets = site.offset_in_block.zip(site.offset_in_prefix).map_or_else(String::new, |(block, prefix)| {
        let (block, prefix) = (count(block), count(prefix));
        format!(", first differing byte{field} {block} of the block, {prefix} of the prefix (canonical bytes)")
    });
    Some(format!("At {}{}.", site.path, offsets))
}

/// The volatile content in it.
pub fn varying(volatile: Option<Volatile>) -> Option<String> {
    let word = volatile?.word();
    Some(format!("The difference looks like volatile content: {word}."))
}

/// The cost of a break is unknown.
pub const NOT_MODELLED: &str = "Its cost is unknown: no cache of this provider is modelled.";

/// How tokens are billed instead of reads.
pub fn instead(billed_as: Category) -> &'static str {
    match billed_as {
        Category::Write1h => "written for 1 hour instead of read",
        Category::Write5m => "written for 5 minutes instead of read",
        _ => "plain input instead of read",
    }
}

/// The bytes of both sides, one below the other, with the difference marked.
pub fn sides(older: &Marked, newer: &Marked) -> Part {
    let [older, newer] = widened(older, newer);
    Part::Verbatim(vec![labelled("older  ", &older), labelled("newer  ", &newer)])
}

fn labelled(label: &str, side: &Marked) -> Marked {
    Marked { before: format!("{label}{}", side.before), ..side.clone() }
}

/// Length of the common ending from which on more than the first differing character is marked.
const ALIKE_MIN: usize = 6;

/// Both sides with all differences marked, if they are equal after them.
fn widened(older: &Marked, newer: &Marked) -> [Marked; 2] {
    let (old, new) = (rest(older), rest(newer));
    let alike = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let whole = |side: &Marked| !side.after.ends_with(CUT);
    if alike < ALIKE_MIN && !(alike > 0 && whole(older) && whole(newer)) {
        return [older.clone(), newer.clone()];
    }
    [(older, &old), (newer, &new)].map(|(side, rest)| {
        let (mark, tail) = rest.split_at(rest.len() - alike);
        if mark.len() <= 1 {
            return side.clone();
        }
        let cut = if whole(side) { "" } else { CUT };
        let tail: String = tail.iter().collect();
        Marked { before: side.before.clone(), mark: mark.iter().collect(), after: format!("{tail}{cut}") }
    })
}

/// The mark in a window where the text continues.
const CUT: &str = "…";

/// The text of a side from the difference on.
fn rest(side: &Marked) -> Vec<char> {
    let mark = if side.mark == END { "" } else { &side.mark };
    mark.chars().chain(side.after.trim_end_matches(CUT).chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Marked, widened};

    fn side(before: &str, mark: &str, after: &str) -> Marked {
        Marked { before: before.into(), mark: mark.into(), after: after.into() }
    }

    fn marks(older: &Marked, newer: &Marked) -> [String; 2] {
        let sides = widened(older, newer);
        assert_eq!(sides[0].whole(), older.whole());
        assert_eq!(sides[1].whole(), newer.whole());
        sides.map(|side| side.mark)
    }

    #[test]
    fn the_whole_difference_is_marked_if_both_continue_equally() {
        let older = side("at ", "1", "0:59:58 we began …");
        let newer = side("at ", "2", "1:00:01 we began …");
        assert_eq!(marks(&older, &newer), ["10:59:58", "21:00:01"]);
    }

    #[test]
    fn only_the_first_character_is_marked_if_they_do_not() {
        let (older, newer) = (side("a ", "1", "0 xyz"), side("a ", "2", "1 abc…"));
        assert_eq!(marks(&older, &newer), ["1", "2"]);
        let (older, newer) = (side("a ", "1", " and so on"), side("a ", "2", " and so on"));
        assert_eq!(marks(&older, &newer), ["1", "2"]);
    }

    #[test]
    fn an_insertion_is_marked_completely() {
        let (older, newer) = (side("a ", "(end)", ""), side("a ", "b", "cd"));
        assert_eq!(marks(&older, &newer), ["(end)", "b"]);
        let (older, newer) = (side("a ", "z", " tail end"), side("a ", "n", "ew z tail end"));
        assert_eq!(marks(&older, &newer)[1], "new ");
    }
}
