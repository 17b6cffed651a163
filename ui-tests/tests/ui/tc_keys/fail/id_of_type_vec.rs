tracecast::tc_keys! {
    pub id artifact: Vec<u8> = "tc.artifact.id";
}

fn main() {}
