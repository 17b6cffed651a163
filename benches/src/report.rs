//! The results of a run: printed as they come, and written as Markdown, JSON and a chart.

use std::fmt::Write as _;
use std::path::Path;

use crate::chart::{self, Chart};
use crate::json::Json;
pub use crate::stats::figure;

/// All results of a run.
#[derive(Default)]
pub struct Report {
    sections: Vec<Section>,
    goals: Vec<Goal>,
}

/// A table.
pub struct Section {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

impl Section {
    pub fn new<const N: usize>(title: impl Into<String>, columns: [&str; N]) -> Self {
        let columns = columns.map(str::to_owned).into();
        Section { title: title.into(), columns, rows: Vec::new(), notes: Vec::new() }
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", self.title);
        if !self.rows.is_empty() {
            let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
            text += &line(&self.columns);
            text += &format!("|{}\n", "---|".repeat(self.columns.len()));
            self.rows.iter().for_each(|row| text += &line(row));
            text.push('\n');
        }
        self.notes.iter().for_each(|note| text += &format!("{note}\n\n"));
        text
    }

    fn json(&self) -> Json {
        let texts = |texts: &[String]| Json::Array(texts.iter().map(Json::text).collect());
        Json::object([
            ("title", Json::text(&self.title)),
            ("columns", texts(&self.columns)),
            ("rows", Json::Array(self.rows.iter().map(|row| texts(row)).collect())),
            ("notes", texts(&self.notes)),
        ])
    }
}

/// A target: a value and its upper limit.
pub struct Goal {
    pub what: String,
    pub measured: f64,
    pub limit: f64,
    pub unit: &'static str,
    /// The nearest peer's value, if it was measured in the same run.
    pub peer: String,
    /// The value of the hand-written version, if it was measured.
    pub by_hand: f64,
}

impl Goal {
    fn is_met(&self) -> bool {
        self.measured <= self.limit
    }

    /// Adds the value of the hand-written minimum to the target.
    pub fn by_hand(&mut self, measured: f64) {
        self.by_hand = measured;
    }

    fn row(&self) -> [String; 6] {
        let met = match self.measured.is_finite() {
            true if self.is_met() => "met",
            true => "**missed**",
            false => "not measured",
        };
        let Goal { what, limit, unit, measured, peer, by_hand } = self;
        let [measured, by_hand] =
            [measured, by_hand].map(|value| if value.is_finite() { figure(*value) } else { String::new() });
        [what.clone(), format!("<= {} {unit}", figure(*limit)), measured, met.to_owned(), peer.clone(), by_hand]
    }

    fn json(&self) -> Json {
        Json::object([
            ("what", Json::text(&self.what)),
            ("measured", Json::Number(self.measured)),
            ("limit", Json::Number(self.limit)),
            ("unit", Json::text(self.unit)),
            ("met", Json::Bool(self.is_met())),
            ("peer", Json::text(&self.peer)),
            ("by_hand", Json::Number(self.by_hand)),
        ])
    }
}

impl Report {
    /// Prints and stores a table.
    pub fn add(&mut self, section: Section) {
        print!("{}", section.markdown());
        self.sections.push(section);
    }

    pub fn goal(
        &mut self,
        what: impl Into<String>,
        measured: f64,
        limit: f64,
        unit: &'static str,
        peer: impl Into<String>,
    ) -> &mut Goal {
        let goal = Goal { what: what.into(), measured, limit, unit, peer: peer.into(), by_hand: f64::NAN };
        self.goals.push_mut(goal)
    }

    /// Prints the targets beside the results.
    pub fn print_goals(&self) {
        if !self.goals.is_empty() {
            print!("{}", self.goals_section().markdown());
        }
    }

    fn goals_section(&self) -> Section {
        let mut section =
            Section::new("Targets", ["what", "target", "measured", "", "nearest peer, same run", "by hand"]);
        self.goals.iter().for_each(|goal| section.row(goal.row()));
        section
    }

    /// Writes all results into a folder.
    pub fn write(&self, folder: &Path, command: &str, charts: &[Chart]) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut text = format!("# Results\n\nWritten by `{command}`{}.\n\n", machine());
        let _ = write!(text, "{}", self.goals_section().markdown());
        self.sections.iter().for_each(|section| text += &section.markdown());
        std::fs::write(folder.join("results.md"), text)?;
        let json = Json::object([
            ("command", Json::text(command)),
            ("machine", Json::text(machine())),
            ("targets", Json::Array(self.goals.iter().map(Goal::json).collect())),
            ("sections", Json::Array(self.sections.iter().map(Section::json).collect())),
        ]);
        std::fs::write(folder.join("results.json"), format!("{json}\n"))?;
        std::fs::write(folder.join("results.svg"), chart::svg(charts))
    }
}

/// Formats a value of a peer, if it was measured.
pub fn of_peer(name: &str, value: f64) -> String {
    if value.is_finite() { format!("{name}: {}", figure(value)) } else { String::new() }
}

/// Returns the name of the processor, on Linux.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")).and_then(|rest| rest.split(':').nth(1));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    name.map_or_else(String::new, |name| format!(" on {cores} threads of {}", name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_says_whether_it_is_met() {
        let met = |measured| Report::default().goal("off", measured, 3.0, "instructions", "").row()[3].clone();
        assert_eq!(met(3.0), "met");
        assert_eq!(met(3.1), "**missed**");
        assert_eq!(met(f64::NAN), "not measured");
    }

    #[test]
    fn everything_is_written_to_a_folder() {
        let folder = std::env::temp_dir().join(format!("tracecast-report-{}", std::process::id()));
        let mut report = Report::default();
        report.goal("off", 3.0, 3.0, "instructions", of_peer("fastrace", 75.0)).by_hand(2.0);
        report.add(Section::new("Sizes", ["what"]));
        let bars = vec![crate::chart::Bar { label: "tracecast".to_owned(), value: 1.0, ours: true }];
        report.write(&folder, "a command", &[Chart { title: "Spans", unit: "ns", bars }]).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let (text, json, svg) = (read("results.md"), read("results.json"), read("results.svg"));
        assert!(
            text.contains("`a command`")
                && text.contains("| off | <= 3.00 instructions | 3.00 | met | fastrace: 75.0 | 2.00 |")
        );
        assert!(json.contains("\"measured\": 3") && json.contains("\"met\": true"), "{json}");
        assert!(svg.contains("tracecast") && svg.ends_with("</svg>\n"), "{svg}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_section_is_a_table_with_notes() {
        let mut section = Section::new("Sizes", ["what", "bytes"]);
        section.row(["a".to_owned(), "1".to_owned()]);
        section.note("Few.");
        assert_eq!(section.markdown(), "## Sizes\n\n| what | bytes |\n|---|---|\n| a | 1 |\n\nFew.\n\n");
    }
}
