//! Formats text as tables and wrapped lines.

/// Wraps a text into lines of at most `width` characters including the indent. Does not divide a word that is
/// longer than a line. Indents every line except the first.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let text = paragraph.trim_start();
        let mut line = paragraph[..paragraph.len() - text.len()].to_string();
        for word in text.split(' ') {
            if !line.trim().is_empty() {
                if line.chars().count() + word.chars().count() >= width - indent {
                    lines.push(std::mem::take(&mut line));
                } else {
                    line.push(' ');
                }
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// A table whose cells may have several lines.
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

/// Width to which the text of a cell is wrapped, in characters.
const WIDTH: usize = 60;

impl<const N: usize> Table<N> {
    pub(crate) fn new(head: [&str; N]) -> Table<N> {
        Table { rows: vec![head.map(String::from)] }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| wrapped(&cell, 0, WIDTH)));
    }

    /// Prints the table as one block if it has rows besides the header.
    pub(crate) fn print(&self) {
        if self.rows.len() < 2 {
            return;
        }
        let widths: [usize; N] = std::array::from_fn(|column| {
            let lines = self.rows.iter().flat_map(|row| row[column].lines());
            lines.map(|line| line.chars().count()).max().unwrap_or(0)
        });
        let mut text = String::new();
        for row in &self.rows {
            let height = row.iter().map(|cell| cell.lines().count()).max().unwrap_or(1).max(1);
            for line in 0..height {
                let cells = row.iter().zip(widths).map(|(cell, width)| {
                    let text = cell.lines().nth(line).unwrap_or("");
                    format!("{text}{}", " ".repeat(width - text.chars().count()))
                });
                text += &format!("{}\n", cells.collect::<Vec<_>>().join("   ").trim_end());
            }
        }
        say!("{text}");
    }
}
