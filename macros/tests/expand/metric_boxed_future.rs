#[tc_metric(duration = "tc_load_seconds", future)]
fn load(&self) -> BoxFuture<'_, io::Result<u8>> {
    self.inner.load()
}
