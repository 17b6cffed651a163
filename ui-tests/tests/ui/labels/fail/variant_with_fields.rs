#[derive(Clone, Copy, tracecast::TcLabel)]
pub enum Source {
    Disk,
    Remote { port: u16 },
}

fn main() {}
