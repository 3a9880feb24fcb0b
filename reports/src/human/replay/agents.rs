//! The agents of the dearest sessions as trees: parents and children, with the cost of each including its children.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use forkcast_replay::transcript::{AgentKind, SpawnMode};
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Usage;

use crate::document::{Cell, Column, Document, Table, count, several};
use crate::report::{Agent, Report, Session, Side, rank};

/// Most sessions shown as trees.
const TREES_SHOWN: usize = 2;

/// Most lines of a tree shown to people.
const LINES_SHOWN: usize = 14;

/// The maximum number of equal siblings that are shown separately; more become one line.
const EQUAL_SIBLINGS: usize = 3;

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let mut sessions: Vec<&Session> = report.sessions.iter().filter(|session| is_tree(session)).collect();
    sessions.sort_by_key(|session| (rank(&session.account), session.index));
    for session in sessions.into_iter().take(TREES_SHOWN) {
        document.heading(format!("Agents of {}: {}", report.brief(session), several(session.chains as u64, "agent")));
        document.table(table(session));
    }
}

fn is_tree(session: &Session) -> bool {
    session.agents.iter().any(|agent| agent.parent.is_some())
}

fn table(session: &Session) -> Table {
    let mut table = Table::new(
        "agents",
        vec![
            Column::name("Agent", "agent"),
            Column::left("Ran", "mode").optional(),
            Column::right("Requests", "requests"),
            Column::right("Hit rate", "hit_rate").optional(),
            Column::right("Output", "output_tokens").optional(),
            Column::right("Cost", "cost_usd").kept(),
            Column::right("With its own", "with_children_usd").kept(),
        ],
    );
    let tree = Tree::of(session);
    let roots = session.agents.iter().enumerate().filter(|(_, agent)| agent.parent.is_none()).map(|(at, _)| at);
    for node in tree.nodes(roots.collect()) {
        tree.draw(&node, "", "", &mut table.rows);
    }
    table.shown_max = LINES_SHOWN;
    table.rows_are = "lines (--format json lists every agent)";
    table
}

/// One line of a tree: an agent, or several equal ones.
struct Node {
    agents: Vec<usize>,
}

struct Tree<'s> {
    session: &'s Session,
    children: BTreeMap<usize, Vec<usize>>,
}

impl<'s> Tree<'s> {
    fn of(session: &'s Session) -> Self {
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, agent) in session.agents.iter().enumerate() {
            if let Some(parent) = agent.parent {
                children.entry(parent).or_default().push(at);
            }
        }
        Self { session, children }
    }

    fn agent(&self, at: usize) -> &'s Agent {
        &self.session.agents[at]
    }

    /// Siblings, the most expensive first; many equal ones without children are one node.
    fn nodes(&self, siblings: Vec<usize>) -> Vec<Node> {
        let (parents, childless): (Vec<usize>, Vec<usize>) =
            siblings.into_iter().partition(|at| self.children.contains_key(at));
        let mut nodes: Vec<Node> = parents.into_iter().map(|at| Node { agents: vec![at] }).collect();
        let mut alike = BTreeMap::<_, Vec<usize>>::new();
        for at in childless {
            let agent = self.agent(at);
            alike.entry((agent.kind.name(), agent.kind.mode().map(SpawnMode::word))).or_default().push(at);
        }
        for agents in alike.into_values() {
            if agents.len() > EQUAL_SIBLINGS {
                nodes.push(Node { agents });
            } else {
                nodes.extend(agents.into_iter().map(|at| Node { agents: vec![at] }));
            }
        }
        nodes.sort_by_key(|node| (Reverse(self.with_children(node).cost), node.agents.first().copied()));
        nodes
    }

    fn own(&self, node: &Node) -> Side {
        sum(node.agents.iter().map(|at| self.agent(*at).billed))
    }

    fn with_children(&self, node: &Node) -> Side {
        sum(node.agents.iter().map(|at| self.agent(*at).with_children))
    }

    /// Adds the line of a node, and beneath it those of its children. A tree has no cycles: agents in a cycle are shown
    /// alone.
    fn draw(&self, node: &Node, branch: &str, under: &str, rows: &mut Vec<Vec<Cell>>) {
        let Some(first) = node.agents.first() else { return };
        let agent = self.agent(*first);
        let own = self.own(node);
        let children = self.children.get(first).filter(|_| node.agents.len() == 1);
        rows.push(vec![
            Cell::Text(format!("{branch}{}", title(agent, node.agents.len()))),
            agent.kind.mode().map_or(Cell::Empty, |mode| Cell::text(mode.word())),
            Cell::Count(node.agents.iter().map(|at| self.agent(*at).requests).sum()),
            Cell::Share(own.usage.hit_rate()),
            Cell::Count(own.usage.output_tokens),
            Cell::Money(own.cost),
            if children.is_some() { Cell::Money(self.with_children(node).cost) } else { Cell::Empty },
        ]);
        let nodes = children.map_or_else(Vec::new, |children| self.nodes(children.clone()));
        let last = nodes.len().saturating_sub(1);
        for (at, child) in nodes.iter().enumerate() {
            let (arm, beneath) = if at == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            self.draw(child, &format!("{under}{arm}"), &format!("{under}{beneath}"), rows);
        }
    }
}

fn sum(sides: impl Iterator<Item = Side>) -> Side {
    sides.fold(Side { usage: Usage::default(), cost: None }, |sum, side| Side {
        usage: sum.usage + side.usage,
        cost: match (sum.cost, side.cost) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(Money::ZERO) + other.unwrap_or(Money::ZERO)),
        },
    })
}

/// `Explore a1b2c3`, `12 × Explore`, with its final state.
fn title(agent: &Agent, agents: usize) -> String {
    let what = if agent.kind == AgentKind::SUB_AGENT { "sub-agent" } else { agent.kind.name() };
    if agents > 1 {
        return format!("{} × {what}", count(agents as u64));
    }
    let id = if agent.kind.word() == what && (what == "main" || agent.id == what) {
        String::new()
    } else {
        format!(" {}", agent.id)
    };
    let resumed = match agent.resumptions {
        0 => String::new(),
        1 => ", resumed".to_owned(),
        times => format!(", resumed {} times", count(times)),
    };
    format!("{what}{id}{resumed}")
}
