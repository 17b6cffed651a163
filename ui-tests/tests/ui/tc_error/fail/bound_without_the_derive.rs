pub enum StoreError {
    Timeout,
}

fn types<E: tracecast::TcError>(_: E) -> usize {
    E::TYPES.len()
}

fn main() {
    types(StoreError::Timeout);
}
