use tracecast::{TcLabel, tc_keys, tc_span};

#[derive(Clone, Copy, TcLabel)]
#[tc_label(rename_all = "snakecase")]
pub enum Source {
    Disk,
}

tc_keys! {
    pub label source: Source = "tc.source.type";
}

#[tc_span("StoreDaemon/Load", attrs(source = Source::Disk))]
fn load() {}

fn main() {
    load();
}
