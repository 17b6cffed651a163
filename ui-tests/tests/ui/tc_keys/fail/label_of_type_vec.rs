tracecast::tc_keys! {
    pub label tenants: Vec<bool> = "tc.tenant.classes";
}

fn main() {}
