#[derive(tracecast::TcError)]
pub union StoreError {
    code: u32,
    flags: i32,
}

fn main() {}
