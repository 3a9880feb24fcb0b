//! Permission rules: `Tool`, or `Tool(pattern)` (public permissions page of 2026-09).
//!
//! * `Bash(git status)`: this command. `Bash(rm:*)`: commands that begin with these words; `*` matches any text.
//!   For a line of several commands, one matching command is enough to deny or ask; to allow, all must match.
//! * `Read(…)`, `Edit(…)`: path globs, relative to the working directory, `~/…` from home, `/…` from the root; without
//!   a slash the name matches at any depth. `Read` rules also apply to Grep and Glob, `Edit` rules to Write. The files
//!   that Grep and Glob search below their folder are not checked.
//! * `Agent(explore)`: this agent type.

use std::rc::Rc;

use globset::GlobMatcher;
use serde_json::Value;

use crate::agent::world::path;
use crate::agent::world::pattern::{self, Pattern};

/// The rules of a session.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Calls that are allowed without asking.
    pub allow: Vec<Rule>,
    /// Calls that are always denied.
    pub deny: Vec<Rule>,
    /// Calls for which the user is always asked.
    pub ask: Vec<Rule>,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    text: Rc<str>,
    tool: Rc<str>,
    what: What,
}

/// An invalid rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the rule `{rule}` {why}; expected `Tool` or `Tool(pattern)`, as `Bash(git:*)`, `Edit(src/**)`, `Agent(explore)`"
)]
pub struct RuleError {
    rule: String,
    why: String,
}

#[derive(Clone, Debug)]
enum What {
    All,
    Command(Pattern),
    CommandsBeginning(String),
    Paths(Anchor, GlobMatcher),
    AgentType(String),
}

/// Where a path glob starts.
#[derive(Clone, Copy, Debug)]
enum Anchor {
    WorkingDirectory,
    Home,
    Root,
}

/// Tools whose rules can name paths, each with the tool whose rules apply to it.
const TOOLS_OF_PATHS: [(&str, &str); 5] =
    [("Read", "Read"), ("Grep", "Read"), ("Glob", "Read"), ("Edit", "Edit"), ("Write", "Edit")];

/// Substitutions hide other commands, so a rule cannot allow a command that contains one.
const SUBSTITUTIONS: [&str; 4] = ["$(", "`", "<(", ">("];

/// The part of a call that rules check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A command line.
    Command(String),
    /// A path, absolute.
    Path(String),
    /// An agent type.
    AgentType(String),
    /// Nothing that rules check.
    Nothing,
}

/// The directories that paths in rules are relative to.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The session's working directory.
    pub cwd: &'a str,
    /// The user's home.
    pub home: &'a str,
}

impl Subject {
    /// The subject of a call of `tool` in the directory `cwd`.
    pub fn of(tool: &str, input: &Value, cwd: &str) -> Self {
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        match tool {
            "Bash" => Self::Command(text("command").unwrap_or_default().to_owned()),
            "Agent" => Self::AgentType(text("subagent_type").unwrap_or("general-purpose").to_owned()),
            "Read" | "Edit" | "Write" => Self::Path(path::absolute(cwd, text("file_path").unwrap_or_default())),
            "Grep" | "Glob" => Self::Path(path::absolute(cwd, text("path").unwrap_or_default())),
            _ => Self::Nothing,
        }
    }
}

