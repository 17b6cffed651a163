use tracecast::TcLabel;

#[derive(Clone, Copy, TcLabel)]
enum SourceType {
    Remote,
    Disk,
}

tracecast::tc_keys! {
    /// The artifact that is loaded.
    pub id artifact: str = "tc.artifact.id";
    /// Where the bytes come from.
    pub label source: SourceType = "tc.source.type";
}

fn main() {
    let _ = (SourceType::Remote, SourceType::Disk);
}
