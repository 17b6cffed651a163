tracecast::tc_keys! {
    pub label tenant: String = "tc.tenant.class";
}

fn main() {}
