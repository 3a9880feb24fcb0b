//! Who sent a request, and when: the same fields in the ledger and in `requests.csv`.

use forkcast_scenarios::capture::Recorder;
use forkcast_scenarios::run::Request;
use forkcast_sim::time::Instant;

use crate::report::{Recorded, Senders, Zone};

/// Who sent a request.
pub(super) struct Sender {
    index: usize,
    session: Option<String>,
    chain: Option<String>,
    project: Option<String>,
    agent_kind: Option<String>,
    client: Option<String>,
    client_version: Option<String>,
}

impl Sender {
    /// Who sent a request of a report.
    pub fn of(senders: &Senders<'_>, entry: &Recorded<'_>) -> Self {
        let session = senders.session_of(entry);
        let client = entry.client().map(|client| senders.names.client(client));
        let client = client.as_deref().map(|client| match client.split_once('/') {
            Some((name, version)) => (name.to_owned(), Some(version.to_owned())),
            None => (client.to_owned(), None),
        });
        let (client, client_version) = client.unzip();
        Self {
            index: entry.line.index,
            session: session.map(|session| session.id.clone()),
            chain: senders.agent_of(entry).map(str::to_owned),
            project: session.and_then(|session| session.project.as_deref().map(str::to_owned)),
            agent_kind: senders.kind_of(entry),
            client,
            client_version: client_version.flatten(),
        }
    }

    /// Who sent a request of a run.
    pub fn simulated(recorder: &Recorder<'_>, request: &Request) -> Self {
        let run = recorder.run();
        let agent = run.agents.get(request.agent);
        Self {
            index: request.line.index,
            session: Some(run.scenario.name.to_string()),
            chain: agent.map(|agent| recorder.name(agent)),
            project: None,
            agent_kind: agent.map(|agent| agent.kind_name().to_owned()),
            client: None,
            client_version: None,
        }
    }
}

/// When a field is null.
const NO_CLIENT: &str = "if the recording has none";

record! {
    Sender, "sender":
    ordinal "index", "Position among all requests, from 0." => |it| it.index;
    text "session", "Id of its session." => |it| it.session.clone(), null("if it has none");
    text "chain", "Its agent." => |it| it.chain.clone(), null("if no profile could read the request");
    text "project", "Working directory, else the path as named; worktrees count as their repository." =>
        |it| it.project.clone(), null("if none is known");
    text "agent_kind", "Kind of agent: main, fork, or the requested type, such as Explore." =>
        |it| it.agent_kind.clone(), null("if that is unknown");
    text "client", "The program that sent it." => |it| it.client.clone(), null(NO_CLIENT);
    text "client_version", "Its version." => |it| it.client_version.clone(), null(NO_CLIENT);
}

/// When it was sent.
pub(super) struct Moment(pub Option<Instant>);

const RFC_3339: &str = "%Y-%m-%dT%H:%M:%S%.fZ";

impl Moment {
    /// In RFC 3339, if it has a day.
    pub fn text(&self) -> Option<String> {
        Zone::default().text(self.0?, RFC_3339)
    }
}

record! {
    Moment, "moment":
    millis "at_ms", "When it was sent: since 1970, in a run since its start." =>
        |it| it.0, null("if the recording has no instants");
    text "at", "The same in RFC 3339, UTC." =>
        |it| it.text(), null("if the recording has no instants, and on a clock that begins with a run or a trace");
}
