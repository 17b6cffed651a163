#[tc_metric(first_item = "tc_first_token_seconds", per_item = "tc_token_seconds", items = "tc_tokens_total", labels(keys::model = model))]
fn tokens(model: Model) -> impl Stream<Item = Result<Token, ModelError>> {
    async_stream::stream! {
        yield 1;
    }
}
