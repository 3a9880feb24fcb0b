//! Size of a prompt by a tokenizer, and whether it can be compared with the bill.

use crate::outside::words;
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

words! {
    /// Why the count of a request cannot be compared with its bill.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum LeftOut: word {
        /// Not answered by a Claude model, or by one whose tokenizer is not known.
        OtherModel = "other_model",
        /// No usage is recorded, or it is zero.
        NoUsage = "no_usage",
        /// Server-side tools ran: the usage is a sum over several prompts.
        ServerTools = "server_tools",
        /// The provider edited the prompt before it counted it.
        ContextEdited = "context_edited",
        /// The body was altered in transit, or its texts were replaced by the recorder.
        Altered = "altered",
        /// The body is no request of the Messages API.
        Unreadable = "unreadable",
        /// It contains an image or a document by address, or thinking with hidden text.
        OutsideContent = "outside_content",
        /// The first of its chain, or of a model in it: it shows the hidden prefix, so its count is set to its bill.
        ShowsPrefix = "shows_prefix",
        /// The prompt grew by more, or less, than an answer and tool results since the previous prompt of the session.
        OtherGrowth = "other_growth",
        /// The bill is more than four times, or less than a quarter, of what the body can be.
        NotWhatWasBilled = "not_what_was_billed",
    }
}
