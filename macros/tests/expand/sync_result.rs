#[tc_span(
    "Store/Load",
    kind = client,
    attrs(keys::artifact = id, keys::source = source),
    result(keys::bytes = |replica| replica.len()),
    heartbeat = "30s"
)]
fn load(id: &str, source: SourceType) -> Result<Vec<u8>, StoreError> {
    let replica = fetch(id)?;
    Ok(replica)
}
