#[derive(Clone, Copy, tracecast::TcLabel)]
#[tc_label(rename = "source")]
pub enum Source {
    Disk,
}

fn main() {}
