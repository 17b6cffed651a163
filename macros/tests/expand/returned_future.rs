#[tc_span("Store/Call", future)]
fn call(&mut self, request: Request) -> Self::Future {
    self.inner.call(request)
}
