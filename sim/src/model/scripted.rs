//! A model that answers from a scenario's script.
//!
//! Rules are tried in order; the first rule that fits and is not used up answers. Every agent plays the rules from the
//! start, so two agents of one type get the same answers unless a rule names the instance.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use super::answer::{Answer, Fault, Said, Unseen};
use super::{Event, Question, Script, Unscripted};
use crate::time::Duration;

/// When a reply is given, and the reply.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// Type or id of the agent, or id of the call that started it; `None` fits all.
    pub agent: Option<Rc<str>>,
    /// The agent's number among those of its type, counted from one in order of their first questions.
    pub instance: Option<u32>,
    /// The number of the agent's answered request, counted from zero.
    pub turn: Option<u32>,
    /// A call whose result the newest message has.
    pub after: Option<Rc<str>>,
    /// Text that the last user text contains.
    pub last_user: Option<Rc<str>>,
    /// The complete last user text.
    pub last_user_is: Option<Rc<str>>,
    /// How often the rule answers one agent; `None` for no limit.
    pub times: Option<u32>,
    /// The reply.
    pub reply: Reply,
}

/// The reply of a rule.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Its id in the script, by which [`Utterance`] names it.
    pub id: Option<Rc<str>>,
    /// Blocks of one message. A call without id gets one.
    pub said: Vec<Said>,
    /// Raw events instead of blocks.
    pub events: Option<Vec<Event>>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// Time to the first byte.
    pub first_byte: Option<Duration>,
    /// Time from the first byte to the end.
    pub streaming: Option<Duration>,
    /// Time from the first byte to the end of each block.
    pub block_ends: Vec<Duration>,
    /// What happened to the prompt of the request.
    pub unseen: Unseen,
    /// The request goes to this model: the client has switched to it.
    pub model: Option<Rc<str>>,
}

/// A reply that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance {
    /// The agent that asked.
    pub agent: Rc<str>,
    /// Number of its earlier requests that were answered.
    pub turn: u32,
    /// The reply's id, if it has one.
    pub reply: Option<Rc<str>>,
}

/// The replies that a script has given so far, in order; shared with the script.
pub type Utterances = Rc<RefCell<Vec<Utterance>>>;

/// A model that answers by rules.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    rules: Vec<Rule>,
    /// Rules by agent and instance, in order. A lookup reads only the rules of its agent, not those of all others.
    of: BTreeMap<Whom, Vec<usize>>,
    /// How often each rule has answered an agent.
    spoken: BTreeMap<(Rc<str>, usize), u32>,
    /// Which instance of its type each agent is.
    instances: BTreeMap<Rc<str>, u32>,
    of_type: BTreeMap<Rc<str>, u32>,
    messages: u64,
    utterances: Utterances,
}

/// Whom a rule applies to: type or id of the agent, and instance; `None` fits all.
type Whom = (Option<Rc<str>>, Option<u32>);

impl Rule {
    const fn reads_text(&self) -> bool {
        self.last_user.is_some() || self.last_user_is.is_some()
    }

    fn fits_text(&self, text: &str) -> bool {
        self.last_user.as_deref().is_none_or(|wanted| text.contains(wanted))
            && self.last_user_is.as_deref().is_none_or(|wanted| text == wanted)
    }
}

impl Scripted {
    /// A script of these rules.
    pub fn new(rules: Vec<Rule>) -> Self {
        let mut of: BTreeMap<Whom, Vec<usize>> = BTreeMap::new();
        for (at, rule) in rules.iter().enumerate() {
            of.entry((rule.agent.clone(), rule.instance)).or_default().push(at);
        }
        Self { rules, of, ..Self::default() }
    }

