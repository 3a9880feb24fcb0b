//! Which parts of a plan a process computes: `--shard I/N`, counted from zero.
//!
//! | started by | its variable | counted from |
//! |---|---|---|
//! | Slurm, `--array=0-6` | `SLURM_ARRAY_TASK_ID` | what the array says; write it from 0 |
//! | Kubernetes, an Indexed Job | `JOB_COMPLETION_INDEX` | 0 |
//! | HyperQueue, `--array 0-6` | `HQ_TASK_ID` | what the array says; write it from 0 |
//!
//! Sources, read 2026-11-22: Slurm's page "Job Array Support" (the least index is 0); Kubernetes' page "Indexed Job for
//! Parallel Processing with Static Work Assignment"; HyperQueue's page "Task arrays" (ids are those of `--array`).
//! Indices are never shifted silently: index 7 of `--array=1-7` is refused, because a single repeated task
//! (`--array=3`) could not be distinguished from the third task of another array.

/// Environment variables that hold an index.
pub const VARIABLES: [&str; 3] = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "HQ_TASK_ID"];

/// A share of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its index, counted from zero.
    pub index: usize,
    /// Number of shards.
    pub of: usize,
}

/// Why a shard is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadShard {
    /// It cannot be parsed.
    #[error(
        "`{0}` is not a shard: expected I/N counted from zero such as 0/7, or auto/7 to take I from {variables}",
        variables = VARIABLES.join(", ")
    )]
    Form(String),
    /// The index is too large.
    #[error(
        "there is no shard {index} of {of}: shards are counted from zero, so the last is {last}; write an array as 0-{last}",
        last = of - 1
    )]
    Beyond {
        /// The requested index.
        index: usize,
        /// The number of shards.
        of: usize,
    },
    /// No variable gives the index.
    #[error("`{0}` takes its index from {variables}, but none of them is set; write I/N", variables = VARIABLES.join(", "))]
    Unset(String),
    /// A variable has an invalid value.
    #[error("{variable} is `{found}`, expected a number from 0")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        found: String,
    },
    /// Nested schedulers give different indices.
    #[error("{0} and {1} have different indices; choose one, as in --shard ${1}/N")]
    Several(&'static str, &'static str),
}

impl Shard {
    /// The whole plan.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Parses `I/N` or `auto/N`; `variable` reads the environment.
    ///
    /// # Errors
    /// The error in it.
    pub fn read(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, BadShard> {
        let form = || BadShard::Form(text.to_owned());
        let (index, of) = text.split_once('/').ok_or_else(form)?;
        let of: usize = of.trim().parse().ok().filter(|of| *of > 0).ok_or_else(form)?;
        let index = match index.trim() {
            "auto" => given(variable)?.ok_or_else(|| BadShard::Unset(text.to_owned()))?.1,
            index => index.parse().map_err(|_| form())?,
        };
        if index < of { Ok(Self { index, of }) } else { Err(BadShard::Beyond { index, of }) }
    }

    /// Whether it includes this part. Each run of N parts has one for each of N shards, in an order that moves on by one
    /// with every run: otherwise an axis of N values could give all of its dear cells to one shard.
    pub const fn has(self, part: usize) -> bool {
        (part % self.of + part / self.of) % self.of == self.index
    }
}

/// The variable that is set, and its index.
///
/// # Errors
/// If its value is not a number, or if two variables give different indices.
pub fn given(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<(&'static str, usize)>, BadShard> {
    let mut found: Option<(&'static str, usize)> = None;
    for name in VARIABLES {
        let Some(text) = variable(name).filter(|text| !text.is_empty()) else { continue };
        let index = text.trim().parse().map_err(|_| BadShard::Variable { variable: name, found: text })?;
        match found {
            Some((other, elsewhere)) if elsewhere != index => return Err(BadShard::Several(other, name)),
            Some(_) => {}
            None => found = Some((name, index)),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{BadShard, Shard, VARIABLES};

    fn read(text: &str, set: &[(&str, &str)]) -> Result<Shard, BadShard> {
        let look = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Shard::read(text, &look)
    }

    #[test]
    fn shards_are_counted_from_zero() {
        assert_eq!(read("0/7", &[]), Ok(Shard { index: 0, of: 7 }));
        assert_eq!(read("6/7", &[]), Ok(Shard { index: 6, of: 7 }));
        assert_eq!(read("7/7", &[]), Err(BadShard::Beyond { index: 7, of: 7 }));
        for text in ["", "1", "1/0", "-1/7", "a/7", "1/7/2", "auto"] {
            assert!(matches!(read(text, &[]), Err(BadShard::Form(_))), "{text}");
        }
    }

    #[test]
    fn every_scheduler_gives_its_index() {
        for variable in VARIABLES {
            assert_eq!(read("auto/7", &[(variable, "0")]), Ok(Shard { index: 0, of: 7 }), "{variable}");
            assert_eq!(read("auto/7", &[(variable, "6")]), Ok(Shard { index: 6, of: 7 }), "{variable}");
            assert!(read("auto/7", &[(variable, "7")]).is_err(), "{variable} of an array from one");
            assert!(read("auto/7", &[(variable, "x")]).is_err(), "{variable}");
            assert_eq!(read("2/7", &[(variable, "5")]), Ok(Shard { index: 2, of: 7 }), "an explicit index wins");
        }
    }

    #[test]
    fn no_variable_and_two_that_differ_are_refused() {
        assert!(matches!(read("auto/7", &[]), Err(BadShard::Unset(_))));
        let nested = [("SLURM_ARRAY_TASK_ID", "1"), ("HQ_TASK_ID", "2")];
        assert_eq!(read("auto/7", &nested), Err(BadShard::Several("SLURM_ARRAY_TASK_ID", "HQ_TASK_ID")));
        assert!(read("auto/7", &[("SLURM_ARRAY_TASK_ID", "2"), ("HQ_TASK_ID", "2")]).is_ok());
    }

    #[test]
    fn an_axis_with_as_many_values_as_shards_gives_every_shard_all_of_them() {
        // 64 parts, whose cost depends on the part modulo eight.
        let value = |part: usize| part % 8;
        for index in 0..8 {
            let shard = Shard { index, of: 8 };
            let values: std::collections::BTreeSet<usize> =
                (0..64).filter(|part| shard.has(*part)).map(value).collect();
            assert_eq!(values.len(), 8, "shard {index}");
        }
    }

    #[test]
    fn every_part_has_one_shard() {
        for of in 1..9 {
            for part in 0..40 {
                assert_eq!((0..of).filter(|index| Shard { index: *index, of }.has(part)).count(), 1);
            }
        }
    }
}
