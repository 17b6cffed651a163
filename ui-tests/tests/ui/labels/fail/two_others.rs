#[derive(Clone, Copy, tracecast::TcLabel)]
pub enum Source {
    Disk,
    #[tc_label(other)]
    Unknown,
    #[tc_label(other)]
    Rest,
}

fn main() {}
