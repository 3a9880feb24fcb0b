//! Widths of the columns of a table, and the layout of text that does not fit.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Lie, Table};

/// Blanks between two columns.
pub(super) const GAP: u16 = 2;

/// The minimum width of names and long texts while optional columns are there.
const NAME_MIN: usize = 20;
const WRAP_MIN: usize = 24;

/// The minimum width of any text on a narrow screen, where every text is a name that may lose its middle.
const NARROW_MIN: usize = 8;

/// On a narrow screen a text that may be broken into lines is as wide as its longest word, up to this.
const WORD_MAX: usize = 18;

/// The columns that are shown, and the layout of their headings.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The columns that fit.
    pub placed: Vec<Placed>,
    /// Headings of columns that are no option and did not fit.
    pub left_out: Vec<&'static str>,
}

/// A displayed column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// Its index in the table.
    pub column: usize,
    /// Its kind.
    pub lie: Lie,
    /// The maximum width of its text.
    pub width: usize,
    /// Number of characters that all its long names share at the beginning.
    shared: usize,
    /// There is so little room that headings are broken and every text may lose its middle.
    is_narrow: bool,
    /// It answers the question of its table.
    is_kept: bool,
    /// The width of the longest word in its cells.
    word: usize,
}

impl Placed {
    /// The heading within the column's width.
    pub fn head(&self, title: &str) -> String {
        if self.is_narrow { wrapped(title, self.width).join("\n") } else { title.to_owned() }
    }

    /// The text within the column's width.
    pub fn fit(&self, text: &str) -> String {
        match self.lie {
            Lie::Left if self.is_narrow && !self.is_kept => elided(text, self.width, self.shared),
            Lie::Left | Lie::Right => text.to_owned(),
            Lie::Name => elided(text, self.width, self.shared),
            Lie::Wrap => wrapped(text, self.width).join("\n"),
        }
    }
}

/// The columns that fit into `width`: optional ones are dropped first, then names and long texts share the remaining
/// width. If that is not enough, headings are broken, texts lose their middle, and columns are left out from the end, those
/// that answer the question of the table after all others.
pub(super) fn columns(table: &Table, rows: &[Vec<String>], width: usize) -> Layout {
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column)).map(|cell| cell.width());
    let widest = |column: usize| cells(column).fold(0, usize::max);
    let natural = |column: usize| widest(column).max(table.columns[column].title.width());
    // An empty column can be dropped.
    let says =
        |column: usize| rows.is_empty() || rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()));
    let mut placed: Vec<Placed> = table
        .columns
        .iter()
        .enumerate()
        .filter(|(column, _)| says(*column))
        .map(|(column, found)| Placed {
            column,
            lie: found.lie,
            width: natural(column),
            shared: shared(rows, column),
            is_narrow: false,
            is_kept: table.columns[column].kept,
            word: rows.iter().filter_map(|row| row.get(column)).map(|cell| longest_word(cell)).fold(0, usize::max),
        })
        .collect();
    while least(&placed) > width {
        match placed.iter().rposition(|placed| table.columns[placed.column].optional) {
            Some(at) => drop(placed.remove(at)),
            None => break,
        }
    }
    let mut left_out: Vec<(usize, &'static str)> = Vec::new();
    if least(&placed) > width {
        for placed in &mut placed {
            let title = table.columns[placed.column].title;
            placed.width = widest(placed.column).max(longest_word(title));
            placed.is_narrow = true;
        }
        while least(&placed) > width && placed.len() > 1 {
            // The first column names the row.
            let at = placed.iter().rposition(|placed| !placed.is_kept).filter(|at| *at > 0).unwrap_or(placed.len() - 1);
            left_out.push((placed[at].column, table.columns[placed[at].column].title));
            placed.remove(at);
        }
        left_out.sort_unstable();
    }
    share(&mut placed, width);
    let left_out = left_out.into_iter().map(|(_, title)| title).filter(|title| !title.is_empty()).collect();
    Layout { placed, left_out }
}

/// The width of a text that is broken at every blank.
fn longest_word(text: &str) -> usize {
    text.split(' ').map(UnicodeWidthStr::width).fold(0, usize::max)
}

fn least(placed: &[Placed]) -> usize {
    placed.iter().map(least_of).sum::<usize>() + gaps(placed)
}

