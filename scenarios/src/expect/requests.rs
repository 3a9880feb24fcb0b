//! Expectations about the bytes of requests and their cache usage.

use std::rc::Rc;

use forkcast_sim::pricing::Money;
use forkcast_sim::wire::{Draft, Piece};
use serde_json::Value;

use super::Failures;
use super::difference::{between, from_chain, wrong};
use super::figures::{check_one as check_figure, took_part};
use crate::format::Scenario;
use crate::format::expect::{DifferenceClaim, Number, RequestClaim, Which};
use crate::run::{Request, Run, play};

pub(super) fn check(failed: &mut Failures<'_>) {
    let run = failed.run;
    for claim in &run.scenario.expect.requests {
        match find_all(run, &claim.which) {
            Ok(requests) => requests.into_iter().for_each(|request| check_one(claim, request, failed)),
            Err(says) => failed.add(&claim.origin, says),
        }
    }
    as_in_the_scenario(failed);
}

/// Requests that a variant must share with its scenario, which is run for this comparison.
fn as_in_the_scenario(failed: &mut Failures<'_>) {
    let run = failed.run;
    let claims: Vec<&RequestClaim> = run.scenario.expect.requests.iter().filter(|claim| claim.unchanged).collect();
    let Some(scenario) = run.scenario.variant_of.as_ref().filter(|_| !claims.is_empty()) else { return };
    let original = play(Scenario::clone(scenario), &run.options);
    for claim in claims {
        let says = match (find(run, &claim.which), find(&original, &claim.which)) {
            (Ok(here), Ok(there)) => difference(&there.draft(), &here.draft(), Extent::Whole).map(|at| {
                let Which { agent, turn } = &claim.which;
                format!("request {turn} of `{agent}` differs from that of `{}`: {at}", scenario.name)
            }),
            (Ok(_), Err(says)) => Some(format!("in `{}` {says}", scenario.name)),
            (Err(_), _) => None,
        };
        if let Some(says) = says {
            failed.add(&claim.origin, says);
        }
    }
}

/// Names of the tools, in order.
fn tools(request: &Request) -> Vec<Rc<str>> {
    let tool = |piece: &Piece| serde_json::from_str::<Value>(piece.json()).unwrap_or_default();
    let named = |piece| tool(piece)["name"].as_str().unwrap_or_default().into();
    request.draft().tools.iter().map(named).collect()
}

fn list(names: &[Rc<str>]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn check_one(claim: &RequestClaim, request: &Request, failed: &mut Failures<'_>) {
    let run = failed.run;
    let name = format!("request {} of `{}`", request.turn, run.agents[request.agent].label);
    let found = texts(claim, request, &name).into_iter().chain(cached(claim, request, &name));
    for says in found.chain(compared(claim, request, &name, run)) {
        failed.add(&claim.origin, says);
    }
    if let (Some(wanted), found) = (&claim.tools, tools(request))
        && *wanted != found
    {
        let says = format!("{name} has the tools {}; expected {}", list(&found), list(wanted));
        failed.add(&claim.origin, says);
    }
    for figure in &claim.missed {
        let found = missed(figure.name, request);
        check_figure(figure, &format!(" of {name}"), found, failed);
    }
}

/// The request of that turn, for every agent with this name.
fn find_all<'a>(run: &'a Run, which: &Which) -> Result<Vec<&'a Request>, String> {
    let agents: Vec<usize> = run.agents_called(&which.agent).map(|(at, _)| at).collect();
    if agents.is_empty() {
        return Err(format!("no agent `{}` took part; there were {}", which.agent, took_part(run)));
    }
    let of = |agent: usize| {
        let found = run.requests.iter().find(|request| request.agent == agent && request.turn == which.turn);
        found.ok_or_else(|| {
            let asked = run.requests.iter().filter(|request| request.agent == agent).count();
            let turn = which.turn;
            let label = &run.agents[agent].label;
            format!("there is no request {turn} of `{label}`; it sent {asked}, counted from 0")
        })
    };
    agents.into_iter().map(of).collect()
}

fn find<'a>(run: &'a Run, which: &Which) -> Result<&'a Request, String> {
    match find_all(run, which)?[..] {
        [request] => Ok(request),
        _ => Err(format!("more than one agent is called `{}`; name one of {}", which.agent, took_part(run))),
    }
}

/// Missed tokens: sent before but not read; or their cost above the read price.
fn missed(name: &str, request: &Request) -> Option<Number> {
    let causes = &request.line.charge.causes;
    if name == "missed_tokens" {
        return Some(Number::Plain(causes.iter().map(|cause| cause.tokens).sum::<u64>() as f64));
    }
    Some(Number::Money(causes.iter().map(|cause| cause.cost).sum::<Option<Money>>()?))
}

