//! The events that scenarios can expect are the runtime's events.

use forkcast_fixtures::{golden, workspace};

/// Names and fields of every variant, read from the runtime's source.
fn events(source: &str) -> String {
    let body = source.split("pub enum Event {").nth(1).expect("the enum").split("\n}\n").next().unwrap();
    let variants = body.split("#[serde(rename = \"").skip(1).map(|part| {
        let (word, rest) = part.split_once('"').unwrap();
        let code: String = rest.lines().skip(1).filter(|line| !line.trim_start().starts_with("//")).collect();
        let fields = code.split_once('{').map_or("", |(_, inside)| inside.split('}').next().unwrap());
        format!("{word}: {}", names(fields).join(" ")).trim_end().to_owned()
    });
    variants.collect::<Vec<_>>().join("\n") + "\n"
}

/// The names in `name: Type<…>, name: (Type, Type)`.
fn names(fields: &str) -> Vec<String> {
    let (mut depth, mut name, mut names) = (0, Some(String::new()), Vec::new());
    for letter in fields.chars() {
        match letter {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => name = Some(String::new()),
            ':' => names.extend(name.take().map(|name| name.trim().to_owned())),
            letter => name.iter_mut().for_each(|name| name.push(letter)),
        }
    }
    names
}

#[test]
fn the_list_of_events_is_the_runtimes() {
    let source = std::fs::read_to_string(workspace().join("sim/src/agent/event.rs")).unwrap();
    golden(&workspace().join("scenarios/src/format/expect/events.txt"), &events(&source));
}
