#[derive(Clone, Copy, tracecast::TcLabel)]
pub enum Source {
    #[tc_label(rename = "")]
    Disk,
}

fn main() {}
