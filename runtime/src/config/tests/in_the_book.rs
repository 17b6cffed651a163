//! Every YAML block of the book can be read, and has the effect or the problems that the book states.

use crate::config::{Config, Problem, Severity, Signal, TelemetrySection};
use serde_json::Value;

use super::yaml::yaml;

const FILE: &str = include_str!("../../../../book/src/configuration-file.md");
/// A code block: the text after its fence, and its content.
struct Block {
    kind: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut parts = page.split("\n```");
    parts.next();
    let inside = parts.step_by(2);
    let block = |part: &str| {
        let (kind, text) = part.split_once('\n').unwrap_or((part, ""));
        Block { kind: kind.to_owned(), text: format!("{text}\n") }
    };
    inside.map(block).collect()
}

/// Returns the blocks of a kind, each with the block that follows it.
fn of_kind(kind: &str) -> Vec<(String, Option<Block>)> {
    let mut blocks = blocks(FILE).into_iter().peekable();
    let mut found = Vec::new();
    while let Some(block) = blocks.next() {
        if block.kind == kind {
            found.push((block.text, blocks.next_if(|next| next.kind == "text")));
        }
    }
    found
}

fn read(text: &str) -> Result<Config, Vec<Problem>> {
    Config::from_yaml(text, |_| None).map_err(|error| error.problems().to_vec())
}

fn told(problem: &Problem) -> String {
    let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
    format!("{severity}: {problem}\n")
}

#[test]
fn files_are_read_without_a_word() {
    let files = of_kind("yaml");
    assert_eq!(files.len(), 4);
    for (text, _) in files {
        let config = read(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
        assert_eq!(config.problems(), [], "{text}");
        let filled = Config::from_yaml(&text, |name| (name == "OTLP_TOKEN").then(|| "hunter2".to_owned())).unwrap();
        assert!(!format!("{filled:?}").contains("hunter2"));
    }
}

#[test]
fn the_complete_example_says_something_of_everything() {
    let (text, _) = of_kind("yaml").swap_remove(1);
    let config = read(&text).unwrap();
    assert_eq!(Signal::ALL.map(|signal| config.is_on(signal)), [true; 3]);
    assert_eq!((config.service_name(), config.role()), (Some("store"), Some("daemon")));
    assert_eq!((config.settings.metrics.views.len(), config.settings.memory_limit), (2, 128 << 20));
    assert_eq!(format!("{:?}", config.settings.traces.sampler), "Ratio(0.1)");
    let set: Vec<&str> = config.origins().map(|(setting, _)| setting).collect();
    let expected = [
        "diagnostics_level",
        "enabled",
        "filter",
        "log_filter",
        "logs.exporters",
        "logs.limits",
        "memory_limit",
        "metrics.exemplars",
        "metrics.exporters",
        "propagators",
        "resource",
        "role",
        "service_name",
        "traces.exporters",
        "traces.limits",
        "traces.sampler",
    ];
    assert_eq!(set, expected);
}

#[test]
fn what_is_wrong_is_said_as_the_book_has_it() {
    let wrong = of_kind("yaml,wrong");
    assert_eq!(wrong.len(), 2);
    for (text, expected) in wrong {
        let problems = match read(&text) {
            Ok(config) => config.problems().to_vec(),
            Err(problems) => problems,
        };
        assert_eq!(problems.iter().map(told).collect::<String>(), expected.unwrap().text, "{text}");
    }
}

#[test]
fn our_own_settings_are_all_in_the_book() {
    let Err(problems) = read("file_format: '1.0'\ndistribution: {tracecast: {unknown: 1}}") else { panic!() };
    let accepted = problems[0].help.strip_prefix("expected ").unwrap().replace(" or ", ", ");
    let section = FILE.split("## Tracecast's own settings").nth(1).unwrap().split("\n## ").next().unwrap();
    let keys = section.lines().filter_map(|line| line.strip_prefix("    ")).filter_map(|line| line.split(':').next());
    // The keys of the spool are one level deeper.
    let mut keys: Vec<&str> = keys.filter(|key| !key.starts_with(' ')).collect();
    let mut accepted: Vec<&str> = accepted.split(", ").collect();
    keys.sort_unstable();
    accepted.sort_unstable();
    assert_eq!(keys, accepted);
}

#[test]
fn short_forms_are_read_by_serde() {
    let short = of_kind("yaml,short");
    assert_eq!(short.len(), 2);
    for (text, _) in &short {
        let section: TelemetrySection = serde_json::from_value(yaml(text).swap_remove(0)).unwrap();
        let config = Config::new().with_telemetry(section.telemetry.unwrap());
        assert_eq!((config.problems(), config.service_name()), (&[][..], Some("store")), "{text}");
        assert!(config.is_on(Signal::Traces));
    }
    // Serde's error lists all keys of the struct, so a key that the book lacks fails here.
    let error = serde_json::from_str::<TelemetrySection>(r#"{"telemetry": {"unknown": 1}}"#).unwrap_err().to_string();
    let accepted: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
    let Some(Value::Object(telemetry)) = yaml(&short[0].0).swap_remove(0).get("telemetry").cloned() else { panic!() };
    let missing: Vec<&str> = accepted.into_iter().filter(|key| !telemetry.contains_key(*key)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert!(error.contains("`otlp_endpoint`"), "{error}");
}

#[test]
fn wrong_short_forms_are_refused_as_the_book_has_it() {
    let wrong = of_kind("yaml,short,wrong");
    assert_eq!(wrong.len(), 1);
    for (text, expected) in wrong {
        let expected = expected.unwrap().text;
        let (_, message) = expected.trim().split_once(": ").unwrap();
        let error = serde_json::from_value::<TelemetrySection>(yaml(&text).swap_remove(0)).unwrap_err().to_string();
        assert_eq!(error, message);
    }
}
