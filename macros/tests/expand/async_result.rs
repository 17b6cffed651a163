#[tc_span("Store/Load", attrs(keys::artifact = &request.artifact), share(keys::session = session), links(cause))]
/// Loads.
#[inline]
pub async fn load<T>(&self, request: Request<T>, session: &str, cause: Context) -> Result<Replica, StoreError>
where
    T: Send,
{
    self.fetch(request).await
}
