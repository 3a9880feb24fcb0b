//! The world that agents act on, and their definitions: files, shell, agent types, hooks, skills, permission rules.

use std::collections::BTreeMap;

use forkcast_sim::agent::definition::{Skill, Source, Text};
use forkcast_sim::agent::hook::{Hook, HookSays, Moment, Word};
use forkcast_sim::agent::input::Scripted;
use forkcast_sim::agent::permission::{Rule, Rules};
use forkcast_sim::agent::world::pattern::Pattern;
use forkcast_sim::agent::world::{Change, Rule as ShellRule};
use forkcast_sim::time::Duration;

use super::outline;
use super::reading::{At, Fields, Origin, yes};

/// The world as written in a scenario.
#[derive(Clone, Debug, Default)]
pub struct WorldText {
    /// Files by path.
    pub files: BTreeMap<String, String>,
    /// Scripted commands; the first rule that matches applies.
    pub shell: Vec<ShellRule>,
    /// Agent types.
    pub definitions: Vec<DefinitionText>,
    /// Slash commands by name.
    pub commands: Vec<(String, Scripted)>,
    /// Hooks of the session.
    pub hooks: Vec<HookText>,
    /// Skills.
    pub skills: Vec<Skill>,
    /// Calls to allow, deny or ask for: `Tool` or `Tool(pattern)`.
    pub permissions: Rules,
}

/// An agent definition as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionText {
    /// Its text; of JSON, objects by name.
    pub text: Text,
    /// Its place in the scenario.
    pub origin: Origin,
}

impl WorldText {
    /// Reads the sections of the world.
    pub fn of(fields: &Fields<'_>) -> Self {
        let texts = |at: &At<'_>| at.named(|_, value| value.text());
        Self {
            files: fields.or_default("files", texts).into_iter().collect(),
            shell: fields.list("shell", shell_rule),
            definitions: fields.list("definitions", DefinitionText::of),
            commands: fields.or_default("commands", |at| at.named(command)),
            hooks: fields.list("hooks", HookText::of),
            skills: fields.or_default("skills", |at| at.named(skill)).into_iter().map(|(_, skill)| skill).collect(),
            permissions: fields.or_default("permissions", rules),
        }
    }
}

/// The script of a command.
fn shell_rule(at: &At<'_>) -> Option<ShellRule> {
    let fields = at.fields(&outline::SHELL)?;
    let command = Pattern::new(&fields.must("command", At::name)?);
    let texts = |at: &At<'_>| at.named(|_, value| value.text());
    let writes: BTreeMap<String, String> = fields.or_default("writes", texts).into_iter().collect();
    let code = fields.or_default("exit_code", |at| at.between(0, 255));
    let takes = Duration::from_millis(fields.or_default("takes_ms", At::number));
    let never_ends = fields.or_default("never_ends", At::truth);
    let write = |(path, text): (String, String)| Change::Write { path: path.into(), text: text.into() };
    Some(ShellRule {
        command,
        output: fields.or_default("output", At::shared),
        exit_code: code as i32,
        takes: (!never_ends).then_some(takes),
        stuck_after: fields.may("stuck_after_ms", At::number).map(Duration::from_millis),
        changes: writes.into_iter().map(write).collect(),
        times: fields.may("times", |at| at.small(1)),
    })
}

/// A slash command; its name is written without the slash.
fn command(name: &str, at: &At<'_>) -> Option<Scripted> {
    if name.starts_with('/') {
        at.wrong("write the name of the command without `/`");
        return None;
    }
    let fields = at.fields(&outline::COMMAND)?;
    let takes = Duration::from_millis(fields.or_default("takes_ms", At::number));
    Some(Scripted { takes, output: fields.or_default("output", At::shared) })
}

/// A skill: its instructions, after frontmatter if there is any.
fn skill(name: &str, at: &At<'_>) -> Option<Skill> {
    let text = at.text()?;
    Skill::read(name, &text).map_err(|invalid| at.wrong(invalid)).ok()
}

impl DefinitionText {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::DEFINITION)?;
        let source = fields.must("source", |at| at.word(&Source::WORDS))?;
        let text = match fields.one_of(&["markdown", "json"])? {
            "markdown" => fields.may("markdown", At::shared)?,
            _ => fields.get("json")?.json().to_string().into(),
        };
        let path = fields.may("file", At::name).unwrap_or_else(|| at.origin().path);
        Some(Self { text: Text { source, path, text }, origin: at.origin() })
    }
}

/// A hook, or the script of a definition's hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookText {
    /// The hook; for a definition's hook only name and script are set.
    pub hook: Hook,
    /// Whether it belongs to a definition.
    pub of_definition: bool,
}

impl HookText {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::HOOK)?;
        let moment = fields.may("moment", |at| at.word(&Moment::WORDS));
        let script = fields.list("says", says);
        let mut hook = Hook::new(&fields.must("name", At::name)?, moment.unwrap_or(Moment::Stop), script);
        hook.matcher = fields.may("tool", At::name);
        hook.in_background = fields.or_default("in_background", At::truth);
        Some(Self { hook, of_definition: fields.get("moment").is_none() })
    }
}

/// The response of a hook at one run.
fn says(at: &At<'_>) -> Option<HookSays> {
    let fields = at.fields(&outline::HOOK_SAYS)?;
    let after = Duration::from_millis(fields.or_default("after_ms", At::number));
    let said = fields.among(&["prevent", "error", "add", "block"]);
    let word = match said[..] {
        [] => Word::Nothing,
        ["prevent"] => fields.may("prevent", yes).map(|()| Word::PreventContinuation)?,
        ["error"] => Word::BlockingError(fields.may("error", At::shared)?),
        ["add"] => Word::AddText(fields.may("add", At::shared)?),
        ["block"] => Word::BlockTool(fields.may("block", At::shared)?),
        _ => {
            at.wrong("a hook gives one response at a time: `prevent`, `error`, `add` or `block`");
            return None;
        }
    };
    Some(HookSays { after, word })
}

fn rules(at: &At<'_>) -> Option<Rules> {
    let fields = at.fields(&outline::PERMISSIONS)?;
    let rules = |name: &str| fields.list(name, rule);
    Some(Rules { allow: rules("allow"), deny: rules("deny"), ask: rules("ask") })
}

/// `Tool` or `Tool(pattern)`.
fn rule(at: &At<'_>) -> Option<Rule> {
    let text = at.name()?;
    match Rule::parse(&text) {
        Ok(rule) => Some(rule),
        Err(error) => {
            at.wrong(format_args!("{error}; rules look like `Bash`, `Bash(rm:*)`, `Edit(src/**)` or `Agent(explore)`"));
            None
        }
    }
}
