#[tc_span("Edge/Handle", attrs("http.request.header.x-id" = request.id(), "tc.path" = path, "tc.tags": [str] = tags()))]
fn handle(request: &Request, path: &str) {
    answer(request);
}
