//! The claims page, `published/claims.md`: claims about forks and their caches, their sources, and the results of runs.
//!
//! Every figure comes from runs of `forkcast_scenarios::fanout`; figures from other sources are in sentences that say
//! so. `tests/claims.rs` regenerates the page and compares it.
//!
//! * `measured`: the runs, and the results of one.
//! * `worked`: the published example and its 5,050 tokens per child, overlap and discount.
//! * `savings`: claims about money, and growth with size and number.
//! * `broken`: a byte that differs, and a history that is left out.
//! * `turning`: until how many requests a fork is cheaper than an agent with a brief.
//! * `sharing`: the value of sharing when children continue, when they are many, when all entries have expired.

mod broken;
mod measured;
mod savings;
mod sharing;
mod turning;
mod worked;

use std::rc::Rc;

use forkcast_scenarios::fanout::play::Unplayed;
use forkcast_sim::pricing::PriceBook;

use forkcast_reports::document::Document;
use measured::Runs;

/// The page, billed by `book`.
///
/// # Errors
/// When a run does not finish.
pub fn document(book: &Rc<PriceBook>) -> Result<Document, Unplayed> {
    let mut page = Document::default();
    page.title("What is claimed of forks, and what runs give");
    page.text(head(book));
    let runs = Runs::new(book.clone());
    let sections = [
        worked::tokens_a_child,
        worked::first_child,
        worked::overlap_and_discount,
        savings::four_dollars,
        savings::five_of_fifty_thousand,
        savings::eight_of_a_hundred_thousand,
        savings::grows,
        sharing::cheap_and_dear,
        turning::turning_points,
        broken::strip_history,
        broken::one_byte,
        sharing::share_the_cache,
    ];
    sections.into_iter().try_for_each(|section| section(&mut page, &runs))?;
    page.heading("Sources");
    page.text(sources(book));
    Ok(page)
}

fn head(book: &PriceBook) -> Vec<String> {
    vec![
        format!(
            "Every figure below the word Measured is the sum of runs of the agent runtime against the emulated cache, at the list \
             prices of {}. Counted is the input of the children alone: not their answers, which cost the same \
             in all variants, and not their parent's own requests.",
            book.version()
        ),
        "Cold: no entry of the parent lives when the children start. Warm: all that the parent sent last can be read. At once: \
         no child can read what a sibling is still writing. One first: the others wait for the first byte of the first one's answer."
            .to_owned(),
        "✓ marks cases in which the claim is true. Saved, or more, is relative to the same requests without any cache."
            .to_owned(),
        "This page is made by `FORKCAST_UPDATE=1 cargo test -p forkcast-reports claims::`, and a test compares it.".to_owned(),
    ]
}

fn sources(book: &PriceBook) -> Vec<String> {
    vec![
        "ECON-…, CACHE-…: numbered behaviours that restate two published descriptions of a forking agent, a chapter on forks and the \
         prompt cache (in English) and a layer-by-layer account of sub-agents (in Chinese), as read in November 2026."
            .to_owned(),
        "economics 3: the derivation of the formulas, and of the figures that the tests of this page hold it to.".to_owned(),
        "Cache rules: Anthropic's prompt-caching page, copies of 2026-08-21 (`docs-2026-08`) and 2026-09-22..2026-09-28 \
         (`docs-2026-09`, used if no other is named)."
            .to_owned(),
        format!("Prices: built-in book of {}; `forkcast list prices` names the page and day of each row.", book.version()),
        "Sizes are declared; they are those of the claims; if a claim gives none, the sentence above its table says what was \
         taken."
            .to_owned(),
    ]
}
