tracecast::tc_keys! {
    pub id artifact: str = "tc.artifact.id";
    pub id artifact: str = "tc.artifact.name";
}

fn main() {}
