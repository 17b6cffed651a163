#[tc_span("Store/Test")]
#[tokio::test]
async fn works() -> Result<(), StoreError> {
    run().await
}
