#[derive(tracecast::TcError)]
#[tc_error(rename = "store")]
pub enum StoreError {
    Timeout,
}

fn main() {}
