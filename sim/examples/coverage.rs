//! Lists the behaviours of the runtime: `cargo run -p forkcast-sim --example coverage [GROUP or ID …]`.

#![allow(clippy::expect_used, clippy::panic, clippy::disallowed_methods)] // A listing for developers: it may stop, and reads files.

#[path = "../tests/coverage/listing.rs"]
mod listing;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let (mut held, mut deferred, mut open) = (0, 0, 0);
    for (id, behaviour) in listing::all() {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| id.starts_with(wanted.as_str())) {
            continue;
        }
        println!("{id}  {}", behaviour.says);
        behaviour.held_by.iter().for_each(|test| println!("    held by {test}"));
        match (&behaviour.deferred, behaviour.held_by.is_empty()) {
            (Some(part), _) => {
                deferred += 1;
                println!("    not covered: {part}");
            }
            (None, true) => {
                open += 1;
                println!("    OPEN");
            }
            (None, false) => held += 1,
        }
    }
    println!("\n{held} held, {deferred} deferred, {open} open");
}
