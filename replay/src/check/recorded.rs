//! What the usage of a transcript shows. System prompt and tools are hidden there, and the recorded read says more than the
//! blocks that are left: a request is judged as in the replay of its session. So `check`, `replay` and `explain` name the
//! same causes, tokens and money (`design.md` 2).

use forkcast_sim::diagnosis::{Cause, CauseKind, ChangeSite, Explanation};
use forkcast_sim::guard::{Finding, Loss, NoteKind, Noted, Report, Rule};
use forkcast_sim::pricing::{Category, Money};
use forkcast_sim::service::{Entry, Evidence};
use forkcast_sim::wire::{Level, Maker};

/// What a request lost, by its replay.
#[derive(Debug)]
pub(super) struct Account {
    chain: String,
    /// The request before it in its chain.
    older: Option<usize>,
    /// The service whose cache diagnosis has words for its causes.
    provider: Option<Maker>,
    /// What the transcript shows.
    evidence: Option<Evidence>,
    missed: Vec<(Cause, Loss)>,
}

impl Account {
    /// `None` if its replay cannot say.
    pub fn of(entry: &Entry, chain: &str, older: Option<usize>, provider: Option<Maker>) -> Option<Self> {
        let line = &entry.line;
        let none = Explanation::default();
        // What has no usage enters no sum, if others have one.
        let uncounted = Some(&none).filter(|_| line.recorded.is_none());
        let explanation = line.explanation.as_ref().or(uncounted)?;
        let billed_as = |cause: Cause| {
            let of_cause = explanation.missed.iter().filter(|missed| missed.cause == cause);
            of_cause.max_by_key(|missed| missed.tokens).map_or(Category::Input, |missed| missed.billed_as)
        };
        let missed = line.charge.causes.iter().map(|part| {
            let billed_as = billed_as(part.cause);
            (part.cause, Loss { tokens: part.tokens, is_upper_bound: false, billed_as, cost: part.cost, requests: 1 })
        });
        let evidence = entry.evidence.clone();
        Some(Self { chain: chain.to_owned(), older, provider, evidence, missed: missed.collect() })
    }

    fn take(&mut self, cause: Cause) -> Option<Loss> {
        let at = self.missed.iter().position(|(missed, _)| *missed == cause)?;
        Some(self.missed.remove(at).1)
    }
}

/// Gives each change of a report on one session the loss that its request has by `accounts`, which are in step with the
/// requests, and adds changes of what is hidden.
pub(super) fn settle(report: &mut Report, mut accounts: Vec<Option<Account>>) {
    report.findings.retain_mut(|finding| {
        let account = accounts.get_mut(finding.request).and_then(Option::as_mut);
        let Some(account) = account.filter(|_| !finding.with_sibling) else { return true };
        let loss = account.take(finding.cause);
        let is_shown = loss.is_some() || is_change(finding.cause);
        finding.breaks_prefix |= loss.is_some_and(|loss| loss.tokens > 0);
        finding.loss = loss.or_else(|| finding.loss.map(|loss| nothing(&loss)));
        is_shown
    });
    let is_settled = |request: usize| accounts.get(request).is_some_and(Option::is_some);
    report.notes.retain(|note| !(matches!(note.note, NoteKind::Time(_)) && is_settled(note.request)));
    for (request, account) in accounts.into_iter().enumerate() {
        let Some(Account { chain, older, provider, evidence, missed }) = account else { continue };
        let shows = evidence.as_ref().map_or("", |evidence| evidence.shows);
        for (cause, loss) in missed {
            let chain = chain.clone();
            if is_change(cause) {
                let (level, path) = place(cause);
                report.findings.push(Finding {
                    rule: Rule::Stability,
                    chain,
                    request,
                    older,
                    with_sibling: false,
                    site: ChangeSite::new(cause, level, path.to_owned(), shows.to_owned()),
                    provider,
                    breaks_prefix: !evidence.as_ref().is_some_and(|evidence| evidence.is_of_provider(cause)),
                    loss: Some(loss),
                    windows: None,
                    strip: Vec::new(),
                });
            } else {
                report.notes.push(Noted {
                    chain,
                    request,
                    note: NoteKind::Time(cause),
                    path: String::new(),
                    answer: None,
                });
            }
        }
    }
}

/// The same without its tokens: they have another cause.
fn nothing(loss: &Loss) -> Loss {
    Loss { tokens: 0, cost: loss.cost.map(|_| Money::ZERO), ..*loss }
}

/// Something in the request changed. Breakpoints are left out: those of a transcript are the client's habits, not recorded.
fn is_change(cause: Cause) -> bool {
    cause == Cause::ModelChanged || cause.kind() == CauseKind::Content
}

/// The part of the request in which a change is that no block shows.
fn place(cause: Cause) -> (Level, &'static str) {
    match cause {
        Cause::ModelChanged => (Level::Tools, "model"),
        Cause::ToolsAdded | Cause::ToolsRemoved | Cause::ToolsReordered | Cause::ToolChanged => (Level::Tools, "tools"),
        Cause::SystemChanged => (Level::System, "system"),
        Cause::LevelParameter => (Level::Messages, ""),
        _ => (Level::Messages, "messages"),
    }
}