fn least_of(placed: &Placed) -> usize {
    match placed.lie {
        Lie::Right => placed.width,
        Lie::Left if placed.is_kept => placed.width,
        Lie::Wrap if placed.is_narrow => placed.width.min(placed.word.clamp(NARROW_MIN, WORD_MAX)),
        _ if placed.is_narrow => placed.width.min(NARROW_MIN),
        Lie::Left => placed.width,
        Lie::Name => placed.width.min(NAME_MIN),
        Lie::Wrap => placed.width.min(WRAP_MIN),
    }
}

fn gaps(placed: &[Placed]) -> usize {
    usize::from(GAP) * placed.len().saturating_sub(1)
}

/// Distributes the remaining width, first to names, because a wrapped text is still complete.
fn share(placed: &mut [Placed], width: usize) {
    let mut left = width.saturating_sub(least(placed));
    let texts = placed.iter().any(|placed| placed.lie == Lie::Wrap && placed.width > WRAP_MIN);
    for lie in [Lie::Left, Lie::Name, Lie::Wrap] {
        let mut flexible: Vec<&mut Placed> = placed.iter_mut().filter(|placed| placed.lie == lie).collect();
        let count = flexible.len();
        for (at, column) in flexible.iter_mut().enumerate() {
            let least = least_of(column);
            let part = left / (count - at);
            // Half of the room is reserved for texts that need it, so that a long name does not squeeze them.
            let part = if lie == Lie::Name && texts { part.div_ceil(2) } else { part };
            let extra = column.width.saturating_sub(least).min(part);
            column.width = least + extra;
            left -= extra;
        }
    }
}

/// Number of characters that all long names of a column share at the beginning.
fn shared(rows: &[Vec<String>], column: usize) -> usize {
    let names = rows.iter().filter_map(|row| row.get(column)).filter(|name| name.width() > NAME_MIN);
    let common = names.map(String::as_str).reduce(|one, other| {
        let alike = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
        &one[..alike.map(|(c, _)| c.len_utf8()).sum()]
    });
    common.map_or(0, |common| common.chars().count())
}

/// Names with a common beginning of this length are distinguished by what follows it.
const SHARED_MIN: usize = 8;

/// The text with its middle cut out, or its beginning if all texts share it, at most `width` wide. A path is cut between
/// two folders, if its last one fits.
fn elided(text: &str, width: usize, shared: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let mut ends = text.match_indices(['/', '\\']).filter(|_| is_absolute(text)).map(|(at, _)| &text[at..]);
    if let Some(end) = ends.find(|end| end.width() <= room && end.len() > 1) {
        return format!("…{end}");
    }
    // Names of one kind are distinguished by their ends.
    let head = if shared < SHARED_MIN { room / 3 } else { 0 };
    let tail = room - head;
    format!("{}…{}", taken(text.chars(), head), taken(text.chars().rev(), tail).chars().rev().collect::<String>())
}

/// Whether a text is a whole path, of Windows too.
fn is_absolute(text: &str) -> bool {
    text.starts_with(['/', '~']) || text.get(1..3) == Some(":\\")
}

/// The characters of the beginning that are at most `width` wide.
fn taken(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

/// The columns of a terminal that a line of text needs.
pub fn line_width(line: &str) -> usize {
    line.width()
}

/// The text in lines of at most `width`, broken at blanks; a longer word is broken if necessary.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        while line.width() > width.max(1) {
            let head = taken(line.chars(), width.max(1));
            // Addresses and paths are best broken between their parts.
            let cut = head.rfind('/').map_or(head.len(), |slash| slash + 1);
            let rest = line.split_off(cut);
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    lines.push(line);
    lines
}

/// The beginning of a line before its mark that is always shown: its label.
const LABEL: usize = 7;

/// Characters of a mark that are shown at least.
const MARK_MIN: usize = 12;

/// How many characters before the mark have to be left out so that a line's mark fits into `room`.
pub(super) fn cut_before([before, mark, after]: &[String; 3], room: usize) -> usize {
    if mark.is_empty() || before.width() + mark.width() + after.width() <= room {
        return 0;
    }
    (before.width() + mark.width().min(MARK_MIN)).saturating_sub(room.saturating_sub(1))
}

/// A line without `cut` characters between its label and its mark, and with as much after that as fits into `room`.
pub(super) fn around_mark([before, mark, after]: [String; 3], cut: usize, room: usize) -> [String; 3] {
    let before = match before.chars().count() {
        long if cut > 0 && long > LABEL + cut => {
            let label: String = before.chars().take(LABEL).collect();
            let rest: String = before.chars().skip(LABEL + cut + 1).collect();
            format!("{label}…{rest}")
        }
        _ => ended(before, room),
    };
    let mark = ended(mark, room.saturating_sub(before.width()));
    let after = ended(after, room.saturating_sub(before.width() + mark.width()));
    [before, mark, after]
}

