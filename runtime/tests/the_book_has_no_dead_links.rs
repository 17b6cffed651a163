//! Every page is in the table of contents, every link within the repository leads somewhere, and every included file is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn pages() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join("book/src")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    pages.sort();
    pages
}

/// What stands between `open` and `close`, wherever that is outside of code.
fn between<'t>(text: &'t str, open: &str, close: char) -> Vec<&'t str> {
    let parts = text.split(open).skip(1);
    parts.filter_map(|rest| rest.split_once(close)).map(|(inside, _)| inside).collect()
}

/// The text outside of fenced blocks.
fn prose(text: &str) -> String {
    let outside = text.split("```").step_by(2);
    outside.collect::<Vec<_>>().join("\n")
}

fn dead_links(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let folder = page.parent().unwrap();
    let prose = prose(&text);
    let links = between(&prose, "](", ')').into_iter().filter(|link| !link.contains("://") && !link.starts_with('#'));
    let links = links.map(|link| link.split('#').next().unwrap_or(link));
    let included = between(&text, "{{#include ", '}').into_iter().map(|file| file.split(':').next().unwrap_or(file));
    let dead = links.chain(included).filter(|file| !folder.join(file).exists());
    dead.map(|file| format!("{}: {file}", page.display())).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut pages = pages();
    assert!(pages.len() > 10, "{pages:?}");
    pages.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root().join(name)));
    let dead: Vec<_> = pages.iter().flat_map(|page| dead_links(page)).collect();
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = fs::read_to_string(root().join("book/src/SUMMARY.md")).unwrap();
    let listed: BTreeSet<_> = between(&summary, "](", ')').into_iter().map(str::to_owned).collect();
    let name = |page: &PathBuf| page.file_name().unwrap().to_str().unwrap().to_owned();
    let there: BTreeSet<_> = pages().iter().map(name).filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(listed, there);
}
