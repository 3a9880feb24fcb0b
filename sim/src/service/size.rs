//! Size of a prompt by a tokenizer, and whether it can be compared with the bill.

use crate::wire::model::Tokenizer;

/// A request's whole prompt as counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedSize {
    /// Tokens.
    pub tokens: u64,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// Why the bill is not comparable with it; `None` if it is.
    pub left_out: Option<LeftOut>,
}

/// Why the count of a request cannot be compared with its bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// Not answered by a Claude model, or by one whose tokenizer is not known.
    OtherModel,
    /// No usage is recorded, or it is zero.
    NoUsage,
    /// Server-side tools ran: the usage is a sum over several prompts.
    ServerTools,
    /// The provider edited the prompt before it counted it.
    ContextEdited,
    /// The body was altered in transit, or its texts were replaced by the recorder.
    Altered,
    /// The body is no request of the Messages API.
    Unreadable,
    /// It contains an image or a document by address, or thinking with hidden text.
    OutsideContent,
    /// The first of its chain, or of a model in it: it shows the hidden prefix, so its count is set to its bill.
    ShowsPrefix,
    /// The prompt grew by more, or less, than an answer and tool results since the previous prompt of the session.
    OtherGrowth,
    /// The bill is more than four times, or less than a quarter, of what the body can be.
    NotWhatWasBilled,
}

impl LeftOut {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::OtherModel,
        Self::NoUsage,
        Self::ServerTools,
        Self::ContextEdited,
        Self::Altered,
        Self::Unreadable,
        Self::OutsideContent,
        Self::ShowsPrefix,
        Self::OtherGrowth,
        Self::NotWhatWasBilled,
    ];

    /// Stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OtherModel => "other_model",
            Self::NoUsage => "no_usage",
            Self::ServerTools => "server_tools",
            Self::ContextEdited => "context_edited",
            Self::Altered => "altered",
            Self::Unreadable => "unreadable",
            Self::OutsideContent => "outside_content",
            Self::ShowsPrefix => "shows_prefix",
            Self::OtherGrowth => "other_growth",
            Self::NotWhatWasBilled => "not_what_was_billed",
        }
    }
}
