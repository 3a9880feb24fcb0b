//! Everything that happens in a session, for observers. The words are those of the contract's OBSERVABLES.
//!
//! An event carries ids, names, sizes and outcomes, but never the text of a prompt, so a log can be shown to anyone.

use std::rc::Rc;

use serde::Serialize;

use crate::time::Instant;
use crate::wire::Usage;

/// Receives events as they happen.
pub trait Sink {
    /// `event` happened at `at`.
    fn take(&self, at: Instant, event: &Event);
}

/// Something that happened. Each serialised event is one line of the log; its name is in `event`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event")]
#[expect(missing_docs, reason = "the field names and the comment of each variant explain the fields")]
#[non_exhaustive]
pub enum Event {
    // ---- input and queue
    /// A user's text passed a step on its way to the loop (INPUT-01): `front_end`, `submit`, `process`, `append`, `query`.
    #[serde(rename = "input.step")]
    Input { step: &'static str, form: &'static str },
    /// A slash command's handler ran (INPUT-04..07).
    #[serde(rename = "input.command")]
    Command { name: Rc<str>, step: &'static str },
    /// An item entered the queue.
    #[serde(rename = "queue.enqueue")]
    Enqueued { item: u64, mode: &'static str, priority: &'static str, agent: Option<Rc<str>>, source: &'static str },
    /// An item left the queue.
    #[serde(rename = "queue.dequeue")]
    Dequeued { item: u64, mode: &'static str, priority: &'static str, agent: Option<Rc<str>>, consumer: &'static str },
    // ---- the loop
    /// A loop began (LOOP-02): entries, tokens of the last answer, tools, the compaction decision.
    #[serde(rename = "query.start")]
    QueryStarted { agent: Rc<str>, entries: usize, tokens: u64, tools: usize, compaction: &'static str },
    /// A history was replaced by one text, as the scenario says; `entries` is its former length.
    #[serde(rename = "history.rewritten")]
    Rewritten { agent: Rc<str>, entries: usize },
    /// A conversation was made shorter (COMPACT-01): how, its estimated tokens before that, its entries before and after,
    /// and the number of results that were changed.
    #[serde(rename = "compacted")]
    Compacted { agent: Rc<str>, mechanism: &'static str, tokens: u64, entries: usize, left: usize, results: usize },
    /// An iteration reached a step (LOOP-03): `compact`, `prompt`, `call`, `decide`.
    #[serde(rename = "query.step")]
    QueryStep { agent: Rc<str>, iteration: u32, step: &'static str },
    /// The loop reached a checkpoint (LOOP-17).
    #[serde(rename = "checkpoint")]
    Checkpoint { agent: Rc<str>, name: &'static str },
    /// An exit check was made (STOP-01).
    #[serde(rename = "exit.check")]
    ExitCheck { agent: Rc<str>, check: &'static str, outcome: &'static str },
    /// A loop ended.
    #[serde(rename = "query.end")]
    QueryEnded { agent: Rc<str>, reason: &'static str, turns: u32 },
    /// A request was sent.
    #[serde(rename = "request.sent")]
    RequestSent { agent: Rc<str>, turn: u32, attempt: u32, messages: usize, tools: usize, breakpoints: usize },
    /// A request will be repeated after a wait.
    #[serde(rename = "request.retry")]
    Retry { agent: Rc<str>, turn: u32, attempt: u32, why: Rc<str>, wait_ms: u64 },
    /// An event of an answer arrived.
    #[serde(rename = "response.event")]
    Response { agent: Rc<str>, turn: u32, kind: &'static str, index: Option<usize> },
    /// The first event of an answer arrived.
    #[serde(rename = "response.first")]
    FirstEvent { agent: Rc<str>, turn: u32, after_ms: u64 },
    /// Usage of an answer is final.
    #[serde(rename = "usage")]
    Usage { agent: Rc<str>, turn: u32, usage: Tokens },
    // ---- tools and permission
    /// A call was handed to the streaming executor when its block began (STREAM-10).
    #[serde(rename = "tool.added")]
    ToolAdded { agent: Rc<str>, tool_use: Rc<str>, name: Rc<str> },
    /// A tool began to run.
    #[serde(rename = "tool.start")]
    ToolStart { agent: Rc<str>, tool_use: Rc<str>, name: Rc<str>, during_stream: bool },
    /// A call ended with `ok` or `error`, or never ran: `unknown_tool`, `bad_input`, `denied`, `blocked`,
    /// `interrupted`.
    #[serde(rename = "tool.end")]
    ToolEnd { agent: Rc<str>, tool_use: Rc<str>, outcome: &'static str },
    /// A tool was called that the agent does not have: why, and whether its tools are exactly its parent's (DIAG-03).
    #[serde(rename = "tool.absent")]
    ToolAbsent { agent: Rc<str>, tool_use: Rc<str>, name: Rc<str>, why: &'static str, exact: bool },
    /// A command began. `program` is its first word; `rule` is the number of the rule that matches it, if any.
    #[serde(rename = "shell.run")]
    Shell { agent: Rc<str>, program: Rc<str>, rule: Option<usize> },
    /// A tool pool was built; its dropped tools, and why (TOOLS-08, DIAG-03).
    #[serde(rename = "tools.resolved")]
    ToolsResolved { agent: Rc<str>, mode: &'static str, tools: Vec<Rc<str>>, dropped: Vec<(Rc<str>, &'static str)> },
    /// Permission was requested.
    #[serde(rename = "permission.request")]
    PermissionRequest { agent: Rc<str>, request: u64, tool: Rc<str>, route: &'static str },
    /// The request that follows shows the badge of a teammate (SWARM-09).
    #[serde(rename = "permission.badge")]
    PermissionBadge { agent: Rc<str>, request: u64, name: Rc<str>, color: Rc<str> },
    /// Permission was decided by a rule, a mode, or a user's answer.
    #[serde(rename = "permission.reply")]
    PermissionReply { agent: Rc<str>, tool: Rc<str>, allowed: bool, by: &'static str },
    /// An agent's permission mode is not the expected one: what its definition and its call say, the actual mode, and
    /// why: `teammates_only` (a call's mode has no effect here), `bypass_not_allowed`, `forks_bubble` (DIAG-04).
    #[serde(rename = "permission.mode")]
    ModeTold {
        agent: Rc<str>,
        definition: Option<&'static str>,
        call: Option<&'static str>,
        mode: &'static str,
        why: &'static str,
    },
    // ---- prompts, definitions, contexts
    /// A system prompt was rendered under these warm flags; `changed` if its bytes differ from the previous rendering
    /// (PROMPT-05).
    #[serde(rename = "prompt.rendered")]
    PromptRendered {
        agent: Rc<str>,
        sections: Rc<[&'static str]>,
        bytes: usize,
        warm_flags: Rc<[Rc<str>]>,
        changed: bool,
    },
    /// A remote flag changed.
    #[serde(rename = "flag.flipped")]
    FlagFlipped { flag: Rc<str>, value: bool },
    /// What became of a definition: `kept`, `shadowed`, `denied`, `blocked`, `invalid` (ADEF-24).
    #[serde(rename = "definition")]
    Definition { agent_type: Rc<str>, source: &'static str, outcome: &'static str, why: Rc<str> },
    /// The context of a sub-agent was created (CTX-01..06, CTX-15).
    #[serde(rename = "context.created")]
    ContextCreated {
        agent: Rc<str>,
        parent: Rc<str>,
        chain: Rc<str>,
        depth: u32,
        cwd: Rc<str>,
        read_files: usize,
        max_turns: Option<u32>,
        effort: Option<Rc<str>>,
        is_async: bool,
    },
    /// A hook was registered, ran, or was removed.
    #[serde(rename = "hook.run")]
    Hook { agent: Rc<str>, hook: Rc<str>, moment: &'static str, outcome: &'static str },
    /// A skill was put into an agent's prompt.
    #[serde(rename = "skill.injected")]
    Skill { agent: Rc<str>, skill: Rc<str>, matched: &'static str },
    // ---- worktrees
    /// An operation on an agent's worktree: `reuse`, `fetch`, `create`, `link`, `status`, `remove`, `branch`; `ok`,
    /// `failed`, `warning`, or `waits` for a password (WORKTREE-10..12).
    #[serde(rename = "worktree.op")]
    WorktreeOp { agent: Rc<str>, op: &'static str, path: Rc<str>, outcome: &'static str },
    /// A worktree stays although its agent ended or left the foreground: for its `changes`, because a `hook` made it, or
    /// because the agent goes on in the `background` (DIAG-07).
    #[serde(rename = "worktree.left")]
    WorktreeLeft { agent: Rc<str>, path: Rc<str>, why: &'static str },
    // ---- servers
    /// The session's connection to an MCP server changed: `pending`, `ready`, `failed`, `gone`.
    #[serde(rename = "mcp.server")]
    McpServer { server: Rc<str>, connection: u64, state: &'static str },
    /// An agent opened a connection of its own to a server, or could not (MCP-06).
    #[serde(rename = "mcp.open")]
    McpOpened { agent: Rc<str>, server: Rc<str>, connection: u64, is_open: bool },
    /// An agent closed a connection (MCP-08).
    #[serde(rename = "mcp.close")]
    McpClosed { agent: Rc<str>, server: Rc<str>, connection: u64 },
    /// The connections that an agent can use: its parent's and its own, by server (CTX-03).
    #[serde(rename = "mcp.clients")]
    McpClients { agent: Rc<str>, clients: Vec<(Rc<str>, u64)> },
    /// A call waits for servers that its agent type requires (MCP-02).
    #[serde(rename = "mcp.wait")]
    McpAwaited { agent: Rc<str>, tool_use: Rc<str>, servers: Vec<Rc<str>> },
    // ---- sub-agents and tasks
    /// A call of the Agent tool was routed (AGENT-21..24).
    #[serde(rename = "agent.route")]
    Routed {
        agent: Rc<str>,
        tool_use: Rc<str>,
        route: &'static str,
        agent_type: Rc<str>,
        model: Rc<str>,
        background: bool,
        why: &'static str,
    },
    /// A call of the Agent tool was refused.
    #[serde(rename = "agent.refused")]
    Refused { agent: Rc<str>, tool_use: Rc<str>, why: Rc<str> },
    /// An agent started to run under a task.
    #[serde(rename = "agent.start")]
    AgentStarted { agent: Rc<str>, parent: Rc<str>, agent_type: Rc<str>, is_async: bool },
    /// An agent failed; how its waiting parent handles it depends on what the agent had said (SYNC-16, SYNC-17,
    /// ASYNC-08).
    #[serde(rename = "agent.failed")]
    AgentFailed { agent: Rc<str>, why: Rc<str> },
    /// A race between the next message of a synchronous child and the background signal was decided (SYNC-07).
    #[serde(rename = "race")]
    Race { agent: Rc<str>, winner: &'static str },
    /// A background agent took over a synchronous one (SYNC-09).
    #[serde(rename = "takeover")]
    Takeover { agent: Rc<str>, entries: usize, signal: &'static str },
    /// A task changed its state, or moved to the background with an unchanged state. Only tasks that end in the
    /// background are notified.
    #[serde(rename = "task.state")]
    TaskState { task: Rc<str>, kind: &'static str, state: &'static str, background: bool },
    /// A background task makes no progress. This is reported, but does not end the task (NOTIFY-14).
    #[serde(rename = "task.stuck")]
    Stuck { task: Rc<str> },
    /// A name was registered for an agent (AGENT-26).
    #[serde(rename = "agent.named")]
    Named { agent: Rc<str>, name: Rc<str>, replaced: Option<Rc<str>> },
    /// A notification was suppressed because the task's end was already reported.
    #[serde(rename = "notify.suppressed")]
    NotifySuppressed { task: Rc<str> },
    /// A call of TaskOutput has its result: the task's state, how the read ended (`at_once`, `ended`, `timed_out`), and
    /// whether slow work after the task's end was done too (DIAG-08). Then why a result may be unseen (DIAG-01): how the
    /// end was reported before this call (`none`, `enqueued`, `read`), and whether a consumer drains the queue.
    #[serde(rename = "task.read")]
    TaskRead {
        agent: Rc<str>,
        task: Rc<str>,
        tool_use: Rc<str>,
        state: &'static str,
        how: &'static str,
        settled: bool,
        reported: &'static str,
        drains: bool,
    },
    /// A message to an agent was accepted: it is `queued` for a running agent, or `resumed` one that had ended (MSG-07,
    /// MSG-09, MSG-10).
    #[serde(rename = "message.sent")]
    MessageSent { agent: Rc<str>, tool_use: Rc<str>, message: u64, to: Rc<str>, how: &'static str },
    /// A message became part of its receiver's conversation (MSG-08).
    #[serde(rename = "message.delivered")]
    MessageDelivered { agent: Rc<str>, message: u64 },
    /// The receiver ended before it took a message; its sender gets the reason: the state in which the receiver ended.
    #[serde(rename = "message.returned")]
    MessageReturned { agent: Rc<str>, message: u64, why: &'static str },
    /// A message was not accepted: why, and whether the receiver is a registered name, has a task, and has a transcript
    /// (DIAG-02).
    #[serde(rename = "message.refused")]
    MessageRefused {
        agent: Rc<str>,
        tool_use: Rc<str>,
        why: &'static str,
        registered: bool,
        task: bool,
        transcript: bool,
    },
    /// An agent that had ended starts a second run under its id, with this many messages of its `task` or only its
    /// `transcript` (MSG-09, MSG-10).
    #[serde(rename = "agent.resumed")]
    Resumed { agent: Rc<str>, entries: usize, from: &'static str },
    // ---- teams
    /// An agent joined a team: its badge, where it runs (SWARM-01), and whether it is to plan first (SWARM-20).
    #[serde(rename = "team.joined")]
    TeammateJoined {
        agent: Rc<str>,
        name: Rc<str>,
        color: Rc<str>,
        team: Rc<str>,
        place: &'static str,
        plan_mode_required: bool,
    },
    /// A teammate waits for a message after an answer, or continues.
    #[serde(rename = "team.idle")]
    TeammateIdle { agent: Rc<str>, is_idle: bool },
    /// A message was put into a mailbox, which now has this many unread ones (SWARM-16).
    #[serde(rename = "mailbox.put")]
    MailboxPut { mailbox: Rc<str>, message: u64, from: Rc<str>, kind: &'static str, unread: usize },
    /// A mailbox is full: the sender of this message waits (SWARM-15).
    #[serde(rename = "mailbox.full")]
    MailboxFull { mailbox: Rc<str>, message: u64, from: Rc<str> },
    /// A message was read at a poll, this long after it was put (SWARM-17).
    #[serde(rename = "mailbox.take")]
    MailboxTake { mailbox: Rc<str>, message: u64, waited_ms: u64 },
    /// A message was not read, because the owner of the mailbox had left.
    #[serde(rename = "mailbox.return")]
    MailboxReturned { mailbox: Rc<str>, message: u64, why: &'static str },
    /// An entry of the shared list was `created`, `assigned`, `claimed` or `updated` (SWARM-10, SWARM-11).
    #[serde(rename = "list.entry")]
    ListEntry { entry: Rc<str>, by: Rc<str>, does: &'static str, owner: Option<Rc<str>>, status: &'static str },
    /// An entry of the shared list could not be taken or changed: it is `unknown`, `owned` by another, or `begun`.
    #[serde(rename = "list.refused")]
    ListRefused { by: Rc<str>, why: &'static str },
    /// The session forgot a task that had ended, and the names of its agent.
    #[serde(rename = "task.forgotten")]
    Forgotten { task: Rc<str> },
    /// A call of the Agent tool has its result: `completed`, `async_launched`, `teammate_spawned` or
    /// `remote_launched` (RESULT-02), with its totals.
    #[serde(rename = "agent.result")]
    AgentResult {
        agent: Rc<str>,
        tool_use: Rc<str>,
        status: &'static str,
        tokens: u64,
        tool_uses: u64,
        duration_ms: u64,
    },
    /// A notification of a task's end was enqueued.
    #[serde(rename = "notify.enqueued")]
    Notified { task: Rc<str>, tool_use: Rc<str>, status: &'static str },
    /// A cleanup step was made (SYNC-18..23, CTX-16).
    #[serde(rename = "cleanup.step")]
    Cleanup { agent: Rc<str>, step: &'static str },
    /// Slow work after a task's end (ASYNC-09).
    #[serde(rename = "followup")]
    FollowUp { task: Rc<str>, work: &'static str, step: &'static str },
    // ---- forks
    /// A fork's messages were built from what its parent had sent (FORK-27); `place` is its position among its
    /// siblings.
    #[serde(rename = "fork.built")]
    ForkBuilt {
        agent: Rc<str>,
        parent: Rc<str>,
        tool_use: Rc<str>,
        profile: &'static str,
        place: u32,
        history: usize,
        built: usize,
        ablations: Vec<&'static str>,
    },
    /// An Agent call did not fork although forks are enabled: every condition that failed (DIAG-05).
    #[serde(rename = "fork.closed")]
    ForkClosed { agent: Rc<str>, tool_use: Rc<str>, failed: Vec<&'static str> },
    /// A fork was not allowed to fork (FORK-44..48).
    #[serde(rename = "fork.refused")]
    ForkRefused { agent: Rc<str>, tool_use: Rc<str>, by: &'static str },
    /// A fork started a named agent, against its instructions (C30).
    #[serde(rename = "fork.violation")]
    ForkViolation { agent: Rc<str>, tool_use: Rc<str>, agent_type: Rc<str> },
    /// A fork's report was read (FORK-42).
    #[serde(rename = "fork.report")]
    ForkReport { agent: Rc<str>, is_well_formed: bool, problem: Option<Rc<str>> },
    /// A fork's parent had no rendered prompt to share, so the prompt was rendered for the fork (G06).
    #[serde(rename = "prefix.unverified")]
    PrefixUnverified { agent: Rc<str> },
    // ---- internal forks
    /// A helper of the runtime started a fork of `parent` (INTERNAL-03). No call asked for it.
    #[serde(rename = "internal.start")]
    InternalStarted { agent: Rc<str>, parent: Rc<str>, caller: &'static str },
    /// It ended, and only its caller has the result (INTERNAL-10).
    #[serde(rename = "internal.end")]
    InternalEnded { agent: Rc<str>, caller: &'static str, reason: &'static str, turns: u32 },
    // ---- commands that run as agents
    /// A skill was called as a command: `context` of its frontmatter, and what it was loaded as: `fork` or `inline`
    /// (DIAG-06).
    #[serde(rename = "slash.context")]
    SlashContext { skill: Rc<str>, frontmatter: Option<Rc<str>>, context: &'static str },
    /// A skill started an agent of its own (SLASH-03); nothing waits for it if it is `detached` (SLASH-06).
    #[serde(rename = "slash.start")]
    SlashStarted { agent: Rc<str>, parent: Rc<str>, skill: Rc<str>, detached: bool },
    /// That agent ended.
    #[serde(rename = "slash.end")]
    SlashEnded { agent: Rc<str>, skill: Rc<str>, reason: &'static str, turns: u32 },
    // ---- outputs
    /// An entry was written to a transcript.
    #[serde(rename = "transcript.append")]
    TranscriptAppend { agent: Rc<str>, file: Rc<str>, entry: Rc<str>, kind: &'static str },
    /// An event for a host program (SYNC-21): `progress`, `completed`, `failed`, `stopped`.
    #[serde(rename = "sdk.event")]
    Sdk { agent: Rc<str>, kind: &'static str },
    /// Something was shown.
    #[serde(rename = "ui.event")]
    Ui { agent: Rc<str>, kind: &'static str },
    /// The user did something: `types`, `escape`, `opens_dialog`, `closes_dialog`, `leaves`, `background`, `answers`, `kills`,
    /// `rewrites`, `forgets`,
    /// `asks_aside`.
    #[serde(rename = "user")]
    User { does: &'static str },
}

/// Usage in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Plain input.
    pub input: u64,
    /// Read from the cache.
    pub read: u64,
    /// Written for five minutes.
    pub write_5m: u64,
    /// Written for an hour.
    pub write_1h: u64,
    /// Output.
    pub output: u64,
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.input_tokens,
            read: usage.cache_read_input_tokens,
            write_5m: usage.ephemeral_5m_input_tokens,
            write_1h: usage.ephemeral_1h_input_tokens,
            output: usage.output_tokens,
        }
    }
}
