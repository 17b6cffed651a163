//! The gauges are shown, and those of a GPU that is gone are gaps.

use crate::support::{command, text};

#[test]
fn a_gpu_that_falls_off_the_bus_becomes_a_gap() {
    let text = text(&command(env!("CARGO_BIN_EXE_gpu_node"), &[]).output().unwrap());
    let (before, after) = text.split_once("GPU 1 falls off the bus").unwrap();
    let last = |part: &str, gpu: &str| -> Vec<String> {
        let line = part.lines().rfind(|line| line.contains(gpu)).unwrap();
        line.split_whitespace().skip(4).map(str::to_owned).collect()
    };
    // up, utilization, memory, temperature, power, each with its unit.
    assert_eq!(last(before, "GPU 1")[0], "1", "{text}");
    assert!(last(before, "GPU 1")[8].parse::<f64>().unwrap() > 100.0, "{text}");
    assert_eq!(last(after, "GPU 1")[0], "0", "{text}");
    assert_eq!(last(after, "GPU 1")[8], "-", "{text}");
    assert!(last(after, "GPU 0")[8].parse::<f64>().unwrap() > 100.0, "{text}");
}
