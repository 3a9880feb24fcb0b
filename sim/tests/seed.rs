//! Draws: the same on every machine, and distributed as specified.

use forkcast_sim::seed::Seed;

const COUNT: u32 = 200_000;

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() < tolerance, "{found} instead of {expected}");
}

#[test]
fn child_seeds_depend_only_on_parent_and_name() {
    let seed = Seed::new(7);
    let mut spent = seed.draws();
    spent.below(10);
    assert_eq!(seed.child("model"), seed.child("model"));
    let others = [seed, seed.child("model"), seed.child("Model"), seed.child(""), Seed::new(8).child("model")];
    for (at, one) in others.iter().enumerate() {
        assert!(!others[..at].contains(one), "{one:?} twice");
        assert!(!others[..at].iter().any(|other| other.draws().below(u64::MAX) == one.draws().below(u64::MAX)));
    }
    assert_ne!(seed.child("a").child("b"), seed.child("ab"));
    assert_ne!(seed.child("a").child("b"), seed.child("b").child("a"));
}

#[test]
fn below_is_uniform() {
    let mut draws = Seed::new(1).draws();
    let mut counts = [0_u32; 7];
    for _ in 0..COUNT {
        counts[usize::try_from(draws.below(7)).unwrap()] += 1;
    }
    // Chi-square with six degrees of freedom: 22.5 is exceeded once in a thousand seeds.
    let expected = f64::from(COUNT) / 7.0;
    let chi: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    assert!(chi < 22.5, "{chi}: {counts:?}");
    // Four draws map to three numbers here: without rejection, every third number would occur twice as often.
    let n = u64::MAX / 4 * 3;
    let third = (0..COUNT).filter(|_| draws.below(n).is_multiple_of(3)).count();
    near(third as f64 / f64::from(COUNT), 1.0 / 3.0, 0.005);
    assert_eq!([draws.below(0), draws.below(1)], [0, 0]);
}

#[test]
fn draws_are_the_same_on_every_machine() {
    let seed = Seed::new(42);
    let mut draws = seed.child("model").draws();
    let found = format!("{:x} {} {}", seed.child("model").0, draws.below(u64::MAX), draws.below(1_000));
    assert_eq!(found, "f875b5782bd919d6 12395287243654108817 863");
}
