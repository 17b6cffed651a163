#[derive(tracecast::TcError)]
pub enum StoreError {
    #[tc_error(renam = "timeout")]
    Timeout,
}

fn main() {}
