#[tc_span("Store/Tick", needs_parent)]
async fn tick(self) {
    self.step().await;
}
