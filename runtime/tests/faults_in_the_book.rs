//! The book's page about failure names tests for what it promises: all of them exist, and all tests of faults are named.

use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = include_str!("../../book/src/failure.md");

/// All `file::test` of the page.
fn named() -> BTreeSet<(String, String)> {
    let quoted = PAGE.split('`').skip(1).step_by(2);
    let pairs = quoted.filter_map(|text| text.split_once("::")).filter(|(file, _)| *file != "file");
    pairs.map(|(file, test)| (file.to_owned(), test.to_owned())).collect()
}

fn source(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file).with_extension("rs");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the tests in a file.
fn tests(source: &str) -> BTreeSet<String> {
    let after = source.split("#[test]\nfn ").skip(1);
    after.map(|rest| rest.split('(').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_test_that_the_page_names_exists() {
    let named = named();
    assert!(named.len() > 20, "{named:?}");
    for (file, test) in &named {
        assert!(tests(&source(file)).contains(test), "there is no `{file}::{test}`");
    }
}

#[test]
fn every_test_of_faults_is_named() {
    let named = named();
    let files =
        ["faults_lose_nothing", "faults_do_not_reach_the_caller", "faults_stay_within_memory", "faults_of_the_process"];
    for file in files {
        for test in tests(&source(file)) {
            // What the programs do that the tests start.
            if test != "program" {
                assert!(named.contains(&(file.to_owned(), test.clone())), "the page does not name `{file}::{test}`");
            }
        }
    }
}
