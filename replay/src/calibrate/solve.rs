//! Least squares with a handful of unknowns, none of them negative.

use forkcast_tokens::Class;

/// Unknowns: one factor for each class.
pub(super) const CLASSES: usize = Class::ALL.len();

/// The normal equations of a least-squares problem.
#[derive(Clone, Debug)]
pub(super) struct Equations {
    matrix: [[f64; CLASSES]; CLASSES],
    right: [f64; CLASSES],
}

impl Default for Equations {
    fn default() -> Self {
        Self { matrix: [[0.0; CLASSES]; CLASSES], right: [0.0; CLASSES] }
    }
}

impl Equations {
    /// Asks that Σ `row` · unknowns be `target`, with a weight for its squared error.
    pub fn add(&mut self, row: [f64; CLASSES], target: f64, weight: f64) {
        for (at, left) in row.iter().enumerate() {
            for (cell, right) in self.matrix[at].iter_mut().zip(row) {
                *cell += weight * left * right;
            }
            self.right[at] += weight * left * target;
        }
    }

    /// The unknowns with the least squared error, none below zero. `None` where they are not determined.
    ///
    /// Unknowns that come out negative are set to zero and the others solved again, at most once for each: with priors
    /// above zero it takes recordings that contradict each other for that to happen at all.
    pub fn solve_non_negative(&self) -> Option<[f64; CLASSES]> {
        let mut free = [true; CLASSES];
        loop {
            let found = self.solve(&free)?;
            let Some(negative) = (0..CLASSES).find(|at| free[*at] && found[*at] < 0.0) else { return Some(found) };
            free[negative] = false;
        }
    }

    /// Cholesky's method over the free unknowns; the others are zero.
    fn solve(&self, free: &[bool; CLASSES]) -> Option<[f64; CLASSES]> {
        let mut lower = [[0.0; CLASSES]; CLASSES];
        for row in 0..CLASSES {
            for column in 0..=row {
                let known: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
                let cell = self.cell(row, column, free) - known;
                lower[row][column] = if row == column {
                    (cell > f64::EPSILON).then(|| cell.sqrt())?
                } else {
                    cell / lower[column][column]
                };
            }
        }
        let mut between = [0.0; CLASSES];
        for row in 0..CLASSES {
            let known: f64 = (0..row).map(|k| lower[row][k] * between[k]).sum();
            let right = if free[row] { self.right[row] } else { 0.0 };
            between[row] = (right - known) / lower[row][row];
        }
        let mut found = [0.0; CLASSES];
        for row in (0..CLASSES).rev() {
            let known: f64 = (row + 1..CLASSES).map(|k| lower[k][row] * found[k]).sum();
            found[row] = (between[row] - known) / lower[row][row];
        }
        Some(found)
    }

    /// A fixed unknown has an equation of its own, which says that it is zero.
    fn cell(&self, row: usize, column: usize, free: &[bool; CLASSES]) -> f64 {
        match (free[row] && free[column], row == column) {
            (true, _) => self.matrix[row][column],
            (false, true) => 1.0,
            (false, false) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, Equations};

    fn unit(at: usize, value: f64) -> [f64; CLASSES] {
        let mut row = [0.0; CLASSES];
        row[at] = value;
        row
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn consistent_equations_are_met_exactly() {
        // x = 2, x + y = 5, and the others 1: by hand.
        let mut equations = Equations::default();
        let mut both = unit(0, 1.0);
        both[1] = 1.0;
        equations.add(unit(0, 1.0), 2.0, 1.0);
        equations.add(both, 5.0, 3.0);
        (2..CLASSES).for_each(|at| equations.add(unit(at, 2.0), 2.0, 1.0));
        let found = equations.solve_non_negative().unwrap();
        assert!(close(found[0], 2.0) && close(found[1], 3.0) && close(found[4], 1.0), "{found:?}");
    }

    #[test]
    fn contradicting_equations_meet_in_their_weighted_mean() {
        // One unknown is asked to be 1 with weight 1 and 4 with weight 2: 3.
        let mut equations = Equations::default();
        (0..CLASSES).for_each(|at| equations.add(unit(at, 1.0), 1.0, 1.0));
        equations.add(unit(3, 1.0), 4.0, 2.0);
        assert!(close(equations.solve_non_negative().unwrap()[3], 3.0));
    }

    #[test]
    fn nothing_comes_out_negative() {
        // x = −1 alone; with y: x + y = 1. The best x that is not negative is 0, and y is then 1.
        let mut equations = Equations::default();
        let mut both = unit(0, 1.0);
        both[1] = 1.0;
        equations.add(unit(0, 1.0), -1.0, 1.0);
        equations.add(both, 1.0, 1.0);
        (2..CLASSES).for_each(|at| equations.add(unit(at, 1.0), 1.0, 1.0));
        let found = equations.solve_non_negative().unwrap();
        assert!(close(found[0], 0.0) && close(found[1], 1.0), "{found:?}");
    }

    #[test]
    fn what_is_not_determined_has_no_solution() {
        assert!(Equations::default().solve_non_negative().is_none());
    }
}
