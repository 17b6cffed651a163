//! Default bucket bounds: thirteen for each unit.

/// From 100 microseconds to 5 minutes: a kernel launch, a request, the loading of a model.
const SECONDS: &[f64] = &[0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 300.0];
const MILLISECONDS: &[f64] = &[0.1, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1e3, 5e3, 1e4, 6e4, 3e5];
const MICROSECONDS: &[f64] = &[1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1e3, 5e3, 1e4, 1e5, 1e6, 1e7, 1e8];
/// From 1 KiB to 16 GiB by powers of four: a message, a tensor, a checkpoint.
const BYTES: &[f64] = &[
    1024.0,
    4096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
    268_435_456.0,
    1_073_741_824.0,
    4_294_967_296.0,
    17_179_869_184.0,
];
const RATIO: &[f64] = &[0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
const PERCENT: &[f64] = &[1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0];
/// Numbers of things: a batch, a queue, tokens of an answer.
const COUNTS: &[f64] = &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4];

pub(super) const fn of_unit(unit: &str) -> &'static [f64] {
    match unit.as_bytes() {
        b"s" => SECONDS,
        b"ms" => MILLISECONDS,
        b"us" => MICROSECONDS,
        b"By" => BYTES,
        b"1" => RATIO,
        b"%" => PERCENT,
        _ => COUNTS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_ascends_and_has_fourteen_buckets() {
        for unit in ["s", "ms", "us", "By", "1", "%", "", "{request}"] {
            let bounds = of_unit(unit);
            assert!(bounds.is_sorted_by(|a, b| a < b), "{unit}");
            assert_eq!(bounds.len() + 1, 14, "{unit}");
        }
    }
}