    /// The rules for the asking agent, instance `instance` of its type, in order. A rule may appear twice.
    fn rules_for(&self, question: &Question, instance: u32) -> impl Iterator<Item = usize> {
        let names =
            [None, Some(question.agent.clone()), Some(question.agent_type.clone()), question.started_by.clone()];
        // Nothing was started by no call, so the second absent name is left out.
        let names = names.into_iter().enumerate().filter(|(at, name)| *at == 0 || name.is_some());
        let whom = names.flat_map(|(_, name)| [(name.clone(), None), (name, Some(instance))]);
        let mut lists: Vec<&[usize]> = whom.filter_map(|whom| self.of.get(&whom)).map(Vec::as_slice).collect();
        std::iter::from_fn(move || {
            let first = lists.iter_mut().filter(|list| !list.is_empty()).min_by_key(|list| list[0])?;
            let (at, rest) = first.split_first()?;
            *first = rest;
            Some(*at)
        })
    }

    /// The replies that it will have given, in order.
    pub fn utterances(&self) -> Utterances {
        self.utterances.clone()
    }

    fn instance(&mut self, question: &Question) -> u32 {
        if let Some(instance) = self.instances.get(&question.agent) {
            return *instance;
        }
        let count = self.of_type.entry(question.agent_type.clone()).or_default();
        *count += 1;
        self.instances.insert(question.agent.clone(), *count);
        *count
    }

    fn find(&mut self, question: &Question) -> Option<usize> {
        let instance = self.instance(question);
        let mut last_user = None;
        let answered = question.answered_calls();
        self.rules_for(question, instance).find(|at| {
            let rule = &self.rules[*at];
            let spoken = || self.spoken.get(&(question.agent.clone(), *at)).copied().unwrap_or(0);
            rule.turn.is_none_or(|turn| turn == question.turn)
                && rule.after.as_deref().is_none_or(|call| answered.contains(&call))
                && rule.times.is_none_or(|times| spoken() < times)
                && (!rule.reads_text()
                    || rule.fits_text(last_user.get_or_insert_with(|| question.last_user_text().unwrap_or_default())))
        })
    }

    /// The error, and its remedy.
    fn unscripted(&self, question: &Question) -> Unscripted {
        let agent = &question.agent;
        let agent_type = &question.agent_type;
        let turn = question.turn;
        let mut known: Vec<&str> =
            self.rules.iter().map(|rule| rule.agent.as_deref().unwrap_or("every agent")).collect();
        known.sort_unstable();
        known.dedup();
        let started_by = question.started_by.as_ref();
        let is_meant = |name: &Rc<str>| name == agent || name == agent_type || Some(name) == started_by;
        let fits = |rule: &&Rule| rule.agent.as_ref().is_none_or(is_meant);
        let why = match (self.rules.iter().filter(fits).count(), known.as_slice()) {
            (0, []) => "the script is empty".to_owned(),
            (0, known) => format!("the script has no rule for it, only for {}", known.join(", ")),
            (1, _) => "the one rule for it is used up or does not fit".to_owned(),
            (rules, _) => format!("its {rules} rules are used up or do not fit"),
        };
        // Messages appear in reports, so the text itself is left out.
        let characters = question.last_user_text().unwrap_or_default().chars().count();
        Unscripted(format!(
            "agent `{agent_type}` ({agent}) asked for answer {turn}, but {why}. Its last user text has {characters} \
             characters. Add a reply for `{agent_type}`: a text ends its turn, a tool call continues it"
        ))
    }

    fn answer_of(&mut self, at: usize, question: &Question) -> Answer {
        self.messages += 1;
        let id = format!("msg_{:06}", self.messages);
        let reply = &self.rules[at].reply;
        let mut answer = match &reply.events {
            Some(events) => Answer { events: events.clone(), ..Answer::default() },
            None => Answer::message(&id, &filled(with_ids(&reply.said, &question.agent, self.messages), question)),
        };
        answer.output_tokens = reply.output_tokens;
        answer.fault.clone_from(&reply.fault);
        (answer.first_byte, answer.streaming) = (reply.first_byte, reply.streaming);
        answer.arrivals = arrivals(reply, &answer.events);
        answer.unseen = reply.unseen;
        answer.model.clone_from(&reply.model);
        answer
    }
}

