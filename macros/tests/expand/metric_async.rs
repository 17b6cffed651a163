#[tc_metric(calls = "tc_loads_total", errors = "tc_load_errors_total", labels(keys::source = request.source), error_type = StoreError)]
async fn load(request: Request, device: u32) -> Loaded {
    fetch(request, device).await
}
