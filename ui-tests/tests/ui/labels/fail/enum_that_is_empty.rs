#[derive(Clone, Copy, tracecast::TcLabel)]
pub enum Source {}

fn main() {}
