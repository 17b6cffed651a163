#[tc_metric(duration = "tc_load_seconds", no_err, labels(keys::source = source))]
#[tc_span("Store/Load", parent = context)]
async fn load(source: SourceType, context: Context) -> Result<Replica, StoreError> {
    fetch(source).await
}
