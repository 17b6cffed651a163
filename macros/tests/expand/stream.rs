#[tc_span("Store/Tokens")]
fn tokens(n: u8) -> impl Stream<Item = u8> {
    async_stream::stream! {
        for i in 0..n {
            yield i;
        }
    }
}
