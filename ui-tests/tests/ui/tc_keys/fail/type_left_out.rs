tracecast::tc_keys! {
    pub id artifact = "tc.artifact.id";
}

fn main() {}
