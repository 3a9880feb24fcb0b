//! `forkcast man`.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::{Args, ManArgs};
use crate::exit::BadInput;
use crate::screen;

/// Runs the verb.
pub fn run(args: &ManArgs) -> anyhow::Result<()> {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    if let Some(folder) = &args.out {
        let names = write_all(&program, folder)?;
        args.talk.note(format_args!("forkcast: wrote {} into {}", names.join(", "), folder.display()));
        return Ok(());
    }
    let page = match &args.verb {
        None => &program,
        Some(verb) => program.find_subcommand(verb).ok_or_else(|| no_such_verb(&program, verb))?,
    };
    let (_, text) = rendered(page)?;
    screen::print(|target| target.write_all(text.as_bytes()))
}

/// The name of a page's file, and the page.
fn rendered(page: &Command) -> anyhow::Result<(String, String)> {
    let man = Man::new(page.clone()).source(concat!("forkcast ", env!("CARGO_PKG_VERSION")));
    let name = man.get_filename();
    let mut bytes = Vec::new();
    man.render(&mut bytes)?;
    let text = String::from_utf8(bytes)?;
    // What stands behind the options is named by its own first line.
    Ok((
        name,
        text.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n")
            .replace(".SH EXTRA\nExit codes:\n", ".SH EXIT STATUS\n"),
    ))
}

/// Writes `forkcast.1` and `forkcast-VERB.1` for each verb.
fn write_all(program: &Command, folder: &Path) -> anyhow::Result<Vec<String>> {
    let failed = |path: &Path, error: std::io::Error| BadInput::error(format_args!("{}: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut names = Vec::new();
    for page in std::iter::once(program).chain(program.get_subcommands()) {
        let (name, text) = rendered(page)?;
        let path = folder.join(&name);
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
        names.push(name);
    }
    Ok(names)
}

fn no_such_verb(program: &Command, verb: &str) -> anyhow::Error {
    let verbs: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    BadInput::error(format_args!("no verb `{verb}`, expected one of: {}", verbs.join(", ")))
}
