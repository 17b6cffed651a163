#[derive(Clone, Copy, tracecast::TcLabel)]
pub enum Source {
    #[tc_label(rename = "disk", rename = "ssd")]
    Disk,
}

fn main() {}
