tracecast::tc_keys! {
    pub id artifact: str = "tc.artifact.id"
    pub id replica: str = "tc.replica.id";
}

fn main() {}
