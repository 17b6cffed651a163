#[tc_metric(calls = "tc_loads_total", labels(keys::source = source))]
#[track_caller]
fn load(source: SourceType) -> u8 {
    fetch(source)
}
