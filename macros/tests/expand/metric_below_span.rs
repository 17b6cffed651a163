#[tc_span("Store/Load", attrs(keys::artifact = id), result(keys::bytes = |r| r.len()))]
/// Loads.
#[tc_metric(calls = "tc_loads_total", duration = "tc_load_seconds", labels(keys::source = source, keys::tier = |r| r.tier()))]
fn load(id: &str, source: SourceType) -> Result<Replica, StoreError> {
    fetch(id)
}
