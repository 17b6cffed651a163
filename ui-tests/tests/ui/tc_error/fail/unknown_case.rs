#[derive(tracecast::TcError)]
#[tc_error(rename_all = "Snake")]
pub enum StoreError {
    Timeout,
}

fn main() {}
