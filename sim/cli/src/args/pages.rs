//! Arguments of the verbs that describe the program itself: completions and manual pages.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap_complete::Shell;

use super::TalkArgs;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  forkcast completions bash \\
      > ~/.local/share/bash-completion/completions/forkcast
  forkcast completions zsh > ~/.zfunc/_forkcast
  forkcast completions fish > ~/.config/fish/completions/forkcast.fish
  forkcast completions elvish >> ~/.config/elvish/rc.elv
  forkcast completions powershell >> $PROFILE

  source <(forkcast completions bash)              for the current shell only

The next shell then completes verbs, options and their values. For zsh, ~/.zshrc needs
  fpath+=~/.zfunc; autoload -Uz compinit; compinit
before anything else.";

/// Arguments of `completions`.
#[derive(Debug, ClapArgs)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  forkcast man | man -l -             the program's page
  forkcast man replay | man -l -      the page of a verb
  forkcast man --out ~/.local/share/man/man1
                                      all pages: forkcast.1, …";

/// Arguments of `man`.
#[derive(Debug, ClapArgs)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// Print the page of this verb instead of the program's
    #[arg(value_name = "VERB", conflicts_with = "out")]
    pub verb: Option<String>,

    /// Write every page into this folder instead; only pages of forkcast are replaced
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}
