//! Counted sizes of recorded sessions: the reader counts, the prompts add up, the bill is near. The recorded sessions are skipped,
//! visibly, where they are absent.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use forkcast_replay::calibrate::LeftOut;
use forkcast_replay::input::{InputFormat, Inputs, ReadOptions};
use forkcast_replay::replay::{Options, Replay, SizeSource, Sizing, replay};

const FOLDERS: [&str; 5] =
    ["cc-agentv", "cc-entireio-cli", "cc-marot-spotter", "cc-oh-my-posh", "cc-packmind-context-evaluator"];

fn recorded(folder: &str) -> Option<Inputs> {
    let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data"));
    if !data.is_dir() {
        eprintln!("skipped: no recordings at {}", data.display());
        return None;
    }
    let options = ReadOptions::from(InputFormat::Auto).counted();
    Some(Inputs::read_with(&[data.join(folder)], &options, &|_| true).expect("the recordings open"))
}

fn counted(source: SizeSource) -> Options {
    Options { sizing: Sizing::new(source, None), ..Options::default() }
}

/// Counted and billed tokens of the requests that can be compared.
#[derive(Default)]
struct Sum {
    requests: u64,
    counted: u64,
    billed: u64,
    errors: Vec<f64>,
}

impl Sum {
    fn add(&mut self, counted: u64, billed: u64) {
        self.requests += 1;
        self.counted += counted;
        self.billed += billed;
        self.errors.push((counted as f64 / billed as f64 - 1.0).abs());
    }

    fn error(&self) -> f64 {
        self.counted as f64 / self.billed as f64 - 1.0
    }

    fn show(&mut self, what: &str) {
        self.errors.sort_by(f64::total_cmp);
        let rank = |share: usize| self.errors[(self.errors.len() * share).div_ceil(10).saturating_sub(1)];
        let (half, most) = (rank(5), rank(9));
        eprintln!(
            "{what:<40} {:>6} requests {:>10} tokens, sum {:>+7.4}, half within {half:.4}, nine of ten {most:.4}",
            self.requests,
            self.billed,
            self.error()
        );
    }
}

fn sums(replayed: &Replay) -> (BTreeMap<String, Sum>, BTreeMap<LeftOut, u64>) {
    let (mut sums, mut left_out) = (BTreeMap::new(), BTreeMap::new());
    for (line, size) in replayed.lines.iter().zip(&replayed.counted) {
        let size = size.unwrap();
        match (size.left_out, line.recorded) {
            (None, Some(usage)) => {
                let of: &mut Sum = sums.entry(line.model.clone()).or_default();
                of.add(size.tokens, usage.total_input_tokens());
            }
            (why, _) => *left_out.entry(why.unwrap_or(LeftOut::NoUsage)).or_insert(0) += 1,
        }
    }
    (sums, left_out)
}

#[test]
fn the_sum_of_counted_prompts_is_near_the_bill() {
    for folder in FOLDERS {
        let Some(inputs) = recorded(folder) else { return };
        let replayed = replay(&inputs, &counted(SizeSource::Both));
        let (sums, left_out) = sums(&replayed);
        eprintln!("{folder}: left out {left_out:?}");
        let mut all = Sum::default();
        for (model, mut sum) in sums {
            sum.show(&format!("  {model}"));
            all.requests += sum.requests;
            all.counted += sum.counted;
            all.billed += sum.billed;
            all.errors.extend(sum.errors);
        }
        all.show("  all");
    }
}
