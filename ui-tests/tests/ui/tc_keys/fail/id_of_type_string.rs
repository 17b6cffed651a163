tracecast::tc_keys! {
    pub id artifact: String = "tc.artifact.id";
}

fn main() {}
