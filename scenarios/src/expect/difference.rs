//! Compares the first difference of a request with an expectation: cause, level, path, offsets, in the words of
//! `forkcast diff`.

use forkcast_sim::diagnosis::{Difference, compare};
use forkcast_sim::wire::{Draft, NormalForms, Wire};

use crate::format::expect::DifferenceClaim;
use crate::run::Request;

/// The first difference from the previous request of its chain.
pub(super) fn from_chain(request: &Request) -> Option<Difference> {
    request.line.explanation.as_ref()?.differences.first().cloned()
}

/// The first difference between `older` and `newer`.
pub(super) fn between(older: &Draft, newer: &Draft) -> Option<Difference> {
    let mut wire = Wire::new(NormalForms::default());
    let older = wire.take(older, "scope");
    let newer = wire.take(newer, "scope");
    compare(&wire, &older, &newer).differences.into_iter().next()
}

/// Why the expectation fails, if it does.
pub(super) fn wrong(claim: &DifferenceClaim, found: Option<&Difference>, name: &str) -> Option<String> {
    let Some(found) = found else { return Some(format!("{name} has no difference")) };
    let differs = |wanted: bool| !wanted;
    let number = |wanted: Option<u64>, found: Option<u64>| wanted.is_some() && wanted != found;
    let wrong = differs(claim.cause.is_none_or(|cause| cause == found.cause))
        || differs(claim.level.is_none_or(|level| level == found.level))
        || differs(claim.path.as_deref().is_none_or(|path| path == found.path))
        || differs(claim.name.as_deref().is_none_or(|name| name == found.name))
        || number(claim.offset_in_block, found.offset_in_block)
        || number(claim.offset_in_prefix, found.offset_in_prefix);
    wrong.then(|| format!("{name} first differs in {}", told(found)))
}

fn told(found: &Difference) -> String {
    let offset = |name: &str, offset: Option<u64>| offset.map_or_else(String::new, |at| format!(", {name} {at}"));
    format!(
        "{}, level {}, path {}, {}{}{}",
        found.cause,
        found.level.name(),
        found.path,
        found.name,
        offset("offset_in_block", found.offset_in_block),
        offset("offset_in_prefix", found.offset_in_prefix)
    )
}