fn texts(claim: &RequestClaim, request: &Request, name: &str) -> Vec<String> {
    let mut failed = Vec::new();
    if claim.has.is_empty() && claim.lacks.is_empty() {
        return failed;
    }
    // As spelled in JSON, so that line ends and quotes are found too.
    let body = String::from_utf8_lossy(&request.draft().body()).into_owned();
    let spelled = |text: &str| Value::from(text).to_string().trim_matches('"').to_owned();
    let missing = claim.has.iter().filter(|text| !body.contains(&spelled(text)));
    failed.extend(missing.map(|text| format!("{name} does not contain {text:?}")));
    let unwanted = claim.lacks.iter().filter(|text| body.contains(&spelled(text)));
    failed.extend(unwanted.map(|text| format!("{name} contains {text:?}, which it should not")));
    failed
}

fn cached(claim: &RequestClaim, request: &Request, name: &str) -> Vec<String> {
    let mut failed = Vec::new();
    let read = request.usage().cache_read_input_tokens;
    if let Some(wanted) = claim.read_tokens
        && wanted != read
    {
        failed.push(format!("{name} read {read} tokens; expected {wanted}"));
    }
    if let Some(cause) = claim.cause
        && !request.causes().iter().any(|(found, _)| *found == cause)
    {
        let found: Vec<&str> = request.causes().iter().map(|(cause, _)| cause.word()).collect();
        let found =
            if found.is_empty() { "nothing was missed".to_owned() } else { format!("missed for {}", found.join(", ")) };
        failed.push(format!("{name} did not miss for `{}`: {found}", cause.word()));
    }
    if let Some(wanted) = claim.breakpoints
        && wanted != request.breakpoints
    {
        failed.push(format!("{name} has {} breakpoints; expected {wanted}", request.breakpoints));
    }
    failed
}

fn compared(claim: &RequestClaim, request: &Request, name: &str, run: &Run) -> Vec<String> {
    let pairs = [
        (claim.begins_as.as_ref(), Extent::Beginning),
        (claim.same_as.as_ref(), Extent::Whole),
        (claim.same_but_last.as_ref(), Extent::ButLast),
    ];
    let bytes = pairs.into_iter().filter_map(|(which, extent)| {
        let which = which?;
        let other = match find(run, which) {
            Ok(other) => other,
            Err(says) => return Some(says),
        };
        let difference = difference(&other.draft(), &request.draft(), extent)?;
        Some(format!("{name} differs from request {} of `{}`: {difference}", which.turn, which.agent))
    });
    bytes.chain(claim.difference.as_ref().and_then(|claim| differs(claim, request, name, run))).collect()
}

fn differs(claim: &DifferenceClaim, request: &Request, name: &str, run: &Run) -> Option<String> {
    let found = match claim.to.as_ref().map(|which| find(run, which)) {
        None => from_chain(request),
        Some(Ok(other)) => between(&other.draft(), &request.draft()),
        Some(Err(says)) => return Some(says),
    };
    wrong(claim, found.as_ref(), name)
}

/// Which part of two prompts is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The second prompt must begin with the whole first one.
    Beginning,
    /// Both whole prompts.
    Whole,
    /// Both prompts, without the last block of each.
    ButLast,
}

/// The first place where the second prompt differs from the first: block by block in wire order, byte by byte.
fn difference(first: &Draft, second: &Draft, extent: Extent) -> Option<String> {
    let mut one = blocks(first);
    let mut other = blocks(second);
    if extent == Extent::ButLast {
        one.pop();
        other.pop();
    }
    for (at, (place, bytes)) in one.iter().enumerate() {
        let Some((_, found)) = other.get(at) else { return Some(format!("it ends before {place}")) };
        if found != bytes {
            let same = bytes.bytes().zip(found.bytes()).take_while(|(one, other)| one == other).count();
            return Some(format!("{place} differs from byte {same}"));
        }
    }
    (extent != Extent::Beginning && other.len() > one.len())
        .then(|| format!("it continues with {}", other[one.len()].0))
}

fn blocks(draft: &Draft) -> Vec<(String, &str)> {
    let tools = draft.tools.iter().enumerate().map(|(at, piece)| (format!("tools[{at}]"), piece.json()));
    let system = draft.system.iter().enumerate().map(|(at, piece)| (format!("system[{at}]"), piece.json()));
    let messages = draft.messages.iter().enumerate().flat_map(|(message, found)| {
        let content = found.content.iter().enumerate();
        content.map(move |(at, piece)| (format!("messages[{message}].content[{at}]"), piece.json()))
    });
    tools.chain(system).chain(messages).collect()
}
