#[derive(tracecast::TcError)]
#[tc_error(rename_all = "snake_case")]
pub struct StoreError;

fn main() {}
