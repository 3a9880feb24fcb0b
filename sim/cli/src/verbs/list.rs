//! `forkcast list`.

use std::path::Path;
use std::{fs, io};

use clap::ValueEnum;
use forkcast_replay::output::file::{self, Kind};
use forkcast_reports::format::schemas;
use forkcast_reports::human::list::{self, Layout};
use forkcast_sim::pricing::PriceBook;

use crate::args::{Format, ListArgs, Listed};
use crate::exit::BadInput;
use crate::screen;

/// Runs the verb.
pub fn run(args: &ListArgs) -> anyhow::Result<()> {
    if let Some(folder) = &args.out {
        let files = write(args.what, folder)?;
        args.talk.note(format_args!("forkcast: wrote {} into {}", files.join(", "), folder.display()));
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

/// Who reads a list of this form.
pub const fn layout(format: Format) -> Layout {
    match format {
        Format::Human | Format::Markdown => Layout::Grouped,
        Format::Json => Layout::Flat,
        Format::Csv => Layout::Single,
    }
}

/// Writes what is listed as files.
fn write(what: Listed, folder: &Path) -> anyhow::Result<Vec<String>> {
    match what {
        Listed::Schemas => schemas::write_all(folder).map_err(BadInput::error),
        Listed::Prices => prices(folder).map(|name| vec![name]),
        Listed::Causes
        | Listed::Notes
        | Listed::Models
        | Listed::Profiles
        | Listed::Habits
        | Listed::Policies
        | Listed::Formats
        | Listed::Scenarios
        | Listed::WhatIfs => {
            let Some(name) = what.to_possible_value() else { unreachable!("every list has a name") };
            let name = name.get_name();
            Err(BadInput::error(format_args!("--out: there are no files of {name}, only of schemas and prices")))
        }
    }
}

/// Name of the price book as a file.
const PRICES: &str = "prices.toml";

/// Writes the price book, unless a file of that name is somebody's own.
fn prices(folder: &Path) -> anyhow::Result<String> {
    let path = folder.join(PRICES);
    let text = PriceBook::built_in().to_toml();
    let head = text.lines().next().unwrap_or_default();
    let complain = |error: io::Error| BadInput::error(format_args!("{}: {error}", path.display()));
    fs::create_dir_all(folder).map_err(complain)?;
    match fs::read_to_string(&path) {
        Ok(found) if found == text => return Ok(PRICES.to_owned()),
        Ok(found) if found.starts_with(head) => {
            let whose = "a price book that was changed, or of another version; not replaced";
            return Err(BadInput::error(format_args!("{}: {whose}", path.display())));
        }
        _ => {}
    }
    // Any other file is the user's.
    let book = Kind { name: "price book", is_ours: |_| false };
    file::write(&path, book, text.as_bytes()).map_err(BadInput::error)?;
    Ok(PRICES.to_owned())
}
