//! Every picture: a title that answers, a description, a dark style, nothing cut at an edge, no price below a cent, and a
//! bounded size.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_reports::figures::timeline::Timeline;
use forkcast_reports::figures::{self, lanes, ribbon};
use forkcast_reports::report::{Report, View};
use forkcast_scenarios::catalog;
use forkcast_scenarios::fanout::breakeven::{Answer, Inquiry, Question, answer};
use forkcast_scenarios::fanout::{Cell, Spawn};
use forkcast_scenarios::run::{Options as RunOptions, Run, play};
use forkcast_sim::pricing::PriceBook;
use resvg::usvg::{Group, Node, Options as SvgOptions, Tree, fontdb};
use roxmltree::Document;

fn timeline(inputs: &Inputs) -> String {
    let options = Options::default();
    let replay = replay(inputs, &options);
    let report = Report::new(inputs, &replay, &options, View::default());
    let mut timeline = Timeline::of(&report);
    report.each(&mut |entry| timeline.add(&report, entry));
    timeline.svg(&report)
}

fn run(name: &str) -> Run {
    play(catalog::find(name).unwrap().read(&[]).unwrap(), &RunOptions::default())
}

fn answered(question: Question, children: Option<Vec<u32>>) -> Answer {
    let asked = Inquiry {
        base: Cell::default(),
        children,
        prefix: None,
        turns: None,
        growth: None,
        spawn: Spawn { system: 3_000, tools: 7_000, brief: 1_000, gathered: 0, gathering_turns: 0 },
    };
    answer(question, &asked, &Rc::new(PriceBook::built_in())).unwrap()
}

/// All kinds of pictures by their names.
static PICTURES: LazyLock<Vec<(String, String)>> = LazyLock::new(pictures);

/// One of this many scenarios is drawn.
const SCENARIOS_STEP: usize = 4;

fn pictures() -> Vec<(String, String)> {
    let mut found = vec![("sample".to_owned(), timeline(&Inputs::sample()))];
    for entry in catalog::all().iter().step_by(SCENARIOS_STEP) {
        let run = run(&entry.name);
        found.push((format!("{} lanes", entry.name), lanes::svg(&run)));
        found.push((format!("{} ribbon", entry.name), ribbon::svg(&run)));
    }
    for question in Question::ALL {
        for children in [None, Some(vec![2, 9]), Some(vec![3])] {
            let name = format!("{} {children:?}", question.word());
            found.push((name, figures::fanout::svg(&answered(question, children))));
        }
    }
    for (name, hours) in [("days", 3), ("weeks", 30), ("months", 90)] {
        found.push((name.to_owned(), many(name, 40, 20, hours * 3_600)));
    }
    found.push(("sessions".to_owned(), many("sessions", 40, 20, 60)));
    found
}

fn child<'a>(document: &'a Document<'_>, name: &str) -> &'a str {
    let found = document.root_element().children().find(|node| node.has_tag_name(name));
    found.and_then(|node| node.text()).unwrap_or_default()
}

#[test]
fn every_picture_has_a_title_that_answers_a_description_and_a_dark_style() {
    for (name, svg) in &*PICTURES {
        let document = Document::parse(svg).unwrap();
        assert_eq!(document.root_element().attribute("role"), Some("img"), "{name}");
        let title = child(&document, "title");
        assert!(title.chars().any(|c| c.is_ascii_digit()) && !title.ends_with('?'), "{name}: {title}");
        assert!(child(&document, "desc").len() > 60, "{name}: {}", child(&document, "desc"));
        let style = child(&document, "style");
        assert!(style.contains("@media (prefers-color-scheme: dark)"), "{name}");
        for node in document.descendants() {
            for property in ["fill", "stroke"] {
                let colour = node.attribute(property).filter(|colour| *colour != "none");
                let rule = colour.map(|colour| format!("[{property}=\"{colour}\"] {{ {property}: #"));
                assert!(rule.is_none_or(|rule| style.contains(&rule)), "{name}: no dark colour of {colour:?}");
            }
        }
    }
}

fn texts(group: &Group, take: &mut dyn FnMut(&resvg::usvg::Text)) {
    for node in group.children() {
        match node {
            Node::Group(group) => texts(group, take),
            Node::Text(text) => take(text),
            _ => {}
        }
    }
}