impl Rule {
    /// Parses a rule.
    ///
    /// # Errors
    /// If `text` is not a rule.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let wrong = |why: String| RuleError { rule: text.to_owned(), why };
        let trimmed = text.trim();
        let (tool, pattern) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => {
                let pattern = rest.strip_suffix(')').ok_or_else(|| wrong("has no `)` at its end".into()))?;
                (tool, Some(pattern.trim()))
            }
        };
        if tool.is_empty() || !tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return Err(wrong("does not begin with the name of a tool".into()));
        }
        let what = match pattern {
            None | Some("" | "*") => What::All,
            Some(pattern) => what(tool, pattern).map_err(wrong)?,
        };
        Ok(Self { text: trimmed.into(), tool: tool.into(), what })
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches every call of `tool`.
    pub fn is_all_of(&self, tool: &str) -> bool {
        self.tool.as_ref() == tool && matches!(self.what, What::All)
    }

    /// Whether it matches agents of this type.
    pub fn is_agent(&self, agent_type: &str) -> bool {
        self.tool.as_ref() == "Agent"
            && match &self.what {
                What::All => true,
                What::AgentType(meant) => meant == agent_type,
                _ => false,
            }
    }

    /// Whether it names an agent type. Those agents are refused inside the call, after the call itself was permitted
    /// (PERM-02).
    pub const fn is_of_agents(&self) -> bool {
        matches!(self.what, What::AgentType(_))
    }

    /// Whether it matches part of this call: enough to deny or ask.
    pub fn touches(&self, tool: &str, subject: &Subject, places: Places<'_>) -> bool {
        self.means(tool, subject, places, Part::Some)
    }

    /// Whether it matches all of this call: enough to allow.
    pub fn covers(&self, tool: &str, subject: &Subject, places: Places<'_>) -> bool {
        self.means(tool, subject, places, Part::All)
    }

    fn means(&self, tool: &str, subject: &Subject, places: Places<'_>, part: Part) -> bool {
        let own = self.tool.as_ref() == tool;
        match (&self.what, subject) {
            (What::All, _) => own,
            (What::AgentType(meant), Subject::AgentType(asked)) => own && meant == asked,
            (What::Paths(anchor, glob), Subject::Path(path)) => {
                let goes_by = TOOLS_OF_PATHS.iter().find(|(name, _)| *name == tool).map(|(_, goes_by)| *goes_by);
                (own || goes_by == Some(self.tool.as_ref())) && anchor.meant(glob, path, places)
            }
            (What::Command(pattern), Subject::Command(line)) => {
                // A rule that spells out a whole line matches the whole line.
                let as_a_whole = pattern.matches(line.trim()) && (pattern.is_literal() || part == Part::Some);
                own && (as_a_whole || part.of_line(line, |command| pattern.matches(command)))
            }
            (What::CommandsBeginning(words), Subject::Command(line)) => {
                own && part.of_line(line, |command| begins(command, words))
            }
            _ => false,
        }
    }
}

/// How much of a command line a rule must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Some,
    All,
}

impl Part {
    fn of_line(self, line: &str, meant: impl Fn(&str) -> bool) -> bool {
        let hides = |command: &str| SUBSTITUTIONS.iter().any(|sign| command.contains(sign));
        match self {
            Self::Some => commands(line).into_iter().any(meant),
            Self::All => commands(line).into_iter().all(|command| meant(command) && !hides(command)),
        }
    }
}

fn what(tool: &str, pattern: &str) -> Result<What, String> {
    match tool {
        "Bash" => Ok(match pattern.strip_suffix(":*") {
            Some(words) => What::CommandsBeginning(words.trim().to_owned()),
            None => What::Command(Pattern::new(pattern)),
        }),
        "Agent" => Ok(What::AgentType(pattern.to_owned())),
        tool if TOOLS_OF_PATHS.iter().any(|(name, _)| *name == tool) => {
            let (anchor, glob) = anchored(pattern);
            let glob = pattern::paths(&glob).map_err(|why| format!("has an invalid glob: {why}"))?;
            Ok(What::Paths(anchor, glob))
        }
        tool => Err(format!("has a pattern, but {tool} takes none")),
    }
}

/// The start of a glob, and the glob relative to it.
fn anchored(pattern: &str) -> (Anchor, String) {
    let whole = |glob: &str| if glob.ends_with('/') { format!("{glob}**") } else { glob.to_owned() };
    if let Some(glob) = pattern.strip_prefix("~/") {
        return (Anchor::Home, whole(glob));
    }
    if let Some(glob) = pattern.strip_prefix('/') {
        return (Anchor::Root, whole(glob.trim_start_matches('/')));
    }
    let glob = pattern.strip_prefix("./").unwrap_or(pattern);
    let anywhere = !glob.contains('/');
    (Anchor::WorkingDirectory, if anywhere { format!("**/{glob}") } else { whole(glob) })
}

impl Anchor {
    fn meant(self, glob: &GlobMatcher, path: &str, places: Places<'_>) -> bool {
        let folder = match self {
            Self::WorkingDirectory => places.cwd,
            Self::Home => places.home,
            Self::Root => "/",
        };
        path::below(folder, path).is_some_and(|path| glob.is_match(path))
    }
}

