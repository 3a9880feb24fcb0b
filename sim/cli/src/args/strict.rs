//! `--strict`, with the same meaning for all verbs.

use std::fmt;

use clap::Args as ClapArgs;

use crate::verbs::replay::complaints::located;

/// Whether a result must be complete and certain.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub struct StrictArgs {
    /// Exit with 2 if anything is unreadable or left out, has no price, or is estimated without a basis
    #[arg(long, help_heading = "Output")]
    strict: bool,
}

/// Reasons why a result is less certain than it looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A place of the input that cannot be read.
    Unreadable {
        /// The file as it is shown.
        file: String,
        /// Its line, from 1; 0 if it has none.
        line: usize,
        /// Why.
        reason: String,
    },
    /// A model without a price.
    Unpriced(String),
    /// A part of the input that is in no sum, or was skipped.
    LeftOut(String),
    /// An estimate without any basis for the size.
    Estimated(String),
    /// A signal ended the work before its end.
    Interrupted,
}

impl Doubt {
    /// A doubt for each model.
    pub fn unpriced<'a>(models: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        models.into_iter().map(|model| Self::Unpriced(model.to_owned())).collect()
    }

    /// A partial result may lack anything.
    pub fn partial(is_partial: bool) -> Option<Self> {
        is_partial.then_some(Self::Interrupted)
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, line, reason } => f.write_str(&located(file, *line, reason))?,
            Self::Unpriced(model) => write!(f, "no price for `{model}`")?,
            Self::LeftOut(what) | Self::Estimated(what) => f.write_str(what)?,
            Self::Interrupted => f.write_str("interrupted, so the result is partial")?,
        }
        f.write_str(" (--strict)")
    }
}

impl StrictArgs {
    /// Whether `--strict` was given.
    pub const fn is_set(self) -> bool {
        self.strict
    }

    /// An error message for each doubt, with `--strict`.
    pub fn complaints(self, doubts: impl IntoIterator<Item = Doubt>) -> Vec<String> {
        if self.strict { doubts.into_iter().map(|doubt| doubt.to_string()).collect() } else { Vec::new() }
    }
}
