//! Contents as paths: equal contents have equal numbers, so that a comparison takes one step.

use std::collections::BTreeMap;

use super::Edit;
use crate::wire::Place;

/// Content up to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepId(u32);

impl StepId {
    /// No content.
    pub const START: Self = Self(0);
}

#[derive(Clone, Copy, Debug)]
struct Step {
    before: StepId,
    depth: u32,
    /// Where it was when it was first seen.
    place: Place,
}

/// All contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    /// Without the start.
    steps: Vec<Step>,
    next: BTreeMap<(StepId, [u8; 32]), StepId>,
}

impl Paths {
    /// The content `before` followed by the content with this digest.
    pub fn step(&mut self, before: StepId, digest: [u8; 32], place: Place) -> StepId {
        let steps = &mut self.steps;
        let depth = before.0.checked_sub(1).map_or(0, |at| steps[at as usize].depth) + 1;
        *self.next.entry((before, digest)).or_insert_with(|| {
            steps.push(Step { before, depth, place });
            StepId(crate::wire::number(steps.len()))
        })
    }

    /// The first place at which `now` differs from `then`; `None` if they are equal.
    pub fn difference(&self, then: StepId, now: StepId) -> Option<Edit> {
        let (mut was, mut is) = (then, now);
        let mut first = None;
        while was != is {
            let depth = self.depth(was).max(self.depth(is));
            let was_step = self.step_at(was, depth);
            let is_step = self.step_at(is, depth);
            first = match (was_step, is_step) {
                (_, Some(step)) => Some(Edit::Differs(step.place)),
                (Some(step), None) => Some(Edit::Missing(step.place)),
                (None, None) => first,
            };
            was = was_step.map_or(was, |step| step.before);
            is = is_step.map_or(is, |step| step.before);
        }
        first
    }

    fn depth(&self, id: StepId) -> u32 {
        id.0.checked_sub(1).map_or(0, |at| self.steps[at as usize].depth)
    }

    fn step_at(&self, id: StepId, depth: u32) -> Option<Step> {
        let step = id.0.checked_sub(1).map(|at| self.steps[at as usize])?;
        (step.depth == depth).then_some(step)
    }
}