#[test]
fn no_text_is_cut_at_an_edge() {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(include_bytes!("../assets/DejaVuSans.ttf").to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let options = SvgOptions { fontdb: Arc::new(fonts), ..SvgOptions::default() };
    for (name, svg) in &*PICTURES {
        let tree = Tree::from_str(svg, &options).unwrap();
        let (width, height) = (tree.size().width(), tree.size().height());
        texts(tree.root(), &mut |text| {
            let area = text.abs_bounding_box();
            let is_inside = area.left() >= 0.0 && area.top() >= 0.0 && area.right() <= width && area.bottom() <= height;
            let said: String = text.chunks().iter().map(|chunk| chunk.text()).collect();
            assert!(is_inside, "{name}: `{}` at {area:?} of {width} by {height}", said.trim());
            let size = text.chunks().iter().flat_map(|chunk| chunk.spans()).map(|span| span.font_size().get());
            let least = size.fold(f32::INFINITY, f32::min);
            assert!(least >= 12.0 || name.contains("lanes"), "{name}: `{}` has size {least}", said.trim());
        });
    }
}

/// Some sessions of equally many requests each, that begin `apart` seconds after one another; sometimes the cache is lost.
fn many(name: &str, sessions: usize, requests: usize, apart: usize) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pictures-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    // Requests all the time, but for a pause between sessions.
    let pause = (apart * 9 / 10 / requests).max(9);
    for session in 0..sessions {
        let mut text = String::new();
        for request in 0..requests {
            exchange(&mut text, session, request, session * apart + request * pause);
        }
        fs::write(folder.join(format!("{session:05}-s.jsonl")), text).unwrap();
    }
    let svg = timeline(&Inputs::read(&[&folder], InputFormat::Auto).unwrap());
    fs::remove_dir_all(folder).unwrap();
    svg
}

fn exchange(text: &mut String, session: usize, request: usize, second: usize) {
    let id = session * 100_000 + request;
    let at = |second: usize| {
        let (day, second) = (second / 86_400, second % 86_400);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        format!("2026-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}.000Z", 1 + day / 28 % 12, 1 + day % 28)
    };
    let parent = if request == 0 { "null".to_owned() } else { format!(r#""r-{}""#, id - 1) };
    let common = format!(r#""sessionId":"s-{session}","version":"2.1.63","cwd":"/home/u/work","isSidechain":false"#);
    let prefix = 20_000 + 100 * request;
    let (read, written) = if request % 10 == 7 { (0, prefix + 100) } else { (prefix, 100) };
    writeln!(
        text,
        r#"{{"type":"user","uuid":"u-{id}","parentUuid":{parent},"timestamp":"{}",{common},"message":{{"role":"user","content":"go on"}}}}"#,
        at(second)
    )
    .unwrap();
    writeln!(
        text,
        r#"{{"type":"assistant","uuid":"r-{id}","parentUuid":"u-{id}","timestamp":"{}",{common},"message":{{"id":"msg_{id}","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"text","text":"well"}}],"stop_reason":"end_turn","usage":{{"input_tokens":3,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":90}}}}}}"#,
        at(second + 4)
    )
    .unwrap();
}

#[test]
fn forty_thousand_requests_are_a_bounded_picture_of_days_or_sessions() {
    for (name, apart, lane) in
        [("bounded-days", 3 * 3_600, "a lane is a day"), ("bounded-sessions", 60, "a lane is a session")]
    {
        let svg = many(name, 200, 200, apart);
        let document = Document::parse(&svg).unwrap();
        assert!(child(&document, "desc").contains("40,000 requests in 200 sessions"), "{}", child(&document, "desc"));
        assert!(child(&document, "desc").contains(lane), "{}", child(&document, "desc"));
        let pieces = document.descendants().filter(|node| node.is_element()).count();
        assert!(pieces < 16_000 && svg.len() < 1_500_000, "{name}: {pieces} pieces, {} bytes", svg.len());
        assert!(document.root_element().attribute("height").unwrap().parse::<u32>().unwrap() < 2_000, "{name}");
    }
}

/// The amount that a text begins with.
fn dollars(text: &str) -> Option<f64> {
    let digits = text.trim().strip_prefix('$')?.split(' ').next()?;
    digits.replace(',', "").parse().ok()
}

#[test]
fn no_miss_below_a_cent_is_named() {
    let few = timeline(&Inputs::sample());
    let many = many("named", 30, 40, 3_600);
    for svg in [few, many] {
        let document = Document::parse(&svg).unwrap();
        let texts = || document.descendants().filter(|node| node.has_tag_name("text"));
        let ink: BTreeSet<&str> = texts().filter_map(|node| node.attribute("fill")).collect();
        let said = texts().filter_map(|node| node.text()).filter(|text| !text.contains("avoidable"));
        let words = ["_", "expired", "unexplained"];
        let causes = said.filter(|text| words.iter().any(|word| text.contains(word)));
        let named: Vec<f64> = causes.filter_map(dollars).collect();
        assert!(!named.is_empty() && ink.len() >= 3, "misses are named in a colour of their own");
        assert!(named.iter().all(|cost| *cost >= 0.01), "{named:?}");
    }
}
