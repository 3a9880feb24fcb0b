//! The short help: `-h` fits a screen and shows the most used options; `--help` shows everything, with examples.

use clap::Command;

/// Arguments that `-h` shows, by verb. For other verbs it shows all.
const SHOWN: [(&str, &[&str]); 10] = [
    ("run", &["scenarios", "plan", "set", "launch", "breakpoints", "ttl", "twice", "shard", "engine", "out"]),
    ("fanout", &["from", "children", "prefix", "turns", "parent", "launch", "against", "answer", "out"]),
    ("replay", &["paths", "by", "last", "details", "format", "out"]),
    ("demo", &["by", "format", "out"]),
    ("lock", &["paths", "output", "anonymize"]),
    ("check", &["paths", "lock", "update", "requests_per_day", "format"]),
    ("diff", &["older", "newer", "format"]),
    ("compare", &["before", "after", "since", "last", "max_rise", "html"]),
    ("explain", &["run", "request", "session", "cache", "format"]),
    ("plan", &["subject", "set", "out"]),
];

/// The program with its short help.
pub fn help(command: Command) -> Command {
    let shown = SHOWN.iter().find(|(verb, _)| *verb == command.get_name()).map(|(_, shown)| *shown);
    let examples = command.get_after_help().cloned();
    let mut command = command.mut_args(|arg| {
        let is_rare = shown.is_some_and(|shown| !shown.contains(&arg.get_id().as_str()));
        arg.hide_short_help(is_rare)
    });
    if let Some(examples) = examples {
        command = command.after_long_help(examples).after_help("");
    }
    command.mut_subcommands(help)
}