/// The text, or its beginning and a sign that it continues.
fn ended(text: String, room: usize) -> String {
    if text.width() <= room {
        return text;
    }
    if room == 0 { String::new() } else { format!("{}…", taken(text.chars(), room - 1)) }
}

#[cfg(test)]
mod tests {
    use super::{around_mark, columns, cut_before, elided, wrapped};
    use crate::document::{Column, Table};

    #[test]
    fn lines_are_broken_at_blanks() {
        assert_eq!(wrapped("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrapped("abcdefgh x", 5), ["abcde", "fgh x"]);
        assert_eq!(wrapped("ab/cdefgh/i", 8), ["ab/", "cdefgh/i"]);
        assert_eq!(wrapped("", 5), [""]);
    }

    #[test]
    fn lines_with_a_mark_keep_it_and_stay_below_one_another() {
        let line = |mark: &str| ["older  0123456789abcdef".to_owned(), mark.to_owned(), "and what follows".to_owned()];
        let cut = [line("X"), line("YY")].iter().map(|line| cut_before(line, 24)).max().unwrap();
        let cut_of = |mark: &str| around_mark(line(mark), cut, 24).concat();
        assert_eq!(cut_of("X"), "older  …3456789abcdefXa…");
        assert_eq!(cut_of("YY"), "older  …3456789abcdefYY…");
        assert_eq!(around_mark(line("X"), 0, 80), line("X"));
    }

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(elided("a-long-file-name.json#12", 15, 2), "a-lo…me.json#12");
        assert_eq!(elided("a-long-file-name.json#12", 15, 12), "…e-name.json#12");
        assert_eq!(elided("short", 15, 0), "short");
        assert_eq!(elided("/Users/ann/workspace/cli", 15, 0), "…/workspace/cli");
        assert_eq!(elided("/Users/ann/workspace/cli", 14, 0), "…/cli");
        assert_eq!(elided("D:\\code\\a-project\\src", 16, 0), "…\\a-project\\src");
        assert_eq!(elided("/home/ann/a-long-name-of-a-folder", 15, 0), "/hom…f-a-folder");
    }

    #[test]
    fn the_columns_that_answer_are_left_out_last_and_stay_whole() {
        let columns_of = |width| {
            let named = vec![
                Column::name("Name", "name"),
                Column::right("Input", "input"),
                Column::left("Cause", "cause").kept(),
                Column::right("Cost", "cost").kept(),
                Column::right("Share", "share"),
            ];
            let row = ["a-name-of-a-session", "1,000,000", "beyond_lookback", "$100.00", "100.0 %"];
            let found = columns(&Table::new("t", named), &[row.map(str::to_owned).to_vec()], width);
            (found.placed.iter().map(|placed| placed.fit(row[placed.column])).collect::<Vec<_>>(), found.left_out)
        };
        let (cells, left_out) = columns_of(36);
        assert_eq!(cells, ["a-n…ession", "beyond_lookback", "$100.00"]);
        assert_eq!(left_out, ["Input", "Share"]);
        let (cells, left_out) = columns_of(26);
        assert_eq!(cells, ["a-…ession", "beyond_lookback"]);
        assert_eq!(left_out, ["Input", "Cost", "Share"]);
    }

    #[test]
    fn optional_columns_are_dropped_if_there_is_no_room() {
        let columns_of = |width| {
            let named = vec![Column::left("a", "a"), Column::left("b", "b").optional(), Column::wrap("c", "c")];
            let rows = vec![vec!["x".repeat(10), "y".repeat(10), "z ".repeat(30)]];
            let placed = columns(&Table::new("t", named), &rows, width);
            placed.placed.iter().map(|placed| (placed.column, placed.width)).collect::<Vec<_>>()
        };
        assert_eq!(columns_of(100), [(0, 10), (1, 10), (2, 60)]);
        assert_eq!(columns_of(50), [(0, 10), (1, 10), (2, 26)]);
        assert_eq!(columns_of(40), [(0, 10), (2, 28)]);
        assert_eq!(columns_of(20), [(0, 10), (2, 8)]);
        assert_eq!(columns_of(12), [(0, 10)]);
    }
}
