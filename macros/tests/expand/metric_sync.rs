#[tc_metric(
    calls = "tc_loads_total",
    duration = "tc_load_seconds",
    labels(keys::source = source, keys::tier = |replica| replica.tier()),
    buckets = [0.1, 1],
    budget = 500
)]
fn load(id: &str, source: SourceType) -> Result<Replica, StoreError> {
    let replica = fetch(id)?;
    Ok(replica)
}
