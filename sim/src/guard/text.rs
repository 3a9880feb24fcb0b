//! A finding as text for a terminal or the message of a failed test.

use std::fmt;

use super::finding::{Finding, Noted, Rule, Violation};
use crate::diagnosis::{Cause, CauseKind, Volatile, Window};
use crate::pricing::{Category, grouped};
use crate::wire::Level;

/// Advice for a fork that has another head than its parent.
const OF_FORK: &str = "Give the fork the tools, system prompt and settings of its parent, byte for byte, and its task in the newest \
                       message.";

/// Advice for agents that could share more.
const OF_SIBLINGS: &str =
    "Put what these agents have in common first, in a block of its own, and what each has of its own after it.";

/// Advice for a block of which only the beginning is repeated.
const OF_BEGINNING: &str = "End a block where the repeated part ends, put a breakpoint on it, and append new text as blocks of their \
                            own.";

impl Finding {
    /// How to save the tokens, naming the change.
    pub fn suggestion(&self) -> String {
        let advice = match self.rule {
            _ if self.cause == Cause::NoBreakpoint && self.offset_in_block.is_some() => OF_BEGINNING,
            Rule::Sharing if self.is_of_fork_only() => OF_FORK,
            Rule::Siblings if self.is_of_own_text() => OF_SIBLINGS,
            _ => self.site.suggestion(),
        };
        match self.volatile.map(thing) {
            _ if self.name.is_empty() || !self.cause.is_change() => advice.to_owned(),
            Some(thing) => format!("{advice} What varies is {thing} in: {}.", self.name),
            None => format!("{advice} What changed: {}.", self.name),
        }
    }

    /// Whether a fork has other tools, system prompt or settings than its parent, not the parent's with something that varies.
    fn is_of_fork_only(&self) -> bool {
        let is_head = matches!(self.cause.kind(), CauseKind::Content) && !self.path.starts_with("messages");
        is_head && self.volatile.is_none() && !self.with_sibling
    }

    /// Whether an agent's own text differs from another's, not by something that varies by itself.
    fn is_of_own_text(&self) -> bool {
        let is_text = self.level == Level::Messages || self.cause == Cause::SystemChanged;
        is_text && self.cause != Cause::LevelParameter && self.cause.is_change() && self.volatile.is_none()
    }

    fn price(&self) -> String {
        let Some(loss) = self.loss else {
            return "not known: no cache of this provider is modelled".to_owned();
        };
        if loss.tokens == 0 {
            return "no further tokens that were cached are lost".to_owned();
        }
        let cost = loss.cost.map_or_else(|| "no price is known".to_owned(), |cost| format!("{} more", cost.human()));
        let billed = match loss.billed_as {
            Category::Write5m | Category::Write1h => "written",
            _ => "plain input",
        };
        format!("{} tokens are {billed} instead of read: {cost}", grouped(loss.tokens))
    }

    fn headline(&self) -> String {
        let verb = if self.breaks_prefix { "breaks the prefix of" } else { "changes what it repeats of" };
        let older = self.older.map_or_else(|| "the lock".to_owned(), |older| format!("request {older}"));
        let name = if self.name.is_empty() { String::new() } else { format!(" ({})", self.name) };
        format!("request {} of `{}` {verb} {older} at {}{name}", self.request, self.chain, self.path)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        let volatile = self.volatile.map_or_else(String::new, |volatile| format!(", {}", thing(volatile)));
        writeln!(f, "  cause     {}{volatile}", self.cause)?;
        if let Some((block, prefix)) = self.offset_in_block.zip(self.offset_in_prefix) {
            let field = self.offset_in_field.map_or_else(String::new, |at| format!("{} of the field, ", grouped(at)));
            writeln!(f, "  where     byte {field}{} of the block, {} of the prompt", grouped(block), grouped(prefix))?;
        }
        if let Some([older, newer]) = &self.windows {
            writeln!(f, "  older     {}", marked(older))?;
            writeln!(f, "  newer     {}", marked(newer))?;
        }
        if self.breaks_prefix {
            writeln!(f, "  costs     {}", self.price())?;
        }
        if let Some(reason) = self.provider_reason() {
            writeln!(f, "  provider  calls it {reason}")?;
        }
        write!(f, "  advice    {}", self.suggestion())
    }
}

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.path.is_empty() { String::new() } else { format!(" at {}", self.path) };
        let answer = self.answer.as_ref().map_or_else(String::new, |answer| format!(": \"{answer}\""));
        write!(f, "request {} of `{}`: {}{at}{answer}", self.request, self.chain, self.note.word())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chain = self.chain.as_ref().map_or_else(String::new, |chain| format!(" of `{chain}`"));
        write!(f, "{}{chain}: found {}, expected {}", self.what, self.found, self.expected)
    }
}

/// The window as one line, the differing character in brackets.
fn marked(window: &Window) -> String {
    format!("{}[{}]{}", window.before, window.mark, window.after)
}

const fn thing(volatile: Volatile) -> &'static str {
    match volatile {
        Volatile::Date => "a date",
        Volatile::Time => "a time",
        Volatile::Uuid => "a UUID",
        Volatile::Path => "a path",
        Volatile::Pid => "a process id",
        Volatile::Counter => "a counter",
        Volatile::Git => "the state of a git repository",
        Volatile::Flag => "a switch",
        Volatile::MapOrder => "the order of a map",
    }
}
