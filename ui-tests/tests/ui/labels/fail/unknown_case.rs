#[derive(Clone, Copy, tracecast::TcLabel)]
#[tc_label(rename_all = "snakecase")]
pub enum Source {
    Disk,
}

fn main() {}
