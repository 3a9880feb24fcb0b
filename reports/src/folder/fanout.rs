//! A fan-out on disk: `fanout.json`, `fanout.csv`, and each answer as `NAME.svg` and `NAME.png`.

use forkcast_scenarios::fanout::Row;
use forkcast_scenarios::fanout::breakeven::Answer;

use super::{FANOUT, Folder, FolderError};
use crate::figures::{self, png};
use crate::format::fanout;

impl Folder {
    /// Writes rows and answers; the rows of the answers must be among the rows. Gives the names of the files.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_fanout(
        &self,
        rows: &[Row],
        answers: &[Answer],
        price_book: &str,
        is_partial: bool,
    ) -> Result<Vec<String>, FolderError> {
        self.file(FANOUT, |target| fanout::write(rows, answers, price_book, is_partial, target))?;
        self.file("fanout.csv", |target| fanout::table(rows, target))?;
        Ok(vec![FANOUT.to_owned(), "fanout.csv".to_owned()])
    }

    /// Draws each answer. Gives the names of the files.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn draw_fanout(&self, answers: &[Answer]) -> Result<Vec<String>, FolderError> {
        let mut files = Vec::new();
        for answer in answers {
            let [svg_name, png_name] = ["svg", "png"].map(|form| format!("{}.{form}", answer.question.word()));
            let svg = figures::fanout::svg(answer);
            self.file(&svg_name, |target| target.write_all(svg.as_bytes()))?;
            let picture = |source| FolderError::Picture { path: self.path.join(&png_name), source };
            let png = png::from_svg(&svg).map_err(picture)?;
            self.file(&png_name, |target| target.write_all(&png))?;
            files.extend([svg_name, png_name]);
        }
        Ok(files)
    }
}
