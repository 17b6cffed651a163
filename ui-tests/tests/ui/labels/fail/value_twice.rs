#[derive(Clone, Copy, tracecast::TcLabel)]
pub enum Source {
    Disk,
    #[tc_label(rename = "disk")]
    Ssd,
}

fn main() {}
