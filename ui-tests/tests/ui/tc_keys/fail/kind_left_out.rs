tracecast::tc_keys! {
    pub artifact: str = "tc.artifact.id";
}

fn main() {}
