//! A simulated run on disk, under the names of a replay's.

use std::fs;

use forkcast_scenarios::run::Run;

use super::{BODIES, Folder, FolderError, LEDGER, RUN, body_name};
use crate::figures::{lanes, png, ribbon};
use crate::format::ledger::simulated;
use crate::format::run;

impl Folder {
    /// Writes all files of a run; `failures` are the claims that did not hold. Gives the names of the files.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_run(&self, found: &Run, failures: &[String]) -> Result<Vec<&'static str>, FolderError> {
        self.file(RUN, |target| run::write(found, failures, target))?;
        self.file(LEDGER, |target| simulated::write(found, target))?;
        self.file("requests.csv", |target| run::requests(found, target))?;
        self.picture(["timeline.svg", "timeline.png"], &lanes::svg(found))?;
        self.picture(["ribbon.svg", "ribbon.png"], &ribbon::svg(found))?;
        Ok(vec![RUN, LEDGER, "requests.csv", "timeline.svg", "timeline.png", "ribbon.svg", "ribbon.png"])
    }

    /// Writes a picture as it is and as a bitmap.
    fn picture(&self, [svg_name, png_name]: [&str; 2], svg: &str) -> Result<(), FolderError> {
        self.file(svg_name, |target| target.write_all(svg.as_bytes()))?;
        let failed = |source| FolderError::Picture { path: self.path.join(png_name), source };
        let png = png::from_svg(svg).map_err(failed)?;
        self.file(png_name, |target| target.write_all(&png))
    }

    /// Writes the body of every request of a run. Gives their number.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_run_bodies(&self, found: &Run) -> Result<usize, FolderError> {
        let folder = self.path.join(BODIES);
        let failed = |source| FolderError::Io { path: folder.clone(), source };
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(failed)?;
        }
        fs::create_dir_all(&folder).map_err(failed)?;
        for request in &found.requests {
            let path = folder.join(body_name(request.line.index));
            fs::write(&path, request.draft.body()).map_err(|source| FolderError::Io { path, source })?;
        }
        Ok(found.requests.len())
    }
}
