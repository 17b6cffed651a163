tracecast::tc_keys! {
    pub id artifact: str = "tc.artifact.id"
}

fn main() {}
