//! Finds text in files of the world.

use std::rc::Rc;

use globset::GlobMatcher;
use regex::{Regex, RegexBuilder};

use super::fields::{Field, Input, Kind};
use super::plain::PlainTool;
use super::{Call, Effect, Outcome, ToolError, knowledge};
use crate::agent::world::{path, pattern};

/// Default number of lines in an answer.
const LINES: usize = 250;

const MODES: [&str; 3] = ["files_with_matches", "content", "count"];

/// Finds text by a regular expression.
pub const GREP: PlainTool = PlainTool {
    name: "Grep",
    description: || {
        format!(
            "Searches the lines of files for a regular expression. Shows at most {LINES} lines of output unless \
             `head_limit` says otherwise. Expressions have no look-around and no back-references."
        )
    },
    fields: &[
        Field::required("pattern", Kind::Text, "A regular expression; it is held against each line."),
        Field::optional("path", Kind::Text, "The file or folder to search; the working directory if left out."),
        Field::optional("glob", Kind::Text, "Search only files whose path or name fits, such as `*.rs`."),
        Field::optional(
            "output_mode",
            Kind::Choice(&MODES),
            "Paths of files that match (the default), the lines with path and number, or the number of lines per file.",
        ),
        Field::optional("-i", Kind::Flag, "Capitals and small letters count as the same."),
        Field::optional("head_limit", Kind::Count(1), "How many lines of output to show."),
    ],
    effect: Effect::Read,
    in_background: true,
    work: find,
};

fn find(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let expression = RegexBuilder::new(input.text("pattern")).case_insensitive(input.flag("-i")).build();
    let expression = expression.map_err(|error| {
        ToolError::failed(format!("Grep: the pattern `{}` is no regular expression: {error}", input.text("pattern")))
    })?;
    let only = match input.optional_text("glob").map(|glob| (glob, pattern::paths(glob))) {
        Some((glob, Err(why))) => {
            return Err(ToolError::failed(format!("Grep: the glob `{glob}` is no glob: {why}.")));
        }
        Some((_, Ok(glob))) => Some(glob),
        None => None,
    };
    let folder = knowledge::located(&call.context, input.text("path"));
    let files = &call.context.world.files;
    let mode = input.optional_text("output_mode").unwrap_or(MODES[0]);
    let paths = files.below(&folder).into_iter().filter(|file| fits(only.as_ref(), &folder, file));
    let lines: Vec<String> = paths
        .filter_map(|path| files.read(&path).map(|text| (path, text)))
        .flat_map(|(path, text)| matches(&path, &text, &expression, mode))
        .collect();
    Ok(Outcome::done(limited(&lines, input.size("head_limit").unwrap_or(LINES))))
}

/// Whether `only` matches the file, by its path below `folder` or by its name.
fn fits(only: Option<&GlobMatcher>, folder: &str, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    only.is_none_or(|glob| glob.is_match(path::below(folder, file).unwrap_or(file)) || glob.is_match(name))
}

/// The output lines for one file.
fn matches(path: &Rc<str>, text: &str, expression: &Regex, mode: &str) -> Vec<String> {
    let mut found = text.lines().enumerate().filter(|(_, line)| expression.is_match(line));
    match mode {
        "content" => found.map(|(index, line)| format!("{path}:{}:{line}", index + 1)).collect(),
        "count" => match found.count() {
            0 => Vec::new(),
            count => vec![format!("{path}:{count}")],
        },
        _ => found.next().map(|_| path.to_string()).into_iter().collect(),
    }
}

fn limited(lines: &[String], limit: usize) -> String {
    match lines.len() {
        0 => "No matches found.".into(),
        all if all > limit => format!("{}\n({} more lines are left out)", lines[..limit].join("\n"), all - limit),
        _ => lines.join("\n"),
    }
}
