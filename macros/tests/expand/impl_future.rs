#[tc_span("Store/Call", future, crate = telemetry)]
fn call(&self) -> impl Future<Output = Result<u8, StoreError>> + use<> {
    self.inner.call()
}
