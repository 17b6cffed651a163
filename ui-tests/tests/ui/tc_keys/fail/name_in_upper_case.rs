tracecast::tc_keys! {
    pub id artifact: str = "TC.Artifact-Id";
}

fn main() {}
