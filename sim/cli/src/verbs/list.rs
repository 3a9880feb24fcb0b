//! `forkcast list`.

use std::path::Path;
use std::{fs, io};

use clap::ValueEnum;
use forkcast_replay::output::file::{self, Kind};
use forkcast_reports::format::schemas;
use forkcast_reports::human::list::{self, Layout};
use forkcast_reports::price_tables::{Comparison, PriceTable};
use forkcast_scenarios::catalog;
use forkcast_sim::pricing::{Date, PriceBook};

use crate::args::{Format, ListArgs, Listed};
use crate::exit::{BadInput, Threshold};
use crate::{clock, screen};

/// Runs the verb.
pub fn run(args: &ListArgs) -> anyhow::Result<()> {
    if let Some(file) = &args.check {
        return check(args, file);
    }
    if let Some(folder) = &args.out {
        let files = write(args.what, folder)?;
        let files = match files.len() {
            0..10 => files.join(", "),
            many => format!("{many} files"),
        };
        args.talk.note(format_args!("forkcast: wrote {files} into {}", folder.display()));
    }
    let layout = layout(args.format);
    let document = match args.what {
        Listed::Causes => list::causes(layout),
        Listed::Notes => list::notes(),
        Listed::Models => list::models(layout),
        Listed::Prices => list::prices(&PriceBook::built_in(), layout),
        Listed::Profiles => list::profiles(),
        Listed::Habits => list::habits(),
        Listed::Policies => list::policies(),
        Listed::Formats => list::formats(),
        Listed::Scenarios => list::scenarios(),
        Listed::WhatIfs => list::what_ifs(),
        Listed::Schemas => list::schemas(),
    };
    screen::document(&document, args.format)
}

/// Compares the price book with another project's table.
fn check(args: &ListArgs, file: &Path) -> anyhow::Result<()> {
    if args.what != Listed::Prices {
        return Err(BadInput::error("--check compares prices alone: `forkcast list prices --check FILE`"));
    }
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| BadInput::error(format_args!("--check {shown}: {error}")))?;
    let day = args.day.unwrap_or_else(|| Date::of(clock::now()));
    let table = PriceTable::read(&text, day).map_err(|why| BadInput::error(format_args!("{shown}: {why}")))?;
    let book = PriceBook::built_in();
    let comparison = Comparison::new(&book, &table, day);
    screen::document(&list::compared(&book, &table, &comparison, day), args.format)?;
    if comparison.differences.is_empty() {
        return Ok(());
    }
    let differing = comparison.models.len() - comparison.agreeing();
    Err(Threshold(vec![format!("{shown}: {differing} models have other prices than the book")]).into())
}

/// The readers of a list in this format.
pub const fn layout(format: Format) -> Layout {
    match format {
        Format::Human | Format::Markdown => Layout::Grouped,
        Format::Json | Format::Jsonl => Layout::Flat,
        Format::Csv => Layout::Single,
    }
}

/// Writes the list as files.
fn write(what: Listed, folder: &Path) -> anyhow::Result<Vec<String>> {
    match what {
        Listed::Schemas => schemas::write_all(folder).map_err(BadInput::error),
        Listed::Prices => {
            write_built_in(folder, "prices.toml", "price book", &PriceBook::built_in().to_toml()).map(|name| vec![name])
        }
        Listed::Scenarios => {
            let one = |(name, text): &(&str, &str)| write_built_in(folder, &format!("{name}.yaml"), "scenario", text);
            catalog::files().iter().map(one).collect()
        }
        Listed::Causes
        | Listed::Notes
        | Listed::Models
        | Listed::Profiles
        | Listed::Habits
        | Listed::Policies
        | Listed::Formats
        | Listed::WhatIfs => {
            let Some(name) = what.to_possible_value() else { unreachable!("every list has a name") };
            let name = name.get_name();
            Err(BadInput::error(format_args!(
                "--out: {name} cannot be written as files, only scenarios, schemas and prices can"
            )))
        }
    }
}

/// Writes a built-in text. An existing file that differs belongs to the user.
fn write_built_in(folder: &Path, name: &str, kind: &'static str, text: &str) -> anyhow::Result<String> {
    let path = folder.join(name);
    let complain = |error: io::Error| BadInput::error(format_args!("{}: {error}", path.display()));
    fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(complain)?;
    let head = text.lines().next().unwrap_or_default();
    match fs::read_to_string(&path) {
        Ok(found) if found == text => return Ok(name.to_owned()),
        Ok(found) if found.starts_with(head) => {
            let path = path.display();
            return Err(BadInput::error(format_args!(
                "{path}: is a changed {kind}, or one of another version; not replaced"
            )));
        }
        _ => {}
    }
    file::write(&path, Kind { name: kind, is_ours: |_| false }, text.as_bytes()).map_err(BadInput::error)?;
    Ok(name.to_owned())
}
