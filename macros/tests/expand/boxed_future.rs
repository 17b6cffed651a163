#[tc_span("Store/Load")]
fn load<'a>(&'a self, id: &'a str) -> Pin<Box<dyn Future<Output = Result<Replica, StoreError>> + Send + 'a>> {
    self.count();
    Box::pin(async move { self.fetch(id).await })
}
