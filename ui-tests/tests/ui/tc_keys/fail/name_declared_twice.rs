tracecast::tc_keys! {
    pub id artifact: str = "tc.artifact.id";
    pub id model: str = "tc.artifact.id";
}

fn main() {}
