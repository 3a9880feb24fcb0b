//! Where a read lands that finds nothing of the conversation: the hidden prefix, by its known sizes.

use std::sync::Arc;

use super::Outgoing;
use super::observation::{Class, Owner, Shared};
use super::track::Track;

/// Tokens of the hidden prefix, from the most to the least particular source: this agent, this user and version, this
/// version, this user and model, this model. Without any, half of the first prompt.
pub(super) fn landing(track: &Track, owner: &Owner, request: &Outgoing<'_>, class: Class, shared: &Shared) -> u64 {
    let own = |class: Class| track.landed.get(&(request.model.clone(), owner.state, class)).copied();
    let of_user = |class: Class| shared.landing(owner, class, 0, request.at);
    let particular = match class {
        Class::In => own(Class::In)
            .or_else(|| of_user(Class::In))
            .or_else(|| of_user(Class::First))
            .or_else(|| own(Class::Out))
            .or_else(|| of_user(Class::Out)),
        _ => of_user(Class::Out)
            .or_else(|| own(Class::Out))
            .or_else(|| of_user(Class::First))
            .or_else(|| of_user(Class::In))
            .or_else(|| own(Class::In)),
    };
    particular
        .or_else(|| of_model(track, request.model, Some(class)))
        .or_else(|| of_model(track, request.model, None))
        .or_else(|| (1..4).find_map(|level| shared.landing_of_any(owner, class, level, request.at)))
        .unwrap_or(track.first_total / 2)
}

pub(super) fn of_model(track: &Track, model: &Arc<str>, class: Option<Class>) -> Option<u64> {
    let mut landed = track.landed.iter().filter(|((of, _, _), _)| of == model);
    landed.find(|((_, _, of), _)| class.is_none_or(|class| *of == class)).map(|(_, tokens)| *tokens)
}