/// Splits a line into commands. Quotes are ignored: a separator inside them splits too, which denies more and allows
/// less. Redirected output is not checked.
fn commands(line: &str) -> Vec<&str> {
    let mut before = ' ';
    let splits = |sign: char| {
        let redirects = sign == '&' && before == '>'; // As in `2>&1`.
        before = sign;
        matches!(sign, '\n' | ';' | '|' | '&') && !redirects
    };
    let commands: Vec<&str> = line.split(splits).map(str::trim).filter(|part| !part.is_empty()).collect();
    if commands.is_empty() { vec![line] } else { commands }
}

fn begins(command: &str, words: &str) -> bool {
    command.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: Places<'_> = Places { cwd: "/repo", home: "/home/user" };

    fn call(tool: &str, text: &str) -> Subject {
        let key = if tool == "Bash" { "command" } else { "file_path" };
        Subject::of(tool, &serde_json::json!({ key: text, "path": text, "subagent_type": text }), "/repo/sub")
    }

    #[test]
    fn rules_match_commands_paths_and_agents() {
        // Rule, tool, subject, touches, covers.
        let cases = [
            ("Bash", "Bash", "ls", true, true),
            ("Bash", "Read", "ls", false, false),
            ("Bash(rm:*)", "Bash", "rm -r x", true, true),
            ("Bash(rm:*)", "Bash", "rm", true, true),
            ("Bash(rm:*)", "Bash", "rmdir x", false, false),
            ("Bash(git status)", "Bash", "git status", true, true),
            ("Bash(git status)", "Bash", "git status -s", false, false),
            ("Bash(npm run *)", "Bash", "npm run test", true, true),
            ("Bash(rm:*)", "Bash", "ls && rm x", true, false),
            ("Bash(echo:*)", "Bash", "echo $(rm x)", true, false),
            ("Bash(echo *)", "Bash", "echo a; rm x", true, false),
            ("Bash(echo *)", "Bash", "echo a; echo b", true, true),
            ("Bash(cd a && make)", "Bash", "cd a && make", true, true),
            ("Bash(cargo:*)", "Bash", "cargo test 2>&1", true, true),
            ("Bash(cargo:*)", "Bash", "cargo test & rm x", true, false),
            ("Read(secret/**)", "Read", "/repo/secret/key", true, true),
            ("Read(secret/**)", "Grep", "/repo/secret/key", true, true),
            ("Read(secret/**)", "Edit", "/repo/secret/key", false, false),
            ("Edit(src/)", "Write", "/repo/src/a/b.rs", true, true),
            ("Edit(*.lock)", "Edit", "../deep/Cargo.lock", true, true),
            ("Edit(*.lock)", "Edit", "/etc/x.lock", false, false),
            ("Read(~/.ssh/**)", "Read", "/home/user/.ssh/id", true, true),
            ("Read(//etc/**)", "Read", "/etc/passwd", true, true),
            ("Agent(explore)", "Agent", "explore", true, true),
            ("Agent(explore)", "Agent", "plan", false, false),
        ];
        for (rule, tool, text, touches, covers) in cases {
            let parsed = Rule::parse(rule).expect(rule);
            let subject = call(tool, text);
            assert_eq!(parsed.touches(tool, &subject, PLACES), touches, "{rule} touches {tool} {text}");
            assert_eq!(parsed.covers(tool, &subject, PLACES), covers, "{rule} covers {tool} {text}");
        }
    }

    #[test]
    fn a_server_tool_matches_by_its_full_name() {
        for name in ["mcp__my-server__read_1", "mcp__9-lives"] {
            let rule = Rule::parse(name).expect(name);
            assert!(rule.is_all_of(name) && rule.covers(name, &Subject::Nothing, PLACES), "{name}");
        }
    }

    #[test]
    fn invalid_rules_are_refused_with_a_reason() {
        for (text, why) in [
            ("Bash(rm", "has no `)` at its end"),
            ("(x)", "does not begin with the name of a tool"),
            ("", "does not begin with the name of a tool"),
            ("my tool", "does not begin with the name of a tool"),
            ("Bash:ls", "does not begin with the name of a tool"),
            ("Read([)", "has an invalid glob"),
            ("TaskCreate(x)", "but TaskCreate takes none"),
        ] {
            let said = Rule::parse(text).expect_err(text).to_string();
            assert!(said.contains(why) && said.contains("expected `Tool`"), "{text}: {said}");
        }
    }
}
