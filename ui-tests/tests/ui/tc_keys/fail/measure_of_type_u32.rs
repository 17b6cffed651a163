tracecast::tc_keys! {
    pub measure bytes: u32 = "tc.size.bytes";
}

fn main() {}
