//! Folders and lists of bodies.

use forkcast_replay::input::{InputFormat, Inputs};
use serde_json::json;

use super::stage::{Folder, body, breaks, chains, check, long};

fn files(numbers: impl IntoIterator<Item = usize>, topic: &str, below: &str) -> Vec<(String, String)> {
    let file = |number: usize| (format!("{below}r{number}.json"), body(topic, number).to_string());
    numbers.into_iter().map(file).collect()
}

fn folder(files: &[(String, String)]) -> Folder {
    Folder::new(&files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect::<Vec<_>>())
}

#[test]
fn files_are_taken_in_the_order_of_their_numbers() {
    // As words, r10 would come before r2, and the conversation would seem to go back.
    let (fed, outcome) = folder(&files(1..=12, "bees", "")).check();
    assert_eq!((fed.requests, outcome.report.chains), (12, 1));
    assert_eq!(outcome.report.findings, []);
    assert_eq!(chains(&outcome), [("captures#1".to_owned(), 12)]);
    let names: Vec<&str> = outcome.origins.iter().map(|origin| origin.file.rsplit('/').next().unwrap()).collect();
    assert_eq!((names[1], names[9], names[11]), ("r2.json", "r10.json", "r12.json"));
}

#[test]
fn a_changed_prompt_is_found_in_its_file() {
    let mut files = files(1..=4, "bees", "");
    let mut changed = body("bees", 3);
    changed["system"][0]["text"] = json!(long("order"));
    files[2].1 = changed.to_string();
    let (_, outcome) = folder(&files).check();
    assert_eq!(breaks(&outcome)[0].1, "system_changed");
    assert_eq!((breaks(&outcome)[0].2.as_str(), breaks(&outcome)[0].3.as_str()), ("system[0]", "r3.json"));
}

#[test]
fn files_of_a_pattern_are_one_conversation_in_the_order_of_their_numbers() {
    let folder = folder(&files([1, 2, 10], "bees", ""));
    let paths = ["r1.json", "r10.json", "r2.json"].map(|name| folder.path(name));
    let (fed, outcome) = check(&paths);
    assert_eq!((fed.requests, outcome.report.findings.len()), (3, 0));
    assert_eq!(chains(&outcome), [("bodies#1".to_owned(), 3)]);
    let read = Inputs::read(&paths, InputFormat::Auto).unwrap();
    let files: Vec<&str> = read.exchanges().map(|body| &*body.origin.file).collect();
    assert!(files.iter().zip(["r1.json", "r2.json", "r10.json"]).all(|(file, name)| file.ends_with(name)), "{files:?}");
}

#[test]
fn files_named_in_an_order_of_their_own_keep_it() {
    let mut second = body("bees", 2);
    second["system"][0]["text"] = json!(long("order"));
    let named = [("before.json", body("bees", 1)), ("after.json", second)];
    let named = named.map(|(name, body)| (name.to_owned(), body.to_string()));
    let folder = folder(&named);
    let paths = ["before.json", "after.json"].map(|name| folder.path(name));
    let (_, outcome) = check(&paths);
    assert!(breaks(&outcome)[0].3.ends_with("after.json"), "{:?}", breaks(&outcome));
    let read = Inputs::read(&paths, InputFormat::Auto).unwrap();
    assert!(read.exchanges().next().unwrap().origin.file.ends_with("before.json"));
}

#[test]
fn a_common_numbering_of_agents_gives_the_order() {
    // Folder by folder, the child would come before the request that it continues.
    let mut child = body("bees", 3);
    child["system"][0]["text"] = json!(long("order"));
    let named = |name: &str, body: serde_json::Value| (name.to_owned(), body.to_string());
    let all = [
        named("main/001.json", body("bees", 1)),
        named("child/002.json", child),
        named("main/003.json", body("bees", 2)),
    ];
    let (_, outcome) = folder(&all).check();
    let files: Vec<&str> = outcome.origins.iter().map(|origin| &origin.file[origin.file.len() - 8..]).collect();
    assert_eq!(files, ["001.json", "002.json", "003.json"]);
    assert_eq!(breaks(&outcome).len(), 1, "{:?}", breaks(&outcome));
    assert_eq!(breaks(&outcome)[0].1, "system_changed");
}

#[test]
fn agents_of_one_kind_in_subfolders_share_as_much_as_the_first_two() {
    let agent = |name: &str, rule: &str| {
        let mut body = body(name, 1);
        body["system"][0]["text"] = json!(long("rule") + rule);
        (format!("{name}/1.json"), body.to_string())
    };
    let same = ["ants", "bees", "wasps"].map(|name| agent(name, "End."));
    let (_, outcome) = folder(&same).check();
    assert_eq!(breaks(&outcome), []);
    let (_, outcome) = folder(&[same.to_vec(), vec![agent("yaks", "The end.")]].concat()).check();
    let told = breaks(&outcome);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].1, told[0].2.as_str(), told[0].3.as_str()), ("system_changed", "system[0]", "yaks/1.json"));
    assert_eq!(outcome.report.findings[0].rule, forkcast_sim::guard::Rule::Sharing);
}

#[test]
fn subfolders_are_agents_of_their_own() {
    let mut all = files(1..=3, "bees", "main/");
    // By history this one would continue the conversation of `main`.
    all.extend(files(4..=5, "bees", "main/reader/"));
    all.extend(files(1..=2, "ants", "writer/"));
    let (_, outcome) = folder(&all).check();
    let expected = [("main", 3), ("main/reader", 2), ("writer", 2)];
    assert_eq!(chains(&outcome), expected.map(|(name, requests)| (name.to_owned(), requests)));
    let parents: Vec<_> = outcome.lock.as_ref().unwrap().chains.iter().map(|chain| chain.parent.as_deref()).collect();
    assert_eq!(parents, [None, Some("main"), None]);
}

#[test]
fn conversations_mixed_in_one_folder_are_separated_by_their_history() {
    let mut all = Vec::new();
    for turn in 1..=4 {
        all.push((format!("{turn}a.json"), body("bees", turn).to_string()));
        all.push((format!("{turn}b.json"), body("ants", turn).to_string()));
    }
    let (_, outcome) = folder(&all).check();
    assert_eq!(chains(&outcome), [("captures#1".to_owned(), 4), ("captures#2".to_owned(), 4)]);
    assert_eq!(breaks(&outcome), []);
}

#[test]
fn several_bodies_in_one_file_and_bodies_with_their_answers_are_read() {
    let lines: Vec<String> = (1..=3).map(|turn| body("bees", turn).to_string()).collect();
    let answered = json!({"request": body("bees", 4), "response": {"usage": {"input_tokens": 3,
        "cache_read_input_tokens": 4000, "cache_creation_input_tokens": 60, "output_tokens": 5}}});
    let folder = Folder::new(&[("1.json", lines.join("\n")), ("2.json", answered.to_string())]);
    let (fed, outcome) = folder.check();
    assert_eq!((fed.requests, breaks(&outcome).len()), (4, 0));
    let places: Vec<usize> = outcome.origins.iter().map(|origin| origin.index).collect();
    assert_eq!(places, [0, 1, 2, 0]);
}
