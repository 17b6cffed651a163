//! A figure in the README or in the book is one that a run of the benches has written to its results.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The part of a page below a heading, up to the next one of the same level.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, after) = page.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("{heading} is missing"));
    let level = &heading[..heading.find(' ').unwrap() + 1];
    after.split_once(&format!("\n{level}")).map_or(after, |(section, _)| section)
}

/// The rows of tables with figures in them.
fn rows(text: &str) -> Vec<&str> {
    let is_row = |line: &&str| line.starts_with('|') && line.contains(|c: char| c.is_ascii_digit());
    text.lines().filter(is_row).collect()
}

#[test]
fn each_row_of_the_readme_is_a_row_of_the_results() {
    let (page, results) = (read("README.md"), read("benches/results/results.md"));
    let shown = rows(section(&page, "## Figures"));
    assert!(shown.len() > 20, "the section has {} rows", shown.len());
    let written = rows(&results);
    for row in shown {
        assert!(written.contains(&row), "the benches did not write this row:\n{row}");
    }
}

#[test]
fn each_target_stands_in_the_readme_met_or_missed() {
    let (page, results) = (read("README.md"), read("benches/results/results.md"));
    let shown = rows(section(&page, "## Figures"));
    let targets = rows(section(&results, "## Targets"));
    assert!(targets.len() > 20, "there are {} targets", targets.len());
    for row in targets {
        assert!(shown.contains(&row), "the README does not show this target:\n{row}");
    }
}

#[test]
fn readme_and_book_show_the_chart() {
    let chart = read("benches/results/results.svg");
    assert!(chart.starts_with("<svg") && chart.contains("tracecast") && chart.contains("fastrace"), "{chart}");
    // In a page of Markdown an empty line would end it.
    assert!(!chart.contains("\n\n"), "the chart has an empty line");
    assert!(read("README.md").contains("](benches/results/results.svg)"));
    assert!(read("book/src/performance.md").contains("{{#include ../../benches/results/results.svg}}"));
}
