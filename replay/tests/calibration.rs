//! The estimate for Claude against recordings next to the repository; visibly skipped if they are absent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use forkcast_replay::calibrate::{Errors, Sample, Samples, fit};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, SizeSource, Sizing, replay};
use forkcast_sim::service::Entry;
use forkcast_sim::wire::model::Tokenizer;
use forkcast_tokens::{BUILT_IN, Class, Factors, Generation};

use crate::places::{CASSETTES, data};

fn cassettes() -> Option<Samples> {
    let data = data()?;
    let paths: Vec<PathBuf> = CASSETTES.iter().map(|name| data.join(name)).collect();
    Some(Samples::of(&Inputs::read(&paths, InputFormat::Auto).expect("the recordings open")))
}

fn show(what: &str, errors: &Errors) {
    if let Some(error) = errors.sum_error() {
        let Errors { requests, recorded_tokens, p90, .. } = errors;
        eprintln!(
            "{what:<28} {requests:>4} requests {recorded_tokens:>8} tokens, sum {:>+6.1} %, nine of ten within {:>5.1} %",
            error * 100.0,
            p90 * 100.0
        );
    }
}

/// Every sample with factors that were fitted without its cassette.
fn held_out(samples: &[Sample]) -> Vec<(Sample, Factors)> {
    let files: BTreeSet<&str> = samples.iter().map(|sample| sample.file.as_str()).collect();
    let mut found = Vec::new();
    for file in files {
        let (inside, outside): (Vec<Sample>, Vec<Sample>) =
            samples.iter().cloned().partition(|sample| sample.file == file);
        let factors = fit(&outside);
        found.extend(inside.into_iter().map(|sample| (sample, factors)));
    }
    found
}

/// Errors of samples that each have factors of their own.
fn errors(samples: &[&(Sample, Factors)]) -> Errors {
    let mut all = Errors::default();
    let mut shares = Vec::new();
    for (sample, factors) in samples {
        let one = Errors::of(std::iter::once(sample), factors);
        all.requests += 1;
        all.recorded_tokens += one.recorded_tokens;
        all.estimated_tokens += one.estimated_tokens;
        shares.push(one.p90);
    }
    shares.sort_by(f64::total_cmp);
    all.p90 = shares.get((shares.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or(0.0);
    all
}

#[test]
fn factors_fitted_to_other_cassettes_estimate_a_cassette_within_a_tenth_in_sum() {
    let Some(Samples { samples, left_out }) = cassettes() else { return };
    eprintln!("{} requests, left out {left_out:?}", samples.len());
    let held_out = held_out(&samples);
    for generation in Generation::ALL {
        let of: Vec<_> = held_out.iter().filter(|(sample, _)| sample.generation == generation).collect();
        show(generation.tokenizer().word(), &errors(&of));
        for class in Class::ALL.map(Some).into_iter().chain([None]) {
            let of: Vec<_> = of.iter().filter(|(sample, _)| sample.largest_class() == class).copied().collect();
            show(&format!("  mostly {}", class.map_or("images, tools, frames", Class::name)), &errors(&of));
        }
        show("  with built-in factors", &Errors::of(of.iter().map(|(sample, _)| sample), &BUILT_IN));
    }
    if std::env::var_os("FORKCAST_SHOW").is_some() {
        for (sample, factors) in &held_out {
            show(&sample.file[sample.file.len().saturating_sub(90)..], &Errors::of(std::iter::once(sample), factors));
            eprintln!("  {:?} {}", sample.makeup, sample.frame_tokens);
        }
    }
    let all = errors(&held_out.iter().collect::<Vec<_>>());
    show("all", &all);
    assert!(samples.len() >= 60, "{} requests", samples.len());
    let error = all.sum_error().unwrap();
    assert!(error.abs() <= 0.10, "{error}");
}

/// Requests to OpenAI's chat interface with messages of text, and with calls, but without definitions of tools.
#[test]
fn chats_without_definitions_are_counted_to_the_token() {
    let Some(data) = data() else { return };
    let paths: Vec<PathBuf> = CASSETTES.iter().map(|name| data.join(name)).collect();
    let inputs = Inputs::read(&paths, InputFormat::Auto).expect("the recordings open");
    let options = Options { sizing: Sizing::new(SizeSource::Both, None), ..Options::default() };
    let replayed = replay(&inputs, &options);
    let exchanges: BTreeMap<_, _> = inputs.exchanges().map(|exchange| (exchange.origin.clone(), exchange)).collect();
    let (mut exact, mut off) = (0, Vec::new());
    for Entry { line, size, origin, .. } in &replayed.entries {
        let body = String::from_utf8_lossy(&exchanges[origin].body);
        let plain =
            !["\"tools\"", "\"response_format\"", "\"functions\"", "image_url"].iter().any(|key| body.contains(key));
        let own = exchanges[origin].provider == "openai";
        let Some(size) = size.filter(|size| own && plain && size.tokenizer == Tokenizer::O200k) else { continue };
        let Some(usage) = line.recorded.filter(|_| size.left_out.is_none()) else { continue };
        let billed = usage.total_input_tokens();
        if billed == size.tokens {
            exact += 1;
        } else {
            off.push(format!("{}#{}: {} of {billed}", origin.file, origin.index, size.tokens));
        }
    }
    eprintln!("{exact} requests exact, off: {off:#?}");
    assert!(exact >= 10 && off.is_empty());
}
