//! Programs without a mistake compile, and do what they say: `ui/<macro>/pass/*.rs`, linked as one program.
//!
//! A program without a test harness: under it the compiler looks for no missing documentation, and some of them deny that.

#![allow(dead_code, missing_docs, unused_variables, reason = "programs that are about these lints deny them")]

use std::fs;
use std::path::Path;

macro_rules! programs {
    ($($file:literal $name:ident,)*) => {
        $(#[path = $file] pub mod $name;)*
        /// The file and the main function of each program.
        const PROGRAMS: &[(&str, fn())] = &[$(($file, $name::main)),*];
    };
}

programs! {
    "ui/labels/pass/labels_of_every_form.rs" labels_of_every_form,
    "ui/tc_error/pass/errors_of_every_form.rs" errors_of_every_form,
    "ui/tc_keys/pass/keys_of_every_kind.rs" keys_of_every_kind,
    "ui/tc_metric/pass/budgets_that_are_reached.rs" budgets_of_calls,
    "ui/tc_metric/pass/errors_without_the_derive.rs" errors_without_the_derive,
    "ui/tc_metric/pass/every_option_on_calls.rs" every_option_on_calls,
    "ui/tc_metric/pass/every_option_on_futures.rs" every_option_on_futures,
    "ui/tc_metric/pass/every_option_on_streams.rs" every_option_on_streams,
    "ui/tc_metric/pass/span_above_and_below.rs" span_above_and_below,
    "ui/tc_metrics/pass/budgets_that_are_reached.rs" budgets_of_declarations,
    "ui/tc_metrics/pass/metrics_of_every_kind.rs" metrics_of_every_kind,
    "ui/tc_metrics/pass/names_of_the_conventions.rs" names_of_the_conventions,
    "ui/tc_metrics/pass/units.rs" units,
    "ui/tc_scope/pass/scopes_nest_and_shadow.rs" scopes_nest_and_shadow,
    "ui/tc_span/pass/attributes_named_in_place.rs" attributes_named_in_place,
    "ui/tc_span/pass/captured_lifetimes.rs" captured_lifetimes,
    "ui/tc_span/pass/fields_that_the_body_moves.rs" fields_that_the_body_moves,
    "ui/tc_span/pass/functions_made_by_macro_rules.rs" functions_made_by_macro_rules,
    "ui/tc_span/pass/key_beside_an_argument_of_its_name.rs" key_beside_an_argument_of_its_name,
    "ui/tc_span/pass/raw_identifiers.rs" raw_identifiers,
}

fn main() {
    let listed: Vec<_> = PROGRAMS.iter().map(|(file, _)| (*file).to_owned()).collect();
    assert_eq!(listed, files(), "the list is that of the files");
    for (file, program) in PROGRAMS {
        println!("test {file} ...");
        program();
    }
    println!("test result: ok. {} passed", PROGRAMS.len());
}

/// The programs that there are, in alphabetical order.
fn files() -> Vec<String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let inside = |folder: &str| {
        let names = fs::read_dir(tests.join(folder)).into_iter().flatten().map(|entry| entry.unwrap().file_name());
        names.map(|name| format!("{folder}/{}", name.to_str().unwrap())).collect::<Vec<_>>()
    };
    let mut files: Vec<_> = inside("ui").iter().flat_map(|of_macro| inside(&format!("{of_macro}/pass"))).collect();
    files.sort();
    files
}
