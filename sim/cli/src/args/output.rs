//! What a simulation prints and leaves.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use forkcast_reports::folder::{Folder, FolderError};

use super::Format;

/// What a simulation prints and leaves.
#[derive(Debug, ClapArgs)]
pub struct OutputArgs {
    /// Form of the output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: Format,

    // Each verb writes files of its own, and says which.
    #[allow(missing_docs)]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Write into a folder that holds other files too; only files of the names above are replaced
    #[arg(long, requires = "out", help_heading = "Output")]
    pub overwrite: bool,

    /// Exit with 2 where a model has no price
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
}

impl OutputArgs {
    /// The folder, if there should be one. Opened before the work, so that nobody waits for one that cannot be used.
    pub fn folder(&self) -> Result<Option<Folder>, FolderError> {
        self.out.as_deref().map(|out| Folder::open(out, self.overwrite)).transpose()
    }
}
