//! Arguments of `cast`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use forkcast_scenarios::cast::Content;

use super::TalkArgs;

const CAST_EXAMPLES: &str = "\
Examples:
  forkcast cast session.jsonl -o mine.yaml         a session as a scenario
  forkcast cast session.jsonl --content none       without any of its text
  forkcast cast ~/.claude/projects --session 6c0a  one session of a folder
  forkcast run mine.yaml                           plays it
  forkcast run --recording session.jsonl           the same, without the file

The scenario has the recorded answers, each bound to the call or the line that asked for it, the results of tools with \
their durations, and what the user typed and interrupted. It can be read and edited like any other.";

/// Arguments of `cast`.
#[derive(Debug, ClapArgs)]
#[command(after_help = CAST_EXAMPLES)]
pub struct CastArgs {
    /// A recorded session: a file, or a folder with --session
    #[arg(value_name = "PATH")]
    pub path: PathBuf,

    /// The session whose id begins with this
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,

    /// How much of the recorded text is written: none, sizes (each text's length) or full
    #[arg(long, value_name = "HOW", default_value = "full", hide_possible_values = true, value_parser = content())]
    pub content: Content,

    /// Write into this file instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

fn content() -> impl TypedValueParser<Value = Content> {
    let of_word =
        |word: String| Content::WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, content)| content);
    let words = PossibleValuesParser::new(Content::WORDS.map(|(word, _)| word));
    words.try_map(move |word| of_word(word).ok_or("expected one of these words"))
}
