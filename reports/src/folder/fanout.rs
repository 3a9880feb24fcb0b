//! A fan-out on disk: `fanout.json`, `fanout.csv`, and each answer as `NAME.svg` and `NAME.png`.

use forkcast_scenarios::fanout::Trial;
use forkcast_scenarios::fanout::breakeven::Answer;

use super::{Contents, FANOUT, Folder, FolderError, Written, named};
use crate::figures;
use crate::format::fanout;

impl Folder {
    /// Writes rows and answers, and draws `drawn`; the rows of the answers must be among the rows.
    ///
    /// # Errors
    /// When a file cannot be written; the folder is then unchanged.
    pub fn write_fanout(
        mut self,
        rows: &[Trial],
        answers: &[Answer],
        drawn: &[Answer],
        price_book: &str,
        is_partial: bool,
    ) -> Result<Written, FolderError> {
        self.file(FANOUT, |target| fanout::write(rows, answers, price_book, is_partial, target))?;
        self.file("fanout.csv", |target| fanout::table(rows, target))?;
        let mut files = named(Contents::Fanout);
        for answer in drawn {
            let [svg, png] = ["svg", "png"].map(|form| format!("{}.{form}", answer.question.word()));
            self.picture([&svg, &png], &figures::fanout::svg(answer))?;
            files.extend([svg, png]);
        }
        self.place()?;
        Ok(Written { files, bodies: None })
    }
}
