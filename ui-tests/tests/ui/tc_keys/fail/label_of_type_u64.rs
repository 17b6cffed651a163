tracecast::tc_keys! {
    pub label device: u64 = "tc.device.id";
}

fn main() {}
