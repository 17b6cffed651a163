#[derive(tracecast::TcLabel)]
pub enum Source {
    Disk,
    Remote,
}

fn main() {}
