#[tc_span("Store/Serve")]
async fn serve() -> ! {
    loop {
        accept().await;
    }
}
