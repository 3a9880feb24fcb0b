//! `forkcast man`.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use forkcast_replay::output::file::{self, Kind};

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
        Some(verb) => called(&program, verb).ok_or_else(|| no_such_verb(&program, verb))?,
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
    Ok((name, with_examples(&text)))
}

/// The page with its last part under the headings of manual pages, and with unchanged lines.
fn with_examples(page: &str) -> String {
    let Some((before, behind)) = page.split_once(".SH EXTRA\nExamples:\n") else { return page.to_owned() };
    let (examples, further) = behind.split_once("\n.SH ").unwrap_or((behind.trim_end(), ""));
    let examples = examples.replace("\nExit codes:\n", "\n.fi\n.SH EXIT STATUS\n.nf\n");
    let further = if further.is_empty() { String::new() } else { format!(".SH {further}") };
    format!("{before}.SH EXAMPLES\n.nf\n{examples}\n.fi\n{further}")
}

/// The program, its verbs, and their subcommands.
fn pages(program: &Command) -> Vec<&Command> {
    std::iter::once(program).chain(program.get_subcommands().flat_map(pages)).collect()
}

/// The page of a verb, or of `sweep-run` and the like.
fn called<'a>(program: &'a Command, verb: &str) -> Option<&'a Command> {
    let name = format!("{}-{verb}", program.get_name());
    pages(program).into_iter().find(|page| page.get_display_name() == Some(&name))
}

/// A manual page of the program or of a verb.
const PAGE: Kind = Kind { name: "manual page", is_ours: |head| head.contains(".TH forkcast") };

/// Writes `forkcast.1` and `forkcast-VERB.1` for each verb.
fn write_all(program: &Command, folder: &Path) -> anyhow::Result<Vec<String>> {
    fs::create_dir_all(folder).map_err(|error| BadInput::error(format_args!("{}: {error}", folder.display())))?;
    let mut names = Vec::new();
    for page in pages(program) {
        let (name, text) = rendered(page)?;
        file::write(&folder.join(&name), PAGE, text.as_bytes()).map_err(BadInput::error)?;
        names.push(name);
    }
    Ok(names)
}

fn no_such_verb(program: &Command, verb: &str) -> anyhow::Error {
    let verbs: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    BadInput::error(format_args!("no verb `{verb}`, expected one of: {}", verbs.join(", ")))
}
