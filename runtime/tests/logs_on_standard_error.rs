//! A whole program: its lines are on standard error, JSON where that is no terminal, each in one piece.

#![cfg(all(feature = "logs", not(miri)))]

use std::process::{Command, Stdio};

use serde_json::Value;
use tracecast::__logs::{Door, Options};

const CHILD: &str = "TRACECAST_TEST_LOGS_CHILD";

#[test]
fn lines_of_many_threads_are_whole() {
    if std::env::var_os(CHILD).is_some() {
        return program();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lines_of_many_threads_are_whole", "--nocapture"])
        .env(CHILD, "1")
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines: Vec<Value> = String::from_utf8(output.stderr)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert_eq!(lines.len(), 4 * 200);
    for thread in 0..4 {
        let own: Vec<_> = lines.iter().filter(|line| line["thread"] == thread).map(|line| line["at"].clone()).collect();
        assert_eq!(own, (0..200).map(Value::from).collect::<Vec<_>>());
    }
}

fn program() {
    let _door = Door::open(Options { stderr: true, install: true, ..Options::default() });
    let text = "x\n".repeat(500);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let text = &text;
            scope.spawn(move || (0..200).for_each(|at| tracing::info!(thread, at, text, "{text}")));
        }
    });
}
