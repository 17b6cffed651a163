#[derive(Clone, Copy, tracecast::TcLabel)]
pub enum Source {
    #[tc_label(renam = "disk")]
    Disk,
}

fn main() {}
