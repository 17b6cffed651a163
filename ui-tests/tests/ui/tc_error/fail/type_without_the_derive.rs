use tracecast::TcError;

pub enum StoreError {
    Timeout,
}

fn main() {
    println!("{}", StoreError::Timeout.error_type());
}
