//! Draws: the same on every machine, and distributed as specified.

use forkcast_sim::seed::Seed;

const COUNT: u32 = 200_000;

/// Mean and variance of many draws.
fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..COUNT {
        let drawn = draw();
        sum += drawn;
        squares += drawn * drawn;
    }
    let mean = sum / f64::from(COUNT);
    (mean, squares / f64::from(COUNT) - mean * mean)
}

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
fn moments_are_those_of_the_distribution() {
    let mut draws = Seed::new(2).draws();
    let (mean, variance) = moments(|| draws.unit());
    near(mean, 0.5, 0.005);
    near(variance, 1.0 / 12.0, 0.002);
    let (mean, variance) = moments(|| draws.normal(10.0, 2.0));
    near(mean, 10.0, 0.03);
    near(variance, 4.0, 0.1);
    let (mean, variance) = moments(|| draws.lognormal(1_000.0, 0.5).ln());
    near(mean, 1_000.0_f64.ln(), 0.01);
    near(variance, 0.25, 0.01);
    let (mean, _) = moments(|| if draws.chance(250_000) { 1.0 } else { 0.0 });
    near(mean, 0.25, 0.005);
}

#[test]
fn the_normal_distribution_has_its_tails() {
    let mut draws = Seed::new(3).draws();
    let far: Vec<f64> = (0..COUNT).map(|_| draws.normal(0.0, 1.0)).filter(|drawn| drawn.abs() > 2.0).collect();
    near(far.len() as f64 / f64::from(COUNT), 0.0455, 0.002);
    let above = far.iter().filter(|drawn| **drawn > 0.0).count();
    near(above as f64 / far.len() as f64, 0.5, 0.02);
}

#[test]
fn unusual_parameters_never_hang() {
    let mut draws = Seed::new(5).draws();
    assert_eq!(draws.pick::<u8>(&[]), None);
    assert_eq!(draws.pick(&[9]), Some(&9));
    assert!(draws.chance(1_000_000) && !draws.chance(0));
    assert!((0..COUNT).all(|_| draws.normal(0.0, 1.0).is_finite()));
}

#[test]
fn draws_are_the_same_on_every_machine() {
    let seed = Seed::new(42);
    let mut draws = seed.child("model").draws();
    let found = format!(
        "{:x} {} {} {:x} {:x} {:x} {:?} {:?}",
        seed.child("model").0,
        draws.below(u64::MAX),
        draws.below(1_000),
        draws.unit().to_bits(),
        draws.normal(0.0, 1.0).to_bits(),
        draws.lognormal(100.0, 1.5).to_bits(),
        [(); 6].map(|()| draws.pick(&["a", "b", "c"]).copied().unwrap()),
        [(); 6].map(|()| draws.chance(500_000)),
    );
    let expected = "f875b5782bd919d6 12395287243654108817 863 3fe9c409154eca0a 3ff0ff1cf199c82f 4044a2a0da476c36 \
                    [\"b\", \"b\", \"c\", \"b\", \"c\", \"c\"] [true, false, true, true, true, true]";
    assert_eq!(found, expected);
}
