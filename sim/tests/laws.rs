//! Every law detects its violation, and accepts valid behaviour.

use std::collections::BTreeSet;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::cache::{MarkedCache, Outcome, Prompt, PromptCache, Rules, Ticket};
use forkcast_sim::laws::{
    Answers, Compaction, Identity, Internal, Leftovers, Messages, Money, Notifications, Reads, Terminal, UsageSum,
};
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Category, ModelKey, Money as Amount, PriceBook, Terms};
use forkcast_sim::seed::Seed;
use forkcast_sim::service::{Entry, Layout};
use forkcast_sim::simulation::{Lookup, Observer};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{Draft, Level, Mark, Message, Piece, Pieces, Request, Role, Sizes, Ttl, Wire};
use forkcast_sim::{ledger, wire};
use serde_json::json;

/// A wire and a cache for drafts. Every block has a thousand tokens.
struct Bench {
    wire: Wire,
    cache: MarkedCache,
    at: Instant,
    lines: usize,
}

/// A request that was looked up.
struct Looked {
    draft: Draft,
    request: Request,
    cumulative: Vec<u64>,
    outcome: Outcome,
    at: Instant,
    line: usize,
    ticket: Ticket,
}

struct Thousands<'a>(&'a Wire, &'a Request);

impl Sizes for Thousands<'_> {
    fn tokens_at(&self, node: wire::NodeId) -> u64 {
        let at = self.1.nodes.iter().position(|own| *own == node);
        at.map_or_else(|| u64::from(self.0.prefixes.depth(node)), |at| at as u64 + 1) * 1_000
    }
}

impl Bench {
    fn new() -> Self {
        let rules = Rules::default();
        Self { wire: Wire::new(rules.forms), cache: MarkedCache::new(rules, 1), at: Instant(0), lines: 0 }
    }

    fn look(&mut self, draft: Draft) -> Looked {
        let request = self.wire.take(&draft, "scope");
        let cumulative: Vec<u64> = (1..=request.nodes.len() as u64).map(|blocks| blocks * 1_000).collect();
        let sizes = Thousands(&self.wire, &request);
        let prompt = Prompt {
            prefixes: &self.wire.prefixes,
            markers: &request.markers,
            sizes: &sizes,
            total_tokens: *cumulative.last().unwrap(),
            minimum_tokens: 1_000,
        };
        let (ticket, outcome) = self.cache.look_up(&prompt, self.at);
        self.lines += 1;
        Looked { draft, request, cumulative, outcome, at: self.at, line: self.lines - 1, ticket }
    }

    /// The first byte of the answer is sent.
    fn begin(&mut self, law: &mut dyn Observer, looked: &Looked) {
        self.cache.first_byte(&self.wire.prefixes, looked.ticket, self.at);
        law.first_byte(looked.line, self.at).unwrap();
    }

    fn show(&self, law: &mut dyn Observer, looked: &Looked) -> Result<(), String> {
        law.served(&Lookup {
            line: looked.line,
            at: looked.at,
            agent: "main",
            draft: &looked.draft,
            wire: &self.wire,
            request: &looked.request,
            cumulative: &looked.cumulative,
            outcome: &looked.outcome,
            ledger: &Line::begun(looked.line, 0, "claude-opus-5-5".into()),
        })
    }
}

/// A conversation of these texts, marked at its end.
fn draft(texts: &[&str]) -> Draft {
    let messages = texts.iter().enumerate().map(|(at, text)| {
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        Rc::new(Message { role, content: [Piece::text(text)].into() })
    });
    conversation(messages.collect())
}

fn conversation(messages: Vec<Rc<Message>>) -> Draft {
    let tail = Mark { level: Level::Messages, item: messages.len() - 1, part: 0, ttl: Ttl::FiveMinutes };
    Draft {
        model: "claude-opus-5-5".into(),
        tools: Rc::from([]),
        system: [Piece::text("Be brief.")].into(),
        messages,
        parameters: Rc::from([("max_tokens".to_owned(), "100".to_owned())]),
        marks: vec![tail],
    }
}

fn broken(result: Result<(), String>, says: &str) {
    let why = result.expect_err("the law is broken");
    assert!(why.contains(says), "{why}");
}

