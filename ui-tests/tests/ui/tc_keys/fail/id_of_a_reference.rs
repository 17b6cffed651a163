tracecast::tc_keys! {
    pub id artifact: &'static str = "tc.artifact.id";
}

fn main() {}
