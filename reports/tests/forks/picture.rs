//! The ribbon: bars, marks, words, and a size that a screen can show.

use forkcast_reports::figures::{lanes, png, ribbon};

use super::fan::Fan;

/// Width and height that an SVG names.
fn size(svg: &str) -> (u32, u32) {
    let number = |name: &str| {
        let from = svg.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        svg[from..].split('"').next().unwrap().parse().unwrap()
    };
    (number("width"), number("height"))
}

/// If `FORKCAST_PICTURES` names a folder, the pictures are written there, for inspection.
fn show(name: &str, svg: &str) {
    if let Ok(folder) = std::env::var("FORKCAST_PICTURES") {
        std::fs::write(format!("{folder}/{name}.svg"), svg).unwrap();
        std::fs::write(format!("{folder}/{name}.png"), png::from_svg(svg).unwrap()).unwrap();
    }
}

#[test]
fn five_forks_have_a_named_bar_for_each_request() {
    let run = Fan::default().run();
    let svg = ribbon::svg(&run);
    show("five", &svg);
    for agent in ["main", "fork#1", "fork#5"] {
        assert!(svg.contains(agent), "{agent}");
    }
    let read = run.requests.iter().map(|request| request.usage().cache_read_input_tokens).max().unwrap();
    assert!(svg.contains(&forkcast_reports::document::count(read)), "{read} read");
    assert!(svg.contains("Up to here the parent had sent it"));
    assert_eq!(svg, ribbon::svg(&run), "the same run gives the same picture");
}

#[test]
fn five_hundred_forks_fit_on_a_sheet_with_their_sums() {
    let run = Fan { children: 500, turns: 3, ..Fan::default() }.run();
    let svg = ribbon::svg(&run);
    show("five-hundred", &svg);
    show("five-hundred-lanes", &lanes::svg(&run));
    assert!(svg.contains("500 forks") && svg.contains("turn 3"));
    assert!(!svg.contains("fork#1"), "no fork has a name of its own");
    let (_, high) = size(&svg);
    assert!(high < 2_400, "{high}");
    assert!(size(&lanes::svg(&run)).1 < 2_400);
    assert!(svg.len() < 1_000_000, "bars that look alike are one: {} bytes", svg.len());
    assert!(png::from_svg(&svg).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn losses_by_time_are_marked_at_the_end_of_the_read() {
    let run = Fan { breakpoints: "both", turns: 1, ..Fan::default() }.run();
    let svg = ribbon::svg(&run);
    show("in-flight", &svg);
    assert!(svg.contains("in_flight"), "siblings wrote the placeholders at the same instant");
    assert!(svg.contains("not read from here on"));
}

/// CACHE-33: the bytes are at fault, so the mark is at the difference.
#[test]
fn a_changed_prefix_is_marked_at_the_difference() {
    let broken = |forks| Fan { forks, ..Fan::default() }.run();
    let tools = broken("{ablations: [reorder-tools]}");
    let svg = ribbon::svg(&tools);
    show("tools-reordered", &svg);
    assert_eq!(svg.matches("tools_reordered").count(), 5);
    let system = ribbon::svg(&broken("{ablations: [added-space]}"));
    show("system-changed", &system);
    assert!(system.contains("system_changed"));
    let many = Fan { children: 500, turns: 2, forks: "{ablations: [added-space]}", ..Fan::default() }.run();
    let many = ribbon::svg(&many);
    show("five-hundred-broken", &many);
    assert!(many.contains("system_changed × 500"));
}
