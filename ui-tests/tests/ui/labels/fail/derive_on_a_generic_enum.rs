#[derive(Clone, Copy, tracecast::TcLabel)]
pub enum Source<const N: usize> {
    Disk,
}

fn main() {}