impl Script for Scripted {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        let Some(at) = self.find(question) else { return Err(self.unscripted(question)) };
        *self.spoken.entry((question.agent.clone(), at)).or_default() += 1;
        let reply = self.rules[at].reply.id.clone();
        self.utterances.borrow_mut().push(Utterance { agent: question.agent.clone(), turn: question.turn, reply });
        let answer = self.answer_of(at, question);
        let agent = &question.agent_type;
        let turn = question.turn;
        // Raw events are taken literally: a wrong order is a mistake in the script (STREAM-01).
        answer.check().map(|()| answer).map_err(|(event, expected)| {
            Unscripted(format!(
                "the script's answer {turn} for agent `{agent}` is no stream: event {event}, counted from 0, is out of order; \
                 expected {expected}"
            ))
        })
    }
}

/// Time from the first byte to each event, if the reply states when its blocks end.
fn arrivals(reply: &Reply, events: &[Event]) -> Vec<Duration> {
    let Some(last) = reply.block_ends.last() else { return Vec::new() };
    let end = reply.streaming.map_or(*last, |streaming| streaming.max(*last));
    let at = |event: &Event| match event {
        Event::MessageStart { .. } => Duration(0),
        Event::BlockStart { index, .. } | Event::BlockDelta { index, .. } | Event::BlockStop { index } => {
            reply.block_ends.get(*index).copied().unwrap_or(end)
        }
        _ => end,
    };
    events.iter().map(at).collect()
}

/// Gives an id to every call that has none.
fn with_ids(said: &[Said], agent: &str, message: u64) -> Vec<Said> {
    let mut calls = 0;
    said.iter()
        .map(|said| match said {
            Said::ToolUse { id, name, input } if id.is_empty() => {
                calls += 1;
                let id = format!("toolu_{agent}_{message}_{calls}").into();
                Said::ToolUse { id, name: name.clone(), input: input.clone() }
            }
            other => other.clone(),
        })
        .collect()
}

/// Fills in the ids that calls refer to: `${agent:CALL}` is the id that the result of CALL names.
fn filled(said: Vec<Said>, question: &Question) -> Vec<Said> {
    let fill = |said| match said {
        Said::ToolUse { id, name, mut input } => {
            fill_in(&mut input, question);
            Said::ToolUse { id, name, input }
        }
        other => other,
    };
    said.into_iter().map(fill).collect()
}

fn fill_in(input: &mut Value, question: &Question) {
    for value in input.as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
        let call = value.as_str().and_then(|text| text.strip_prefix("${agent:")?.strip_suffix('}'));
        if let Some(id) = call.and_then(|call| question.id_in_result(call)) {
            *value = id.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Question, Rule, Scripted};
    use crate::wire::Draft;

    fn question(agent: &str, agent_type: &str) -> Question {
        let draft = Rc::new(Draft {
            model: "claude-opus-5-5".into(),
            tools: Rc::from([]),
            system: Rc::from([]),
            messages: Vec::new(),
            parameters: Rc::from([]),
            marks: Vec::new(),
        });
        Question { agent: agent.into(), agent_type: agent_type.into(), started_by: None, turn: 0, attempt: 0, draft }
    }

    #[test]
    fn an_agents_rules_are_tried_in_order_without_those_of_others() {
        let rule = |agent: Option<&str>, instance| Rule { agent: agent.map(Rc::from), instance, ..Rule::default() };
        let mut rules: Vec<Rule> = (1..=10_000).map(|instance| rule(Some("worker"), Some(instance))).collect();
        rules.extend([rule(None, None), rule(Some("a7"), None), rule(Some("worker"), None), rule(None, Some(7))]);
        let script = Scripted::new(rules);
        let asked = |agent, agent_type, instance| -> Vec<usize> {
            script.rules_for(&question(agent, agent_type), instance).collect()
        };
        assert_eq!(asked("a7", "worker", 7), [6, 10_000, 10_001, 10_002, 10_003]);
        assert_eq!(asked("main", "main", 1), [10_000]);
    }
}
