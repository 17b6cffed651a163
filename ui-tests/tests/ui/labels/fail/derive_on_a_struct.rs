#[derive(Clone, Copy, tracecast::TcLabel)]
pub struct Source(u16);

fn main() {}
