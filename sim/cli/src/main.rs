//! `forkcast`: what an agent session cost, why, and what other settings would have cost.

mod args;
mod clock;
mod exit;
mod logs;
mod screen;
mod signals;
mod talk;
mod verbs;
mod written;

use std::process::ExitCode;

use args::{Args, Verb};

fn main() -> ExitCode {
    exit::guard();
    signals::watch();
    let args = match Args::read() {
        Ok(args) => args,
        Err(error) => return exit::usage(&error),
    };
    exit::code(match args.verb() {
        Verb::Run(args) => verbs::run::run(&args),
        Verb::Fanout(args) => verbs::fanout::run(&args),
        Verb::Sweep(args) => verbs::sweep::run(&args),
        Verb::Replay(args) => verbs::replay::run(&args.or_logs()),
        Verb::Demo(args) => verbs::demo::run(&args),
        Verb::Cast(args) => verbs::cast::run(&args),
        Verb::New(args) => verbs::new::run(&args),
        Verb::Lock(args) => verbs::lock::run(&args),
        Verb::Check(args) => verbs::check::run(&args),
        Verb::Diff(args) => verbs::diff::run(&args),
        Verb::Compare(args) => verbs::compare::run(&args),
        Verb::Report(args) => verbs::report::run(&args),
        Verb::Explain(args) => verbs::explain::run(&args.or_logs()),
        Verb::List(args) => verbs::list::run(&args),
        Verb::Completions(args) => verbs::completions::run(&args),
        Verb::Man(args) => verbs::man::run(&args),
    })
}
