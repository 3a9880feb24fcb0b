//! The session of a cell.

use std::rc::Rc;

use forkcast_sim::agent::entry::Nature;
use forkcast_sim::agent::settings::{AgentSizes, PartSizes};
use forkcast_sim::agent::spawn::fork::Forks;
use forkcast_sim::agent::world::{Files, Shell, World};
use forkcast_sim::agent::{Entry, Settings};
use forkcast_sim::pricing::PriceBook;
use forkcast_sim::simulation::{Act, Does, Setup, Sizing};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Piece, Role, Ttl};

use super::cell::Cell;
use super::voices::Voices;

/// The setup of a cell's run, billed by `book`, without observers, digest, explanations and transcripts. A transcript holds
/// everything that its agent received, which for N children of one message is N calls each.
pub fn setup(cell: &Cell, book: &Rc<PriceBook>) -> Setup {
    let mut setup = Setup::new(1, Voices::new(cell.clone()));
    setup.settings = settings(cell);
    setup.explains = false;
    setup.digests = false;
    setup.sizing = Sizing::Declared;
    setup.rules = cell.rules;
    setup.pace = cell.pace;
    setup.rate_limits = cell.rate_limits();
    setup.book = book.clone();
    setup.history = history();
    setup.world =
        World::new(Files::new([("/repo/part.txt".to_owned(), "a part\n".to_owned())]), Shell::new(Vec::new()));
    setup.acts = vec![Act { at: Instant::default(), does: Does::Types("Look at all parts.".into()) }];
    setup
}

fn settings(cell: &Cell) -> Settings {
    let agents = cell.spawn.map(|spawn| AgentSizes {
        system: spawn.system,
        tools: spawn.tools,
        brief: spawn.brief,
        gathered: spawn.gathered,
        gathering_turns: spawn.gathering_turns,
    });
    Settings {
        features: ["FORK_SUBAGENT".to_owned()].into(),
        model: (&*cell.model).into(),
        placement: cell.placement,
        ttl: cell.ttl,
        head_ttl: cell.has_hour_head.then_some(Ttl::OneHour),
        agent_requests: cell.leaves_last.then(|| cell.requests()),
        without_user_context: true,
        without_transcripts: true,
        forks: Forks { profile: cell.profile, launch: cell.launch, ablations: cell.ablations.clone() },
        sizes: Some(PartSizes {
            system: Some(cell.system()),
            tools: Some(cell.tools()),
            history: Some(cell.history()),
            assistant: Some(cell.started_by()),
            placeholder: Some(cell.placeholders()),
            directive_block: Some(cell.directive),
            growth: Some(cell.growth),
            agents,
        }),
        ..Settings::default()
    }
}

/// A history, so that the parent's breakpoints are those of a later turn.
fn history() -> Vec<Rc<Entry>> {
    let user = Entry::user("h-1".into(), "What is here?", Nature::Typed);
    let said = Entry::of("h-2".into(), Role::Assistant, vec![Piece::text("Many parts.")], "Many parts.", Nature::Said);
    vec![user, said]
}
