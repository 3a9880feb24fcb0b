//! Headings, sentences and tables, independent of the format: [`terminal`], [`markdown`], [`html`](mod@html), [`csv`]
//! or [`json`].

mod cell;
pub mod csv;
pub mod html;
pub mod json;
pub(crate) mod json_text;
mod layout;
pub mod markdown;
pub mod terminal;

use forkcast_sim::diagnosis::Window;

pub use cell::{Cell, bytes, count, money, share, since_start, span};
pub use forkcast_sim::pricing::several;
pub use layout::{line_width, wrapped};

/// The content, in order.
///
/// ```
/// use forkcast_reports::document::{Cell, Column, Document, Table, markdown};
///
/// let mut table = Table::new("models", vec![Column::left("Model", "model"), Column::right("Requests", "requests")]);
/// table.rows.push(vec![Cell::text("claude-opus-4-8"), Cell::Count(14)]);
/// let mut document = Document::default();
/// document.title("What was asked");
/// document.table(table);
/// let mut text = Vec::new();
/// markdown::write(&document, &mut text)?;
/// assert!(String::from_utf8_lossy(&text).starts_with("# What was asked"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The parts.
    pub parts: Vec<Part>,
}

/// One part of a document.
#[derive(Clone, Debug)]
pub enum Part {
    /// The subject of the document: the first line.
    Title(String),
    /// A heading.
    Heading(String),
    /// A paragraph; each line is separate.
    Text(Vec<String>),
    /// Lines that are less important.
    Aside(Vec<String>),
    /// Lines that must keep their form, such as bytes with a mark beneath them.
    Verbatim(Vec<Marked>),
    /// A table.
    Table(Table),
}

/// A line of verbatim text with a stretch to be marked.
#[derive(Clone, Debug, Default)]
pub struct Marked {
    /// Before the stretch.
    pub before: String,
    /// The stretch.
    pub mark: String,
    /// The text after it.
    pub after: String,
}

/// The mark if one text ends and the other continues.
pub const END: &str = Window::END;

impl From<Window> for Marked {
    fn from(window: Window) -> Self {
        Self { before: window.before, mark: window.mark, after: window.after }
    }
}

impl Marked {
    /// The line without its mark.
    pub fn whole(&self) -> String {
        let mark = if self.mark == END { "" } else { &self.mark };
        format!("{}{mark}{}", self.before, self.after)
    }
}

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Text, on one line.
    Left,
    /// Numbers.
    Right,
    /// A long name: on one line, with its middle cut out if there is not enough room.
    Name,
    /// Text that may be broken into lines.
    Wrap,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading for people.
    pub title: &'static str,
    /// Its name for machines.
    pub word: &'static str,
    /// Its kind.
    pub lie: Lie,
    /// Whether people can do without it if there is not enough room.
    pub optional: bool,
    /// Whether it answers the question of the table, and is whole on every screen.
    pub kept: bool,
}

impl Column {
    /// A column of text.
    pub const fn left(title: &'static str, word: &'static str) -> Self {
        Self { title, word, lie: Lie::Left, optional: false, kept: false }
    }

    /// A column of numbers.
    pub const fn right(title: &'static str, word: &'static str) -> Self {
        Self { title, word, lie: Lie::Right, optional: false, kept: false }
    }

    /// A column of long names.
    pub const fn name(title: &'static str, word: &'static str) -> Self {
        Self { title, word, lie: Lie::Name, optional: false, kept: false }
    }

    /// A column of long text.
    pub const fn wrap(title: &'static str, word: &'static str) -> Self {
        Self { title, word, lie: Lie::Wrap, optional: false, kept: false }
    }

    /// The same, left out if there is not enough room.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// The same, whole on every screen.
    #[must_use]
    pub const fn kept(self) -> Self {
        Self { kept: true, ..self }
    }
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its name for machines.
    pub word: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    /// All rows; people get the first [`Table::shown_max`] of them.
    pub rows: Vec<Vec<Cell>>,
    /// A row above them, only for people: sums, which a machine would count twice.
    pub sum: Option<Vec<Cell>>,
    /// Most rows for people; zero for all.
    pub shown_max: usize,
    /// The number of further rows that were not built, because they are not shown to people.
    pub unmade: usize,
    /// The noun for the rows, for "… and 3 more sessions".
    pub rows_are: &'static str,
}

/// A table in the making: its rows are things, and each column comes with the cell that a thing has in it.
#[derive(Debug)]
pub struct TableOf<'a, T> {
    things: &'a [T],
    table: Table,
}

impl<'a, T> TableOf<'a, T> {
    /// Only so many rows are built as people see, and the others are counted; before the first column.
    #[must_use]
    pub fn first(mut self, shown_max: usize, rows_are: &'static str) -> Self {
        let made = self.things.len().min(shown_max + 1);
        self.table.unmade = self.things.len() - made;
        self.table.rows.truncate(made);
        Self { things: &self.things[..made], table: self.shown(shown_max, rows_are) }
    }

    /// Adds a column.
    #[must_use]
    pub fn with(mut self, column: Column, cell: impl FnMut(&'a T) -> Cell) -> Self {
        self.table.columns.push(column);
        for (row, cell) in self.table.rows.iter_mut().zip(self.things.iter().map(cell)) {
            row.push(cell);
        }
        self
    }

    /// The table, of which people get so many rows.
    pub fn shown(self, shown_max: usize, rows_are: &'static str) -> Table {
        Table { shown_max, rows_are, ..self.table }
    }

    /// The table.
    pub fn whole(self) -> Table {
        self.table
    }
}

impl Table {
    /// A table of these things, a row each, to which its columns are added.
    pub fn of<'a, T>(word: &'static str, things: &'a [T]) -> TableOf<'a, T> {
        TableOf { things, table: Self { word, rows: vec![Vec::new(); things.len()], ..Self::default() } }
    }

    /// An empty table.
    pub fn new(word: &'static str, columns: Vec<Column>) -> Self {
        Self { word, columns, ..Self::default() }
    }

    /// The rows for people, and how many are left out.
    pub fn shown(&self) -> (impl Iterator<Item = &Vec<Cell>>, usize) {
        // One row takes no more room than "… and 1 more".
        let rows = self.rows.len() + self.unmade;
        let all = self.shown_max == 0 || rows <= self.shown_max + 1;
        let shown = if all { self.rows.len() } else { self.shown_max.min(self.rows.len()) };
        (self.sum.iter().chain(&self.rows[..shown]), rows - shown)
    }

    /// Makes the rows for people, and counts the others.
    pub fn make<T>(&mut self, shown_max: usize, things: &[T], row: impl FnMut(&T) -> Vec<Cell>) {
        let made = things.len().min(shown_max + 1);
        self.rows = things[..made].iter().map(row).collect();
        self.unmade = things.len() - made;
        self.shown_max = shown_max;
    }

    /// "… and 3 more sessions".
    pub fn more(&self, left_out: usize) -> String {
        format!("… and {} more {}", count(left_out as u64), self.rows_are)
    }
}

impl Document {
    /// Adds the title.
    pub fn title(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Title(text.into()));
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Heading(text.into()));
    }

    /// Adds a paragraph; nothing for no lines.
    pub fn text(&mut self, lines: Vec<String>) {
        if !lines.is_empty() {
            self.parts.push(Part::Text(lines));
        }
    }

    /// Adds lines that are less important; nothing for no lines.
    pub fn aside(&mut self, lines: Vec<String>) {
        if !lines.is_empty() {
            self.parts.push(Part::Aside(lines));
        }
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.parts.push(Part::Table(table));
    }
}
