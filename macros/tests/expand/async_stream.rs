#[tc_span("Store/Watch", stream)]
async fn watch(&self) -> impl Stream<Item = Result<Event, StoreError>> {
    self.subscribe().await
}