fn identity() -> Identity {
    Identity::new(Rules::default().forms, &Seed::new(3))
}

#[test]
fn identity_finds_blocks_that_were_not_sent() {
    let mut bench = Bench::new();
    let mut looked = bench.look(draft(&["one", "two", "three"]));
    bench.show(&mut identity(), &looked).unwrap();
    looked.draft = draft(&["one", "2", "three"]);
    broken(bench.show(&mut identity(), &looked), "the block at messages[1].content[0] is not the one that was sent");
    looked.draft = draft(&["one", "two"]);
    broken(bench.show(&mut identity(), &looked), "blocks were sent, but the cache received");
    looked.draft = draft(&["one", "two", "three"]);
    looked.draft.marks[0].item = 0;
    broken(bench.show(&mut identity(), &looked), "breakpoints moved");
}

#[test]
fn identity_finds_a_truncated_path() {
    let mut bench = Bench::new();
    let mut looked = bench.look(draft(&["one", "two", "three"]));
    looked.request.nodes.remove(1);
    broken(bench.show(&mut identity(), &looked), "has another length");
}

#[test]
fn identity_reads_one_request_of_each_hundred_again() {
    let mut bench = Bench::new();
    let mut looked = bench.look(draft(&["one", "two", "three"]));
    looked.draft = draft(&["one", "2", "three"]);
    let mut law = identity();
    let read_again: Vec<_> = (0..10_000).filter(|_| bench.show(&mut law, &looked).is_err()).collect();
    assert_eq!(read_again.iter().map(|at| at / 100).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    assert_eq!(read_again[0], 0, "the first request of a run");
    let places: BTreeSet<_> = read_again.iter().map(|at| at % 100).collect();
    assert!(places.len() > 40, "places are drawn: {places:?}");
}

#[test]
fn usage_sum_finds_an_additional_token() {
    let mut bench = Bench::new();
    let mut looked = bench.look(draft(&["one"]));
    bench.show(&mut UsageSum, &looked).unwrap();
    looked.outcome.input_tokens += 1;
    broken(bench.show(&mut UsageSum, &looked), "is not the prompt's");
}

#[test]
fn money_finds_a_bill_that_is_not_the_sum_of_its_parts_and_causes_that_are_not_the_difference() {
    let rates = PriceBook::built_in().rates(&ModelKey::from("claude-opus-5-5"), &Terms::default()).unwrap();
    let usage = wire::Usage { input_tokens: 1_000, output_tokens: 7, ..wire::Usage::default() };
    let mut line = Line::begun(0, 0, "claude-opus-5-5".into());
    line.charge = ledger::charge(Some(&rates), &usage, &[], None);
    let check = |line: &Line| Money.end(Instant(0), &[Entry::of_run(line.clone(), "main".into(), Layout::default())]);
    check(&line).unwrap();
    let mut other = line.clone();
    other.charge.bill.as_mut().unwrap().total = rates.difference(Category::Output, Category::Read, 1);
    broken(check(&other), "the parts of its bill");
    line.charge.perfect = Some(Amount::ZERO);
    broken(check(&line), "was missed");
}

#[test]
fn reads_finds_a_read_of_an_unwritten_prefix() {
    let mut bench = Bench::new();
    let mut looked = bench.look(draft(&["one"]));
    let mut law = Reads::new(&Rules::default());
    bench.show(&mut law, &looked).unwrap();
    let last = *looked.request.nodes.last().unwrap();
    (looked.outcome.hit, looked.outcome.read_tokens) = (Some(last), 2_000);
    broken(bench.show(&mut Reads::new(&Rules::default()), &looked), "that was never written");
    // Its own answer has not begun: not even its writer reads it.
    broken(bench.show(&mut law, &looked), "whose answer had not begun");
}

#[test]
fn reads_finds_a_read_after_the_lifetime_unless_it_was_kept_alive() {
    let mut bench = Bench::new();
    let mut law = Reads::new(&Rules::default());
    let minute = Duration::from_secs(60);
    for texts in [&["one"][..], &["one", "two", "three"], &["one", "two", "three", "four", "five"]] {
        let looked = bench.look(draft(texts));
        bench.show(&mut law, &looked).unwrap();
        bench.begin(&mut law, &looked);
        bench.at = bench.at + minute + minute;
    }
    // The first entry was used at zero, but longer entries that begin with it were used since: after six minutes it has
    // not expired.
    let mut looked = bench.look(draft(&["one"]));
    assert_eq!(looked.outcome.read_tokens, *looked.cumulative.last().unwrap());
    bench.show(&mut law, &looked).unwrap();
    looked.at = looked.at + minute + minute + minute + minute + minute + Duration(1);
    broken(bench.show(&mut law, &looked), "had expired");
}

fn call(id: &str) -> Piece {
    Piece::tool_use(id, "Read", &json!({ "file_path": "/a" }))
}

fn message(role: Role, content: Vec<Piece>) -> Rc<Message> {
    Rc::new(Message { role, content: content.into() })
}

#[test]
fn loop_15_answers_finds_a_call_without_a_result_and_one_with_two() {
    let mut bench = Bench::new();
    let user = message(Role::User, vec![Piece::text("Read.")]);
    let said = message(Role::Assistant, vec![call("a"), call("b")]);
    let results =
        |ids: &[&str]| message(Role::User, ids.iter().map(|id| Piece::tool_result(id, "text", false)).collect());
    let mut show = |law: &mut Answers, messages: Vec<Rc<Message>>| {
        let looked = bench.look(conversation(messages));
        bench.show(law, &looked)
    };
    let law = &mut Answers::default();
    show(law, vec![user.clone()]).unwrap();
    show(law, vec![user.clone(), said.clone(), results(&["a", "b"])]).unwrap();
    broken(show(law, vec![user.clone(), said.clone(), results(&["a"])]), "the call b has no result");
    broken(show(law, vec![user.clone(), said.clone(), results(&["a", "b", "a"])]), "a result for a, which is not open");
    broken(show(law, vec![user.clone(), said.clone(), said.clone(), results(&["a", "b"])]), "the call a appears twice");
    broken(show(law, vec![user, results(&["c"])]), "a result for c");
}

/// The shared part of siblings is checked once, their own parts each time.
#[test]
fn loop_15_answers_checks_a_siblings_own_part() {
    let mut bench = Bench::new();
    let user = message(Role::User, vec![Piece::text("Read.")]);
    let said = message(Role::Assistant, vec![call("a"), call("b")]);
    let result = |id: &str| Piece::tool_result(id, "text", false);
    let (whole, half) = (Pieces::shared(vec![result("a"), result("b")]), Pieces::shared(vec![result("a")]));
    let law = &mut Answers::default();
    let mut show = |said: &Rc<Message>, head: &Pieces, own: Piece| {
        let mut content = head.clone();
        content.push(own);
        let last = Rc::new(Message { role: Role::User, content });
        let looked = bench.look(conversation(vec![user.clone(), said.clone(), last]));
        bench.show(law, &looked)
    };
    for part in ["one", "two"] {
        show(&said, &whole, Piece::text(part)).unwrap();
    }
    broken(show(&said, &whole, result("a")), "a result for a, which is not open");
    for _ in 0..2 {
        broken(show(&said, &half, Piece::text("three")), "the call b has no result");
        show(&said, &half, result("b")).unwrap();
    }
    let other = message(Role::Assistant, vec![call("c")]);
    broken(show(&other, &half, Piece::text("four")), "a result for a, which is not open");
}

#[test]
fn loop_15_answers_reads_blocks_however_they_are_spelled() {
    let mut bench = Bench::new();
    let user = message(Role::User, vec![Piece::text("Say \"tool_use\".")]);
    let called = Piece::new(r#"{"name":"Read","input":{"id":"b"},"id":"\u0061","type":"tool_use"}"#.to_owned());
    let result = Piece::new(r#"{"content":"\"tool_use\"","type":"tool_result","tool_use_id":"a"}"#.to_owned());
    let unknown = Piece::new(r#"{"id":7,"about":"tool_use","type":"note"}"#.to_owned());
    let mut show = |said: Vec<Piece>, results: Vec<Piece>| {
        let messages = vec![user.clone(), message(Role::Assistant, said), message(Role::User, results)];
        let looked = bench.look(conversation(messages));
        bench.show(&mut Answers::default(), &looked)
    };
    show(vec![called.clone()], vec![result.clone(), unknown.clone()]).unwrap();
    show(vec![call("a")], vec![result.clone()]).unwrap();
    show(vec![called.clone()], vec![Piece::tool_result("a", "text", true)]).unwrap();
    broken(show(vec![called.clone()], vec![unknown]), "the call a has no result");
    broken(show(vec![call("a"), called], vec![result.clone()]), "the call a appears twice");
    broken(show(vec![call("b")], vec![result]), "a result for a");
}

fn state(task: &str, state: &'static str, background: bool) -> Event {
    Event::TaskState { task: task.into(), kind: "agent", state, background }
}

fn notified(task: &str, status: &'static str) -> Event {
    Event::Notified { task: task.into(), tool_use: "toolu_1".into(), status }
}

/// The result of a law for these events, and at the end.
fn watched(mut law: impl Observer, events: &[Event]) -> Result<(), String> {
    events.iter().try_for_each(|event| law.event(Instant(0), event))?;
    law.end(Instant(0), &[])
}

#[test]
fn notify_10_notifications_finds_two_none_and_one_too_early() {
    let watched = |events: &[Event]| watched(Notifications::default(), events);
    let (runs, ended) = (state("a", "running", true), state("a", "completed", true));
    let in_front = state("a", "completed", false);
    let suppressed = Event::NotifySuppressed { task: "a".into() };
    let once = notified("a", "completed");
    watched(&[runs.clone(), ended.clone(), once.clone(), suppressed.clone()]).unwrap();
    watched(&[runs.clone(), ended.clone(), suppressed]).unwrap();
    watched(&[runs.clone(), in_front.clone()]).unwrap();
    broken(watched(&[runs.clone(), ended.clone(), once.clone(), once.clone()]), "a second notification");
    broken(watched(&[runs.clone(), ended.clone()]), "was never reported");
    broken(watched(&[runs.clone(), once.clone(), ended.clone()]), "has not ended");
    broken(watched(&[runs.clone(), in_front, once]), "ran in the foreground");
    broken(watched(&[runs, ended, notified("a", "failed")]), "its notification says failed");
}

#[test]
fn life_09_terminal_finds_agents_that_continue_after_their_end() {
    let watched =
        |last: Event| watched(Terminal::default(), &[state("a", "running", true), state("a", "killed", true), last]);
    watched(state("b", "running", true)).unwrap();
    broken(watched(state("a", "completed", true)), "`a` is killed and becomes completed");
    broken(watched(state("a", "running", true)), "becomes running");
    let sent = Event::RequestSent { agent: "a".into(), turn: 1, attempt: 0, messages: 1, tools: 0, breakpoints: 1 };
    broken(watched(sent), "sends a request");
    let tool = Event::ToolStart { agent: "a".into(), tool_use: "t".into(), name: "Read".into(), during_stream: false };
    broken(watched(tool), "calls a tool");
}

fn sent(message: u64, to: &str) -> Event {
    Event::MessageSent { agent: "main".into(), tool_use: "t".into(), message, to: to.into(), how: "queued" }
}

fn delivered(message: u64, agent: &str) -> Event {
    Event::MessageDelivered { agent: agent.into(), message }
}

#[test]
fn msg_08_messages_finds_one_that_is_lost_doubled_misled_or_interrupts_a_call() {
    let watched = |events: &[Event]| watched(Messages::default(), events);
    let returned = Event::MessageReturned { agent: "a".into(), message: 1, why: "killed" };
    let start = Event::ToolStart { agent: "a".into(), tool_use: "t".into(), name: "Read".into(), during_stream: false };
    let stop = Event::ToolEnd { agent: "a".into(), tool_use: "t".into(), outcome: "ok" };
    watched(&[sent(1, "a"), start.clone(), stop, delivered(1, "a"), sent(2, "b"), delivered(2, "b")]).unwrap();
    watched(&[sent(1, "a"), returned.clone()]).unwrap();
    broken(watched(&[sent(1, "a")]), "neither delivered nor returned");
    broken(watched(&[sent(1, "a"), delivered(1, "a"), delivered(1, "a")]), "not under way");
    broken(watched(&[sent(1, "a"), delivered(1, "a"), returned]), "not under way");
    broken(watched(&[sent(1, "a"), delivered(1, "b")]), "to `a` was delivered by `b`");
    broken(watched(&[sent(1, "a"), sent(1, "a")]), "sent twice");
    broken(watched(&[sent(1, "a"), start, delivered(1, "a")]), "interrupts a call");
}

#[test]
fn life_09_msg_09_terminal_and_notifications_know_a_second_run() {
    let resumed = Event::Resumed { agent: "a".into(), entries: 2, from: "task" };
    let (runs, ended) = (state("a", "running", true), state("a", "completed", true));
    let first = [runs.clone(), ended.clone()];
    let second = [resumed.clone(), runs.clone(), ended.clone()];
    watched(Terminal::default(), &[&first[..], &second[..]].concat()).unwrap();
    broken(watched(Terminal::default(), &[runs, resumed]), "is resumed, but has not ended");
    broken(watched(Terminal::default(), &[&first[..], &second[1..]].concat()), "becomes running");
    let once = [notified("a", "completed")];
    watched(Notifications::default(), &[&first[..], &once[..], &second[..], &once[..]].concat()).unwrap();
    watched(Notifications::default(), &[&first[..], &second[..], &once[..], &once[..]].concat()).unwrap();
    broken(watched(Notifications::default(), &[&first[..], &once[..], &second[..]].concat()), "was never reported");
}

#[test]
fn internal_10_internal_finds_a_fork_that_changes_its_parent_or_never_ends() {
    let mut bench = Bench::new();
    let begin = || Event::InternalStarted { agent: "helper".into(), parent: "main".into(), caller: "auto_dream" };
    let text = |role, text: &str| message(role, vec![Piece::text(text)]);
    let mut show = |law: &mut Internal, agent: &str, messages: &[Rc<Message>]| {
        let looked = bench.look(conversation(messages.to_vec()));
        law.served(&Lookup {
            line: looked.line,
            at: looked.at,
            agent,
            draft: &looked.draft,
            wire: &bench.wire,
            request: &looked.request,
            cumulative: &looked.cumulative,
            outcome: &looked.outcome,
            ledger: &Line::begun(looked.line, 0, "claude-opus-5-5".into()),
        })
    };
    let [one, two, own, three] = [
        text(Role::User, "one"),
        text(Role::Assistant, "two"),
        text(Role::User, "what is worth keeping?"),
        text(Role::User, "three"),
    ];
    let other = text(Role::User, "1");
    let mut after = |last: &[Rc<Message>], event: Option<Event>| {
        let law = &mut Internal::default();
        show(law, "main", std::slice::from_ref(&one))?;
        law.event(Instant(0), &begin())?;
        show(law, "helper", &[one.clone(), two.clone(), own.clone()])?;
        event.iter().try_for_each(|event| law.event(Instant(0), event))?;
        show(law, "main", last)
    };
    after(&[one.clone(), two.clone(), three.clone()], None).unwrap();
    broken(after(&[one.clone(), two.clone(), own.clone()], None), "changed the messages of `main`");
    broken(after(&[other.clone(), two.clone(), three.clone()], None), "changed the messages of `main`");
    let rewritten = Event::Rewritten { agent: "main".into(), entries: 2 };
    after(&[other.clone(), two.clone(), three], Some(rewritten)).unwrap();
    let law = &mut Internal::default();
    show(law, "main", &[one, two.clone(), other.clone()]).unwrap();
    law.event(Instant(0), &begin()).unwrap();
    broken(show(law, "helper", &[other, two, own]), "does not begin like `main`");
    broken(law.end(Instant(0), &[]), "never ended");
    let task = Event::TaskState { task: "helper".into(), kind: "agent", state: "running", background: true };
    broken(law.event(Instant(0), &task), "has a task");
}

#[test]
fn compact_01_compaction_finds_a_lost_call_another_order_and_another_step() {
    let watched = |events: &[Event]| watched(Compaction::default(), events);
    let step = |step| Event::QueryStep { agent: "a".into(), iteration: 0, step };
    let done =
        |mechanism| Event::Compacted { agent: "a".into(), mechanism, tokens: 9, entries: 4, left: 4, results: 1 };
    let start = Event::ToolStart { agent: "a".into(), tool_use: "t".into(), name: "Read".into(), during_stream: false };
    let stop = Event::ToolEnd { agent: "a".into(), tool_use: "t".into(), outcome: "ok" };
    let ladder = [step("compact"), done("snip"), done("micro"), done("auto"), step("prompt")];
    watched(&[&[start.clone(), stop][..], &ladder[..], &ladder[..]].concat()).unwrap();
    broken(watched(&[start, step("compact"), done("micro")]), "while its call t had no result");
    broken(watched(&[step("compact"), done("micro"), done("snip")]), "`snip` of `a` came too late");
    broken(watched(&[step("compact"), done("auto"), done("auto")]), "came too late");
    broken(watched(&[step("compact"), step("prompt"), done("snip")]), "another step than the first");
}

#[test]
fn leftovers_finds_running_tasks_and_waiting_items() {
    let watched = |events: &[Event]| watched(Leftovers::default(), events);
    let item = |item| Event::Enqueued { item, mode: "prompt", priority: "next", agent: None, source: "user" };
    let taken = |item| Event::Dequeued { item, mode: "prompt", priority: "next", agent: None, consumer: "repl" };
    watched(&[item(1), state("a", "running", true), taken(1), state("a", "failed", true)]).unwrap();
    broken(watched(&[state("a", "running", true)]), "`a` still runs");
    broken(watched(&[item(1), item(2), taken(1)]), "item 2 still waits");
    broken(watched(&[item(1), taken(1), taken(1)]), "without having been in it");
}

#[test]
fn slash_07_leftovers_finds_commands_that_never_end_and_results_that_are_lost_or_told_twice() {
    let watched = |events: &[Event]| watched(Leftovers::default(), events);
    let begun =
        |detached| Event::SlashStarted { agent: "a".into(), parent: "main".into(), skill: "s".into(), detached };
    let ended = Event::SlashEnded { agent: "a".into(), skill: "s".into(), reason: "completed", turns: 1 };
    let item = |item| Event::Enqueued { item, mode: "prompt", priority: "later", agent: None, source: "slash" };
    let taken = |item| Event::Dequeued { item, mode: "prompt", priority: "later", agent: None, consumer: "repl" };
    watched(&[begun(false), ended.clone()]).unwrap();
    watched(&[begun(true), ended.clone(), item(1), taken(1)]).unwrap();
    broken(watched(&[begun(false)]), "`a` still runs");
    broken(watched(&[begun(true), ended.clone()]), "1 commands have no result");
    broken(watched(&[begun(true), item(1)]), "without having ended");
    broken(watched(&[begun(true), ended, item(1), item(2)]), "without having ended");
}

#[test]
fn mcp_08_leftovers_finds_connections_that_stay_open_or_are_closed_by_others() {
    let watched = |events: &[Event]| watched(Leftovers::default(), events);
    let opened = |is_open| Event::McpOpened { agent: "a".into(), server: "s".into(), connection: 3, is_open };
    let closed = |agent: &str| Event::McpClosed { agent: agent.into(), server: "s".into(), connection: 3 };
    watched(&[opened(true), closed("a")]).unwrap();
    watched(&[opened(false)]).unwrap();
    broken(watched(&[opened(true)]), "`a` never closed its connection 3");
    broken(watched(&[opened(true), closed("b")]), "`b` closed connection 3, which it had not opened");
    broken(watched(&[closed("a")]), "which it had not opened");
}

#[test]
fn diag_07_leftovers_finds_worktrees_that_nobody_keeps() {
    let watched = |events: &[Event]| watched(Leftovers::default(), events);
    let op = |op| Event::WorktreeOp { agent: "a".into(), op, path: "/w/a".into(), outcome: "ok" };
    let left = |why| Event::WorktreeLeft { agent: "a".into(), path: "/w/a".into(), why };
    watched(&[op("create"), op("remove")]).unwrap();
    watched(&[op("create"), left("changes")]).unwrap();
    watched(&[op("create"), left("hook")]).unwrap();
    broken(watched(&[op("create")]), "the worktree /w/a was left behind");
    broken(watched(&[op("create"), left("background")]), "was left behind");
}
