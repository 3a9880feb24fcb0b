//! Outputs of a simulation.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use forkcast_reports::folder::{Contents, Folder, FolderError};

use super::{Format, StrictArgs};

/// Outputs of a simulation.
#[derive(Debug, ClapArgs)]
pub struct OutputArgs {
    /// Form of the output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: Format,

    // Each verb describes the files that it writes.
    #[allow(missing_docs)]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Write into a folder that has other files; they are never replaced
    #[arg(long, requires = "out", help_heading = "Output")]
    pub overwrite: bool,

    /// Also write a page for a browser: one file, without prompts
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Whether the result must be sure
    #[command(flatten)]
    pub strict: StrictArgs,
}

impl OutputArgs {
    /// The folder, if requested. It is opened before the work, so that an unusable folder is reported at once.
    pub fn folder(&self, contents: Contents) -> Result<Option<Folder>, FolderError> {
        self.out.as_deref().map(|out| Folder::open(out, contents, self.overwrite, &[])).transpose()
    }
}
